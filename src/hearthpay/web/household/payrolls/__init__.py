"""Payrolls of the household: drafting and running one, its progress, and the list of them."""
