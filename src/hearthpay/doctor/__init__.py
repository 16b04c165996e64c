"""Proves the books right: compares every sum, reversal and transfer in the whole database."""
