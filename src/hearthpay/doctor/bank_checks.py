"""Laws of the money that moves through the bank: collected, paid out, and returned.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from typing import Final

from hearthpay.doctor.comparison import BY_CHECK, REVERSED, UNDER_WAY, dollars, unequal
from hearthpay.doctor.exposure import OPEN_CASES

_OWED: Final = """
    SELECT payroll_id, sum(net_pay + set_aside) AS amount FROM paychecks
     WHERE reverses IS NULL AND payment_method = 'direct_deposit' GROUP BY payroll_id
"""
"""What the household must fund for each payroll: net pay by direct deposit, and what those paychecks set aside."""


def direct_deposits() -> str:
    """A payroll moves money exactly if an entry is by direct deposit and it is no catch-up."""
    return unequal(
        "payroll",
        """
        SELECT p.id, p.direct_deposit,
               p.kind <> 'catch_up'
               AND EXISTS (SELECT FROM payroll_entries e
                            WHERE e.payroll_id = p.id AND e.payment_method = 'direct_deposit') AS expected
          FROM payrolls p
        """,
        other={"direct_deposit": ("direct_deposit", "expected")},
    )


def debits() -> str:
    """A household is debited once for what its payroll pays out and sets aside, and for no other payroll."""
    amounts = unequal(
        "bank_entry",
        f"""
        SELECT b.id, b.amount, CASE WHEN p.direct_deposit THEN coalesce(o.amount, 0) ELSE 0 END AS owed
          FROM bank_entries b JOIN payrolls p ON p.id = b.payroll_id LEFT JOIN ({_OWED}) o ON o.payroll_id = p.id
         WHERE b.kind = 'debit' AND b.status <> 'cancelled'
        """,
        money={"amount": ("amount", "owed")},
    )
    # A debit that is returned after the credits were sent doesn't change the payroll; see `hearthpay bank`.
    counts = unequal(
        "payroll",
        f"""
        SELECT p.id, coalesce(b.under_way, 0) AS under_way,
               CASE WHEN NOT p.direct_deposit OR coalesce(o.amount, 0) = 0 THEN 0
                    WHEN p.status = 'pending_funding' THEN 1
                    WHEN p.status IN ('processing', 'completed') AND b.settled = 0 AND b.returned > 0
                         AND (EXISTS (SELECT FROM bank_entries c WHERE c.payroll_id = p.id AND c.kind = 'credit'
                                         AND c.status IN ('sent', 'settled'))
                              OR EXISTS (SELECT FROM paycheck_remedies d
                                          WHERE d.payroll_id = p.id AND d.action = 'pay_by_check')) THEN 0
                    WHEN p.status IN ('processing', 'completed') THEN 1
                    WHEN p.status = 'failed' THEN least(coalesce(b.under_way, 0), 1)
                    WHEN p.status = 'voided' THEN least(coalesce(b.settled, 0), 1)
                    ELSE 0
               END AS expected,
               coalesce(b.settled, 0) AS settled,
               CASE WHEN p.status IN ('processing', 'completed') THEN coalesce(b.under_way, 0)
                    ELSE coalesce(b.settled, 0) END AS expected_settled,
               coalesce(b.attempts, 0) AS attempts, coalesce(b.last_attempt, 0) AS last_attempt
          FROM payrolls p LEFT JOIN ({_OWED}) o ON o.payroll_id = p.id
          LEFT JOIN (SELECT payroll_id, count(*) FILTER (WHERE status IN {UNDER_WAY}) AS under_way,
                            count(*) FILTER (WHERE status = 'settled') AS settled,
                            count(*) FILTER (WHERE status = 'returned') AS returned,
                            count(*) AS attempts, max(attempt) AS last_attempt
                       FROM bank_entries WHERE kind = 'debit' GROUP BY payroll_id) b ON b.payroll_id = p.id
        """,
        other={
            "debits under way or settled": ("under_way", "expected"),
            "settled debits": ("settled", "expected_settled"),
            "attempts to debit": ("attempts", "last_attempt"),
        },
    )
    return f"{amounts} UNION ALL {counts}"


def deposits_paid() -> str:
    """Once the debit is settled, each direct deposit is paid out once and in full; nothing else is."""
    amounts = unequal(
        "bank_entry",
        """
        SELECT b.id, b.amount, b.payroll_id, c.payroll_id AS c_payroll_id,
               CASE WHEN c.payment_method = 'direct_deposit' AND p.direct_deposit AND c.reverses IS NULL
                    THEN c.net_pay ELSE 0 END AS owed
          FROM bank_entries b JOIN paychecks c ON c.id = b.paycheck_id JOIN payrolls p ON p.id = c.payroll_id
         WHERE b.kind = 'credit' AND b.status <> 'cancelled'
        """,
        money={"amount": ("amount", "owed")},
        other={"payroll_id": ("payroll_id", "c_payroll_id")},
    )
    states = f"""
        SELECT 'paycheck' AS subject, c.id, 'credit of payroll ' || p.status AS what, coalesce(b.status, 'none'),
               CASE p.status WHEN 'completed' THEN 'settled' WHEN 'processing' THEN 'under way' ELSE 'none' END
          FROM payrolls p JOIN paychecks c ON c.payroll_id = p.id
          LEFT JOIN bank_entries b ON b.paycheck_id = c.id AND b.kind = 'credit'
         WHERE p.direct_deposit AND c.reverses IS NULL AND c.payment_method = 'direct_deposit' AND c.net_pay > 0
           AND NOT ({BY_CHECK} AND p.status IN ('processing', 'completed') AND b.status = 'cancelled')
           AND CASE p.status WHEN 'completed' THEN b.status IS DISTINCT FROM 'settled'
                             WHEN 'processing' THEN coalesce(b.status, '') NOT IN {UNDER_WAY}
                             WHEN 'failed' THEN false
                             ELSE b.status IN {UNDER_WAY} OR b.status = 'returned' END
    """
    return f"{amounts} UNION ALL {states}"


def arrivals() -> str:
    """A direct deposit arrives in the year that its paycheck belongs to."""
    return unequal(
        "bank_entry",
        "SELECT b.id, extract(year FROM b.effective_date)::int AS year, c.tax_year FROM bank_entries b "
        "JOIN paychecks c ON c.id = b.paycheck_id WHERE b.kind = 'credit' AND b.effective_date IS NOT NULL",
        other={"year of arrival": ("year", "tax_year")},
    )


def refunds() -> str:
    """What was collected for a paycheck and is reversed goes back to the household, with what was set aside."""
    return unequal(
        "paycheck",
        f"""
        SELECT c.id, coalesce(b.amount, 0) AS refunded,
               CASE WHEN NOT p.direct_deposit OR c.payment_method <> 'direct_deposit' THEN 0
                    WHEN {BY_CHECK} AND NOT {REVERSED} THEN
                         CASE WHEN p.status = 'failed' THEN coalesce(b.amount, 0)
                              WHEN EXISTS (SELECT FROM bank_entries d WHERE d.payroll_id = p.id AND d.kind = 'debit'
                                                                        AND d.status = 'settled') THEN c.net_pay
                              ELSE coalesce(b.amount, 0) END
                    WHEN NOT {REVERSED} THEN 0
                    WHEN EXISTS (SELECT FROM bank_entries d WHERE d.payroll_id = p.id AND d.kind = 'debit'
                                                              AND d.status = 'settled') THEN c.net_pay + c.set_aside
                    WHEN EXISTS (SELECT FROM bank_entries k WHERE k.paycheck_id = c.id AND k.kind = 'credit'
                                                              AND k.status = 'returned')
                         AND coalesce(b.amount, 0) = c.net_pay + c.set_aside THEN b.amount
                    WHEN b.gone THEN b.amount
                    ELSE 0 END AS expected
          FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id
          LEFT JOIN (SELECT paycheck_id, sum(amount) AS amount, bool_and(status IN ('sent', 'settled')) AS gone
                       FROM bank_entries WHERE kind = 'refund' AND status IN {UNDER_WAY} GROUP BY paycheck_id) b
            ON b.paycheck_id = c.id
         WHERE c.reverses IS NULL
           AND (b.paycheck_id IS NOT NULL OR p.status IN ('failed', 'voided') OR p.direct_deposit AND {BY_CHECK})
        """,
        money={"refund": ("refunded", "expected")},
    )


def settlements_noted() -> str:
    """Each payment that a household made by other means is recorded in the audit log: day, amount and source."""
    return """
        WITH said AS (
            SELECT a.subject_id AS payroll_id, count(*) AS times,
                   concat_ws(', ', (a.details ->> 'amount')::numeric(15, 2), a.details ->> 'received_on',
                             a.details ->> 'told_by') AS what
              FROM audit_log a JOIN payrolls p ON p.id = a.subject_id
             WHERE a.action = 'payroll.settle' GROUP BY 1, 3),
        noted AS (
            SELECT s.payroll_id, count(*) AS times,
                   concat_ws(', ', (s.amount / 100.0)::numeric(15, 2), s.received_on::text, s.told_by) AS what
              FROM wage_settlements s GROUP BY 1, 3)
        SELECT 'payroll' AS subject, payroll_id AS id, 'settled: ' || what AS what,
               coalesce(noted.times, 0) || ' times' AS recorded, coalesce(said.times, 0) || ' times' AS expected
          FROM noted FULL JOIN said USING (payroll_id, what)
         WHERE noted.times IS DISTINCT FROM said.times
    """


def open_money() -> str:
    """No money is stuck, and none is owed that was paid out; see `hearthpay bank exposure`."""
    return f"""
        SELECT CASE WHEN kind = 'set_aside_overdrawn' THEN 'employee'
                    WHEN kind IN ('wages_not_collected', 'settled_too_much') THEN 'payroll'
                    WHEN kind = 'file_unread' THEN 'bank_file' ELSE 'bank_entry' END AS subject,
               id, kind || ' since ' || since AS what, {dollars("amount")} AS recorded, '0.00' AS expected
          FROM ({OPEN_CASES}) AS open
    """
