"""Agents that come with a token: who they say they are, what a person gave them, and the tokens they show for it."""
