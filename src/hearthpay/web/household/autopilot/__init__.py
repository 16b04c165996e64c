"""The pages of Autopilot: who is enrolled, and everything that a member can do about it."""
