"""Income tax withholding methods; each turns the figures of a rule version into a `Method`."""

from collections.abc import Callable, Mapping
from typing import Protocol

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace


class Method(Protocol):
    """A withholding method with its figures, compiled once and used for every paycheck."""

    def withhold(self, wages: int, frequency: str, certificate: StateCertificate, trace: Trace | None) -> int:
        """Return the tax in cents on ``wages`` cents of one pay period, before additional withholding.

        Raises `TaxInputError` naming ``pay_frequency`` where the law has no figures for it.
        """
        ...


#: Reads the ``figures`` of a version; the mapping is the number of pay periods a year by frequency.
MethodReader = Callable[[RuleTable, Mapping[str, int]], Method]
