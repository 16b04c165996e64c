"""State registrations: the agencies with which a household must register, and the numbers they assigned."""
