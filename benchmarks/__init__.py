"""Measures what the service promises about speed: `python -m benchmarks`."""
