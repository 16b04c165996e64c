"""Maryland's percentage method: state and county of residence in one amount."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay


class LocalSchedule(NamedTuple):
    """A county's rates by column of the certificate's filing status."""

    tables: Mapping[str, BracketTable]
    whole: bool
    """True if the rate of the band applies to all taxable wages (Frederick), not to the part above."""

    def scaled_tax(self, taxable: int, column: str) -> int:
        """Return the local tax on ``taxable`` cents a year as exact cents times `RATE_SCALE`."""
        table = self.tables[column]
        if self.whole:
            return taxable * table.rates[table.row(taxable)]
        return table.scaled_tax(taxable, RATE_SCALE)


@dataclass(frozen=True, slots=True)
class Maryland:
    """The state's schedule and the local rate apply to the same taxable wages.

    Both the guide's printed tables and the comptroller's online calculator are official, and differ: withholding
    follows the tables, and an explanation shows the calculator's result.
    """

    periods: Mapping[str, int]
    minimum_gross: Mapping[str, int]
    """Pay of a period below which nothing is withheld."""

    standard_deduction: Mapping[str, int]
    """Column of the tables → cents a year."""

    exemption: int
    columns: Mapping[str, str]
    """Filing status of the MW507 → column of the tables."""

    state_tables: Mapping[str, BracketTable]
    counties: Mapping[str, LocalSchedule]
    unknown_county: LocalSchedule
    """Used if the county isn't known, and for nonresidents of Maryland."""

    nonresident: LocalSchedule
    calculator: "Maryland | None" = None
    """The same law as the comptroller's calculator applies it."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        minimum = self.minimum_gross.get(pay.frequency)
        if periods is None or minimum is None:
            raise TaxInputError("pay_frequency", f"the guide has no table for {pay.frequency} pay")
        if trace is not None:
            trace.cents("nothing is withheld from pay below", minimum)
        if pay.wages < minimum:
            return 0
        exemptions = int(certificate["exemptions"] or 0)
        column = self.columns[str(certificate["filing_status"])]
        deduction = self.standard_deduction[column]
        taxable = pay.wages * periods - deduction - exemptions * self.exemption
        if trace is not None:
            trace.cents("wages a year at this pay", pay.wages * periods)
            trace.cents("standard deduction", deduction)
            trace.cents("exemptions", exemptions * self.exemption)
            trace.cents("annual taxable wages", max(0, taxable))
        if taxable <= 0:
            return 0
        state = self.state_tables[column].scaled_tax(taxable, RATE_SCALE)
        schedule, place = self._local(certificate)
        local = schedule.scaled_tax(taxable, column)
        if trace is not None:
            trace.cents("state tax of the year", half_up(state, RATE_SCALE))
            trace.text("local tax of", place)
            trace.cents("local tax of the year", half_up(local, RATE_SCALE))
            trace.text("pay periods a year", periods)
            if self.calculator is not None:
                trace.cents(
                    "what the comptroller's online calculator would give: brackets and deduction of the return, the "
                    "county's exact rate",
                    self.calculator.withhold(pay, certificate, None),
                )
        return half_up(state + local, RATE_SCALE * periods)

    def _local(self, certificate: StateCertificate) -> tuple[LocalSchedule, str]:
        if not certificate["maryland_resident"]:
            return self.nonresident, "nonresidents"
        county = certificate["county_of_residence"]
        if county is None:
            return self.unknown_county, "a county that was not named: the highest rate"
        return self.counties[str(county)], f"county {county}"


def _flat(rate: int, columns: Mapping[str, str]) -> LocalSchedule:
    table = BracketTable((0,), (rate,), (0,), True)
    return LocalSchedule(dict.fromkeys(columns.values(), table), whole=False)


def _as_calculated(figures: RuleTable, printed: Maryland) -> Maryland:
    """Return the calculator's version: its ``standard_deduction`` and ``brackets`` by column, and the ``county``
    rates that differ from the printed tables.
    """
    brackets = figures.table("brackets")
    rates = figures.table("county")
    exact = {code: _flat(rates.rate(code), printed.columns) for code in rates}
    calculator = replace(
        printed,
        standard_deduction=figures.cents_by_key("standard_deduction", set(printed.columns.values())),
        state_tables={column: brackets.brackets(column, over=True) for column in brackets},
        counties={**printed.counties, **exact},
    )
    for column in printed.columns.values():
        if column not in calculator.state_tables or column not in calculator.standard_deduction:
            raise figures.error("brackets", f"no table or deduction for the column {column!r}")
    for code in exact:
        if code not in printed.counties:
            raise figures.error("county", f"{code!r} is not a county of the printed tables")
    figures.close()
    return calculator


def read(figures: RuleTable, periods: Mapping[str, int]) -> Maryland:
    """Compile the schedules; a county has ``rate``, or tables by column (``whole``: rates on the whole).

    ``calculator`` holds what differs in the comptroller's online calculator.
    """
    listed = figures.table("columns")
    columns = {status: listed.text(status) for status in listed}
    brackets = figures.table("brackets")
    counties: dict[str, LocalSchedule] = {}
    group = figures.table("county")
    for code in group:
        entry = group.table(code)
        rate = entry.optional_rate("rate")
        if rate is not None:
            counties[code] = _flat(rate, columns)
        else:
            tables = {
                column: entry.brackets(column, over=True, joined=False)
                for column in sorted(set(columns.values()))
            }
            counties[code] = LocalSchedule(tables, entry.flag("whole", default=False))
        entry.close()
    method = Maryland(
        periods=periods,
        minimum_gross=figures.cents_by_key("minimum_gross"),
        standard_deduction=dict.fromkeys(columns.values(), figures.cents("standard_deduction")),
        exemption=figures.cents("exemption"),
        columns=columns,
        state_tables={column: brackets.brackets(column, over=True) for column in brackets},
        counties=counties,
        unknown_county=_flat(figures.rate("unknown_county_rate"), columns),
        nonresident=_flat(figures.rate("nonresident_rate"), columns),
    )
    for column in columns.values():
        if column not in method.state_tables:
            raise figures.error("brackets", f"no table for the column {column!r}")
    if "calculator" in figures:
        method = replace(method, calculator=_as_calculated(figures.table("calculator"), method))
    figures.close()
    return method
