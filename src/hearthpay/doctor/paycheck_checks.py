"""Laws of the paychecks: their sums, their year, their payroll, and their reversals.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from typing import Final

from hearthpay.doctor.comparison import BY_CHECK, EARNINGS, HOURS, PAID, REVERSED, UNDER_WAY, WHITE, unequal

_KIND_FROM_NOTES: Final = (
    f"CASE lower(btrim(notes, {WHITE})) WHEN 'catch-up' THEN 'catch_up' WHEN 'fica-refund' THEN 'fica_refund' "
    "ELSE 'regular' END"
)


def paycheck_sums() -> str:
    """Net pay is gross pay less taxes and what is set aside, and gross pay the sum of the earnings."""
    return unequal(
        "paycheck",
        "SELECT * FROM paychecks",
        money={
            "gross_pay": ("gross_pay", " + ".join(EARNINGS)),
            "net_pay": ("net_pay", "gross_pay - employee_taxes - set_aside"),
            "total_cost": ("total_cost", "gross_pay + employer_taxes"),
        },
    )


def paycheck_taxes() -> str:
    """A paycheck's taxes are the sums of its lines, the employee's and the household's separately."""
    return unequal(
        "paycheck",
        """
        SELECT c.id, c.employee_taxes, c.employer_taxes, coalesce(l.employee, 0) AS employee,
               coalesce(l.employer, 0) AS employer
          FROM paychecks c
          LEFT JOIN (SELECT paycheck_id, sum(amount) FILTER (WHERE payer = 'employee') AS employee,
                            sum(amount) FILTER (WHERE payer = 'employer') AS employer
                       FROM paycheck_lines GROUP BY paycheck_id) l ON l.paycheck_id = c.id
        """,
        money={
            "employee_taxes": ("employee_taxes", "employee"),
            "employer_taxes": ("employer_taxes", "employer"),
        },
    )


def line_sets() -> str:
    """A paycheck has one figure of each kind for every line of its set, and its set is there."""
    return unequal(
        "paycheck",
        """
        SELECT c.id, cardinality(c.line_amounts) AS figures, cardinality(s.codes) AS lines
          FROM paychecks c LEFT JOIN line_sets s ON s.id = c.line_set_id WHERE c.line_set_id IS NOT NULL
        """,
        other={"line_set": ("figures", "lines")},
    )


def payroll_kinds() -> str:
    """A payroll's kind is the one that its notes asked for."""
    return unequal(
        "payroll",
        f"SELECT id, kind, {_KIND_FROM_NOTES} AS requested FROM payrolls",
        other={"kind": ("kind", "requested")},
    )


def tax_years() -> str:
    """A payroll and its paychecks belong to the year of the pay date, a refund to that of its period."""
    payrolls = unequal(
        "payroll",
        """
        SELECT id, tax_year,
               extract(year FROM CASE kind WHEN 'fica_refund' THEN period_end ELSE pay_date END)::int AS year
          FROM payrolls
        """,
        other={"tax_year": ("tax_year", "year")},
    )
    paychecks = unequal(
        "paycheck",
        "SELECT c.id, c.tax_year, p.tax_year AS year FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id",
        other={"tax_year": ("tax_year", "year")},
    )
    return f"{payrolls} UNION ALL {paychecks}"


def payroll_totals() -> str:
    """A payroll's totals are the sums of its paychecks, even after they were reversed."""
    return unequal(
        "payroll",
        f"""
        SELECT p.id, p.gross_pay, p.total_deductions, p.net_pay, p.employer_taxes, p.total_cost,
               coalesce(c.gross_pay, 0) AS c_gross_pay, coalesce(c.net_pay, 0) AS c_net_pay,
               coalesce(c.employer_taxes, 0) AS c_employer_taxes, coalesce(c.total_cost, 0) AS c_total_cost
          FROM payrolls p
          LEFT JOIN (SELECT payroll_id, sum(gross_pay) AS gross_pay, sum(net_pay) AS net_pay,
                            sum(employer_taxes) AS employer_taxes, sum(total_cost) AS total_cost
                       FROM paychecks WHERE reverses IS NULL GROUP BY payroll_id) c ON c.payroll_id = p.id
         WHERE c.payroll_id IS NOT NULL OR p.status IN {PAID}
        """,
        money={
            "gross_pay": ("gross_pay", "c_gross_pay"),
            "total_deductions": ("total_deductions", "c_gross_pay - c_net_pay"),
            "net_pay": ("net_pay", "c_net_pay"),
            "employer_taxes": ("employer_taxes", "c_employer_taxes"),
            "total_cost": ("total_cost", "c_total_cost"),
        },
    )


def reversals() -> str:
    """A reversed paycheck is undone to the cent, line by line, by one of the same payroll."""
    amounts = (
        *HOURS,
        *EARNINGS,
        "gross_pay",
        "employee_taxes",
        "employer_taxes",
        "set_aside",
        "net_pay",
        "total_cost",
    )
    same = ("payroll_id", "payment_method", "period")
    sides = ", ".join(f"r.{name} AS r_{name}, c.{name} AS c_{name}" for name in amounts + same)
    paychecks = unequal(
        "paycheck",
        f"SELECT r.id, r.position AS r_position, c.position AS c_position, c.reverses AS c_reverses, {sides} "
        "FROM paychecks r JOIN paychecks c ON c.id = r.reverses",
        other={name: (f"r_{name}", f"-c_{name}") for name in amounts}
        | {name: (f"r_{name}", f"c_{name}") for name in same}
        | {
            "position": ("r_position", "-1 - c_position"),
            "reversing a reversal": ("c_reverses", "NULL::uuid"),
        },
    )
    lines = unequal(
        "paycheck",
        """
        SELECT coalesce(r.paycheck_id, c.paycheck_id) AS id, position, r.code AS r_code, c.code AS c_code,
               r.payer AS r_payer, c.payer AS c_payer, r.subject_wages AS r_subject, c.subject_wages AS c_subject,
               r.taxable_wages AS r_taxable, c.taxable_wages AS c_taxable, r.amount AS r_amount, c.amount AS c_amount
          FROM (SELECT l.* FROM paychecks k JOIN paycheck_lines l ON l.paycheck_id = k.id
                 WHERE k.reverses IS NOT NULL) r
          FULL JOIN (SELECT k.id AS paycheck_id, l.position, l.code, l.payer, l.subject_wages, l.taxable_wages, l.amount
                       FROM paychecks k JOIN paycheck_lines l ON l.paycheck_id = k.reverses) c
         USING (paycheck_id, position)
        """,
        money={
            "subject_wages": ("r_subject", "-c_subject"),
            "taxable_wages": ("r_taxable", "-c_taxable"),
            "amount": ("r_amount", "-c_amount"),
        },
        other={"code": ("r_code", "c_code"), "payer": ("r_payer", "c_payer")},
        detail="' of the line at position ' || s.position",
    )
    return f"{paychecks} UNION ALL {lines}"


def reversed_when() -> str:
    """Paychecks of voided payrolls are reversed; of a failed payroll, those that the bank didn't pay, possibly those
    by check.
    """
    return unequal(
        "paycheck",
        f"""
        SELECT c.id, {REVERSED} AS reversed,
               CASE WHEN p.status = 'voided' THEN true
                    WHEN p.status <> 'failed' THEN false
                    WHEN c.payment_method <> 'direct_deposit' OR {BY_CHECK} THEN {REVERSED}
                    WHEN c.net_pay = 0 THEN {REVERSED}
                    ELSE NOT EXISTS (SELECT FROM bank_entries b WHERE b.paycheck_id = c.id AND b.kind = 'credit'
                                                                  AND b.status IN {UNDER_WAY})
                         OR EXISTS (SELECT FROM bank_entries b WHERE b.paycheck_id = c.id AND b.kind = 'reversal'
                                                                 AND b.status = 'settled')
                         OR {REVERSED} AND EXISTS (SELECT FROM bank_entries b WHERE b.paycheck_id = c.id
                                                       AND b.kind = 'reversal' AND b.status = 'returned')
               END AS expected
          FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id WHERE c.reverses IS NULL
        """,
        other={"reversed": ("reversed", "expected")},
    )
