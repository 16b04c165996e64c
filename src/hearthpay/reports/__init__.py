"""Reports from the ledger: a state's wages by employee, and taxes by agency and month."""
