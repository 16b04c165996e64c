"""Direct deposit: accounts, authorizations, the bank's files and returns."""
