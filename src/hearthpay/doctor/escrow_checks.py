"""Laws of set-asides: balances, movements, and payouts.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from hearthpay.doctor.comparison import unequal


def escrow_balances() -> str:
    """An escrow account is the sum of its movements; what came and went by bank is held."""
    return unequal(
        "employee",
        """
        SELECT employee_id AS id, coalesce(a.balance, 0) AS balance, coalesce(a.held, 0) AS held,
               coalesce(m.balance, 0) AS m_balance, coalesce(m.held, 0) AS m_held
          FROM escrow_accounts a
          FULL JOIN (SELECT employee_id, sum(amount) AS balance,
                            coalesce(sum(amount) FILTER (WHERE payment_method = 'direct_deposit'), 0) AS held
                       FROM escrow_movements GROUP BY employee_id) m USING (employee_id)
        """,
        money={"balance": ("balance", "m_balance"), "held": ("held", "m_held")},
    )


def escrow_history() -> str:
    """Each movement of an escrow account states the balance it led to."""
    return unequal(
        "escrow_movement",
        "SELECT id, balance, sum(amount) OVER (PARTITION BY employee_id ORDER BY id) AS so_far FROM escrow_movements",
        money={"balance": ("balance", "so_far")},
    )


def escrow_deposits() -> str:
    """What each paycheck sets aside, and nothing else, is deposited, and withdrawn by its reversal."""
    return unequal(
        "paycheck",
        """
        SELECT coalesce(c.id, m.paycheck_id) AS id, coalesce(m.amount, 0) AS amount,
               coalesce(c.set_aside, 0) AS set_aside, m.kind,
               CASE WHEN c.reverses IS NULL THEN 'deposit' ELSE 'reversal' END AS expected_kind,
               m.payment_method, CASE WHEN c.payment_method = 'direct_deposit' AND NOT p.direct_deposit THEN 'check'
                                      ELSE c.payment_method END AS expected_method,
               c.set_aside_balance,
               CASE WHEN c.reverses IS NULL THEN m.balance ELSE c.set_aside_balance END AS expected_balance
          FROM (SELECT * FROM paychecks WHERE set_aside <> 0) c
          FULL JOIN (SELECT * FROM escrow_movements WHERE paycheck_id IS NOT NULL) m ON m.paycheck_id = c.id
          LEFT JOIN payrolls p ON p.id = c.payroll_id
        """,
        money={
            "movement": ("amount", "set_aside"),
            "set_aside_balance": ("set_aside_balance", "expected_balance"),
        },
        other={"kind": ("kind", "expected_kind"), "payment_method": ("payment_method", "expected_method")},
    )


def escrow_payouts() -> str:
    """Each payout by direct deposit of set-aside money is sent to the bank once, and restored once if returned."""
    sent = unequal(
        "escrow_movement",
        """
        SELECT coalesce(m.id, b.escrow_movement_id) AS id, coalesce(b.amount, 0) AS sent, coalesce(-m.amount, 0) AS paid
          FROM (SELECT * FROM escrow_movements WHERE kind = 'payout' AND payment_method = 'direct_deposit') m
          FULL JOIN (SELECT * FROM bank_entries WHERE kind = 'payout' AND status <> 'cancelled') b
            ON b.escrow_movement_id = m.id
        """,
        money={"bank entry": ("sent", "paid")},
    )
    returned = unequal(
        "employee",
        """
        SELECT employee_id AS id, coalesce(m.amount, 0) AS movements, coalesce(b.amount, 0) AS returned
          FROM (SELECT employee_id, sum(amount) AS amount FROM escrow_movements
                 WHERE kind = 'payout_returned' GROUP BY employee_id) m
          FULL JOIN (SELECT employee_id, sum(amount) AS amount FROM bank_entries
                      WHERE kind = 'payout' AND status = 'returned' GROUP BY employee_id) b USING (employee_id)
        """,
        money={"returned payouts": ("movements", "returned")},
    )
    return f"{sent} UNION ALL {returned}"
