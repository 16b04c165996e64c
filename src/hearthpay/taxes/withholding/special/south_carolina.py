"""South Carolina's formula: a standard deduction of a share of the wages, only with an allowance claimed."""

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


@dataclass(frozen=True, slots=True)
class SouthCarolina:
    """The annual table after personal allowances and the standard deduction, with one rounding at the end."""

    periods: Mapping[str, int]
    allowance: int
    deduction_rate: int
    deduction_maximum: int
    table: BracketTable

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"South Carolina has no formula for {pay.frequency} pay")
        annual = pay.wages * periods
        allowances = int(certificate["allowances"] or 0)
        # The deduction may end in a fraction of a cent, which the formula doesn't round: scaled cents
        # throughout.
        scaled = annual * RATE_SCALE
        if allowances:
            deduction = min(annual * self.deduction_rate, self.deduction_maximum * RATE_SCALE)
            scaled -= allowances * self.allowance * RATE_SCALE + deduction
            if trace is not None:
                trace.cents("standard deduction", half_up(deduction, RATE_SCALE))
        taxable = max(0, scaled)
        cents = taxable // RATE_SCALE
        row = self.table.row(cents)
        excess = taxable - self.table.lowers[row] * RATE_SCALE
        tax = self.table.bases[row] * RATE_SCALE * RATE_SCALE + excess * self.table.rates[row]
        if trace is not None:
            trace.cents("wages a year at this pay", annual)
            trace.cents("personal allowances", allowances * self.allowance)
            trace.cents("taxable wages", half_up(taxable, RATE_SCALE))
            trace.cents("row of the table from", self.table.lowers[row])
            trace.cents("base tax of the row", self.table.bases[row])
            trace.rate("rate of the row", self.table.rates[row])
            trace.text("pay periods a year", periods)
        return half_up(tax, RATE_SCALE * RATE_SCALE * periods)


def read(figures: RuleTable, periods: Mapping[str, int]) -> SouthCarolina:
    """Compile ``allowance``, ``standard_deduction`` (``rate`` of the wages, ``maximum``) and ``brackets``."""
    deduction = figures.table("standard_deduction")
    method = SouthCarolina(
        periods=periods,
        allowance=figures.cents("allowance"),
        deduction_rate=deduction.rate("rate"),
        deduction_maximum=deduction.cents("maximum"),
        table=figures.brackets("brackets"),
    )
    deduction.close()
    figures.close()
    return method
