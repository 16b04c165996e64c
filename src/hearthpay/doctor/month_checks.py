"""Laws of the months' sums: what is kept for an employee and a month is the sum of the paychecks and their lines.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from typing import Final

from hearthpay.doctor.comparison import unequal

_KEY: Final = "employee_id, tax_year, month, work_state, refund"
_PAID: Final = (
    "SELECT c.id AS paycheck_id, c.employee_id, c.tax_year, date_trunc('month', p.pay_date)::date AS month, "
    "c.work_state, c.gross_pay = 0 AS refund, c.gross_pay FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id"
)
_DETAIL: Final = (
    "' of ' || to_char(s.month, 'YYYY-MM') || ' in ' || s.work_state "
    "|| CASE WHEN s.refund THEN ', refunds' ELSE '' END"
)


def month_totals() -> str:
    """An employee's balance of a month and work state is the sum of gross pay by the months of the pay dates."""
    return unequal(
        "employee",
        f"""
        SELECT employee_id AS id, {_KEY}, coalesce(b.gross_pay, 0) AS b_gross_pay,
               coalesce(c.gross_pay, 0) AS c_gross_pay
          FROM month_balances b
          FULL JOIN (SELECT {_KEY}, sum(gross_pay) AS gross_pay FROM ({_PAID}) p GROUP BY {_KEY}) c USING ({_KEY})
        """,
        money={"gross_pay": ("b_gross_pay", "c_gross_pay")},
        detail=_DETAIL,
    )


def month_lines() -> str:
    """An employee's balance of a month and work state is, code by code, the sum of the month's lines."""
    return unequal(
        "employee",
        f"""
        SELECT employee_id AS id, {_KEY}, code,
               coalesce(b.subject_wages, 0) AS b_subject, coalesce(l.subject_wages, 0) AS l_subject,
               coalesce(b.taxable_wages, 0) AS b_taxable, coalesce(l.taxable_wages, 0) AS l_taxable,
               coalesce(b.amount, 0) AS b_amount, coalesce(l.amount, 0) AS l_amount
          FROM (SELECT {_KEY}, u.code, sum(u.subject_wages) AS subject_wages, sum(u.taxable_wages) AS taxable_wages,
                       sum(u.amount) AS amount
                  FROM month_balances m, unnest(m.codes, m.subject_wages, m.taxable_wages, m.amounts)
                       AS u (code, subject_wages, taxable_wages, amount)
                 GROUP BY {_KEY}, u.code) b
          FULL JOIN (SELECT p.employee_id, p.tax_year, p.month, p.work_state, p.refund, l.code,
                            sum(l.subject_wages) AS subject_wages, sum(l.taxable_wages) AS taxable_wages,
                            sum(l.amount) AS amount
                       FROM ({_PAID}) p JOIN paycheck_lines l ON l.paycheck_id = p.paycheck_id
                      GROUP BY 1, 2, 3, 4, 5, 6) l
         USING ({_KEY}, code)
        """,
        money={
            "subject_wages": ("b_subject", "l_subject"),
            "taxable_wages": ("b_taxable", "l_taxable"),
            "amount": ("b_amount", "l_amount"),
        },
        detail=f"' of ' || s.code || {_DETAIL}",
    )
