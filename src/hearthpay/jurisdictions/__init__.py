"""What a state requires of a household: its taxes, the entries of its certificate, its localities."""
