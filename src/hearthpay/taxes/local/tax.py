"""One local tax: whom it applies to, who pays it, and how much of it is due on a payday."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hearthpay.taxes.certificates import CertificateValue, StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.heading import Heading
from hearthpay.taxes.local.methods import FlatRate, LocalMethod, MonthlyFee
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.trace import Source, Trace
from hearthpay.taxes.vocabulary import Confidence, LocalHouseholdRule, Payer
from hearthpay.taxes.withholding import PeriodPay

LOCAL_HOUSEHOLD_RULES = ("required", "voluntary", "follows_state")

APPLIES_TO = ("", "residents", "nonresidents", "workers", "residents and workers")
"""Whom a local tax applies to; empty if its name says so."""

FIRST_PAYDAY_UNTIL: Mapping[str, int] = {"weekly": 7, "biweekly": 14, "semimonthly": 15, "monthly": 31}
"""The last day of the month on which a month's first payday can fall, with regular paydays."""


class LocalPay(NamedTuple):
    """What a local tax may use besides the certificate; amounts in cents."""

    pay: PeriodPay
    pay_date: datetime.date
    supplemental: int
    """The part of the wages paid as flat-rate supplemental pay."""

    state_tax: int
    """The state's tax on this pay before additional withholding; 0 if none is withheld."""

    tax_before: int | None
    """The same tax withheld earlier in the year; None if unknown."""


@dataclass(frozen=True, slots=True)
class LocalTax:
    """One local tax in force for a range of pay dates."""

    state: str
    locality: str
    aliases: tuple[str, ...]
    code: str
    name: str
    agency: str
    payer: Payer
    household: LocalHouseholdRule
    applies_to: str
    group: str | None
    """Only one locality of a group can apply to an employee: a county of residence, resident or nonresident."""

    note: str
    certificate_fields: tuple[str, ...]
    """The certificate entries, of which the first one filled in chooses the locality, and the value that does."""

    certificate_value: CertificateValue
    less_city_of_work: bool
    """True if the rate is reduced by that of another city in which the employee works."""

    additional_field: str | None
    supplemental_rate: int | None
    year_maximum: int | None
    """The most per year, in cents."""

    effective_from: datetime.date
    effective_to: datetime.date | None
    sources: tuple[Source, ...]
    confidence: Confidence
    method: LocalMethod
    heading: Heading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Create the heading of the line."""
        heading = Heading(self.code, self.name, self.payer, self.agency, "other")
        object.__setattr__(self, "heading", heading)

    def in_force(self, day: datetime.date) -> bool:
        """Return whether the tax applies to a pay date."""
        return self.effective_from <= day and (self.effective_to is None or day <= self.effective_to)

    def lowered_by(self, taxes: Sequence["LocalTax"]) -> "LocalTax":
        """Return the tax at its rate less that of the other city of ``taxes`` where the employee works; not below 0."""
        method = self.method
        if not isinstance(method, FlatRate):
            return self
        elsewhere = sum(
            tax.method.rate
            for tax in taxes
            if tax.applies_to == "nonresidents"
            and tax.group != self.group
            and isinstance(tax.method, FlatRate)
        )
        if not elsewhere:
            return self
        rate = max(0, method.rate - elsewhere)
        supplemental = None if self.supplemental_rate is None else max(0, self.supplemental_rate - elsewhere)
        return replace(self, method=replace(method, rate=rate), supplemental_rate=supplemental)

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of the state's certificate that the tax uses."""
        counted = tuple(self.method.exemptions) if isinstance(self.method, FlatRate) else ()
        additional = (self.additional_field,) if self.additional_field else ()
        return (*self.certificate_fields, *additional, *counted)

    def withhold(self, local: LocalPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """Return the tax in cents on one payday, the certificate's additional amount included.

        Raises `TaxInputError` naming ``pay_frequency`` if a monthly tax has no payday on which it is due.
        """
        pay = local.pay
        if isinstance(self.method, MonthlyFee) and not is_first_payday(local.pay_date, pay.frequency):
            if trace is not None:
                trace.text("already due", "on the month's first payday")
            return 0
        flat = local.supplemental if self.supplemental_rate is not None else 0
        if flat:
            pay = pay._replace(wages=pay.wages - flat)
        amount = self.method.withhold(pay, certificate, local.state_tax, trace)
        if flat and self.supplemental_rate is not None:
            amount += half_up(flat * self.supplemental_rate, RATE_SCALE)
            if trace is not None:
                trace.cents("supplemental wages", flat)
                trace.rate("rate on supplemental wages", self.supplemental_rate)
        apart = bool(local.supplemental) and local.supplemental == local.pay.wages
        if self.additional_field is not None and not apart:  # it is asked for each pay period
            amount += int(certificate[self.additional_field] or 0)
        if self.year_maximum is not None and local.tax_before is not None:
            amount = min(amount, max(0, self.year_maximum - local.tax_before))
        return amount


def is_first_payday(day: datetime.date, frequency: str) -> bool:
    """Return whether ``day`` is the month's first payday, with regular paydays.

    Raises `TaxInputError` naming ``pay_frequency`` for a frequency that doesn't have a payday in every month.
    """
    until = FIRST_PAYDAY_UNTIL.get(frequency)
    if until is None:
        raise TaxInputError("pay_frequency", f"a local tax of the month cannot be taken from {frequency} pay")
    return day.day <= until
