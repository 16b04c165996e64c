"""The pages by which people come in: signing in and out, signing up, invitations, lost passwords."""
