"""West Virginia's percentage tables; nothing is withheld from certified nonresidents."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.per_period import PerPeriod, read_per_period


@dataclass(frozen=True, slots=True)
class WestVirginia:
    """The table for one or two earners, unless Form WV/IT-104NR exempts the employee."""

    tables: PerPeriod
    exempt_field: str
    """The certificate's flag that exempts the employee."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        if certificate[self.exempt_field]:
            if trace is not None:
                trace.text("nothing is withheld", "the certificate of nonresidence is on file")
            return 0
        return self.tables.withhold(pay, certificate, trace)


def read(figures: RuleTable, periods: Mapping[str, int]) -> WestVirginia:
    """Compile ``exempt_field`` and the figures of `PerPeriod`."""
    exempt_field = figures.text("exempt_field")
    return WestVirginia(read_per_period(figures, periods), exempt_field)
