"""California's Method B, the exact calculation of the EDD's withholding schedules."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay


def _stepped(table: tuple[int, ...], count: int) -> int:
    """Return the printed amount for ``count`` allowances; beyond the table, that many times the amount for one."""
    return table[count] if count < len(table) else count * table[1]


@dataclass(frozen=True, slots=True)
class Period:
    """The schedules of one pay frequency."""

    low_income_exemption: Mapping[str, int]
    standard_deduction: Mapping[str, int]
    estimated_deduction: tuple[int, ...]
    allowance_credit: tuple[int, ...]
    tables: Mapping[str, BracketTable]


@dataclass(frozen=True, slots=True)
class MethodB:
    """Low income exemption, estimated and standard deduction, rate table, then the allowance credit."""

    periods: Mapping[str, Period]
    tables: Mapping[str, str]
    """Filing status of the DE 4 → rate table."""

    columns: Mapping[str, tuple[str, str]]
    """Filing status → column of exemption and deduction for fewer and for enough allowances."""

    second_column_from: int
    """How many allowances move a married employee to the second column."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        period = self.periods.get(pay.frequency)
        if period is None:
            raise TaxInputError("pay_frequency", f"California prints no schedule for {pay.frequency} pay")
        status = str(certificate["filing_status"])
        regular = int(certificate["regular_allowances"] or 0)
        estimated = int(certificate["estimated_deduction_allowances"] or 0)
        few, enough = self.columns[status]
        column = enough if regular + estimated >= self.second_column_from else few
        exemption = period.low_income_exemption[column]
        if trace is not None:
            trace.cents("low income exemption (Table 1)", exemption)
        if pay.wages <= exemption:
            return 0
        free = _stepped(period.estimated_deduction, estimated) + period.standard_deduction[column]
        taxable = max(0, pay.wages - free)
        table = period.tables[self.tables[status]]
        computed = half_up(table.scaled_tax(taxable, RATE_SCALE), RATE_SCALE)
        credit = _stepped(period.allowance_credit, regular)
        if trace is not None:
            row = table.row(taxable)
            trace.cents("estimated deduction (Table 2)", _stepped(period.estimated_deduction, estimated))
            trace.cents("standard deduction (Table 3)", period.standard_deduction[column])
            trace.cents("taxable income", taxable)
            trace.cents("row of the rate table over", table.lowers[row])
            trace.cents("base tax of the row", table.bases[row])
            trace.rate("rate of the row", table.rates[row])
            trace.cents("computed tax", computed)
            trace.cents("exemption allowance credit (Table 4)", credit)
        return max(0, computed - credit)


def read(figures: RuleTable, periods: Mapping[str, int]) -> MethodB:
    """Compile the schedules, a table for each frequency under ``schedule``."""
    schedules = figures.table("schedule")
    compiled: dict[str, Period] = {}
    for frequency in schedules:
        schedule = schedules.table(frequency)
        if frequency not in periods:
            raise schedules.error(frequency, "is not a pay frequency")
        tables = schedule.table("tables")
        compiled[frequency] = Period(
            low_income_exemption=schedule.cents_by_key("low_income_exemption"),
            standard_deduction=schedule.cents_by_key("standard_deduction"),
            estimated_deduction=schedule.cents_list("estimated_deduction"),
            allowance_credit=schedule.cents_list("allowance_credit"),
            tables={name: tables.brackets(name, over=True) for name in tables},
        )
        schedule.close()
    statuses = figures.table("statuses")
    tables_by_status: dict[str, str] = {}
    columns: dict[str, tuple[str, str]] = {}
    for status in statuses:
        entry = statuses.table(status)
        tables_by_status[status] = entry.text("table")
        columns[status] = (entry.text("column"), entry.text("column_with_allowances"))
        entry.close()
    method = MethodB(compiled, tables_by_status, columns, figures.integer("second_column_from"))
    figures.close()
    return method
