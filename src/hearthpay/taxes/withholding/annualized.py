"""The annualized percentage method: a year's wages at this pay, taxed by the annual table, divided by the periods."""

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

UNITS = {"cent": 1, "dollar": 100}
"""The cents to which a result can be rounded."""


def annualized_tax(
    annual_wages: int, periods: int, table: BracketTable, annual_credit: int, unit: int, trace: Trace | None
) -> int:
    """Return the tax of one period in cents: the annual table's tax less the credit, divided by the periods.

    ``annual_wages`` and ``annual_credit`` are cents a year. Only the result is rounded, to the nearest ``unit`` of
    cents (1 or 100).
    """
    scaled = table.scaled_tax(annual_wages, RATE_SCALE)
    if trace is not None:
        row = table.row(annual_wages)
        trace.cents("row of the annual table from", table.lowers[row])
        trace.cents("base tax of the row", table.bases[row])
        trace.rate("rate of the row", table.rates[row])
        trace.cents("annual tax credit", annual_credit)
        trace.text("pay periods a year", periods)
    scaled -= annual_credit * RATE_SCALE
    if scaled <= 0:
        return 0
    return half_up_to(scaled, RATE_SCALE * periods, unit)


def counted(amounts: Mapping[str, int], certificate: StateCertificate) -> int:
    """Return the sum of the amounts, each multiplied by the certificate's entry of its name."""
    total = 0
    for name, amount in amounts.items():
        total += int(certificate[name] or 0) * amount
    return total


@dataclass(frozen=True, slots=True)
class Annualized:
    """The states' form of the method: subtract deductions and allowances, apply one annual table, subtract credits
    from the tax.
    """

    periods: Mapping[str, int]
    column_field: str | None
    columns: Mapping[str, str]
    standard_deduction: Mapping[str, int]
    deduction_field: str | None
    """A money entry of the certificate that replaces the standard deduction if it is filled in."""

    allowances: Mapping[str, int]
    credits: Mapping[str, int]
    tables: Mapping[str, BracketTable]
    annual_unit: int
    """The cents to which the annual tax before credits is rounded; 0 for no rounding."""

    unit: int

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"the state has no table for {pay.frequency} pay")
        column = self.columns[str(certificate[self.column_field])] if self.column_field else "any"
        deduction = self.standard_deduction.get(column, 0)
        if self.deduction_field is not None:
            own = certificate[self.deduction_field]
            deduction = deduction if own is None else int(own)
        allowed = counted(self.allowances, certificate)
        credit = counted(self.credits, certificate)
        annual = pay.wages * periods - deduction - allowed
        if trace is not None:
            trace.cents("wages a year at this pay", pay.wages * periods)
            trace.cents("deduction", deduction)
            trace.cents("allowances", allowed)
            trace.cents("annual taxable wages", max(0, annual))
        if annual <= 0:
            return 0
        table = self.tables[column]
        if not self.annual_unit:
            return annualized_tax(annual, periods, table, credit, self.unit, trace)
        tax = half_up_to(table.scaled_tax(annual, RATE_SCALE), RATE_SCALE, self.annual_unit)
        if trace is not None:
            trace.cents("annual tax, rounded", tax)
            trace.cents("annual tax credit", credit)
        return half_up_to(tax - credit, periods, self.unit) if tax > credit else 0


def read_columns(figures: RuleTable) -> tuple[str | None, dict[str, str]]:
    """Read ``column_field`` (a certificate entry) and ``columns`` (its value → column of the tables)."""
    field = figures.optional_text("column_field")
    columns = figures.table("columns") if "columns" in figures else None
    return field, {name: columns.text(name) for name in columns} if columns is not None else {}


def read_annualized(figures: RuleTable, periods: Mapping[str, int]) -> Annualized:
    """Compile the figures: ``brackets`` by column (``any`` if statuses share one table), and optionally
    ``column_field`` and ``columns``, ``standard_deduction`` by column, ``deduction_field``, ``allowances`` and
    ``credits`` (dollars a year by certificate entry), ``over``, ``annual_rounding``, ``rounding``.
    """
    brackets = figures.table("brackets")
    over = figures.flag("over", default=False)
    field, columns = read_columns(figures)
    annual_rounding = figures.choice("annual_rounding", ("none", *UNITS), default="none")
    method = Annualized(
        periods=periods,
        column_field=field,
        columns=columns,
        standard_deduction=(
            figures.cents_by_key("standard_deduction", set(columns.values()) or {"any"})
            if "standard_deduction" in figures
            else {}
        ),
        deduction_field=figures.optional_text("deduction_field"),
        allowances=figures.cents_by_key("allowances") if "allowances" in figures else {},
        credits=figures.cents_by_key("credits") if "credits" in figures else {},
        tables={column: brackets.brackets(column, over=over) for column in brackets},
        annual_unit=UNITS.get(annual_rounding, 0),
        unit=UNITS[figures.choice("rounding", tuple(UNITS), default="cent")],
    )
    for column in set(columns.values()) or {"any"}:
        if column not in method.tables:
            raise figures.error("brackets", f"no table for the column {column!r}")
    figures.close()
    return method
