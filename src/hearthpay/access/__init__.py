"""Who asks and what he may: actors, permissions, plans, refusals, the audit trail.

No framework stands below this floor: the API, the pages, the tools and the worker all ask here.
"""
