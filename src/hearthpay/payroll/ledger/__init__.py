"""The payrolls in the database: written set-based, however many at once, and read back as they were calculated."""
