"""Income tax withholding methods; each compiles the figures of a rule version into a `Method`."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace


class PeriodPay(NamedTuple):
    """What a state's method may use: the pay of one period, in cents."""

    wages: int
    frequency: str
    federal_income_tax: int
    """Federal income tax withheld from this pay (Alabama and Oregon deduct it)."""

    social_security_and_medicare: int
    """The employee's Social Security and Medicare on this pay (Massachusetts deducts them)."""

    social_security_and_medicare_before: int = 0
    """The same on earlier pay of the year."""


class Method(Protocol):
    """A withholding method with its figures, compiled once and used for every paycheck."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """Return the tax in cents on the pay of one period, before additional withholding.

        Raises `TaxInputError` naming ``pay_frequency`` if the law has no figures for it.
        """
        ...


MethodReader = Callable[[RuleTable, Mapping[str, int]], Method]
"""Reads the ``figures`` of a version; the mapping is the number of pay periods a year by frequency."""
