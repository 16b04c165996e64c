"""What the page of a deadline says first: when it is due, why the date moved, and what to do about a late one."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import cache
from typing import Final

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.employment import LAST_WAGES_NOTE, policy_note
from hearthpay.duties.employment_rules import employment_rules
from hearthpay.duties.rules import PAID, Kind
from hearthpay.insurance.requirements import rules_of
from hearthpay.languages.catalogue import Say, mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.presentation import day_text

_SATURDAY: Final = 5
_DONE: Final = mark("Done on {day}")
_DUE: Final = mark("Due {day}")
_TODAY: Final = mark("Due today")
_ONE_DAY_LATE: Final = mark("1 day late")
_LATE: Final = mark("{days} days late")
_WEEKEND: Final = mark("The law's date is {day}. That's a weekend, so you have until {due}.")
_HOLIDAY: Final = mark("The law's date is {day}. That's a holiday, so you have until {due}.")
_WAS_WEEKEND: Final = mark("It was due {due}. The law's date is {day}, a weekend.")
_WAS_HOLIDAY: Final = mark("It was due {due}. The law's date is {day}, a holiday.")
_WAS_DUE: Final = mark("It was due {due}.")
_PAY: Final = mark("Pay it now. The agency usually sends a bill with a penalty and interest.")
_NEXT_STEPS: Final[Mapping[Kind, str]] = {
    "return": mark("File it now. The agency usually sends a notice, and may add a fee for filing late."),
    "payment": _PAY,
    "statement": mark("Give it now. The agency may ask why it was late, and may charge a fee."),
    "report": mark("Send it now. The agency usually sends a notice, and may charge a fee."),
}
"""What to do about something late, and what the agency usually does next; no penalty is calculated."""

RECIPIENTS: Final = (
    mark("The employee"),
    mark("Kept by the household"),
    mark("The state's unemployment agency"),
)
"""To whom a duty is done that is none to a named agency; pages show these in the reader's language."""


def status_text(say: Say, language: str, item: CalendarItem, today: datetime.date, *, overdue: bool) -> str:
    """Return when an item is due or was done, or how late it is."""
    if item.done_on is not None:
        return say(_DONE, day=day_text(language, "date", item.done_on))
    if overdue:
        days = (today - item.due).days
        return say(_ONE_DAY_LATE) if days == 1 else say(_LATE, days=days)
    return say(_TODAY) if item.due == today else say(_DUE, day=day_text(language, "weekday", item.due))


def moved_text(say: Say, language: str, item: CalendarItem, *, overdue: bool) -> str | None:
    """Return why an item is due on another day than the law names; of an overdue one, when it was due.

    None if the law's date stands and is still ahead.
    """
    if item.due == item.due_unmoved:
        return say(_WAS_DUE, due=day_text(language, "weekday", item.due)) if overdue else None
    if item.due_unmoved.weekday() >= _SATURDAY:
        sentence = _WAS_WEEKEND if overdue else _WEEKEND
    else:
        sentence = _WAS_HOLIDAY if overdue else _HOLIDAY
    day, due = (day_text(language, "weekday", each) for each in (item.due_unmoved, item.due))
    return say(sentence, day=day, due=due)


def late_text(say: Say, item: CalendarItem, *, overdue: bool, unpaid: bool) -> str | None:
    """Return what to do about a late item, and the agency's usual next step; None if nothing is late.

    `unpaid`: the household's records show an amount that is late.
    """
    if unpaid and item.kind in PAID:
        return say(_PAY)
    return say(_NEXT_STEPS[item.kind]) if overdue and item.kind in _NEXT_STEPS else None


def note_text(say: Say, note: str) -> str:
    """Return the note of an item in the reader's language; some are made of several texts of the rule files."""
    leaving = _rules_of_leaving().get(note)
    if leaving is not None:
        return say(LAST_WAGES_NOTE, rule=say(leaving))
    return " ".join(say(part) for part in _parts_of_policies().get(note, (note,)))


@cache
def _rules_of_leaving() -> Mapping[str, str]:
    """Return when the last wages are due to an employee who quits, by the note that says it."""
    rules = employment_rules().last_wages.values()
    return {LAST_WAGES_NOTE.format(rule=rule.quit): rule.quit for rule in rules}


@cache
def _parts_of_policies() -> Mapping[str, tuple[str, ...]]:
    """Return the texts that a policy's note is made of, by the note."""
    rules = (rule for state in STATES for rule in rules_of(state))
    return {policy_note(rule): tuple(part for part in (rule.words, rule.penalty) if part) for rule in rules}
