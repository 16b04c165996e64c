"""The Autopilot pages: who is enrolled, and every action a member can take."""
