"""To-dos from a settled calendar: what is to be paid, filed, handed out, kept or chosen, one for each open item."""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from uuid import UUID

from hearthpay.duties.calendar import CalendarItem, NextStep
from hearthpay.duties.employment import POLICY_IDS
from hearthpay.duties.open_items import is_open, is_overdue
from hearthpay.duties.payment_accounts import agency_of
from hearthpay.duties.payment_requests import account_of_item
from hearthpay.duties.rules import Kind
from hearthpay.taxes.agencies import Agency
from hearthpay.todos.to_do import ToDo, ToDoKind

_BY_STEP: Final[Mapping[NextStep, ToDoKind]] = {
    "pay": "pay_taxes",
    "file_and_pay": "file_and_pay",
    "file": "file_return",
    "amend": "amend_return",
}
_BY_KIND: Final[Mapping[Kind, ToDoKind]] = {
    "report": "file_report",
    "statement": "give_statement",
    "notice": "give_notice",
    "election": "choose_election",
}


def to_dos_of_calendar(
    employer_id: UUID, items: Iterable[CalendarItem], today: datetime.date, until: datetime.date
) -> Iterator[ToDo]:
    """Yield a to-do for each item that is open and due by a day."""
    for item in items:
        if item.due <= until and is_open(item, today):
            yield _to_do(employer_id, item, today)


def _to_do(employer_id: UUID, item: CalendarItem, today: datetime.date) -> ToDo:
    office = office_of(item)
    return ToDo(
        employer_id=employer_id,
        kind=_kind(item),
        key=item.key,
        subject_type="calendar_item",
        subject_id=item.key,
        path=f"/calendar/{item.uid}",
        due_on=item.due,
        overdue=is_overdue(item, today),
        amount=item.open if item.open is not None and item.open > 0 else None,
        is_running=item.amount is not None and item.period_end >= today,
        agency=item.agency if office is None else office.name,
        what=item.what,
        name=item.employee_name,
        state=item.jurisdiction,
        account=account_of_item(item),
        period=item.period,
        covers=item.covers,
        office=office,
    )


def office_of(item: CalendarItem) -> Agency | None:
    """Return the tax agency of an item; None for another office."""
    try:
        return agency_of(item.jurisdiction, item.agency)
    except KeyError:
        return None


def _kind(item: CalendarItem) -> ToDoKind:
    if item.kind in ("payment", "return") or item.next_step == "amend":
        return _BY_STEP[item.next_step]
    _, duty, label, *_ = item.key.split("/")
    if duty in POLICY_IDS.values():
        return "get_policy" if label == "policy" else "renew_policy"
    return _BY_KIND[item.kind]
