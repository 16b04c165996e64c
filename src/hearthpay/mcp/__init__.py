"""Agents: our tools for models, over stdio with a key or hosted at `/mcp`, based on the API's own responses."""
