"""The household's employees."""
