"""Pages about agents: the question whether one may come in, and those that are connected."""
