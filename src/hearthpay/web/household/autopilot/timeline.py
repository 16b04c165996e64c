"""The history of enrollments as sentences: what happened, when, and through which interface."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from hearthpay.autopilot.models import AutopilotEvent
from hearthpay.languages.catalogue import Say, mark, say_in
from hearthpay.web.household.autopilot.words import FAILED, REASONS, SOURCES
from hearthpay.web.household.employees.words import FREQUENCIES
from hearthpay.web.presentation import day_text, hours_text

_ENROLLED: Final = mark(
    "Enrolled: {hours}, {frequency}. The first period is {start} to {end}, paid on {day}."
)
_CHANGED: Final = mark("Changed from {day} on: {hours}, {frequency}.")
_AGREED: Final = mark("Agreed to the debits again.")
_CONFIRMED: Final = mark("Approved a payroll that was held.")
_SKIPPED: Final = mark("Skipped everything that begins by {day}.")
_SKIP_CAME: Final = mark("The period {start} to {end} was skipped, as you asked.")
_BY_HAND: Final = mark("The period {start} to {end} was paid by hand: it is not paid again.")
_VOIDED: Final = mark("The payroll of {start} to {end} was voided.")
_ALSO_VOIDED: Final = mark("Scheduled payrolls that were voided: {count}.")
_STILL_PAID: Final = mark("Scheduled payrolls that are still paid: {count}.")
_PAUSED: Final = mark("Paused.")
_GAVE_UP: Final = mark("Paused after {count} failures. {reasons}")
_RESUMED: Final = mark("Resumed with the period {start} to {end}, paid on {day}.")
_RESUMED_BY_US: Final = mark(
    "Resumed: the tax figures are available. The next period is {start} to {end}, paid on {day}."
)
_NOT_PAID: Final = mark("Periods in between that are not paid: {count}.")
_ENDED: Final = mark("Ended, with the authorization of its debits.")
_MADE: Final = mark("Scheduled the payroll of {start} to {end}, paid on {day}.")
_WAITS: Final = mark("It needs your approval.")
_SENT: Final = mark("Sent the payroll of {start} to {end}, paid on {day}: your account is debited.")
_NOT_MADE: Final = mark("The period {start} to {end} could not be paid. {reasons}")


@dataclass(frozen=True, slots=True)
class Line:
    """One event in words; `source` is translated later."""

    at: datetime.datetime
    text: str
    source: str
    employee_id: UUID
    bad: bool


def lines_of(events: Sequence[AutopilotEvent], language: str) -> list[Line]:
    """Return the events in the words of a language, in their order."""
    return [
        Line(
            each.at,
            _event_text(each, _EventText(language, each.details)),
            SOURCES[each.source],
            each.employee_id,
            each.event == "fail",
        )
        for each in events
    ]


_SALARY: Final = mark("the salary")


@dataclass(frozen=True, slots=True)
class _EventText:
    """Translates sentences with the details of one event."""

    language: str
    details: Mapping[str, Any]

    @property
    def say(self) -> Say:
        return say_in(self.language)

    def day(self, name: str, of: Mapping[str, Any] | None = None) -> str:
        found = (self.details if of is None else of).get(name)
        return day_text(self.language, "date", None if found is None else datetime.date.fromisoformat(found))

    def days(self, period: Mapping[str, Any], start: str = "start", end: str = "end") -> dict[str, str]:
        return {
            "start": self.day(start, period),
            "end": self.day(end, period),
            "day": self.day("pay_date", period),
        }

    def period(self, sentence: str, **more: str) -> str:
        return self.say(sentence, **self.days(self.details, "period_start", "period_end"), **more)

    def count(self, sentence: str, name: str) -> str:
        """Return the sentence with a count, after a space; nothing if the count is zero."""
        found = self.details.get(name) or ()
        return f" {self.say(sentence, count=len(found))}" if found else ""

    def reasons(self) -> str:
        words = [REASONS[each].why if each in REASONS else FAILED for each in self.details.get("reasons", ())]
        return " ".join(self.say(word) for word in dict.fromkeys(words))

    def terms(self, sentence: str, **more: str) -> str:
        enrolled = Decimal(self.details["standard_hours"])
        hours = hours_text(self.language, enrolled) if enrolled else self.say(_SALARY)
        frequency = self.say(FREQUENCIES[self.details["frequency"]])
        return self.say(sentence, hours=hours, frequency=frequency[:1].lower() + frequency[1:], **more)


def _event_text(event: AutopilotEvent, teller: _EventText) -> str:
    match event.event:
        case "enroll":
            return _enrolled(teller)
        case "skip":
            return _skipped(teller)
        case "pause":
            if teller.details.get("reasons"):
                count = teller.details.get("failure_count", 0)
                return teller.say(_GAVE_UP, count=count, reasons=teller.reasons())
            return teller.say(_PAUSED) + teller.count(_STILL_PAID, "still_paid")
        case "resume":
            resumed = teller.say(
                _RESUMED_BY_US if teller.details.get("why") else _RESUMED,
                **teller.days(teller.details["next_period"]),
            )
            return resumed + teller.count(_NOT_PAID, "not_paid")
        case "disable":
            voided = teller.count(_ALSO_VOIDED, "voided")
            return teller.say(_ENDED) + voided + teller.count(_STILL_PAID, "still_paid")
        case "generate":
            waits = f" {teller.say(_WAITS)}" if teller.details.get("held") else ""
            return teller.period(_MADE) + waits
        case "fire":
            return teller.period(_SENT)
        case _:
            return teller.period(_NOT_MADE, reasons=teller.reasons())


def _enrolled(teller: _EventText) -> str:
    if teller.details.get("confirmed"):
        return teller.say(_CONFIRMED)
    if teller.details.get("authorized_anew"):
        return teller.say(_AGREED)
    if "first_period" in teller.details:
        return teller.terms(_ENROLLED, **teller.days(teller.details["first_period"]))
    return teller.terms(_CHANGED, day=teller.day("from_period"))


def _skipped(teller: _EventText) -> str:
    match teller.details.get("why"):
        case "paid_by_hand":
            return teller.period(_BY_HAND)
        case "skipped":
            return teller.period(_SKIP_CAME)
    if "through" not in teller.details:
        return teller.period(_VOIDED)
    skipped = teller.say(_SKIPPED, day=teller.day("through"))
    return skipped + teller.count(_ALSO_VOIDED, "voided") + teller.count(_STILL_PAID, "still_paid")
