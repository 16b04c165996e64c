"""An account that fails or is active again otherwise than by the payment that a test watches, with its entry."""

from __future__ import annotations

import psycopg

CLOSED = "Account closed (R02)."


def set_account(
    owner: psycopg.Connection, employee_id: str, status: str, reason: str | None = CLOSED
) -> None:
    """Let an employee's account fail or be active, as the return of another payment, or a prenote, does."""
    reason = None if status == "active" else reason
    changed = owner.execute(
        "UPDATE bank_accounts SET status = %(status)s, reason = %(reason)s "
        "WHERE employee_id = %(employee)s AND status IN ('active', 'failed') RETURNING id",
        {"status": status, "reason": reason, "employee": employee_id},
    ).fetchall()
    for (account,) in changed:
        owner.execute(
            "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, "
            "details) SELECT new_id(), organization_id, employer_id, sandbox, 'system', CASE status WHEN 'active' "
            "THEN 'bank_account.activate' ELSE 'bank_account.fail' END, id, jsonb_build_object('reason', reason) "
            "FROM bank_accounts WHERE id = %s",
            (account,),
        )
