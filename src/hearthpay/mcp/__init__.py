"""Agents: the house's tools for models, over stdio with a key or hosted at `/mcp`, on the API's own answers."""
