"""State registrations: with which agencies a household must register, and the numbers they gave it."""
