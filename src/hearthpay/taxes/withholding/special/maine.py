"""Maine's percentage method: annualized, a deduction that phases out, whole dollars at three steps."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up_to
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import UNITS, read_columns

DOLLAR = UNITS["dollar"]


@dataclass(frozen=True, slots=True)
class Column:
    """The figures of one schedule (single or married), cents a year."""

    deduction: int
    phaseout_start: int
    phaseout_end: int
    table: BracketTable
    surcharge_over: int | None
    """Annualized income above which the surcharge is due; None in a version without one."""

    def deduction_for(self, annual_wages: int) -> int:
        """Return the deduction at these annual wages, to the whole dollar in the phase-out."""
        if annual_wages <= self.phaseout_start:
            return self.deduction
        if annual_wages >= self.phaseout_end:
            return 0
        left = self.phaseout_end - annual_wages
        return half_up_to(self.deduction * left, self.phaseout_end - self.phaseout_start, DOLLAR)


@dataclass(frozen=True, slots=True)
class Maine:
    """Allowances and deduction off the annual wages, the annual schedule, and the tax spread again."""

    periods: Mapping[str, int]
    column_field: str
    columns: Mapping[str, str]
    figures: Mapping[str, Column]
    allowance: int
    surcharge_rate: int

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"Maine has no table for {pay.frequency} pay")
        column = self.figures[self.columns[str(certificate[self.column_field])]]
        annual = pay.wages * periods
        allowances = int(certificate["allowances"] or 0) * self.allowance
        deduction = column.deduction_for(annual)
        income = max(0, annual - allowances - deduction)
        scaled = column.table.scaled_tax(income, RATE_SCALE)
        if column.surcharge_over is not None and income > column.surcharge_over:
            scaled += (income - column.surcharge_over) * self.surcharge_rate
        tax = half_up_to(scaled, RATE_SCALE, DOLLAR)
        if trace is not None:
            row = column.table.row(income)
            trace.cents("wages a year at this pay", annual)
            trace.cents("allowances", allowances)
            trace.cents("withholding standard deduction", deduction)
            trace.cents("annualized income", income)
            trace.cents("row of the schedule from", column.table.lowers[row])
            trace.cents("base tax of the row", column.table.bases[row])
            trace.rate("rate of the row", column.table.rates[row])
            trace.cents("annual tax, whole dollars", tax)
            trace.text("pay periods a year", periods)
        return half_up_to(tax, periods, DOLLAR)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Maine:
    """Compile the schedules, a table for each under ``schedule``, with ``allowance`` and any ``surcharge_rate``."""
    schedules = figures.table("schedule")
    compiled: dict[str, Column] = {}
    for name in schedules:
        schedule = schedules.table(name)
        column = Column(
            deduction=schedule.cents("deduction"),
            phaseout_start=schedule.cents("phaseout_start"),
            phaseout_end=schedule.cents("phaseout_end"),
            table=schedule.brackets("table"),
            surcharge_over=schedule.optional_cents("surcharge_over"),
        )
        if column.phaseout_end <= column.phaseout_start:
            raise schedule.error("phaseout_end", "must lie above phaseout_start")
        schedule.close()
        compiled[name] = column
    column_field, columns = read_columns(figures)
    if column_field is None:
        raise figures.error("column_field", "is missing")
    for column_name in columns.values():
        if column_name not in compiled:
            raise figures.error("columns", f"no schedule {column_name!r}")
    method = Maine(
        periods=periods,
        column_field=column_field,
        columns=columns,
        figures=compiled,
        allowance=figures.cents("allowance"),
        surcharge_rate=figures.optional_rate("surcharge_rate") or 0,
    )
    figures.close()
    return method
