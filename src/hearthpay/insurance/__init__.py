"""Policies that the law asks of a household as an employer: workers' compensation, and New York's disability policy."""
