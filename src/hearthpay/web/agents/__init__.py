"""Pages about agents: the consent page, and the list of connected agents."""
