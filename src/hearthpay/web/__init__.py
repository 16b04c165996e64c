"""Pages for people in a browser, rendered on the server; they work without scripts."""
