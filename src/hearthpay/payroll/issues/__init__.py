"""What is in a payroll's way: what happened, how it stands, what can be done, and who is told."""
