"""The obligations that hang on a household's accounts with state agencies: what is filed or paid under each, and when.

A duty belongs to an account if it settles a line that is reported under it. One without lines belongs to the accounts
that its conditions name. Reports of hires, elections, notices and statements belong to none.
"""

import datetime
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.duties.amounts import is_among
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.periods import HALF_YEARS, MONTHLY, QUARTERS, YEARS, Partition
from hearthpay.duties.rules import WITHHOLDING, HouseholdDuty, duties_of
from hearthpay.duties.service import items_of
from hearthpay.employers.models import Employer
from hearthpay.registrations.accounts import StateAccount, accounts_of, lines_of_account
from hearthpay.registrations.derivation import Registration
from hearthpay.registrations.schemas import Obligation, Obligations

_AHEAD: Final = datetime.timedelta(days=366)
_KINDS: Final = frozenset({"return", "payment", "report"})
_CONDITIONS: Final[Mapping[str, str]] = {"sui": "sui", "sdi": "sdi", "withholding": WITHHOLDING}
"""By the type of an account, the condition of a duty without lines that hangs on it."""
_FREQUENCIES: Final[Mapping[Partition, str]] = {
    YEARS: "annual",
    HALF_YEARS: "semiannual",
    QUARTERS: "quarterly",
    MONTHLY: "monthly",
}
_BY_PAYDAY: Final = "payday"


async def obligations_of_household(
    session: AsyncSession, employer: Employer, rows: Iterable[Registration], today: datetime.date
) -> Obligations:
    """Return the obligations of these accounts in the year ahead; the caller has checked that they may be read."""
    items = await items_of(session, employer, today, today, today + _AHEAD)
    return {(row.state, row.account_id): obligations_of_account(row, items, today) for row in rows}


def obligations_of_account(
    row: Registration, items: Iterable[CalendarItem], today: datetime.date
) -> list[Obligation]:
    """Return what hangs on one account, the next due first; what is done already has no next date."""
    account = accounts_of(row.state).account(row.account_id)
    if account is None:
        return []
    lines = lines_of_account(account, today.year)
    duties = {duty.id: duty for duty in duties_of(row.state).duties if _hangs_on(duty, account, lines)}
    found: dict[str, Obligation] = {}
    for item in items:
        duty = duties.get(item.key.split("/")[1]) if item.jurisdiction == row.state else None
        if duty is None or item.due < today:
            continue
        earlier = found.get(duty.id)
        if earlier is None or (earlier.next_due_on is None and item.done_on is None):
            due = None if item.done_on is not None else item.due
            found[duty.id] = Obligation(f"{row.state}/{duty.id}", duty.what, _frequency(duty, item), due)
    return sorted(found.values(), key=lambda each: (each.next_due_on or datetime.date.max, each.key))


def _hangs_on(duty: HouseholdDuty, account: StateAccount, lines: frozenset[str]) -> bool:
    if duty.kind not in _KINDS or duty.partition is None:
        return False
    if duty.lines:
        return any(is_among(line, duty.lines) for line in lines)
    return _CONDITIONS.get(account.type) in duty.when


def _frequency(duty: HouseholdDuty, item: CalendarItem) -> str:
    if isinstance(duty.partition, Partition):
        return _FREQUENCIES[duty.partition]
    return _BY_PAYDAY if item.reason is None else item.reason.frequency
