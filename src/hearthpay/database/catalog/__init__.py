"""What the schema must be: the catalog that the migrations make, and what a database has instead."""
