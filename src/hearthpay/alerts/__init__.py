"""Security alerts: delicate acts are told to those who could object, and stopped by the link of the mail alone."""
