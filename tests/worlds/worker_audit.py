"""What the audit log says the worker did."""

from typing import Any

import psycopg


def worker_rows(owner: psycopg.Connection, action: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the subject and details of each row of an action, oldest first; each is the worker's, and its owner's.

    The row belongs to the organization and household of its subject, or else it would be shown to a neighbor.
    """
    found = owner.execute(
        "SELECT a.actor_kind, a.actor_id, a.subject_id::text, a.details, a.organization_id = e.organization_id, "
        "a.sandbox = e.sandbox FROM audit_log a JOIN employers e ON e.id = a.employer_id WHERE a.action = %s "
        "ORDER BY a.at, a.id",
        (action,),
    ).fetchall()
    for kind, actor, _, _, own_organization, own_mode in found:
        assert (kind, actor, own_organization, own_mode) == ("system", None, True, True)
    return [(subject, details) for _, _, subject, details, _, _ in found]
