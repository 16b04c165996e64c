"""The HTTP layer: envelope, error responses, authentication, routing, idempotency, the middleware and its limits.

It knows no household, employee or payroll; the feature packages above build their routes on it.
"""
