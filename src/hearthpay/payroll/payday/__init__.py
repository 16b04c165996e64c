"""Payday: scheduled payrolls are fired, the bank's files go out, and what became of them comes in."""
