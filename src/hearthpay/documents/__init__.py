"""A household's documents: pay stubs, Forms W-2 and W-3, Schedule H."""
