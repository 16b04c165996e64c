"""Reports of what the ledger says: a state's wages by employee, and taxes by agency and month."""
