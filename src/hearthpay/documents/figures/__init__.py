"""The figures in each box or line of a document, with the ledger rows they come from: pure functions, no I/O.

Amounts are whole cents inside a `Figure`; its `dollars` are for the document. The forms' own data (thresholds of
states' stubs, labels of box 14, rates printed on Schedule H) are the TOML files next to these modules, with their
sources.
"""
