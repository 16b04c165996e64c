"""Security alerts: sensitive actions are reported to the people who could object, who can stop them from the email
alone.

The rule of every stop link, also of those about a person's account (`people/account_freeze.py`): it may only take away
what is younger than the action it stops. It never restores a means of signing in, never lowers a second factor that is
older than seven days, never moves an address to one that was set within the week, never mails a reset to an address in
dispute, and never reaches beyond the household of the action, unless a member of the organization presses it. The
reader of a mailbox is trusted least exactly when mailboxes are in doubt: `docs/explanation/stop-links.md` has the table
of actions, holders and outcomes, and `tests/alerts/test_table.py` presses every link of it.
"""
