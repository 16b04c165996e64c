"""Backup and restore: complete, verified copies of the database, without the keys to its encrypted values."""
