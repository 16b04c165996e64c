"""Colorado's worksheet DR 1098: one rate on annual wages less the allowance of Form DR 0004 or of the W-4 filing
status.
"""

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
class Colorado:
    """Both allowances are dollars a year; the employee's own takes precedence over that of the status."""

    periods: Mapping[str, int]
    rate: int
    allowances: Mapping[str, int]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"the state has no figure for {pay.frequency} pay")
        own = certificate["dr0004_annual_withholding_allowance"]
        allowance = self.allowances[str(certificate["w4_filing_status"])] if own is None else int(own)
        taxable = max(0, pay.wages * periods - allowance)
        if trace is not None:
            trace.cents("wages a year at this pay", pay.wages * periods)
            trace.cents(
                "allowance of the W-4 status" if own is None else "allowance of the DR 0004", allowance
            )
            trace.cents("annual taxable wages", taxable)
            trace.rate("rate", self.rate)
            trace.text("pay periods a year", periods)
        return half_up(taxable * self.rate, RATE_SCALE * periods)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Colorado:
    """Compile ``rate`` and ``allowances`` (dollars a year by W-4 filing status)."""
    method = Colorado(periods, figures.rate("rate"), figures.cents_by_key("allowances"))
    figures.close()
    return method
