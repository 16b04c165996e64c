"""What connects the payrolls of a year: thresholds, prior wages, voids and refunds."""
