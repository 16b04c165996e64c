"""Households of which the tests ask what is due."""

import datetime
from collections.abc import Iterable
from uuid import UUID

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import (
    EmploymentSpell,
    Filing,
    Household,
    HouseholdEmployee,
    LedgerAmount,
    Liability,
    Withholding,
)
from hearthpay.duties.rules import duties_of
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of

HOUSEHOLD = UUID("0190a000-0000-7000-8000-000000000001")
MARIA = UUID("0190a000-0000-7000-8000-00000000000a")
JOHN = UUID("0190a000-0000-7000-8000-00000000000b")

LONG_AGO = datetime.date(2020, 1, 1)


def everywhere(frequency: str | None = None) -> Household:
    """A household that owes all there is in every state, and files as often as it may choose to, where it may.

    What is due above an amount of a month alone is withheld in plenty.
    """
    jurisdictions = ("US", *STATES)
    maria = HouseholdEmployee(
        MARIA,
        "Maria",
        tuple(EmploymentSpell(state, LONG_AGO) for state in STATES),
        withholding=tuple(Withholding(jurisdiction, LONG_AGO) for jurisdiction in jurisdictions),
        claims_exemption=True,
        local_lines=frozenset(
            tax.code for state in STATES for tax in rulebook_of(2026).state(state).local_taxes
        ),
    )
    liabilities = [
        Liability(jurisdiction, name, LONG_AGO) for jurisdiction in STATES for name in ("sui", "sdi", "tdi")
    ]
    liabilities += [Liability("US", "futa", LONG_AGO), Liability("US", "fica", LONG_AGO, employee_id=MARIA)]
    filings = [
        Filing(jurisdiction, account.name, frequency, 2020)
        for jurisdiction in jurisdictions
        for account in duties_of(jurisdiction).accounts
        if frequency in account.frequencies
    ]
    plenty = sorted(
        {line for state in STATES for duty in duties_of(state).duties if duty.over for line in duty.lines}
    )
    amounts = tuple(
        LedgerAmount(MARIA, line, year, month, 9000_00)
        for line in plenty
        for year in (2025, 2026, 2027)
        for month in range(1, 13)
    )
    return Household(HOUSEHOLD, (maria,), tuple(liabilities), amounts, filings=tuple(filings))


def by_key(items: Iterable[CalendarItem]) -> list[CalendarItem]:
    """The items in the order of their keys."""
    return sorted(items, key=lambda item: item.key)


def covering(calendar: Iterable[CalendarItem], day: datetime.date) -> list[CalendarItem]:
    """The items of a calendar with an amount for days that include the day, by key."""
    return by_key(
        item for item in calendar if item.amount is not None and item.period_start <= day <= item.period_end
    )
