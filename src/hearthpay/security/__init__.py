"""Secrets of the service: API keys, the key ring and the cipher of the vault; independent of HTTP and of tables."""
