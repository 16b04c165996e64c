"""Who works for the household."""
