"""Secrets of the service: API keys today; it knows nothing of HTTP or of tables."""
