"""Nacha files as US banks exchange them: writing and reading them, and their returns."""
