"""What the laws of traces share: which facts are gone for good reason, with the sandbox household that was emptied."""

from typing import Final

NOT_CLEARED: Final = """
    NOT (a.sandbox AND EXISTS (
        SELECT FROM audit_log x WHERE x.organization_id = a.organization_id AND x.employer_id = a.employer_id
           AND x.action IN ('employer.reset', 'employer.delete') AND x.id > a.id))
"""
"""Whether what a row `a` of the audit log tells of must still be there: an employee, a payroll, or what is of it."""

HOUSEHOLD_STANDS: Final = "EXISTS (SELECT FROM employers h WHERE h.id = a.employer_id)"
"""Whether the household of a row `a` of the audit log is still there, with what isn't emptied with its payrolls."""
