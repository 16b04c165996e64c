"""Actors, permissions, plans, refusals and the audit trail.

Uses no web framework: the API, the pages, the MCP tools and the worker all ask here.
"""
