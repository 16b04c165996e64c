"""Methods of states that truly differ from the shared ones."""
