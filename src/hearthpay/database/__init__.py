"""The database layer: an embedded or a given PostgreSQL, its schema, and transactions bound to one tenant."""
