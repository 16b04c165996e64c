"""The pages for signing in and out, signing up, invitations, and lost passwords."""
