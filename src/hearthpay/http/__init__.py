"""The HTTP floor: envelope, errors, authentication, idempotency, paging and the field types of request bodies.

It knows no household, employee or payroll; the feature packages above build their routes on it.
"""
