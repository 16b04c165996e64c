"""Accounts: organizations and their API keys."""
