"""What a household paid to tax agencies and filed with them, and what is open."""
