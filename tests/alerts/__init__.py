"""Delicate acts are told, also at old addresses, and stopped by the link of the mail alone."""
