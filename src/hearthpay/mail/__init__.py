"""Email, sent through the mail server that the operator names."""
