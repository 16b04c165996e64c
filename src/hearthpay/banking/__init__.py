"""Direct deposit: accounts, authorizations, the bank's files and what comes back of them."""
