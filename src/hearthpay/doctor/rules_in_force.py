"""The rules in force as SQL rows, for laws that prove what was charged under provisional figures."""

import datetime
from typing import Final

from hearthpay.doctor.constant_relations import Value, constant_relation
from hearthpay.taxes.money import rate_of
from hearthpay.taxes.rulebook import rulebook_of, supported_years

MEASURED_LINE: Final = {
    "tax_year": "int",
    "code": "text",
    "ytd_code": "text",
    "base": "bigint",
    "floor": "bigint",
    "rate": "numeric",
}
"""Columns of a line that follows a year's wages: measured on what, up to or above how many cents."""


def rates_in_force() -> str:
    """Return the rates of every contribution by date, as the relation ``in_force``."""
    rates: dict[tuple[int, str, datetime.date], tuple[Value, ...]] = {
        (year, line.code, line.effective_from): (
            year,
            line.code,
            line.effective_from,
            line.effective_to or datetime.date(year, 12, 31),
            rate_of(line.rate),
        )
        for year in supported_years()
        for state in rulebook_of(year).supported_states
        for line in (*rulebook_of(year).contributions, *rulebook_of(year).state(state).contributions)
    }
    columns = {"tax_year": "int", "code": "text", "first_day": "date", "last_day": "date", "rate": "numeric"}
    return constant_relation("in_force", columns, rates.values(), materialized=True)


def editions() -> str:
    """Return the rulebook of each year, as the relation ``edition``."""
    rows = [(year, rulebook_of(year).version) for year in supported_years()]
    return constant_relation("edition", {"tax_year": "int", "version": "text"}, rows)


MEASURED_BY_THEM: Final = """
    (y.rulebook_version IS NULL
     OR y.rulebook_version = (SELECT v.version FROM edition v WHERE v.tax_year = y.tax_year))
"""
"""Whether a year `y` was measured by the rules in force; if not, the worker settles it first."""


def rate_charged(law: str, line: str) -> str:
    """Return the SQL of the rate by which the tax of paycheck ``c``, paid by payroll ``r``, is proved.

    It is its own line's rate; if that was provisional, it is the rate in force, unless the rate was assigned to the
    household.
    """
    return f"""
        CASE WHEN jsonb_exists(c.provisional, {law}.code)
                  AND NOT ({law}.assigned AND EXISTS (
                      SELECT FROM assigned_rates a WHERE a.employer_id = c.employer_id AND a.tax_year = c.tax_year
                                                     AND a.state = left({law}.code, 2)))
             THEN (SELECT f.rate FROM in_force f WHERE f.tax_year = c.tax_year AND f.code = {law}.code
                                                   AND r.pay_date BETWEEN f.first_day AND f.last_day)
             ELSE coalesce({line}.rate, {law}.rate) END
    """
