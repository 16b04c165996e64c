"""Money in three pots, and what one payroll adds to the payments of taxes, as pages show it (`money_parts.html`)."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from babel.lists import format_list
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.permissions import READ_CALENDAR
from hearthpay.duties.deposits import PayrollLine, TaxDeposit
from hearthpay.duties.service import deposits_of_payroll
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.ledger.estimates import EstimatedPaycheck
from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow
from hearthpay.payroll.pots import MoneyPots, pots_of
from hearthpay.todos.wording import agency_text
from hearthpay.web.household.context import HouseholdContext

__all__ = ["AgencyShare", "KeepAside", "MoneyPots", "keep_aside_of", "pots_of", "who_is_paid"]

_LOCALES: Final = {"en": "en_US", "es": "es_US"}
_THE_AGENCY: Final = mark("the {agency}")
_INSURER: Final = mark("your insurer")
_EMPLOYEES: Final = mark("your employees")
_FEDERAL: Final = "IRS"
"""Named first."""

_FEW: Final = 2


@dataclass(frozen=True, slots=True)
class AgencyShare:
    """What goes to one agency by one day, in cents; without a day it goes with an insurer's premium."""

    agency: str
    due: datetime.date | None
    cents: int
    late: bool
    named: str
    """The agency after "the" in an English sentence; in a Spanish one with its article."""


@dataclass(frozen=True, slots=True)
class KeepAside:
    """What is kept aside for the taxes of one payroll, by agency and due date; ``total`` is their sum, in cents."""

    total: int
    shares: tuple[AgencyShare, ...]
    agencies: str
    """Their names in a sentence: "the IRS and the EDD"."""


async def keep_aside_of(
    session: AsyncSession,
    at: HouseholdContext,
    paychecks: Sequence[PaycheckRow | EstimatedPaycheck],
    pay_date: datetime.date,
    *,
    in_ledger: bool,
) -> KeepAside | None:
    """Return what to keep aside of a payroll; None for a member who may not see the calendar of duties."""
    if not at.may(READ_CALENDAR):
        return None
    employer = await find_employer(session, at.actor, at.id)
    deposits = await deposits_of_payroll(
        session, at.actor, at.clock, employer, pay_date, _lines(paychecks), in_ledger=in_ledger
    )
    return kept_aside(deposits, at.clock.today(), at.say, at.visitor.language)


def kept_aside(deposits: Iterable[TaxDeposit], today: datetime.date, say: Say, language: str) -> KeepAside:
    """Return the payments by agency and due date, in the visitor's language."""
    cents: dict[tuple[str, datetime.date | None], int] = {}
    for each in deposits:
        place = (say(each.agency or _INSURER), each.due)
        cents[place] = cents.get(place, 0) + each.cents
    shares = [
        AgencyShare(
            agency,
            due,
            amount,
            late=due is not None and due < today,
            named=agency if language == "en" else agency_text(agency, language),
        )
        for (agency, due), amount in cents.items()
        if amount
    ]
    named = dict.fromkeys(
        each.agency if each.due is None else say(_THE_AGENCY, agency=each.named)
        for each in sorted(shares, key=lambda each: each.agency != _FEDERAL)
    )
    return KeepAside(sum(each.cents for each in shares), tuple(shares), joined(list(named), language))


def who_is_paid(say: Say, language: str, first_names: Sequence[str]) -> str:
    """Return "Ana", "Ana and Rosa", or "your employees"."""
    return joined(first_names, language) if len(first_names) <= _FEW else say(_EMPLOYEES)


def joined(names: Sequence[str], language: str) -> str:
    """Return names as a sentence lists them: "Ana, Rosa, and Eva"."""
    return format_list(names, locale=_LOCALES[language]) if names else ""


def _lines(paychecks: Iterable[PaycheckRow | EstimatedPaycheck]) -> list[PayrollLine]:
    return [
        PayrollLine(
            pay.employee_id,
            line.code,
            line.amount,
            # An estimate keeps no agency.
            line.agency if isinstance(line, LineRow) else "",
        )
        for pay in paychecks
        for line in pay.lines
    ]
