"""The papers of a household: pay stubs, Forms W-2 and W-3, Schedule H."""
