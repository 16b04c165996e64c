"""Money set aside for employees: the rules by which it is kept back, and what has come together."""
