"""Policies that the law requires of a household employer: workers' compensation, and New York's disability policy."""
