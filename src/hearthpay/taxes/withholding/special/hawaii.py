"""Hawaii's annualized method, which doesn't withhold very small amounts."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import Annualized, read_annualized


@dataclass(frozen=True, slots=True)
class Hawaii:
    """The annual table of the booklet; an amount below the minimum for one payment isn't withheld."""

    annualized: Annualized
    minimum: int
    """Cents from which a payment of wages is subject to the tax."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        tax = self.annualized.withhold(pay, certificate, trace)
        if 0 < tax < self.minimum:
            if trace is not None:
                trace.cents("below the minimum, not withheld", tax)
            return 0
        return tax


def read(figures: RuleTable, periods: Mapping[str, int]) -> Hawaii:
    """Compile ``minimum_withholding`` and the figures of the annualized method."""
    minimum = figures.cents("minimum_withholding")
    return Hawaii(read_annualized(figures, periods), minimum)
