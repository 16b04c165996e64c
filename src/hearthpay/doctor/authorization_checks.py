"""Laws of debit authorizations: each is as recorded when it was given, and each debit sent had one.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

import hashlib

from hearthpay.autopilot.records import STANDING_TEXT_VERSION, standing_text


def authorizations_given() -> str:
    """Each authorization of debits is the one recorded in the audit log: account, text, start and end."""
    return """
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (subject_id) subject_id, organization_id, employer_id, details FROM audit_log
             WHERE action = 'ach.authorize' AND jsonb_exists(details, 'authorized_at')
                OR action = 'rights.as_of_upgrade' AND details ->> 'right' = 'debits'
             ORDER BY subject_id, id DESC),
        stands AS (
            SELECT z.id, s.subject_id,
                   concat_ws(', ', z.employer_id, z.bank_account_id, z.text_version, z.authorized_at, z.expires_at)
                   AS recorded,
                   concat_ws(', ', s.employer_id, s.details ->> 'bank_account_id', s.details ->> 'text_version',
                             CAST(s.details ->> 'authorized_at' AS timestamptz),
                             CAST(s.details ->> 'expires_at' AS timestamptz)) AS expected
              FROM ach_authorizations z LEFT JOIN said s ON s.subject_id = z.id)
        SELECT 'authorization' AS subject, id, 'to debit' AS what, recorded,
               CASE WHEN subject_id IS NULL THEN 'none was given' ELSE expected END AS expected
          FROM stands WHERE recorded <> expected
        UNION ALL
        SELECT 'authorization', s.subject_id, 'to debit account ' || b.id, 'none', 'given'
          FROM said s JOIN bank_accounts b ON b.id = CAST(s.details ->> 'bank_account_id' AS uuid)
         WHERE NOT EXISTS (SELECT FROM ach_authorizations z WHERE z.id = s.subject_id)
        UNION ALL
        SELECT 'authorization', z.id, 'to debit an account that was disconnected', 'in force', 'revoked'
          FROM (SELECT id, bank_account_id, revoked_at FROM ach_authorizations
                UNION ALL SELECT id, bank_account_id, revoked_at FROM autopilot_authorizations) z
          JOIN bank_accounts b ON b.id = z.bank_account_id AND b.status = 'replaced'
         WHERE z.revoked_at IS NULL
    """


def standing_given() -> str:
    """Each standing authorization is the one recorded in the audit log, with the text that was agreed to."""
    today = hashlib.sha256(standing_text().encode()).hexdigest()
    return f"""
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (id) * FROM (
                SELECT CAST(details #>> '{{given,authorization,id}}' AS uuid) AS id, subject_id AS enrollment_id,
                       employer_id, details #> '{{given,authorization}}' AS d, id AS said_by
                  FROM audit_log WHERE action IN ('autopilot.enroll', 'autopilot.authorize')
                   AND details #>> '{{given,authorization,id}}' IS NOT NULL
                UNION ALL
                SELECT subject_id, CAST(details ->> 'enrollment_id' AS uuid), employer_id, details, id
                  FROM audit_log WHERE action = 'rights.as_of_upgrade' AND details ->> 'right' = 'standing_debits') a
             ORDER BY id, said_by DESC),
        stands AS (
            SELECT z.id, s.id AS said,
                   concat_ws(', ', z.employer_id, z.enrollment_id, z.bank_account_id, z.text_version,
                             encode(sha256(convert_to(z.agreed_text, 'UTF8')), 'hex'), z.authorized_at) AS recorded,
                   concat_ws(', ', s.employer_id, s.enrollment_id, d ->> 'bank_account_id', d ->> 'text_version',
                             CASE d ->> 'text_version' WHEN '{STANDING_TEXT_VERSION}' THEN '{today}'
                                  ELSE d ->> 'text_sha256' END,
                             CAST(d ->> 'authorized_at' AS timestamptz)) AS expected
              FROM autopilot_authorizations z LEFT JOIN said s ON s.id = z.id)
        SELECT 'authorization' AS subject, id, 'to debit for Autopilot' AS what, recorded,
               CASE WHEN said IS NULL THEN 'none was given' ELSE expected END AS expected
          FROM stands WHERE recorded <> expected
        UNION ALL
        SELECT 'authorization', s.id, 'to debit for Autopilot', 'none', 'given'
          FROM said s JOIN autopilot_enrollments e ON e.id = s.enrollment_id
         WHERE NOT EXISTS (SELECT FROM autopilot_authorizations z WHERE z.id = s.id)
    """


def debits_authorized() -> str:
    """Every debit was covered when it was sent: authorized before, not revoked, for that account and payroll."""
    return """
        WITH gone AS MATERIALIZED (
            SELECT e.id, e.payroll_id, e.employer_id, e.bank_account_id, p.created_at, p.approved_at, p.period_start,
                   p.period_end, coalesce(f.created_at, e.created_at) AS earliest,
                   coalesce(f.created_at, e.updated_at) AS latest
              FROM bank_entries e JOIN payrolls p ON p.id = e.payroll_id LEFT JOIN bank_files f ON f.id = e.file_id
             WHERE e.kind = 'debit' AND e.status IN ('sent', 'settled', 'returned')),
        once AS MATERIALIZED (
            SELECT DISTINCT g.id FROM gone g JOIN ach_authorizations z ON z.bank_account_id = g.bank_account_id
             WHERE z.employer_id = g.employer_id AND (z.revoked_at IS NULL OR z.revoked_at >= g.earliest)
               AND (coalesce(g.approved_at, g.created_at) BETWEEN z.authorized_at AND z.expires_at
                    OR z.authorized_at > g.created_at AND z.authorized_at <= g.latest
                       AND z.expires_at >= g.earliest)),
        standing AS MATERIALIZED (
            SELECT DISTINCT g.id FROM gone g JOIN autopilot_periods a ON a.payroll_id = g.payroll_id
              JOIN autopilot_authorizations s ON s.enrollment_id = a.enrollment_id
             WHERE s.bank_account_id = g.bank_account_id AND s.employer_id = g.employer_id
               AND (s.revoked_at IS NULL OR s.revoked_at >= g.earliest) AND s.authorized_at <= g.latest
               AND (s.ended_at IS NULL OR g.created_at BETWEEN s.authorized_at AND s.ended_at)),
        anew AS MATERIALIZED (
            SELECT DISTINCT g.id FROM gone g
              JOIN payrolls o ON o.employer_id = g.employer_id AND o.created_at = g.approved_at
                   AND o.id <> g.payroll_id AND o.period_start = g.period_start AND o.period_end = g.period_end
              JOIN autopilot_periods a ON a.payroll_id = o.id
              JOIN autopilot_authorizations s ON s.enrollment_id = a.enrollment_id
             WHERE s.bank_account_id = g.bank_account_id AND (s.revoked_at IS NULL OR s.revoked_at >= g.earliest)
               AND (s.ended_at IS NULL OR g.approved_at BETWEEN s.authorized_at AND s.ended_at))
        SELECT 'bank_entry' AS subject, g.id, 'debit for payroll ' || g.payroll_id AS what,
               'left by ' || g.latest || ' without an authorization' AS recorded,
               'covered by an authorization of account ' || g.bank_account_id AS expected
          FROM gone g
         WHERE g.id NOT IN (SELECT id FROM once UNION ALL SELECT id FROM standing UNION ALL SELECT id FROM anew)
    """
