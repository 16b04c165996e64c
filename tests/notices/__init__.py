"""Notices: who is told of what, in which language, and where it lands."""
