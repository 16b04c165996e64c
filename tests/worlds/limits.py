"""Limits of a plan lifted for every organization of a test, with the entry that the operator's command leaves."""

import json


def lifting(**limits: int) -> str:
    """Return the statement that lifts these limits."""
    return (
        f"WITH lifted AS (UPDATE organizations SET lifted_limits = lifted_limits || '{json.dumps(limits)}' "
        "RETURNING id) INSERT INTO audit_log (id, organization_id, sandbox, actor_kind, action, subject_id, details) "
        "SELECT new_id(), id, false, 'operator', 'organization.lift', id, '{}' FROM lifted"
    )
