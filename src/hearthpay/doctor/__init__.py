"""Proves the books right: every sum, every reversal and every transfer of the whole database, against each other."""
