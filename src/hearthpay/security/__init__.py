"""Secrets of the service: API keys, the key ring and the cipher of the vault; it knows nothing of HTTP or of tables."""
