"""Several API processes of one installation: two applications over one database, with and without a Valkey."""
