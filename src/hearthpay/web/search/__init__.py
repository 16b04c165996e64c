"""The search over a household's employees and payrolls, the app's pages and help."""
