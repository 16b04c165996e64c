"""Laws of what must never change once written: paychecks, the audit log, and whose account an entry moves."""

from hearthpay.payroll.ledger.digests import DIGEST_IN_SQL


def paycheck_digests() -> str:
    """A paycheck and its lines are exactly as they were written."""
    return f"""
        SELECT 'paycheck', id, 'digest', coalesce(encode(digest, 'hex'), 'none'), encode(computed, 'hex')
          FROM (SELECT c.id, c.digest, {DIGEST_IN_SQL} AS computed
                  FROM paychecks c LEFT JOIN paycheck_lines l ON l.paycheck_id = c.id
                 GROUP BY c.id) s
         WHERE digest IS DISTINCT FROM computed
    """


def audit_chain() -> str:
    """Each row of the audit log is in its organization's chain of seals, unchanged, none missing, none added; the chain
    ends with the seal that was noted as its end.
    """
    return """
        SELECT 'organization' AS subject, organization_id AS id, 'seal ' || number || ' of the audit log' AS what,
               CASE WHEN number <> before_number + 1 THEN 'follows seal ' || before_number
                    WHEN found < written THEN written - found || ' of its rows missing'
                    ELSE encode(seal, 'hex') END AS recorded,
               CASE WHEN number <> before_number + 1 THEN 'follows seal ' || number - 1
                    WHEN found < written THEN 'all ' || written || ' rows'
                    ELSE encode(computed, 'hex') END AS expected
          FROM (SELECT s.organization_id, s.number, s.seal, s.before_number, count(*) AS written, count(a.id) AS found,
                       sha256(s.before || coalesce(string_agg(audit_digest(a), '' ORDER BY a.id), '')) AS computed
                  FROM (SELECT *, coalesce(lag(number) OVER chain, 0) AS before_number,
                               coalesce(lag(seal) OVER chain, '') AS before
                          FROM audit_seals WINDOW chain AS (PARTITION BY organization_id ORDER BY number)) s
                 CROSS JOIN LATERAL unnest(s.audit_ids) AS w (id)
                  LEFT JOIN audit_log a ON a.id = w.id AND a.organization_id = s.organization_id
                 GROUP BY s.organization_id, s.number, s.seal, s.before_number, s.before) c
         WHERE number <> before_number + 1 OR found < written OR seal <> computed
        UNION ALL
        SELECT 'audit_row', a.id, a.action, 'no seal', 'a seal'
          FROM audit_log a
         WHERE NOT EXISTS (SELECT FROM (SELECT unnest(audit_ids) AS id FROM audit_seals) s WHERE s.id = a.id)
           AND NOT EXISTS (SELECT FROM audit_unsealed u WHERE u.audit_id = a.id)
        UNION ALL
        SELECT 'audit_row', u.audit_id, 'written and not sealed yet', 'nothing', 'the row'
          FROM audit_unsealed u WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.id = u.audit_id)
        UNION ALL
        SELECT 'organization', coalesce(e.organization_id, s.organization_id), 'end of the audit log',
               coalesce('seal ' || s.number || ' ' || encode(s.seal, 'hex'), 'no seal'),
               coalesce('seal ' || e.number || ' ' || encode(e.seal, 'hex'), 'none was noted')
          FROM audit_ends e
          FULL JOIN (SELECT DISTINCT ON (organization_id) * FROM audit_seals ORDER BY organization_id, number DESC) s
            ON s.organization_id = e.organization_id
         WHERE (e.number, e.seal) IS DISTINCT FROM (s.number, s.seal)
    """


def traces() -> str:
    """Every payroll that a person or a key has run or voided has its row in the audit log."""
    return """
        SELECT 'payroll' AS subject, id, 'trace of ' || action AS what, 'none' AS recorded, 'a row' AS expected
          FROM (SELECT id, 'payroll.run' AS action FROM payrolls WHERE created_by_kind <> 'system'
                UNION ALL
                SELECT payroll_id, 'payroll.void' FROM payroll_transitions
                 WHERE to_status = 'voided' AND actor_kind <> 'system') p
         WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.subject_id = p.id AND a.action = p.action)
    """


def accounts() -> str:
    """Pay goes to an account of the employee who earned it; debits and refunds concern an account of the household."""
    return """
        SELECT 'bank_entry' AS subject, id, kind || ' of the account of' AS what,
               coalesce('employee ' || holder, 'the household') AS recorded,
               coalesce('employee ' || expected, 'the household') AS expected
          FROM (SELECT b.id, b.kind, a.employee_id AS holder,
                       CASE WHEN b.kind IN ('credit', 'reversal') THEN c.employee_id
                            WHEN b.kind = 'payout' THEN m.employee_id END AS expected
                  FROM bank_entries b JOIN bank_accounts a ON a.id = b.bank_account_id
                  LEFT JOIN paychecks c ON c.id = b.paycheck_id
                  LEFT JOIN escrow_movements m ON m.id = b.escrow_movement_id
                 WHERE b.kind <> 'prenote') e
         WHERE holder IS DISTINCT FROM expected
    """


def periods() -> str:
    """Entries pay for the pay period of their payroll."""
    return """
        SELECT 'payroll' AS subject, p.id, 'pay period at position ' || e.position AS what, e.period::text AS recorded,
               daterange(p.period_start, p.period_end, '[]')::text AS expected
          FROM payroll_entries e JOIN payrolls p ON p.id = e.payroll_id
         WHERE e.period <> daterange(p.period_start, p.period_end, '[]')
    """
