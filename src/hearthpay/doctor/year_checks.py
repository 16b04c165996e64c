"""The laws of a year of wages: caps and floors, proved from the wages that are subject to them.

They are written like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

import functools
from typing import Final

from hearthpay.doctor.threshold_checks import GOVERNED
from hearthpay.taxes.money import rate_of
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.year import MOST_ROUNDING_CENTS

#: Cents by which the sum of payments, each rounded to the nearest, may differ from the rate times their wages.
_ROUNDING: Final = "0.5 * payments + 0.5"

#: Our own years and what other payrolls paid before; of that, a capped line counts what the law taxes.
_BALANCES: Final = f"""
    {GOVERNED},
    prior AS MATERIALIZED (
        SELECT p.employee_id, p.tax_year, u.code, sum(u.subject) AS subject, sum(u.taxable) AS taxable,
               sum(u.amount) AS amount
          FROM prior_wages p,
               unnest(p.codes, p.subject_wages, p.taxable_wages, p.amounts) AS u (code, subject, taxable, amount)
         WHERE p.replaced_by IS NULL
         GROUP BY 1, 2, 3),
    balance AS MATERIALIZED (
        SELECT y.employee_id, y.tax_year, u.code, u.subject, u.taxable, u.amount, y.owed
          FROM year_balances y,
               unnest(y.codes, y.subject_wages, y.taxable_wages, y.amounts) AS u (code, subject, taxable, amount)
         WHERE y.subject_wages IS NOT NULL
           AND NOT EXISTS (SELECT FROM governed g WHERE g.employee_id = y.employee_id AND g.tax_year = y.tax_year))
"""


@functools.cache
def _law() -> str:
    """The capped lines of every year that has rules, as rows: where, measured on what, up to or above which cents."""
    rows: dict[tuple[int, str], str] = {}
    for year in supported_years():
        rulebook = rulebook_of(year)
        for state in rulebook.supported_states:
            rules = rulebook.state(state)
            for line in (*rulebook.contributions, *rules.contributions):
                if line.is_capped:
                    base = "NULL::bigint" if line.wage_base is None else line.wage_base
                    rate = f"{rate_of(line.rate):f}::numeric"
                    rows[year, line.code] = (
                        f"({year}, '{line.code}', '{line.ytd_code}', {base}, {line.wage_floor}::bigint, {rate})"
                    )
    return f"law (tax_year, code, ytd_code, base, floor, rate) AS (VALUES {', '.join(rows.values())})"


def _due(subject: str) -> str:
    """The part of a year's subject wages that is taxed."""
    return f"CASE WHEN law.base IS NULL THEN greatest({subject} - law.floor, 0) ELSE least({subject}, law.base) END"


def _own_due() -> str:
    """The part of our own subject wages that is taxed after those of other payrolls."""
    return f"({_due('(w.subject + coalesce(p.subject, 0))')} - {_due('coalesce(p.subject, 0)')})"


def _dollars(cents: str) -> str:
    return f"to_char(({cents}) / 100.0, 'FM99999999999999990.00')"


def year_caps() -> str:
    """Each capped line of a year has taxed what the year's subject wages demand, or the rest is noted as owed."""
    return f"""
        WITH {_law()}, {_BALANCES}
        SELECT 'employee' AS subject, w.employee_id AS id,
               'taxable wages of ' || law.code || ' in ' || law.tax_year AS what,
               {_dollars("coalesce(t.taxable, 0)")} AS recorded, {_dollars(_own_due())} AS expected
          FROM balance w JOIN law ON law.tax_year = w.tax_year AND law.ytd_code = w.code
          LEFT JOIN balance t ON t.employee_id = w.employee_id AND t.tax_year = w.tax_year AND t.code = law.code
          LEFT JOIN prior p ON p.employee_id = w.employee_id AND p.tax_year = w.tax_year AND p.code = law.ytd_code
         WHERE coalesce(t.taxable, 0) <> {_own_due()} AND NOT w.owed ? law.code
    """


def year_taxes() -> str:
    """Each capped line of a year comes, with what is owed of it, to what the standing paychecks demand, in their order.

    Every paycheck takes what the earlier ones have left below the cap at its own rate, and a line that has one rate
    ends on exactly the year's maximum.
    """
    # Where nothing was ever undone or is owed, each line has been charged on its own wages: a sum tells all.
    return f"""
        WITH {_law()}, {_BALANCES},
        mended AS MATERIALIZED (
            SELECT employee_id, tax_year FROM paychecks WHERE reverses IS NOT NULL
             UNION SELECT employee_id, tax_year FROM year_balances WHERE owed <> '{{}}'
             UNION SELECT employee_id, tax_year FROM prior_wages),
        plain AS (
            SELECT l.employee_id, l.tax_year, l.code, sum(l.taxable_wages * l.rate) AS demanded,
                   count(*) AS payments, min(l.rate) AS lowest, max(l.rate) AS highest
              FROM paycheck_lines l JOIN law USING (tax_year, code)
             WHERE NOT EXISTS (SELECT FROM mended m WHERE m.employee_id = l.employee_id AND m.tax_year = l.tax_year)
             GROUP BY 1, 2, 3),
        standing AS (
            SELECT c.employee_id, c.tax_year, law.code, law.base, law.floor, c.id,
                   coalesce(o.rate, law.rate) AS rate, w.subject_wages AS subject,
                   sum(w.subject_wages) OVER (PARTITION BY c.employee_id, c.tax_year, law.code ORDER BY c.id)
                       + coalesce(p.subject, 0) AS so_far
              FROM mended m JOIN paychecks c USING (employee_id, tax_year)
              JOIN paycheck_lines w ON w.paycheck_id = c.id
              JOIN law ON law.tax_year = c.tax_year AND law.ytd_code = w.code
              LEFT JOIN prior p ON p.employee_id = c.employee_id AND p.tax_year = c.tax_year AND p.code = law.ytd_code
              LEFT JOIN paycheck_lines o ON o.paycheck_id = c.id AND o.code = law.code
             WHERE c.reverses IS NULL AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)),
        folded AS (
            SELECT law.employee_id, law.tax_year, law.code,
                   sum(({_due("law.so_far")} - {_due("law.so_far - law.subject")}) * law.rate) AS demanded,
                   count(*) AS payments, min(law.rate) AS lowest, max(law.rate) AS highest
              FROM standing law GROUP BY 1, 2, 3),
        demand AS (
            SELECT * FROM plain
             UNION ALL SELECT * FROM folded)
        SELECT 'employee' AS subject, d.employee_id AS id, 'tax of ' || d.code || ' in ' || d.tax_year AS what,
               {_dollars("b.amount + coalesce((b.owed ->> d.code)::bigint, 0)")} AS recorded,
               {_dollars("d.demanded")} AS expected
          FROM demand d
          JOIN balance b ON b.employee_id = d.employee_id AND b.tax_year = d.tax_year AND b.code = d.code
          JOIN law ON law.tax_year = d.tax_year AND law.code = d.code
         WHERE abs(b.amount + coalesce((b.owed ->> d.code)::bigint, 0) - d.demanded) > CASE
                   WHEN d.lowest = d.highest AND d.demanded = law.base * d.lowest THEN 0.5
                   WHEN EXISTS (SELECT FROM prior p WHERE p.employee_id = d.employee_id AND p.tax_year = d.tax_year)
                   THEN {MOST_ROUNDING_CENTS} ELSE {_ROUNDING} END
    """


OPEN: Final = f"""
    SELECT y.employee_id, y.employer_id, y.tax_year, o.key AS code, o.value::bigint AS cents,
           {_dollars("o.value::bigint")} AS amount
      FROM year_balances y, jsonb_each_text(y.owed) AS o
     WHERE o.value::bigint <> 0
     ORDER BY y.employee_id, y.tax_year, o.key
"""
"""What the years still owe, or were charged too much: no difference, but money that the next paycheck moves."""
