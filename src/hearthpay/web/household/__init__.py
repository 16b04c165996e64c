"""The dashboard of a household: every page at `/app/{household_id}/…`."""
