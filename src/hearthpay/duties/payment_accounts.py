"""The accounts to which taxes are paid, and the periods that a payment can be for, as the rules of duties have them.

Each duty that is paid belongs to one account: the one whose frequency it follows, or else one named for its taxes
(``sui``, ``withholding``, ``pfml``). Schedule H is paid to the account of estimated tax, whose installments it settles.
"""

import datetime
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hearthpay.duties.frequency import QUARTER
from hearthpay.duties.periods import Partition, Paydays
from hearthpay.duties.rules import PAID, Duties, HouseholdDuty, duties_of
from hearthpay.taxes.agencies import Agency, agencies

_UNEMPLOYMENT: Final = "-SUI-"
_INCOME_TAX: Final = "-SIT"
_LEAVE: Final = "pfml"


@dataclass(frozen=True, slots=True)
class PaymentPeriod:
    """What a payment is for: a period as the calendar names it, with its first and last day."""

    label: str
    start: datetime.date
    end: datetime.date


@dataclass(frozen=True, slots=True)
class PaymentAccount:
    """An account of a jurisdiction with the duties that are paid to it."""

    jurisdiction: str
    name: str
    duties: tuple[HouseholdDuty, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Codes of the lines that are paid to it; ``*`` stands for any text."""
        return tuple(sorted({line for duty in self.duties for line in duty.lines}))

    def period(self, label: str, agency: Agency) -> PaymentPeriod | None:
        """Return the period of this name for which the agency is paid; None where there is none."""
        for duty in self.duties:
            if duty.agency == agency.full_name:
                found = _period(duty, label)
                if found is not None:
                    return found
        return None

    def labels(self, agency: Agency, year: int) -> tuple[str, ...]:
        """Return the periods of a year for which the agency is paid; days stand as ``YYYY-MM-DD``."""
        found: dict[str, None] = {}
        for duty in self.duties:
            if duty.agency != agency.full_name:
                continue
            if isinstance(duty.partition, Partition):
                found.update((period.label, None) for period in duty.partition.periods(year))
            else:
                found["YYYY-MM-DD"] = None
        return tuple(found)


def accounts_of_agency(agency: Agency) -> tuple[PaymentAccount, ...]:
    """Return the accounts to which an agency is paid."""
    return tuple(
        account
        for account in payment_accounts(agency.state).values()
        if any(duty.agency == agency.full_name for duty in account.duties)
    )


@functools.cache
def payment_accounts(jurisdiction: str) -> Mapping[str, PaymentAccount]:
    """Return the accounts of ``US`` or a state by name; raises KeyError for a jurisdiction without duties."""
    duties = duties_of(jurisdiction)
    names = account_names(jurisdiction)
    found: dict[str, list[HouseholdDuty]] = {}
    for duty in duties.duties:
        if duty.id in names:
            found.setdefault(names[duty.id], []).append(duty)
    return {name: PaymentAccount(jurisdiction, name, tuple(own)) for name, own in found.items()}


@functools.cache
def account_names(jurisdiction: str) -> Mapping[str, str]:
    """Return the name of the account to which each duty that is paid belongs, by the duty's id."""
    duties = duties_of(jurisdiction)
    return {duty.id: _name(duty, duties) for duty in duties.duties if duty.kind in PAID and duty.lines}


def _name(duty: HouseholdDuty, duties: Duties) -> str:
    if duty.account is not None:
        return duty.account
    if any(_UNEMPLOYMENT in line for line in duty.lines):
        return "sui"
    if any(line.endswith(_INCOME_TAX) for line in duty.lines):
        return "withholding"
    settled = (other.account for other in duties.duties if other.id in duty.less)
    return next((account for account in settled if account is not None), _LEAVE)


def agency_of(jurisdiction: str, full_name: str) -> Agency:
    """Return the agency that a duty of a jurisdiction names; raises KeyError for an office that is not listed."""
    return _agencies_by_name()[jurisdiction, full_name]


@functools.cache
def _agencies_by_name() -> Mapping[tuple[str, str], Agency]:
    found: dict[tuple[str, str], Agency] = {}
    for agency in agencies().values():
        found.setdefault((agency.state, agency.full_name), agency)
    return found


def _period(duty: HouseholdDuty, label: str) -> PaymentPeriod | None:
    if isinstance(duty.partition, Partition):
        year = label[:4]
        if not (year.isascii() and year.isdecimal() and int(year)):
            return None
        for period in duty.partition.periods(int(year)):
            if period.label == label:
                return PaymentPeriod(label, period.start, period.end)
        return None
    if not isinstance(duty.partition, Paydays):
        return None
    try:
        last = datetime.date.fromisoformat(label)
    except ValueError:
        return None
    if last.isoformat() != label:
        return None
    # Where a limit must be reached, the paydays of the quarter up to it are paid at once.
    first = last.replace(day=1)
    if duty.partition.reached is not None:
        first = first.replace(month=(last.month - 1) // QUARTER * QUARTER + 1)
    return PaymentPeriod(label, first, last)
