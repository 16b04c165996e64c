"""What a household did in the last days: whom it paid, and what it filed, for its home page when all is clear."""

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.titles import title_of_item
from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.ledger.costs import LatestPaycheck
from hearthpay.todos.duty_rows import office_of
from hearthpay.todos.wording import agency_text, contracted
from hearthpay.web.presentation import day_text

_DAYS: Final = datetime.timedelta(days=7)
_MOST: Final = 4

_PAID: Final = mark("Paid {name}")
_FILED: Final = mark("Filed with {agency}")


@dataclass(frozen=True, slots=True)
class DoneRow:
    """Something that is done: in words, when, its page within the household's pages, and what was paid, in cents."""

    text: str
    details: str
    path: str
    day: datetime.date
    cents: int | None = None


def just_done(
    items: Iterable[CalendarItem],
    paychecks: Iterable[LatestPaycheck],
    today: datetime.date,
    say: Say,
    language: str,
) -> tuple[DoneRow, ...]:
    """Return what was done within a week, the latest first; a paycheck counts from its pay date on."""
    since = today - _DAYS
    found = [
        row
        for row in (*_of_items(items, say, language), *_of_paychecks(paychecks, say, language))
        if since <= row.day <= today
    ]
    return tuple(sorted(found, key=lambda row: (row.day, row.path), reverse=True)[:_MOST])


def _of_items(items: Iterable[CalendarItem], say: Say, language: str) -> Iterator[DoneRow]:
    for item in items:
        office = office_of(item)
        agency = agency_text(item.agency if office is None else office.name, language)
        path = f"/calendar/{item.uid}"
        what = title_of_item(item, language)
        if item.paid_on is not None and item.paid:
            details = f"{day_text(language, 'weekday', item.paid_on)} · {what}"
            yield DoneRow(
                contracted(say(_PAID, name=agency), language), details, path, item.paid_on, item.paid
            )
        elif item.filed_on is not None:
            details = f"{day_text(language, 'weekday', item.filed_on)} · {what}"
            yield DoneRow(say(_FILED, agency=agency), details, path, item.filed_on)
        elif item.marked_on is not None:
            yield DoneRow(what, day_text(language, "weekday", item.marked_on), path, item.marked_on)


def _of_paychecks(paychecks: Iterable[LatestPaycheck], say: Say, language: str) -> Iterator[DoneRow]:
    for each in paychecks:
        if each.status == "completed":
            yield DoneRow(
                say(_PAID, name=each.employee_name),
                day_text(language, "weekday", each.pay_date),
                f"/payrolls/{each.payroll_id}",
                each.pay_date,
                each.net_pay,
            )
