"""Money set aside for employees: the rules by which it is set aside, and the balances."""
