"""Payrolls: previewed, run, sent on their day, read and voided."""
