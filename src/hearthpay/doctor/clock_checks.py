"""Laws of test clocks: a household's clock, and what was done by it."""

from __future__ import annotations


def household_clocks() -> str:
    """Nothing was done to a payroll or by Autopilot at a time that its household's test clock has not reached."""
    return """
        SELECT 'household' AS subject, c.employer_id AS id, d.what, d.at::text AS recorded,
               'by ' || CASE c.status WHEN 'ready' THEN c.stands_at ELSE c.target END AS expected
          FROM household_clocks c
          JOIN (SELECT p.employer_id, t.at, 'payroll ' || p.id || ' ' || t.to_status AS what
                  FROM payroll_transitions t JOIN payrolls p ON p.id = t.payroll_id
                UNION ALL SELECT employer_id, decided_at, 'the period from ' || period_start FROM autopilot_periods) d
            ON d.employer_id = c.employer_id
         WHERE d.at > CASE c.status WHEN 'ready' THEN c.stands_at ELSE c.target END
    """
