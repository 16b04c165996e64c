"""Security alerts: sensitive actions are reported to the people who could object, who can stop them from the email
alone.
"""
