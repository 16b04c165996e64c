"""Payroll issues: what happened, the current status, what can be done, and who is notified."""
