"""The annualized percentage method: a year's wages at this pay, taxed by the annual table, divided again."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up_to
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace


def annualized_tax(
    annual_wages: int, periods: int, table: BracketTable, annual_credit: int, unit: int, trace: Trace | None
) -> int:
    """Return the tax of one period in cents: the annual table's tax less the credit, over the periods.

    ``annual_wages`` and ``annual_credit`` are cents a year. Nothing is rounded before the one rounding at the
    end, to the nearest ``unit`` of cents (1 or 100).
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


@dataclass(frozen=True, slots=True)
class Annualized:
    """State form of the method: deductions by status, allowances, one annual table by status."""

    periods: Mapping[str, int]
    status_field: str | None
    standard_deduction: Mapping[str, int]
    allowance_fields: tuple[str, ...]
    allowance: int
    tables: Mapping[str, BracketTable]
    unit: int

    def withhold(self, wages: int, frequency: str, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"the state has no table for {frequency} pay")
        status = str(certificate[self.status_field]) if self.status_field else "any"
        allowances = sum(int(certificate[name] or 0) for name in self.allowance_fields)
        annual = wages * periods - self.standard_deduction.get(status, 0) - allowances * self.allowance
        if trace is not None:
            trace.cents("wages a year at this pay", wages * periods)
            trace.cents("standard deduction", self.standard_deduction.get(status, 0))
            trace.cents(f"{allowances} allowances", allowances * self.allowance)
        if annual <= 0:
            return 0
        return annualized_tax(annual, periods, self.tables[status], 0, self.unit, trace)


def read_annualized(figures: RuleTable, periods: Mapping[str, int]) -> Annualized:
    """Compile the figures: ``status_field``, ``standard_deduction``, ``allowance…``, ``brackets`` by status."""
    brackets = figures.table("brackets")
    over = figures.flag("over", default=False)
    method = Annualized(
        periods=periods,
        status_field=figures.optional_text("status_field"),
        standard_deduction=figures.cents_by_key("standard_deduction")
        if "standard_deduction" in figures
        else {},
        allowance_fields=figures.texts("allowance_fields"),
        allowance=figures.optional_cents("allowance") or 0,
        tables={status: brackets.brackets(status, over=over) for status in brackets},
        unit=100 if figures.flag("whole_dollars", default=False) else 1,
    )
    figures.close()
    return method
