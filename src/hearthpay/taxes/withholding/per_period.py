"""Percentage tables printed for each pay period, as in New Jersey, Georgia and New York."""

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

ANNUAL = "annual"


@dataclass(frozen=True, slots=True)
class PeriodFigures:
    """The figures of one column (status or rate letter) for one pay frequency."""

    deduction: int
    allowance: int
    table: BracketTable


@dataclass(frozen=True, slots=True)
class PerPeriod:
    """Wages of the period less deduction and allowances, taxed by the printed table of column and frequency."""

    periods: Mapping[str, int]
    column_field: str | None
    columns: Mapping[str, str]
    override_field: str | None
    """A certificate entry that names the column directly if it is filled in (New Jersey's rate letter)."""

    allowance_fields: tuple[str, ...]
    figures: Mapping[tuple[str, str], PeriodFigures]
    unit: int
    """The cents to which the result is rounded."""

    def column(self, certificate: StateCertificate) -> str:
        """Return the column of the tables that the certificate selects."""
        if self.override_field is not None:
            override = certificate[self.override_field]
            if override is not None:
                return str(override)
        if self.column_field is None:
            return "any"
        return self.columns[str(certificate[self.column_field])]

    def net_wages(self, wages: int, figures: PeriodFigures, certificate: StateCertificate) -> int:
        """Return the wages of the period after deduction and allowances, at least 0, in cents."""
        allowances = 0
        for name in self.allowance_fields:
            allowances += int(certificate[name] or 0)
        net = wages - figures.deduction - allowances * figures.allowance
        return net if net > 0 else 0

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`.

        A frequency without a printed table is annualized: a year's wages by the annual table, divided.
        """
        column = self.column(certificate)
        figures = self.figures.get((column, pay.frequency))
        scale = 1
        if figures is None:
            figures = self.figures.get((column, ANNUAL))
            scale = self.periods.get(pay.frequency, 0)
            if figures is None or not scale:
                raise TaxInputError("pay_frequency", f"the state has no table for {pay.frequency} pay")
        net = self.net_wages(pay.wages * scale, figures, certificate)
        table = figures.table
        if trace is not None:
            row = table.row(net)
            trace.text("column of the tables", column)
            trace.cents("deduction of the period", figures.deduction)
            trace.cents("each allowance", figures.allowance)
            trace.cents("wages after deduction and allowances", net)
            trace.cents("row of the table from", table.lowers[row])
            trace.cents("base tax of the row", table.bases[row])
            trace.rate("rate of the row", table.rates[row])
        return half_up_to(table.scaled_tax(net, RATE_SCALE), RATE_SCALE * scale, self.unit)


def read_per_period(figures: RuleTable, periods: Mapping[str, int]) -> PerPeriod:
    """Compile tables by column and frequency: ``deduction.C.F``, ``allowance.F``, ``tables.C.F`` or ``rate``."""
    over = figures.flag("over", default=False)
    deductions = figures.table("deduction") if "deduction" in figures else None
    allowances = figures.cents_by_key("allowance", periods) if "allowance" in figures else {}
    compiled: dict[tuple[str, str], PeriodFigures] = {}
    flat = figures.optional_rate("rate")
    if flat is not None:
        if deductions is None:
            raise figures.error("deduction", "is missing")
        table = BracketTable((0,), (flat,), (0,), over)
        for column in deductions:
            for frequency, amount in deductions.cents_by_key(column, periods).items():
                compiled[column, frequency] = PeriodFigures(amount, allowances.get(frequency, 0), table)
    else:
        tables = figures.table("tables")
        for column in tables:
            by_frequency = tables.table(column)
            free = deductions.cents_by_key(column, periods) if deductions is not None else {}
            for frequency in by_frequency:
                compiled[column, frequency] = PeriodFigures(
                    free.get(frequency, 0),
                    allowances.get(frequency, 0),
                    by_frequency.brackets(frequency, over=over),
                )
    column_field, columns = read_columns(figures)
    method = PerPeriod(
        periods=periods,
        column_field=column_field,
        columns=columns,
        override_field=figures.optional_text("override_field"),
        allowance_fields=figures.texts("allowance_fields"),
        figures=compiled,
        unit=UNITS[figures.choice("rounding", tuple(UNITS), default="cent")],
    )
    figures.close()
    return method
