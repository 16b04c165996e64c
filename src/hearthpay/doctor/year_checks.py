"""The laws of a year of wages: caps and floors, proved from the wages subject to them.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

import functools
from typing import Final

from hearthpay.database.household_clocks import time_of
from hearthpay.database.statements import Fragment
from hearthpay.doctor.constant_relations import Value, constant_relation
from hearthpay.doctor.rules_in_force import (
    MEASURED_BY_THEM,
    MEASURED_LINE,
    editions,
    rate_charged,
    rates_in_force,
)
from hearthpay.doctor.threshold_checks import GOVERNED
from hearthpay.payroll.years.rule_changes import SETTLED
from hearthpay.taxes.money import rate_of
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.year import MOST_ROUNDING_CENTS

_ROUNDING: Final = "0.5 * payments + 0.5"
"""Cents by which the sum of payments, each rounded to the nearest, may differ from the rate times their wages."""

_LINKED: Final = """
    linked AS MATERIALIZED (
        SELECT id AS employee_id, person_id AS person FROM employees WHERE person_id IS NOT NULL)
"""
"""Records of persons who have more than one."""

RELINKED: Final = "SELECT subject_id FROM audit_log WHERE action = 'employee.same_person'"
"""Records that were ever linked or unlinked."""

_LINES: Final = """
    unnest(y.codes, y.subject_wages, y.taxable_wages, y.amounts) AS u (code, subject, taxable, amount)
"""
_OF_EACH: Final = "coalesce(k.person, y.employee_id) AS employee_id, y.tax_year"
_SUMS: Final = "sum(u.subject) AS subject, sum(u.taxable) AS taxable, sum(u.amount) AS amount"


def _balances() -> str:
    """Return our own years and prior wages; of those, a capped line counts what the law taxes.

    A person's year is one, under the id of the first record. Those of `threshold_checks` are left out.
    """
    return f"""
    {editions()},
    {GOVERNED},
    {_LINKED},
    prior AS MATERIALIZED (
        SELECT {_OF_EACH}, u.code, {_SUMS}
          FROM prior_wages y LEFT JOIN linked k USING (employee_id), {_LINES}
         WHERE y.replaced_by IS NULL
         GROUP BY 1, 2, 3),
    balance AS MATERIALIZED (
        SELECT y.employee_id, y.tax_year, u.code, u.subject, u.taxable, u.amount
          FROM year_balances y, {_LINES}
         WHERE y.subject_wages IS NOT NULL AND NOT EXISTS (SELECT FROM linked k WHERE k.employee_id = y.employee_id)
           AND {MEASURED_BY_THEM}
           AND NOT EXISTS (SELECT FROM governed g WHERE g.employee_id = y.employee_id AND g.tax_year = y.tax_year)
         UNION ALL
        SELECT {_OF_EACH}, u.code, {_SUMS}
          FROM linked k JOIN year_balances y USING (employee_id), {_LINES}
         WHERE NOT EXISTS (SELECT FROM governed g WHERE g.employee_id = k.person AND g.tax_year = y.tax_year)
         GROUP BY 1, 2, 3 HAVING bool_and(y.subject_wages IS NOT NULL AND {MEASURED_BY_THEM})),
    owed AS MATERIALIZED (
        SELECT {_OF_EACH}, o.key AS code, sum(o.value::bigint) AS cents
          FROM year_balances y LEFT JOIN linked k USING (employee_id), jsonb_each_text(y.owed) AS o
         GROUP BY 1, 2, 3)
"""


@functools.cache
def _law() -> str:
    """The capped lines of every year that has rules, as rows: where, measured on what, up to or above how many
    cents.
    """
    rows: dict[tuple[int, str], tuple[Value, ...]] = {}
    for year in supported_years():
        rulebook = rulebook_of(year)
        for state in rulebook.supported_states:
            rules = rulebook.state(state)
            for line in (*rulebook.contributions, *rules.contributions):
                if line.follows is None and line.period_maximum is None:
                    rows[year, line.code] = (
                        year,
                        line.code,
                        line.ytd_code,
                        line.wage_base,
                        line.wage_floor,
                        rate_of(line.rate),
                        line.is_capped,
                        line.assigned_rate,
                    )
    law = constant_relation("law", {**MEASURED_LINE, "capped": "bool", "assigned": "bool"}, rows.values())
    return f"{law}, {rates_in_force()}"


def _due(subject: str) -> str:
    """The taxed part of a year's subject wages."""
    return f"CASE WHEN law.base IS NULL THEN greatest({subject} - law.floor, 0) ELSE least({subject}, law.base) END"


def _own_due() -> str:
    """The taxed part of our own subject wages, after those of other payrolls."""
    return f"({_due('(w.subject + coalesce(p.subject, 0))')} - {_due('coalesce(p.subject, 0)')})"


def _dollars(cents: str) -> str:
    return f"to_char(({cents}) / 100.0, 'FM99999999999999990.00')"


def year_caps() -> str:
    """Each capped line of a year has taxed what the year's subject wages require, or the rest is recorded as owed."""
    return f"""
        WITH {_law()}, {_balances()}
        SELECT 'employee' AS subject, w.employee_id AS id,
               'taxable wages of ' || law.code || ' in ' || law.tax_year AS what,
               {_dollars("coalesce(t.taxable, 0)")} AS recorded, {_dollars(_own_due())} AS expected
          FROM balance w JOIN law ON law.tax_year = w.tax_year AND law.ytd_code = w.code AND law.capped
          LEFT JOIN balance t ON t.employee_id = w.employee_id AND t.tax_year = w.tax_year AND t.code = law.code
          LEFT JOIN prior p ON p.employee_id = w.employee_id AND p.tax_year = w.tax_year AND p.code = law.ytd_code
          LEFT JOIN owed o ON o.employee_id = w.employee_id AND o.tax_year = w.tax_year AND o.code = law.code
         WHERE coalesce(t.taxable, 0) <> {_own_due()} AND o.code IS NULL
    """


def year_taxes() -> str:
    """Each capped line of a year, with what it still owes, equals what the standing paychecks require, in their
    order.

    Every paycheck is taxed at its own rate up to what remains of the cap after the earlier ones, and a line with one
    rate ends on exactly the year's maximum.
    """
    # If nothing was ever reversed, linked or is owed, each line was charged on its own wages: a sum is
    # enough.
    stands = "(coalesce(b.amount, 0) + coalesce(o.cents, 0))"
    return f"""
        WITH {_law()}, {_balances()},
        mended AS MATERIALIZED (
            SELECT DISTINCT {_OF_EACH} FROM (
                SELECT employee_id, tax_year FROM paychecks WHERE reverses IS NOT NULL
                 UNION SELECT employee_id, tax_year FROM year_balances WHERE owed <> '{{}}' OR provisional <> '{{}}'
                 UNION SELECT employee_id, tax_year FROM year_balances WHERE employee_id IN ({RELINKED})
                 UNION SELECT employee_id, tax_year FROM prior_wages) y
              LEFT JOIN linked k USING (employee_id)),
        mended_records AS MATERIALIZED (
            SELECT m.employee_id AS person, m.tax_year, coalesce(k.employee_id, m.employee_id) AS employee_id
              FROM mended m LEFT JOIN linked k ON k.person = m.employee_id),
        reopened AS MATERIALIZED (
            SELECT DISTINCT coalesce(k.person, y.employee_id) AS employee_id, y.tax_year, u.code
              FROM year_balances y LEFT JOIN linked k USING (employee_id), unnest(y.provisional) AS u (code)),
        plain AS (
            SELECT l.employee_id, l.tax_year, l.code, sum(l.taxable_wages * l.rate) AS demanded,
                   count(*) AS payments, min(l.rate) AS lowest, max(l.rate) AS highest
              FROM paycheck_lines l JOIN law USING (tax_year, code)
             WHERE law.capped AND NOT EXISTS (
                       SELECT FROM mended_records m WHERE m.employee_id = l.employee_id AND m.tax_year = l.tax_year)
             GROUP BY 1, 2, 3),
        standing AS (
            SELECT m.person AS employee_id, c.tax_year, law.code, law.base, law.floor, c.id,
                   {rate_charged("law", "o")} AS rate, w.subject_wages AS subject,
                   sum(w.subject_wages) OVER (PARTITION BY m.person, c.tax_year, law.code ORDER BY c.id)
                       + coalesce(p.subject, 0) AS so_far
              FROM mended_records m JOIN paychecks c USING (employee_id, tax_year)
              JOIN payrolls r ON r.id = c.payroll_id
              JOIN paycheck_lines w ON w.paycheck_id = c.id
              JOIN law ON law.tax_year = c.tax_year AND law.ytd_code = w.code AND (law.capped OR EXISTS (
                  SELECT FROM reopened n
                   WHERE n.employee_id = m.person AND n.tax_year = c.tax_year AND n.code = law.code))
              LEFT JOIN prior p ON p.employee_id = m.person AND p.tax_year = c.tax_year AND p.code = law.ytd_code
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
               {_dollars(stands)} AS recorded,
               {_dollars("d.demanded")} AS expected
          FROM demand d
          JOIN law ON law.tax_year = d.tax_year AND law.code = d.code
          JOIN balance w ON w.employee_id = d.employee_id AND w.tax_year = d.tax_year AND w.code = law.ytd_code
          LEFT JOIN balance b ON b.employee_id = d.employee_id AND b.tax_year = d.tax_year AND b.code = d.code
          LEFT JOIN owed o ON o.employee_id = d.employee_id AND o.tax_year = d.tax_year AND o.code = d.code
         WHERE abs({stands} - d.demanded) > CASE
                   WHEN d.lowest = d.highest AND d.demanded = law.base * d.lowest THEN 0.5
                   WHEN EXISTS (SELECT FROM prior p WHERE p.employee_id = d.employee_id AND p.tax_year = d.tax_year)
                   THEN {MOST_ROUNDING_CENTS} ELSE {_ROUNDING} END
    """


def year_owed() -> str:
    """What a year owes after its latest paycheck is what that one carried: the household's lines are charged at once.

    After a void, prior wages, a change of the rules or of the person's records it may be anything that `year_taxes`
    proves. The same goes for a year with thresholds that aren't reached, since other employees' wages reach them too:
    `threshold_taxes` proves it.
    """
    return f"""
        WITH {_balances()},
        concerned AS MATERIALIZED (
            SELECT employee_id, tax_year FROM owed
             UNION SELECT {_OF_EACH} FROM paychecks y LEFT JOIN linked k USING (employee_id) WHERE y.carried <> '[]'),
        record AS MATERIALIZED (
            SELECT c.employee_id AS person, c.tax_year, coalesce(k.employee_id, c.employee_id) AS employee_id
              FROM concerned c LEFT JOIN linked k ON k.person = c.employee_id),
        latest AS MATERIALIZED (
            SELECT DISTINCT ON (r.person, r.tax_year) r.person, r.tax_year, c.id, c.reverses, c.carried
              FROM record r JOIN paychecks c USING (employee_id, tax_year)
             ORDER BY r.person, r.tax_year, c.id DESC),
        settled AS (
            SELECT l.* FROM latest l
             WHERE l.reverses IS NULL
               AND NOT EXISTS (SELECT FROM governed g WHERE g.employee_id = l.person AND g.tax_year = l.tax_year)
               AND NOT EXISTS (SELECT FROM record r JOIN prior_wages p USING (employee_id, tax_year)
                                WHERE r.person = l.person AND r.tax_year = l.tax_year AND p.id > l.id)
               AND NOT EXISTS (SELECT FROM audit_log a
                                WHERE a.action IN ('employee.same_person', '{SETTLED}') AND a.id > l.id
                                  AND (a.subject_id IN (SELECT r.employee_id FROM record r WHERE r.person = l.person)
                                       OR a.details -> 'before' ->> 'person_id' = l.person::text))),
        carried AS (
            SELECT s.person, s.tax_year, c.line ->> 0 AS code, (c.line ->> 2)::bigint AS cents
              FROM settled s, jsonb_array_elements(s.carried) AS c (line))
        SELECT 'employee' AS subject, coalesce(o.person, c.person) AS id,
               'owed of ' || coalesce(o.code, c.code) || ' in ' || coalesce(o.tax_year, c.tax_year) AS what,
               {_dollars("coalesce(o.cents, 0)")} AS recorded, {_dollars("coalesce(c.cents, 0)")} AS expected
          FROM (SELECT s.person, o.tax_year, o.code, o.cents
                  FROM owed o JOIN settled s ON s.person = o.employee_id AND s.tax_year = o.tax_year) o
          FULL JOIN carried c ON c.person = o.person AND c.tax_year = o.tax_year AND c.code = o.code
         WHERE coalesce(o.cents, 0) <> coalesce(c.cents, 0)
    """


def year_editions() -> str:
    """Each year with lines charged under provisional figures is measured by the rules in force."""
    return f"""
        WITH {editions()}
        SELECT 'employee' AS subject, y.employee_id AS id, 'rules by which ' || y.tax_year || ' was measured' AS what,
               y.rulebook_version AS recorded, v.version AS expected
          FROM year_balances y JOIN edition v USING (tax_year)
         WHERE y.provisional <> '{{}}' AND y.rulebook_version <> v.version
    """


def year_provisional() -> str:
    """A year lists exactly the lines that are provisional in any of its paychecks."""
    return """
        WITH paid AS (
            SELECT c.employee_id, c.tax_year, array_agg(DISTINCT u.code ORDER BY u.code) AS codes
              FROM paychecks c, jsonb_array_elements_text(c.provisional) AS u (code) GROUP BY 1, 2)
        SELECT 'employee' AS subject, y.employee_id AS id, 'provisional lines of ' || y.tax_year AS what,
               array_to_string(y.provisional, ', ') AS recorded,
               coalesce(array_to_string(p.codes, ', '), '') AS expected
          FROM year_balances y LEFT JOIN paid p USING (employee_id, tax_year)
         WHERE ARRAY(SELECT u FROM unnest(y.provisional) AS u ORDER BY 1) <> coalesce(p.codes, '{}')
    """


OPEN: Final = f"""
    SELECT y.employee_id, y.employer_id, y.tax_year, o.key AS code, o.value::bigint AS cents,
           {_dollars("o.value::bigint")} AS amount,
           y.tax_year < extract(year FROM {time_of(Fragment("y.employer_id"), Fragment("CAST(:now AS timestamptz)"))}
                                          AT TIME ZONE 'America/New_York') AS closed
      FROM year_balances y, jsonb_each_text(y.owed) AS o
     WHERE o.value::bigint <> 0
     ORDER BY y.employee_id, y.tax_year, o.key
"""
"""What the years still owe, or were overcharged: no difference. The next paycheck of the same year corrects it; once
the year is closed, none does, and returns have to be corrected."""
