"""What employees see and change themselves, separately for each household they work for."""
