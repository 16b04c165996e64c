"""A flat rate on the wages of the period, less yearly allowances spread over the periods."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import counted


@dataclass(frozen=True, slots=True)
class Flat:
    """Pennsylvania's plain rate; Illinois's rate after its allowances."""

    periods: Mapping[str, int]
    rate: int
    allowances: Mapping[str, int]
    """Dollars a year that each allowance exempts, by the certificate entry that counts them."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`. The period's allowance is rounded to the cent first."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"the state has no figure for {pay.frequency} pay")
        yearly = counted(self.allowances, certificate)
        free = half_up(yearly, periods)
        taxable = pay.wages - free
        if trace is not None:
            trace.cents("allowances of the period", free)
            trace.cents("taxed wages", max(0, taxable))
            trace.rate("rate", self.rate)
        return half_up(taxable * self.rate, RATE_SCALE) if taxable > 0 else 0


def read_flat(figures: RuleTable, periods: Mapping[str, int]) -> Flat:
    """Compile the figures ``rate`` and ``allowances`` (dollars a year by certificate entry)."""
    method = Flat(
        periods=periods,
        rate=figures.rate("rate"),
        allowances=figures.cents_by_key("allowances") if "allowances" in figures else {},
    )
    figures.close()
    return method
