"""Payrolls of the household: drafting and running one, what became of each, and the list of them."""
