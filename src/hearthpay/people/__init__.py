"""People: who signs in and with what, from where, and what he is in which organization."""
