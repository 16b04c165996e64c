"""The people a household employs."""
