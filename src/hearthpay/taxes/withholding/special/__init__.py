"""Methods of states that differ from the shared ones."""
