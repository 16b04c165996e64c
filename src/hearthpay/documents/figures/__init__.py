"""What stands in each box or line of a paper, and which rows of the ledger it comes from: pure functions, no I/O.

Amounts are whole cents inside a `Figure`; its `dollars` are for the paper. The forms' own data (thresholds of states'
stubs, labels of box 14, rates printed on Schedule H) are the TOML files beside these modules, with their sources.
"""
