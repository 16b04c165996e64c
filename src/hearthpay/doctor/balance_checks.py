"""Laws of the year's sums: balances, and the year to date of the latest paycheck, are sums of the paychecks.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from typing import Final

from hearthpay.doctor.comparison import unequal
from hearthpay.doctor.year_checks import RELINKED

_COUNTED_BY: Final = "p.id < paycheck_id AND (p.replaced_by IS NULL OR p.replaced_by > paycheck_id)"
"""Whether prior wages `p` counted when a paycheck was made: they had been entered by then, and not been replaced
yet."""

_TOTALS: Final = ("gross_pay", "net_pay", "employee_taxes", "employer_taxes")


def year_totals() -> str:
    """An employee's balance of a year is the sum of the year's paychecks."""
    names = ("gross_pay", "net_pay", "employee_taxes", "employer_taxes")
    sums = ", ".join(f"sum({name}) AS {name}" for name in names)
    sides = ", ".join(
        f"coalesce(b.{name}, 0) AS b_{name}, coalesce(c.{name}, 0) AS c_{name}" for name in names
    )
    return unequal(
        "employee",
        f"SELECT employee_id AS id, tax_year, {sides} FROM year_balances b "
        f"FULL JOIN (SELECT employee_id, tax_year, {sums} FROM paychecks GROUP BY employee_id, tax_year) c "
        "USING (employee_id, tax_year)",
        money={name: (f"b_{name}", f"c_{name}") for name in names},
        detail="' of ' || s.tax_year",
    )


def year_lines() -> str:
    """An employee's balance of a year is, code by code, the sum of the year's lines."""
    return unequal(
        "employee",
        """
        SELECT employee_id AS id, tax_year, code, coalesce(b.taxable_wages, 0) AS b_taxable,
               coalesce(b.amount, 0) AS b_amount, coalesce(l.taxable_wages, 0) AS l_taxable,
               coalesce(l.amount, 0) AS l_amount, coalesce(l.subject_wages, 0) AS l_subject,
               CASE WHEN b.not_kept THEN coalesce(l.subject_wages, 0) ELSE coalesce(b.subject_wages, 0) END AS b_subject
          FROM (SELECT y.employee_id, y.tax_year, y.subject_wages IS NULL AS not_kept, u.*
                  FROM year_balances y, unnest(y.codes, y.subject_wages, y.taxable_wages, y.amounts)
                       AS u (code, subject_wages, taxable_wages, amount)
               ) b
          FULL JOIN (SELECT employee_id, tax_year, code, sum(subject_wages) AS subject_wages,
                            sum(taxable_wages) AS taxable_wages, sum(amount) AS amount
                       FROM paycheck_lines GROUP BY employee_id, tax_year, code) l
         USING (employee_id, tax_year, code)
        """,
        money={
            "subject_wages": ("b_subject", "l_subject"),
            "taxable_wages": ("b_taxable", "l_taxable"),
            "amount": ("b_amount", "l_amount"),
        },
        detail="' of ' || s.code || ' in ' || s.tax_year",
    )


def latest_to_date() -> str:
    """The latest paycheck of a year, and its latest line of each code, show the sums to date, prior wages included.

    They are the person's; for records that were linked or unlinked, it is the latest paycheck since then.
    """
    alone = f"employee_id NOT IN ({RELINKED})"
    those_alone = _latest_to_date(
        f"SELECT * FROM paychecks WHERE {alone}",
        f"SELECT * FROM paycheck_lines WHERE {alone}",
        "SELECT * FROM prior_wages",
    )
    # Each record with the person's records, and the last change of their links.
    records = f"""
        (SELECT DISTINCT ON (r.id) r.id AS employee_id, coalesce(r.person_id, r.id) AS person, a.id AS changed
           FROM (SELECT DISTINCT coalesce(person_id, id) AS id FROM employees WHERE id IN ({RELINKED})) p
           JOIN employees r ON coalesce(r.person_id, r.id) = p.id
           JOIN employees m ON coalesce(m.person_id, m.id) = p.id
           JOIN audit_log a ON a.action = 'employee.same_person'
                AND (a.subject_id = m.id OR a.details -> 'before' ->> 'person_id' = p.id::text)
          ORDER BY r.id, a.id DESC) k
    """
    columns = "k.person AS employee_id, k.changed, c.tax_year"
    those_linked = _latest_to_date(
        f"SELECT {columns}, c.id, {_totals('c.')}, {_totals('c.ytd_')} "
        f"FROM {records} JOIN paychecks c USING (employee_id)",
        f"SELECT {columns}, c.code, c.amount, c.ytd_amount, c.paycheck_id "
        f"FROM {records} JOIN paycheck_lines c USING (employee_id)",
        "SELECT k.person AS employee_id, c.id, c.replaced_by, c.tax_year, c.codes, c.amounts, "
        f"{_totals('c.')} FROM {records} JOIN prior_wages c USING (employee_id)",
        changed="changed",
    )
    return f"{those_alone} UNION ALL {those_linked}"


def _totals(prefix: str) -> str:
    return ", ".join(f"{prefix}{name}" for name in _TOTALS)


def _latest_to_date(paid: str, lines: str, prior: str, *, changed: str = "NULL::uuid") -> str:
    """Compare the year to date of the latest paychecks and lines with their sums; none older than ``changed``."""
    sums = ", ".join(f"sum({name}) AS {name}" for name in _TOTALS)
    expected = ", ".join(f"year.{name} + coalesce(prior.{name}, 0) AS {name}" for name in _TOTALS)
    paychecks = unequal(
        "employee",
        f"SELECT latest.employee_id AS id, latest.*, {expected} FROM (SELECT DISTINCT ON (employee_id, tax_year) "
        f"employee_id, tax_year, id AS paycheck_id, {_totals('ytd_')}, {changed} AS changed "
        f"FROM ({paid}) p ORDER BY employee_id DESC, tax_year DESC, id DESC) latest "
        f"JOIN (SELECT employee_id, tax_year, {sums} FROM ({paid}) p GROUP BY employee_id, tax_year) year "
        "ON year.employee_id = latest.employee_id AND year.tax_year = latest.tax_year "
        f"LEFT JOIN LATERAL (SELECT {sums} FROM ({prior}) p WHERE p.employee_id = latest.employee_id "
        f"AND p.tax_year = latest.tax_year AND {_COUNTED_BY}) prior ON true "
        "WHERE changed IS NULL OR paycheck_id > changed",
        money={f"ytd_{name}": (f"ytd_{name}", name) for name in _TOTALS},
        detail="' of the latest paycheck of ' || s.tax_year",
    )
    # The latest line is the greatest of id and amount as text: one pass over all lines, and no sort of them.
    latest_lines = unequal(
        "employee",
        f"""
        SELECT latest.id, latest.tax_year, latest.code, latest.amount + coalesce(prior.amount, 0) AS amount,
               substring(latest.newest FROM 37)::bigint AS ytd_amount
          FROM (SELECT employee_id AS id, tax_year, code, sum(amount) AS amount,
                       max((paycheck_id::text || ytd_amount) COLLATE "C") AS newest, max({changed}::text) AS changed
                  FROM ({lines}) l GROUP BY employee_id, tax_year, code) latest
          LEFT JOIN LATERAL (
               SELECT sum(u.amount) AS amount
                 FROM (SELECT left(latest.newest, 36)::uuid AS paycheck_id) paid,
                      ({prior}) p, unnest(p.codes, p.amounts) AS u (code, amount)
                WHERE p.employee_id = latest.id AND p.tax_year = latest.tax_year AND u.code = latest.code
                  AND {_COUNTED_BY}) prior ON true
         WHERE changed IS NULL OR left(latest.newest, 36) > changed
        """,
        money={"ytd_amount": ("ytd_amount", "amount")},
        detail="' of the latest line ' || s.code || ' of ' || s.tax_year",
    )
    return f"{paychecks} UNION ALL {latest_lines}"
