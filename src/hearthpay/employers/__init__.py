"""Households: the employers of an organization."""
