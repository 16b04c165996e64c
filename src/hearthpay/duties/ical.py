"""The calendar of duties as an iCalendar feed (RFC 5545): an all-day entry for each item.

Entries keep their UID even if their date changes, so that an app that reads the feed again moves them.
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from icalendar import Calendar, Event
from icalendar.enums import TRANSP

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.titles import title_of_item
from hearthpay.taxes.money import from_cents

_PRODUCT: Final = "-//Hearthpay//Calendar of duties//EN"
_NAME: Final = "Household payroll"
_DAY: Final = datetime.timedelta(days=1)
_READ_AGAIN_AFTER: Final = datetime.timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class DatedEntry:
    """An entry of the feed that is no duty, such as a payroll to run."""

    uid: UUID
    day: datetime.date
    summary: str
    description: str


def feed_of(
    household: UUID,
    items: Iterable[CalendarItem],
    as_of: datetime.datetime,
    others: Iterable[DatedEntry] = (),
) -> bytes:
    """Return a household's feed, in UTF-8, as of the instant ``as_of`` (ValueError without a timezone)."""
    if as_of.utcoffset() is None:
        raise ValueError("a feed needs a timezone-aware datetime")
    calendar = Calendar.new(
        prodid=_PRODUCT,
        uid=str(household),
        name=_NAME,
        method="PUBLISH",
        refresh_interval=_READ_AGAIN_AFTER,
        subcomponents=[
            *(_event(item, as_of.astimezone(datetime.UTC)) for item in items),
            *(_entry(other, as_of.astimezone(datetime.UTC)) for other in others),
        ],
    )
    feed: bytes = calendar.to_ical()
    return feed


def _event(item: CalendarItem, stamp: datetime.datetime) -> Event:
    return Event.new(
        uid=item.uid,
        stamp=stamp,
        start=item.due,
        end=item.due + _DAY,
        summary=summary_of(item),
        description=description_of(item),
        categories=[item.jurisdiction, item.kind],
        transparency=TRANSP.TRANSPARENT,
        url=item.link,
    )


def _entry(other: DatedEntry, stamp: datetime.datetime) -> Event:
    return Event.new(
        uid=other.uid,
        stamp=stamp,
        start=other.day,
        end=other.day + _DAY,
        summary=other.summary,
        description=other.description,
        categories=["payroll"],
        transparency=TRANSP.TRANSPARENT,
    )


def summary_of(item: CalendarItem) -> str:
    """Return what to do, in one line."""
    whose = "" if item.employee_name is None else f" ({item.employee_name})"
    done = "" if item.done_on is None else "Done: "
    place = "" if item.jurisdiction == "US" else f"{item.jurisdiction}: "
    return f"{done}{place}{title_of_item(item, 'en')}{whose}"


def description_of(item: CalendarItem) -> str:
    """Return everything else that is known about it, one line each."""
    lines = [f"To: {item.agency}"]
    if item.form is not None:
        lines.append(f"Form: {item.form}")
    days = "" if item.period_start == item.period_end else f" ({item.period_start} to {item.period_end})"
    lines.append(f"For: {item.period}{days}")
    if item.amount is not None:
        lines.append(f"Amount so far: ${from_cents(item.amount):,.2f}")
        if item.paid and item.open is not None:
            lines.append(f"Paid: ${from_cents(item.paid):,.2f}. Open: ${from_cents(item.open):,.2f}")
    if item.due_unmoved != item.due:
        lines.append(f"The law names {item.due_unmoved.isoformat()}, a day on which offices are closed.")
    if item.done_on is not None:
        lines.append(f"Marked as done on {item.done_on.isoformat()}.")
    if item.note:
        lines.append(item.note)
    lines.append(
        f"Source ({item.confidence} confidence): {'; '.join(source.title for source in item.sources)}"
    )
    return "\n".join(lines)
