"""Indiana's flat rate after the exemptions of Form WH-4, each kind rounded to the cent for the pay period."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay


@dataclass(frozen=True, slots=True)
class Indiana:
    """The deduction constants of Departmental Notice 1, then the rate."""

    periods: Mapping[str, int]
    rate: int
    exemptions: Mapping[str, int]
    """Certificate entry that counts a kind of exemption → cents a year for each."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`; the state's own line for extra withholding is included."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError(
                "pay_frequency", f"Indiana has no deduction constants for {pay.frequency} pay"
            )
        free = 0
        for name, amount in self.exemptions.items():
            constant = half_up(int(certificate[name] or 0) * amount, periods)
            if trace is not None and constant:
                trace.cents(name.replace("_", " "), constant)
            free += constant
        taxable = max(0, pay.wages - free)
        tax = half_up(taxable * self.rate, RATE_SCALE)
        extra = int(certificate["additional_state_withholding"] or 0)
        if trace is not None:
            trace.cents("taxed wages", taxable)
            trace.rate("rate", self.rate)
            if extra:
                trace.cents("additional state withholding (WH-4)", extra)
        return tax + extra


def read(figures: RuleTable, periods: Mapping[str, int]) -> Indiana:
    """Compile ``rate`` and ``exemptions`` (dollars a year by certificate entry)."""
    method = Indiana(periods, figures.rate("rate"), figures.cents_by_key("exemptions"))
    figures.close()
    return method
