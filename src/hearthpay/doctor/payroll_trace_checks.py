"""Laws of a payroll's traces, in both directions: what the audit log tells of is there, as it tells.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from hearthpay.doctor.traces import NOT_CLEARED


def payrolls_made() -> str:
    """Every payroll that was run or scheduled is there: by whom, for which household, with its first state and entries;
    and it was voided exactly if somebody voided it.
    """
    return f"""
        WITH made AS MATERIALIZED (
            SELECT DISTINCT ON (subject_id) * FROM audit_log WHERE action IN ('payroll.run', 'payroll.schedule')
             ORDER BY subject_id, id)
        SELECT 'payroll' AS subject, a.subject_id AS id, 'as recorded at ' || a.at AS what,
               CASE WHEN p.id IS NULL THEN 'none'
                    ELSE concat_ws(', ', p.employer_id, p.created_by_kind, p.created_by, t.to_status,
                                   n.entries || ' entries') END AS recorded,
               concat_ws(', ', a.employer_id, a.actor_kind, a.actor_id, coalesce(a.details ->> 'status', t.to_status),
                         coalesce(a.details ->> 'employees', n.entries::text) || ' entries') AS expected
          FROM made a LEFT JOIN payrolls p ON p.id = a.subject_id
          LEFT JOIN LATERAL (SELECT f.to_status FROM payroll_transitions f WHERE f.payroll_id = p.id
                              ORDER BY f.id LIMIT 1) t ON true
          LEFT JOIN LATERAL (SELECT count(*) AS entries FROM payroll_entries e WHERE e.payroll_id = p.id) n ON true
         WHERE (p.employer_id, p.created_by_kind, p.created_by, t.to_status, n.entries::text)
               IS DISTINCT FROM (a.employer_id, a.actor_kind, a.actor_id, coalesce(a.details ->> 'status', t.to_status),
                                 coalesce(a.details ->> 'employees', n.entries::text))
           AND {NOT_CLEARED}
        UNION ALL
        SELECT 'payroll', p.id, 'made by the system', 'without a trace', 'a row in the audit log'
          FROM payrolls p
         WHERE p.created_by_kind = 'system' AND NOT EXISTS (SELECT FROM made a WHERE a.subject_id = p.id)
           AND NOT EXISTS (SELECT FROM audit_log y WHERE y.action = 'payroll.year_passed'
                              AND y.details ->> 'made_anew_as' = p.id::text)
        UNION ALL
        SELECT 'payroll', p.id, 'gross pay of the estimate of what is scheduled', coalesce(e.gross::text, 'none'),
               (s.cents / 100.0)::numeric(15, 2)::text
          FROM payrolls p
          LEFT JOIN LATERAL (SELECT CAST(estimate #>> '{{totals,gross_pay}}' AS numeric(15, 2)) AS gross
                               FROM payroll_estimates WHERE payroll_id = p.id) e ON true
         CROSS JOIN LATERAL (SELECT sum(regular_pay + overtime_pay + bonus + other_earnings) AS cents
                               FROM payroll_entries WHERE payroll_id = p.id) s
         WHERE p.status = 'scheduled' AND e.gross * 100 IS DISTINCT FROM s.cents
        UNION ALL
        SELECT 'payroll', a.subject_id, 'voided', 'no', 'as recorded at ' || a.at
          FROM audit_log a
         WHERE a.action = 'payroll.void' AND a.details #>> '{{status,after}}' = 'voided' AND {NOT_CLEARED}
           AND NOT EXISTS (SELECT FROM payroll_transitions t WHERE t.payroll_id = a.subject_id
                              AND t.to_status = 'voided'
                              AND (t.actor_kind, t.actor_id) IS NOT DISTINCT FROM (a.actor_kind, a.actor_id))
    """


def pay_dates() -> str:
    """A payroll's pay date is the one it was run or scheduled with, or moved to last."""
    return """
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (subject_id) subject_id,
                   coalesce(details #>> '{pay_date,after}', details ->> 'pay_date') AS pay_date
              FROM audit_log
             WHERE action IN ('payroll.run', 'payroll.schedule', 'payroll.move_pay_date')
               AND jsonb_exists(details, 'pay_date')
             ORDER BY subject_id, id DESC)
        SELECT 'payroll' AS subject, p.id, 'pay date' AS what, p.pay_date::text AS recorded, s.pay_date AS expected
          FROM payrolls p JOIN said s ON s.subject_id = p.id WHERE p.pay_date::text <> s.pay_date
    """


def remedies_decided() -> str:
    """What was decided about a deposit that couldn't be sent is what the audit log says, as many times."""
    return f"""
        WITH said AS (
            SELECT a.subject_id AS payroll_id, count(*) AS times,
                   concat_ws(', ', a.details ->> 'employee_id', a.details ->> 'action', a.details ->> 'until') AS what
              FROM audit_log a WHERE a.action = 'payroll.remedy' AND {NOT_CLEARED} GROUP BY 1, 3),
        decided AS (
            SELECT payroll_id, count(*) AS times, concat_ws(', ', employee_id, action, until) AS what
              FROM paycheck_remedies GROUP BY 1, 3)
        SELECT 'payroll' AS subject, payroll_id AS id, 'remedy: ' || what AS what,
               coalesce(d.times, 0) || ' times' AS recorded, coalesce(s.times, 0) || ' times' AS expected
          FROM decided d FULL JOIN said s USING (payroll_id, what)
         WHERE d.times IS DISTINCT FROM s.times
    """


def prior_wages_entered() -> str:
    """Prior wages are those that somebody entered, and replaced exactly where they were entered again."""
    return f"""
        WITH said AS MATERIALIZED (
            SELECT a.details ->> 'prior_wages' AS id, a.subject_id AS employee_id, a.details ->> 'replaces' AS replaces,
                   concat_ws(', ', a.details ->> 'tax_year', a.details ->> 'source', a.details ->> 'as_of',
                             round(CAST(a.details #>> '{{after,prior_gross_pay}}' AS numeric) * 100) || ' cents')
                   AS what
              FROM audit_log a
             WHERE a.action = 'employee.prior_wages' AND jsonb_exists(a.details, 'prior_wages') AND {NOT_CLEARED}),
        stands AS MATERIALIZED (
            SELECT w.id::text, w.employee_id, w.replaced_by::text,
                   concat_ws(', ', w.tax_year, w.source, w.as_of, w.gross_pay || ' cents') AS what FROM prior_wages w)
        SELECT 'employee' AS subject, coalesce(w.employee_id, s.employee_id) AS id, 'prior wages' AS what,
               coalesce(w.what, 'none') AS recorded, coalesce(s.what, 'none were entered') AS expected
          FROM stands w FULL JOIN said s USING (id)
         WHERE w.employee_id IS DISTINCT FROM s.employee_id OR w.what NOT LIKE s.what || '%'
        UNION ALL
        SELECT 'employee', w.employee_id, 'prior wages ' || w.what || ' replaced by', coalesce(w.replaced_by, 'none'),
               coalesce(s.id, 'none')
          FROM stands w LEFT JOIN said s ON s.replaces = w.id
         WHERE w.replaced_by IS DISTINCT FROM s.id
    """


def payouts_recorded() -> str:
    """Every payout of set-aside money is recorded in the audit log: of whom, how much, and how; and the other way."""
    return f"""
        SELECT 'employee' AS subject, coalesce(m.employee_id, s.employee_id) AS id, 'payout of set-asides' AS what,
               coalesce(m.what, 'none') AS recorded, coalesce(s.what, 'none was made') AS expected
          FROM (SELECT id::text AS movement, employee_id, -amount || ' cents, ' || payment_method AS what
                  FROM escrow_movements WHERE kind = 'payout') m
          FULL JOIN (SELECT a.details ->> 'movement' AS movement, a.subject_id AS employee_id,
                            round(CAST(a.details ->> 'amount' AS numeric) * 100) || ' cents, '
                            || (a.details ->> 'method') AS what
                       FROM audit_log a WHERE a.action = 'escrow.payout' AND {NOT_CLEARED}) s USING (movement)
         WHERE (m.employee_id, m.what) IS DISTINCT FROM (s.employee_id, s.what)
    """


def set_asides_requested() -> str:
    """A set-aside request is as its employee asked, and decided or withdrawn exactly if somebody did so."""
    return f"""
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (a.subject_id) a.subject_id AS id,
                   CASE substring(a.action FROM '[.](.*)') WHEN 'ask' THEN 'pending' WHEN 'withdraw' THEN 'withdrawn'
                        WHEN 'approve' THEN 'approved' WHEN 'approved' THEN 'approved' ELSE 'declined' END AS status
              FROM audit_log a WHERE a.action LIKE 'set\\_aside\\_request.%' AND {NOT_CLEARED}
             ORDER BY a.subject_id, a.id DESC)
        SELECT 'set_aside_request' AS subject, coalesce(r.id, s.id) AS id, 'status' AS what,
               coalesce(r.status, 'gone') AS recorded, coalesce(s.status, 'nobody asked') AS expected
          FROM set_aside_requests r FULL JOIN said s USING (id)
         WHERE r.status IS DISTINCT FROM s.status
           AND NOT (r.status = 'withdrawn' AND s.status = 'pending' AND EXISTS (
                    SELECT FROM set_aside_requests l WHERE l.employee_id = r.employee_id AND l.id > r.id))
    """
