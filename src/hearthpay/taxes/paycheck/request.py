"""The input of a paycheck: dates, wages, certificates, the household, and the year so far."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Literal

from hearthpay.taxes.certificates import FederalCertificate
from hearthpay.taxes.year import YearSoFar

PAY_FREQUENCIES = ("weekly", "biweekly", "semimonthly", "monthly")

ZERO = Decimal(0)

_NOTHING: Mapping[str, object] = MappingProxyType({})
_NO_YTD: Mapping[str, Decimal] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EmployerProfile:
    """What the household knows about its own liabilities.

    ``sui_rate`` is the unemployment rate the state assigned to the household (0.027, without separate surcharges); if
    omitted, the new-employer rate applies. The flags switch a liability off, for a household that stays below its
    threshold. ``waived_lines`` are codes of waivable lines to leave out, such as ``NY-DBL-EE`` for a worker under 20
    hours a week.
    """

    sui_rate: Decimal | None = None
    futa_liable: bool = True
    sui_liable: bool = True
    fica_liable: bool = True
    waived_lines: frozenset[str] = frozenset()


NO_CERTIFICATE = FederalCertificate()
"""What the law assumes about an employee without a Form W-4: single, no other entries."""

NEW_EMPLOYER = EmployerProfile()
"""A household that pays every tax at the new-employer rates."""

SUPPLEMENTAL_METHODS = ("aggregate", "flat", "by_rule")
SupplementalMethod = Literal["aggregate", "flat", "by_rule"]


@dataclass(frozen=True, slots=True)
class OtherPay:
    """Pay of other paychecks with which income tax counts a paycheck as one payment. Amounts are dollars.

    ``regular_wages`` and ``supplemental_wages`` were paid for the same pay period, and ``taxes`` are what was withheld
    from them, by line code. ``last_regular_wages`` are those of the last period before: supplemental wages are added
    to them if no regular wages are paid for the period. ``pay_frequency`` is that of the regular wages; it counts for
    a paycheck that has none.
    """

    regular_wages: Decimal = ZERO
    supplemental_wages: Decimal = ZERO
    taxes: Mapping[str, Decimal] = field(default_factory=lambda: _NO_YTD)
    last_regular_wages: Decimal = ZERO
    pay_frequency: str | None = None


@dataclass(frozen=True, slots=True)
class PaycheckInput:
    """Everything a paycheck depends on. Amounts are dollars with at most two decimals.

    ``state`` holds the entries of the work state's certificate by the names of that state's form; ``residence`` those
    of the residence state's, which counts if a reciprocity agreement moves the income tax there. ``ytd`` gives the
    taxable wages of the year before this paycheck by line code, ``ytd_tax`` (optional) the amounts: with it, a capped
    line ends on exactly the year's maximum. ``ytd_subject`` (optional) gives the wages that were subject to a line,
    whether below its cap or not: with it, what earlier paychecks taxed too little or too much of them is corrected;
    for an omitted line, nothing is assumed to be missing. ``year`` gives all of it at once in cents, and replaces the
    three. ``annual_wages_expected`` below a threshold switches off the lines that depend on it. ``not_due`` are codes
    of lines whose threshold the wages paid so far don't reach: this paycheck's wages are subject to them but not
    taxed; what ``year`` says is owed on them is still corrected.

    ``supplemental_method`` is ``by_rule`` for what each law provides: the flat rate where it is allowed, otherwise the
    tax on supplemental and regular wages together. Most laws allow it only if ``withheld_before``, the codes of income
    taxes withheld from regular wages of earlier periods of this year or the last, has the line. ``other_pay`` is
    counted together with the paycheck, whatever the method.
    """

    pay_date: datetime.date
    pay_frequency: str
    regular_wages: Decimal
    work_state: str
    supplemental_wages: Decimal = ZERO
    supplemental_method: SupplementalMethod = "aggregate"
    period_start: datetime.date | None = None
    period_end: datetime.date | None = None
    residence_state: str | None = None
    residence: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    localities: tuple[str, ...] = ()
    annual_wages_expected: Decimal | None = None
    federal: FederalCertificate = NO_CERTIFICATE
    state: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    employer: EmployerProfile = NEW_EMPLOYER
    relationship: str = "none"
    ytd: Mapping[str, Decimal] = field(default_factory=lambda: _NO_YTD)
    ytd_tax: Mapping[str, Decimal] = field(default_factory=lambda: _NO_YTD)
    ytd_subject: Mapping[str, Decimal] = field(default_factory=lambda: _NO_YTD)
    year: YearSoFar | None = None
    not_due: frozenset[str] = frozenset()
    withheld_before: frozenset[str] = frozenset()
    other_pay: OtherPay | None = None
