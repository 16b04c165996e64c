"""People: who signs in, how and from where, and their role in each organization."""
