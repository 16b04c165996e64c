"""What hangs the payrolls of a year together: thresholds, prior wages, and what is undone or repaid."""
