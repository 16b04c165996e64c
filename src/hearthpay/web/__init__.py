"""The pages that people see in a browser, rendered on the server; they work without a script."""
