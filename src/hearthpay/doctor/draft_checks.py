"""Laws of drafts: a draft is about the household's own employees, and stands and was sent as typed.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from hearthpay.doctor.traces import HOUSEHOLD_STANDS, NOT_CLEARED
from hearthpay.payroll.drafts import DRAFT_DIGEST


def drafts_kept() -> str:
    """A draft contains its last entry, and is discarded exactly if somebody discarded it."""
    return f"""
        WITH said AS MATERIALIZED (
            SELECT a.subject_id AS id,
                   (array_agg(a.details ->> 'content_sha256' ORDER BY a.id DESC)
                    FILTER (WHERE a.action = 'payroll.draft'))[1] AS digest,
                   bool_or(a.action = 'payroll.draft_drop') AS dropped
              FROM audit_log a
             WHERE a.action IN ('payroll.draft', 'payroll.draft_drop') AND {HOUSEHOLD_STANDS} AND {NOT_CLEARED}
             GROUP BY 1)
        SELECT 'payroll_draft' AS subject, coalesce(d.id, s.id) AS id, 'as typed' AS what,
               coalesce(d.digest || CASE WHEN d.dropped THEN ', discarded' ELSE '' END, 'none') AS recorded,
               CASE WHEN s.id IS NULL THEN 'nobody typed it'
                    ELSE coalesce(s.digest, d.digest, 'a draft')
                         || CASE WHEN s.dropped THEN ', discarded' ELSE '' END END AS expected
          FROM (SELECT id, {DRAFT_DIGEST} AS digest, dropped_at IS NOT NULL AS dropped FROM payroll_drafts) d
          FULL JOIN said s ON s.id = d.id
         WHERE (d.dropped, d.digest) IS DISTINCT FROM (s.dropped, coalesce(s.digest, d.digest)) OR d.id IS NULL
    """


def drafts() -> str:
    """A draft names employees of its household; the payroll that it was sent as pays them for the period it names."""
    return """
        SELECT 'payroll_draft' AS subject, d.id, 'employee' AS what, t.typed->>'employee_id' AS recorded,
               'one of the household' AS expected
          FROM payroll_drafts d CROSS JOIN LATERAL jsonb_array_elements(d.employees) t (typed)
         WHERE NOT EXISTS (SELECT FROM employees m WHERE m.id::text = t.typed->>'employee_id'
                                                     AND m.employer_id = d.employer_id)
         UNION ALL
        SELECT 'payroll_draft', d.id, 'payroll that it was sent as',
               p.period_start || ' to ' || p.period_end || ' for ' || e.paid,
               d.period_start || ' to ' || d.period_end || ' for ' || t.typed
          FROM payroll_drafts d JOIN payrolls p ON p.id = d.payroll_id
          CROSS JOIN LATERAL (SELECT coalesce(string_agg(employee_id::text, ', ' ORDER BY position), '') AS paid
                                FROM payroll_entries WHERE payroll_id = p.id) e
          CROSS JOIN LATERAL (SELECT coalesce(string_agg(each->>'employee_id', ', ' ORDER BY place), '') AS typed
                                FROM jsonb_array_elements(d.employees) WITH ORDINALITY AS x (each, place)) t
         WHERE (p.period_start, p.period_end, e.paid) IS DISTINCT FROM (d.period_start, d.period_end, t.typed)
    """
