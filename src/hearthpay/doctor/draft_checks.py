"""The law of drafts: a draft is about the household's own employees, and was sent as typed.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
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
