"""What a household has to do: one list from its deadlines, accounts, employees, payrolls and bank."""
