"""Agents with a token: who they say they are, what a person granted them, and their tokens."""
