"""Backup and restore: whole, checked copies of the database, without the keys that open what is sealed in it."""
