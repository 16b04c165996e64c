"""The laws of a year in which the household chose how its thresholds count, or repaid Social Security and Medicare.

Such a year is proved from its wages only, without the service's own records: the household's quarters against the
thresholds, the days from which each line is due, and what the wages of those days require. A person's year is one,
under the id of the first record. `year_checks` proves all other years.
"""

import functools
from typing import Final

from hearthpay.doctor.constant_relations import Value, constant_relation
from hearthpay.doctor.rules_in_force import (
    MEASURED_BY_THEM,
    MEASURED_LINE,
    editions,
    rate_charged,
    rates_in_force,
)
from hearthpay.employers.threshold_basis import AS_PAID
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.liability import guards_of
from hearthpay.taxes.money import rate_of
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.year import MOST_ROUNDING_CENTS

GOVERNED: Final = f"""
    governed AS MATERIALIZED (
        SELECT g.*, coalesce((SELECT b.value FROM jsonb_each_text(m.threshold_bases) b WHERE b.key::int <= g.tax_year
                               ORDER BY b.key::int DESC LIMIT 1), '') = '{AS_PAID}' AS as_paid
          FROM (SELECT coalesce(e.person_id, e.id) AS employee_id, y.employer_id, y.tax_year,
                       bool_or(y.fica_refunded) AS fica_refunded
                  FROM year_balances y JOIN employees e ON e.id = y.employee_id JOIN employers m ON m.id = y.employer_id
                 WHERE m.threshold_bases <> '{{}}' OR y.fica_refunded GROUP BY 1, 2, 3) g
          JOIN employers m ON m.id = g.employer_id)
"""
"""The years proved here, one per person even if only one of the records had its refund."""


_KEY: Final = {"tax_year": "int", "state": "text", "liability": "text"}
_THRESHOLD: Final = _KEY | {
    "cents": "bigint",
    "yearly": "bool",
    "from_new_year": "bool",
    "alone": "bool",
    "next_year_too": "bool",
}
_WAITING: Final = _KEY | {"code": "text", "above_floor": "bool", "exempt": "text"}


@functools.cache
def _law() -> str:
    """The lines that follow the year's wages, and the thresholds with the lines that depend on them, as rows."""
    measured: dict[tuple[int, str], tuple[Value, ...]] = {}
    thresholds: dict[tuple[int, str, str], tuple[Value, ...]] = {}
    waiting: dict[tuple[int, str], tuple[Value, ...]] = {}
    for year in supported_years():
        rulebook = rulebook_of(year)
        for state in rulebook.supported_states:
            lines: dict[str, Contribution] = {
                line.code: line for line in (*rulebook.contributions, *rulebook.state(state).contributions)
            }
            guards = guards_of(year, state)
            guarded = {code for guard in guards for code in guard.codes}
            for line in lines.values():
                if line.follows is not None:
                    continue
                if line.is_capped or (line.code in guarded and line.period_maximum is None):
                    measured[year, line.code] = (
                        year,
                        line.code,
                        line.ytd_code,
                        line.wage_base,
                        line.wage_floor,
                        rate_of(line.rate),
                        line.assigned_rate,
                    )
            for threshold, codes in guards:
                where = "US" if threshold.liability in ("fica", "futa") else state
                key = (year, where, threshold.liability)
                thresholds[key] = (
                    *key,
                    threshold.cents,
                    threshold.period == "year",
                    threshold.reaches_back_to == "year",
                    threshold.per_employee,
                    threshold.next_year_too,
                )
                for code in codes:
                    exempt = ",".join(sorted(lines[code].exempt_relationships))
                    waiting[year, code] = (*key, code, bool(lines[code].wage_floor), exempt)
    law = constant_relation("law", {**MEASURED_LINE, "assigned": "bool"}, measured.values())
    threshold_rows = constant_relation("threshold", _THRESHOLD, thresholds.values())
    waiting_rows = constant_relation("waiting_line", _WAITING, waiting.values())
    return f"""
        {law}, {threshold_rows}, {waiting_rows},
        waiting AS (
            SELECT tax_year, state, liability, code, above_floor, string_to_array(exempt, ',') AS exempt
              FROM waiting_line),
        {rates_in_force()},
        {editions()}
    """


_PAID: Final = """
    household AS MATERIALIZED (SELECT DISTINCT employer_id FROM governed),
    prior AS MATERIALIZED (
        SELECT p.*, e.employer_id AS household, e.work_state, e.relationship,
               ARRAY(SELECT DISTINCT left(c, 2) FROM unnest(p.codes) c WHERE left(c, 2) <> 'US') AS states
          FROM household h JOIN employees e ON e.employer_id = h.employer_id
          JOIN prior_wages p ON p.employee_id = e.id AND p.replaced_by IS NULL),
    paid (employer_id, employee_id, tax_year, quarter, code, cents) AS (
        SELECT c.employer_id, c.employee_id, c.tax_year, extract(quarter FROM r.pay_date)::int, l.code, l.subject_wages
          FROM household h JOIN payrolls r ON r.employer_id = h.employer_id
          JOIN paychecks c ON c.payroll_id = r.id AND c.gross_pay <> 0
          JOIN paycheck_lines l ON l.paycheck_id = c.id
         UNION ALL
        SELECT p.household, p.employee_id, p.tax_year, extract(quarter FROM p.as_of)::int, u.code, u.cents
          FROM prior p, unnest(p.codes, p.subject_wages) AS u (code, cents)
         UNION ALL
        SELECT p.household, p.employee_id, p.tax_year, extract(quarter FROM p.as_of)::int, w.code, p.gross_pay
          FROM prior p
         CROSS JOIN LATERAL (SELECT DISTINCT ON (code) * FROM waiting
                              WHERE tax_year IN (p.tax_year, p.tax_year + 1) ORDER BY code, tax_year) w
         WHERE w.code <> ALL(p.codes) AND NOT w.above_floor AND p.relationship <> ALL(w.exempt)
           AND (w.state = 'US' OR w.state = p.work_state AND (p.states = '{}' OR p.work_state = ANY(p.states)))),
    quarterly AS MATERIALIZED (
        SELECT p.employer_id, CASE WHEN t.alone THEN coalesce(e.person_id, e.id) END AS person, t.tax_year, t.state,
               t.liability, p.tax_year AS paid_in, p.quarter, p.code, sum(p.cents) AS cents
          FROM paid p JOIN employees e ON e.id = p.employee_id
          JOIN waiting w ON w.code = p.code AND w.tax_year IN (p.tax_year, p.tax_year + 1)
          JOIN threshold t ON t.tax_year = w.tax_year AND t.state = w.state AND t.liability = w.liability
         WHERE t.next_year_too OR p.tax_year = t.tax_year
         GROUP BY 1, 2, 3, 4, 5, 6, 7, 8),
    largest AS (
        SELECT employer_id, person, tax_year, state, liability, paid_in, quarter, max(cents) AS cents
          FROM quarterly GROUP BY 1, 2, 3, 4, 5, 6, 7),
    begun AS MATERIALIZED (
        SELECT l.employer_id, l.person, l.tax_year, l.state, l.liability,
               CASE WHEN t.yearly
                    THEN CASE WHEN sum(l.cents) >= t.cents THEN make_date(l.tax_year, 1, 1) END
                    WHEN bool_or(l.cents >= t.cents AND (l.paid_in < l.tax_year OR t.from_new_year))
                    THEN make_date(l.tax_year, 1, 1)
                    ELSE min(make_date(l.tax_year, 3 * l.quarter - 2, 1)) FILTER (WHERE l.cents >= t.cents)
               END AS first_day
          FROM largest l JOIN threshold t USING (tax_year, state, liability)
         GROUP BY l.employer_id, l.person, l.tax_year, l.state, l.liability, t.yearly, t.cents, t.from_new_year)
"""
"""What counts toward thresholds: our own paychecks by quarter, and prior wages, on their `as_of`."""

_DEMAND: Final = f"""
    record AS MATERIALIZED (
        SELECT DISTINCT r.id AS employee_id, g.employee_id AS person
          FROM governed g JOIN employees r ON coalesce(r.person_id, r.id) = g.employee_id),
    line AS MATERIALIZED (
        SELECT g.*, law.code, law.ytd_code, law.base, law.floor, law.rate, law.assigned,
               CASE WHEN w.code IS NULL OR NOT (g.as_paid OR g.fica_refunded AND w.liability = 'fica')
                    THEN make_date(g.tax_year, 1, 1) ELSE b.first_day END AS first_day
          FROM governed g JOIN law ON law.tax_year = g.tax_year
          LEFT JOIN waiting w ON w.tax_year = law.tax_year AND w.code = law.code
          LEFT JOIN threshold t ON t.tax_year = w.tax_year AND t.state = w.state AND t.liability = w.liability
          LEFT JOIN begun b ON b.employer_id = g.employer_id AND b.tax_year = g.tax_year AND b.state = w.state
                           AND b.liability = w.liability
                           AND b.person IS NOT DISTINCT FROM CASE WHEN t.alone THEN g.employee_id END),
    before AS MATERIALIZED (
        SELECT k.person AS employee_id, p.tax_year, u.code, sum(u.subject) AS subject
          FROM prior p JOIN record k USING (employee_id), unnest(p.codes, p.subject_wages) AS u (code, subject)
         GROUP BY 1, 2, 3),
    standing AS (
        SELECT n.employee_id, n.tax_year, n.code, n.base, n.floor, {rate_charged("n", "o")} AS rate,
               v.subject, sum(v.subject) OVER (PARTITION BY n.employee_id, n.tax_year, n.code ORDER BY c.id)
                   + coalesce(b.subject, 0) AS so_far
          FROM line n JOIN record k ON k.person = n.employee_id
          JOIN paychecks c ON c.employee_id = k.employee_id AND c.tax_year = n.tax_year AND c.reverses IS NULL
                          AND c.gross_pay > 0
          JOIN payrolls r ON r.id = c.payroll_id
          JOIN paycheck_lines w ON w.paycheck_id = c.id AND w.code = n.ytd_code
         CROSS JOIN LATERAL (SELECT CASE WHEN r.pay_date >= n.first_day THEN w.subject_wages ELSE 0 END) AS v (subject)
          LEFT JOIN paycheck_lines o ON o.paycheck_id = c.id AND o.code = n.code
          LEFT JOIN before b ON b.employee_id = n.employee_id AND b.tax_year = n.tax_year AND b.code = n.ytd_code
         WHERE NOT EXISTS (SELECT FROM paychecks u WHERE u.reverses = c.id)),
    fresh AS (
        SELECT s.*, CASE WHEN s.base IS NULL
                         THEN greatest(s.so_far - s.floor, 0) - greatest(s.so_far - s.subject - s.floor, 0)
                         ELSE least(s.so_far, s.base) - least(s.so_far - s.subject, s.base) END AS taxable
          FROM standing s),
    demand AS MATERIALIZED (
        SELECT employee_id, tax_year, code, sum(taxable) AS taxable, sum(taxable * rate) AS tax, count(*) AS payments,
               min(rate) AS lowest, max(rate) AS highest
          FROM fresh GROUP BY 1, 2, 3),
    balance AS MATERIALIZED (
        SELECT k.person AS employee_id, y.tax_year, u.code, sum(u.taxable) AS taxable, sum(u.amount) AS amount
          FROM record k JOIN year_balances y USING (employee_id),
               unnest(y.codes, y.taxable_wages, y.amounts) AS u (code, taxable, amount)
         GROUP BY 1, 2, 3),
    owed AS MATERIALIZED (
        SELECT k.person AS employee_id, y.tax_year, o.key AS code, sum(o.value::bigint) AS cents
          FROM record k JOIN year_balances y USING (employee_id), jsonb_each_text(y.owed) AS o
         GROUP BY 1, 2, 3),
    outdated AS MATERIALIZED (
        SELECT DISTINCT k.person, y.tax_year FROM record k JOIN year_balances y USING (employee_id)
         WHERE NOT {MEASURED_BY_THEM}),
    proof AS (
        SELECT n.employee_id, n.tax_year, n.code, n.base, coalesce(b.taxable, 0) AS taxable,
               NOT EXISTS (SELECT FROM outdated s
                            WHERE s.person = n.employee_id AND s.tax_year = n.tax_year) AS measured,
               coalesce(b.amount, 0) + coalesce(o.cents, 0) AS tax, o.code IS NOT NULL AS noted,
               coalesce(d.taxable, 0) AS taxable_due, coalesce(d.tax, 0) AS tax_due,
               coalesce(d.payments, 0) AS payments, d.lowest, d.highest,
               EXISTS (SELECT FROM before p WHERE p.employee_id = n.employee_id AND p.tax_year = n.tax_year) AS prior
          FROM line n
          LEFT JOIN owed o ON o.employee_id = n.employee_id AND o.tax_year = n.tax_year AND o.code = n.code
          LEFT JOIN balance b ON b.employee_id = n.employee_id AND b.tax_year = n.tax_year AND b.code = n.code
          LEFT JOIN demand d ON d.employee_id = n.employee_id AND d.tax_year = n.tax_year AND d.code = n.code
         WHERE b.code IS NOT NULL OR d.code IS NOT NULL)
"""
"""Each measured line of each governed year: from which pay date on it is due."""


def _dollars(cents: str) -> str:
    return f"to_char(({cents}) / 100.0, 'FM99999999999999990.00')"


def threshold_wages() -> str:
    """If a household chose how thresholds count, each line has taxed what is due, or the rest is recorded as owed."""
    return f"""
        WITH {_law()}, {GOVERNED}, {_PAID}, {_DEMAND}
        SELECT 'employee' AS subject, employee_id AS id, 'taxable wages of ' || code || ' in ' || tax_year AS what,
               {_dollars("taxable")} AS recorded, {_dollars("taxable_due")} AS expected
          FROM proof WHERE taxable <> taxable_due AND NOT noted AND measured
    """


def threshold_taxes() -> str:
    """If a household chose how thresholds count, each line's tax, with what it still owes, is what is due."""
    return f"""
        WITH {_law()}, {GOVERNED}, {_PAID}, {_DEMAND}
        SELECT 'employee' AS subject, employee_id AS id, 'tax of ' || code || ' in ' || tax_year AS what,
               {_dollars("tax")} AS recorded, {_dollars("tax_due")} AS expected
          FROM proof
         WHERE measured AND abs(tax - tax_due) > CASE
                   WHEN payments = 0 THEN 0
                   WHEN lowest = highest AND tax_due = base * lowest THEN 0.5
                   WHEN prior THEN {MOST_ROUNDING_CENTS} ELSE 0.5 * payments + 0.5 END
    """


def refunded_years() -> str:
    """A year counts as one with repaid Social Security and Medicare exactly while such a refund stands."""
    return """
        SELECT 'employee' AS subject, y.employee_id AS id, 'refund of FICA in ' || y.tax_year AS what,
               y.fica_refunded::text AS recorded, r.stands::text AS expected
          FROM year_balances y
          LEFT JOIN (SELECT c.employee_id, c.tax_year, true AS stands FROM paychecks c
                      WHERE c.gross_pay = 0 AND c.reverses IS NULL
                        AND NOT EXISTS (SELECT FROM paychecks u WHERE u.reverses = c.id)
                      GROUP BY 1, 2) s USING (employee_id, tax_year)
         CROSS JOIN LATERAL (SELECT coalesce(s.stands, false) AS stands) r
         WHERE y.fica_refunded <> r.stands
    """
