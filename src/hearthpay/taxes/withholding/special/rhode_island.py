"""Rhode Island's percentage tables: no exemptions at all above a yearly amount of wages."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.per_period import PerPeriod, read_per_period


@dataclass(frozen=True, slots=True)
class RhodeIsland:
    """The printed table of the pay period, with as many exemptions as the wages of a year allow."""

    tables: PerPeriod
    exemption_field: str
    most_exemptions: int
    exemptions_end_above: int
    """Annual wages above which an exemption is worth nothing."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        claimed = int(certificate[self.exemption_field] or 0)
        annual = pay.wages * self.tables.periods[pay.frequency]
        counted = 0 if annual > self.exemptions_end_above else min(claimed, self.most_exemptions)
        if trace is not None:
            trace.cents("wages a year at this pay", annual)
            trace.text("exemptions that count", counted)
        if counted != claimed:
            certificate = {**certificate, self.exemption_field: counted}
        return self.tables.withhold(pay, certificate, trace)


def read(figures: RuleTable, periods: Mapping[str, int]) -> RhodeIsland:
    """Compile ``exemption_field``, ``most_exemptions``, ``exemptions_end_above`` and the figures of `PerPeriod`."""
    field = figures.text("exemption_field")
    most = figures.integer("most_exemptions")
    end = figures.cents("exemptions_end_above")
    return RhodeIsland(read_per_period(figures, periods), field, most, end)
