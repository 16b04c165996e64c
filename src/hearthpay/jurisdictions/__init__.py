"""What a state asks of a household: its taxes, the entries of its certificate, its localities."""
