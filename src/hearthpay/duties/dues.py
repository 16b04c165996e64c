"""What is overdue and due soon for a household, as figures that a list of many households can show and sort by.

They are calculated from the settled calendar of the household, and kept (`dues_records`).
"""

import datetime
import functools
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

import hearthpay
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.open_items import is_open, is_overdue
from hearthpay.duties.service import settled_calendar_of
from hearthpay.employers.models import Employer
from hearthpay.payroll.never_paid import read_never_paid
from hearthpay.payroll.next_payroll import read_next_payrolls

SIX_DAYS: Final = datetime.timedelta(days=6)
"""A week is a day and the six after it."""

_AHEAD: Final = datetime.timedelta(days=92)
_YEARS_BACK: Final = 1


@dataclass(frozen=True, slots=True)
class HouseholdDues:
    """What a household has to do as of a day, in numbers and cents; `payday_to_run` is its next payday by hand.

    For somebody who was never paid, that is the last payday that has passed.
    """

    overdue_since: datetime.date | None = None
    overdue_count: int = 0
    overdue_cents: int = 0
    week_count: int = 0
    week_cents: int = 0
    next_due: datetime.date | None = None
    payday_to_run: datetime.date | None = None


def dues_of(
    items: Iterable[CalendarItem], today: datetime.date, payday: datetime.date | None = None
) -> HouseholdDues:
    """Return the figures of the items of a settled calendar, as of `today`."""
    still = [item for item in items if item.kind != "election" and is_open(item, today)]
    late = [item for item in still if is_overdue(item, today)]
    ahead = [item for item in still if item.due >= today]
    week = [item for item in ahead if item.due <= today + SIX_DAYS]
    return HouseholdDues(
        overdue_since=min((item.due for item in late), default=None),
        overdue_count=len(late),
        overdue_cents=_cents(late),
        week_count=len(week),
        week_cents=_cents(week),
        next_due=min((item.due for item in ahead), default=None),
        payday_to_run=payday,
    )


async def compute_dues(session: AsyncSession, employer: Employer, today: datetime.date) -> HouseholdDues:
    """Return the household's figures from its books; the caller has checked that they may be read."""
    since = datetime.date(today.year - _YEARS_BACK, 1, 1)
    _, calendar = await settled_calendar_of(session, employer, today, since, today + _AHEAD)
    planned = await read_next_payrolls(session, [employer.id], today)
    paydays = [planned[employer.id].pay_date] if employer.id in planned else []
    never_paid = await read_never_paid(session, [employer.id], today)
    paydays += [each.latest_payday(today) for each in never_paid.get(employer.id, ())]
    return dues_of(calendar.items, today, min(paydays, default=None))


@functools.cache
def rules_fingerprint() -> str:
    """Return what tells this program and its rule files from others: figures by another one are calculated again."""
    digest = hashlib.sha256(hearthpay.__version__.encode())
    folder = Path(hearthpay.__file__).parent
    for path in sorted(folder.rglob("*.toml")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _cents(items: Iterable[CalendarItem]) -> int:
    return sum(max(item.open or 0, 0) for item in items)
