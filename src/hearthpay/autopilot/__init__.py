"""Autopilot: recurring payroll, enrolled by a person once, made by the worker period after period."""
