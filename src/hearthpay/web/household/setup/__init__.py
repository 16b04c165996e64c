"""Setting up a household in five questions, one a page."""
