"""Laws of a payroll's life: its history, its times, and its one stored answer.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from hearthpay.database.household_clocks import time_of
from hearthpay.database.statements import Fragment
from hearthpay.doctor.comparison import unequal
from hearthpay.payroll.issues.attempts import LONGEST_PAUSE
from hearthpay.payroll.lifecycle import TRANSITIONS


def histories() -> str:
    """A payroll's history is unbroken, allows every step of it, fires once and ends in the payroll's status."""
    allowed = ", ".join(
        f"('{leave or ''}', '{enter}', '{actor}')"
        for (leave, enter), actors in TRANSITIONS.items()
        for actor in sorted(actors)
    )
    steps = f"""
        SELECT 'payroll' AS subject, payroll_id AS id, 'step to ' || to_status || ' by ' || actor_kind AS what,
               'from ' || coalesce(from_status, 'nothing') AS recorded,
               'an allowed step from ' || coalesce(before, 'nothing') AS expected
          FROM (SELECT *, lag(to_status) OVER (PARTITION BY payroll_id ORDER BY id) AS before
                  FROM payroll_transitions) t
         WHERE from_status IS DISTINCT FROM before
            OR (coalesce(from_status, ''), to_status, actor_kind) NOT IN (VALUES {allowed})
    """
    ends = unequal(
        "payroll",
        """
        SELECT p.id, p.status, coalesce(t.to_status, 'none') AS to_status, coalesce(t.firings, 0) AS firings
          FROM payrolls p
          LEFT JOIN (SELECT DISTINCT ON (payroll_id) payroll_id, to_status,
                            count(*) FILTER (WHERE to_status = 'firing') OVER (PARTITION BY payroll_id) AS firings
                       FROM payroll_transitions ORDER BY payroll_id, id DESC) t ON t.payroll_id = p.id
        """,
        other={"status": ("status", "to_status"), "firings": ("firings", "least(firings, 1)")},
    )
    return f"{steps} UNION ALL {ends}"


def overdue() -> str:
    """No payroll is more than an hour late, or stopped in the middle of firing."""
    now = time_of(Fragment("p.employer_id"), Fragment("CAST(:now AS timestamptz)"))
    return f"""
        SELECT 'payroll' AS subject, id, status || ' for ' || pay_date AS what,
               coalesce(next_attempt_at, scheduled_send_at)::text AS recorded, 'fired by ' || {now} AS expected
          FROM payrolls p
         WHERE status = 'firing'
            OR status = 'scheduled' AND coalesce(next_attempt_at, scheduled_send_at) < {now} - interval '1 hour'
    """


def attempts_ahead() -> str:
    """A postponed payroll is tried again within the longest pause, and any other at its own time; one that was never
    scheduled was never tried, and nothing failed of what was paid by check or cash.
    """
    now = time_of(Fragment("p.employer_id"), Fragment("CAST(:now AS timestamptz)"))
    hours = LONGEST_PAUSE.total_seconds() / 3600
    return f"""
        SELECT 'payroll' AS subject, id, 'tried again at' AS what, next_attempt_at::text AS recorded,
               CASE WHEN attempts = 0 THEN 'at its time, ' || scheduled_send_at
                    ELSE 'by ' || {now} + interval '{hours:g} hours' END AS expected
          FROM payrolls p
         WHERE status = 'scheduled' AND next_attempt_at > {now}
           AND (attempts = 0 OR next_attempt_at > {now} + interval '{hours:g} hours')
        UNION ALL
        SELECT 'payroll', id, 'attempts and failure', concat_ws(', ', attempts, failure ->> 'code'), '0'
          FROM payrolls p
         WHERE status = 'completed' AND NOT direct_deposit AND failure IS NOT NULL
            OR attempts > 0 AND NOT EXISTS (SELECT FROM payroll_transitions t WHERE t.payroll_id = p.id
                                               AND t.to_status = 'scheduled')
    """


def handed_over() -> str:
    """A payroll is marked as handed over exactly if somebody noted it in the audit log, after it was recorded."""
    return """
        SELECT 'payroll' AS subject, p.id, 'handed over at' AS what,
               coalesce(p.handed_over_at::text, 'no mark') AS recorded,
               CASE WHEN a.subject_id IS NULL THEN 'an entry in the audit log'
                    WHEN p.handed_over_at IS NULL THEN 'the mark of the audit log'
                    WHEN p.handed_over_at <> a.at THEN a.at::text
                    ELSE 'a time after ' || p.created_at END AS expected
          FROM payrolls p
          LEFT JOIN (SELECT subject_id, min(CAST(details ->> 'handed_over_at' AS timestamptz)) AS at FROM audit_log
                      WHERE action = 'payroll.hand_over' GROUP BY 1) a ON a.subject_id = p.id
         WHERE (p.handed_over_at IS NULL) <> (a.subject_id IS NULL) OR p.handed_over_at < p.created_at
            OR p.handed_over_at <> a.at
    """


def idempotency() -> str:
    """Every idempotency key has its answer, and the payroll that a real household's answer names exists; no key of a
    payroll is gone.
    """
    identity = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return f"""
        SELECT 'organization' AS subject, k.organization_id AS id, 'idempotency key ' || k.key AS what,
               CASE WHEN k.status IS NULL THEN 'no answer' ELSE 'payroll ' || k.payroll END AS recorded,
               CASE WHEN k.status IS NULL THEN 'an answer' ELSE 'a payroll that exists' END AS expected
          FROM (SELECT organization_id, sandbox, key, status,
                       substring(CASE WHEN key_id IS NULL THEN convert_from(body, 'UTF8') END
                                 FROM '"payroll_id"\\: ?"({identity})"')::uuid AS payroll
                  FROM idempotency_keys) k
          LEFT JOIN payrolls p ON p.id = k.payroll AND p.organization_id = k.organization_id AND p.sandbox = k.sandbox
         WHERE k.status IS NULL OR k.payroll IS NOT NULL AND p.id IS NULL AND NOT k.sandbox
        UNION ALL
        SELECT 'organization', r.organization_id, 'idempotency key ' || r.row_key, 'gone', 'kept for good'
          FROM row_register r
         WHERE r.source = 'idempotency_keys' AND NOT EXISTS (
               SELECT FROM idempotency_keys k WHERE k.organization_id = r.organization_id
                  AND concat_ws(' ', k.organization_id, k.sandbox, k.confined_to, k.key) = r.row_key)
    """
