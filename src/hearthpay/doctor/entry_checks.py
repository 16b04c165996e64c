"""Laws of payroll entries: what was ordered is what is paid, and no hours are paid twice.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from typing import Final

from hearthpay.doctor.comparison import EARNINGS, HOURS, PAID, REVERSED, unequal

_WAS_PAID: Final = f"""
    (p.status IN {PAID} OR p.status IN ('voided', 'failed') AND EXISTS (
        SELECT FROM payroll_transitions t WHERE t.payroll_id = p.id AND t.to_status IN {PAID}))
"""
"""Whether a payroll `p` has ever been paid: a failed or voided one may have been, or not."""


def entries_paid() -> str:
    """Every entry of a paid payroll has one paycheck for what was ordered, and no other payroll has any."""
    same = ("employee_id", "period", "payment_method", *HOURS, *EARNINGS, "salary")
    sides = ", ".join(f"e.{name} AS e_{name}, c.{name} AS c_{name}" for name in same)
    paired = f"""
        SELECT p.id, coalesce(e.position, c.position) AS position, e.payroll_id IS NOT NULL AS asked,
               c.payroll_id IS NOT NULL AS paid, {_WAS_PAID} AS was_paid, {sides}
          FROM payroll_entries e
          FULL JOIN (SELECT * FROM paychecks WHERE reverses IS NULL) c USING (payroll_id, position)
          JOIN payrolls p ON p.id = payroll_id
    """
    presence = unequal(
        "payroll",
        paired,
        other={"entry": ("asked", "true"), "paycheck": ("paid", "was_paid")},
        detail="' at position ' || s.position",
    )
    content = unequal(
        "payroll",
        f"{paired} WHERE e.payroll_id IS NOT NULL AND c.payroll_id IS NOT NULL",
        other={name: (f"c_{name}", f"e_{name}") for name in same},
        detail="' of the paycheck at position ' || s.position",
    )
    empty = """
        SELECT 'payroll', p.id, 'entries', '0', '1 or more' FROM payrolls p
         WHERE NOT EXISTS (SELECT FROM payroll_entries e WHERE e.payroll_id = p.id)
    """
    return f"{presence} UNION ALL {content} UNION ALL {empty}"


def entries_live() -> str:
    """An entry counts against a second payment of its period until it is voided or its payment has failed."""
    return unequal(
        "payroll",
        f"""
        SELECT e.payroll_id AS id, e.position, e.live,
               p.status <> 'voided' AND NOT (c.id IS NULL AND p.status = 'failed') AND NOT {REVERSED} AS expected
          FROM payroll_entries e JOIN payrolls p ON p.id = e.payroll_id
          LEFT JOIN paychecks c ON c.payroll_id = e.payroll_id AND c.position = e.position
        """,
        other={"live": ("live", "expected")},
        detail="' of the entry at position ' || s.position",
    )


def entries_apart() -> str:
    """No two live entries of an employee with hours or a salary have a day in common."""
    return """
        SELECT 'employee' AS subject, employee_id AS id, 'period of payroll ' || payroll_id AS what,
               period::text AS recorded, 'after ' || (until - 1) AS expected
          FROM (SELECT employee_id, payroll_id, period,
                       max(upper(period)) OVER (PARTITION BY employee_id ORDER BY lower(period), payroll_id
                                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until
                  FROM payroll_entries WHERE live AND (regular_hours > 0 OR overtime_hours > 0 OR salary IS NOT NULL)) e
         WHERE lower(period) < until
    """


_PERIODS: Final = (
    "CASE pay_frequency WHEN 'weekly' THEN 52 WHEN 'biweekly' THEN 26 WHEN 'semimonthly' THEN 24 ELSE 12 END"
)
_NUMBER: Final = """
    CASE pay_frequency WHEN 'weekly' THEN (last - date '0001-01-01' + 1) / 7
                       WHEN 'biweekly' THEN (last - date '0001-01-01' + 1) / 14
                       WHEN 'monthly' THEN 12 * year + month
                       ELSE 2 * (12 * year + month) + CASE WHEN day > 15 THEN 1 ELSE 0 END END
"""
"""The number of a period among all of its frequency, by its last day."""


def salary_shares() -> str:
    """A salary pays its period's share, prorated by working days; a year of full periods pays a year's to the cent."""
    return unequal(
        "payroll",
        f"""
        SELECT payroll_id AS id, position, regular_pay, pay, full_period, frequency, pay_frequency,
               CASE per WHEN 'period' THEN amount
                        ELSE (amount * (number + 1) + periods / 2) / periods - (amount * number + periods / 2) / periods
               END AS full_expected,
               (full_period * paid + 50 * working_days) / nullif(100 * working_days, 0) AS pay_expected
          FROM (SELECT *, {_NUMBER} AS number, {_PERIODS} AS periods
                  FROM (SELECT e.payroll_id, e.position, e.regular_pay, p.pay_frequency, upper(e.period) - 1 AS last,
                               extract(year FROM upper(e.period) - 1)::bigint AS year,
                               extract(month FROM upper(e.period) - 1)::bigint AS month,
                               extract(day FROM upper(e.period) - 1)::bigint AS day,
                               e.salary ->> 'per' AS per, e.salary ->> 'frequency' AS frequency,
                               (e.salary ->> 'amount')::bigint AS amount, (e.salary ->> 'pay')::bigint AS pay,
                               (e.salary ->> 'full_period')::bigint AS full_period,
                               (e.salary ->> 'working_days')::bigint AS working_days,
                               (100 * (e.salary ->> 'paid_days')::numeric)::bigint AS paid
                          FROM payroll_entries e JOIN payrolls p ON p.id = e.payroll_id
                         WHERE e.salary IS NOT NULL) s) n
        """,
        money={
            "regular_pay": ("regular_pay", "pay"),
            "salary of a full period": ("full_period", "full_expected"),
            "salary of the period": ("pay", "pay_expected"),
        },
        other={"frequency of the salary": ("frequency", "pay_frequency")},
        detail="' of the entry at position ' || s.position",
    )
