"""The mails of Autopilot: plain words, no link, and always how to stop it."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, NotRequired, TypedDict, cast
from uuid import UUID

from hearthpay.autopilot.eligibility import IN_WORDS, Reason
from hearthpay.languages.catalogue import day_in, hour_in, mark, money_in
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import name_in_mail
from hearthpay.payroll.issues.advice import reason_of
from hearthpay.people.recipients import NoticeReader
from hearthpay.taxes.money import from_cents

_HOW_TO_STOP: Final = mark(
    "You can pause Autopilot, skip a pay period or end it at any time, on its page or by the API."
)
_AN_EMPLOYEE: Final = mark("your employee")

_WORDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "enrolled": (
        mark("Autopilot is on for {name}"),
        mark(
            "From now on {name} is paid by direct deposit, period after period, for the hours that you enrolled, and "
            "you have authorized the debits of your bank account for it."
        ),
        mark("We email you a day before each debit, and ask you before we debit an unusual amount."),
        _HOW_TO_STOP,
        mark("If this was not you, end Autopilot now and contact your administrator."),
    ),
    "debit_tomorrow": (
        mark("Autopilot: upcoming debit for {name}"),
        mark(
            "On {sent} we debit about {amount} net, plus set-asides, from your account. It pays "
            "{name} for {first} to {last} on {pay_date}. The final amount is calculated that day."
        ),
        mark("You can void the payroll until then."),
        _HOW_TO_STOP,
    ),
    "debit_now": (
        mark("Autopilot: your account is debited for {name}"),
        mark(
            "{amount} net and what is set aside is being debited from your account, to pay {name} for {first} to "
            "{last} on {pay_date}. We could not tell you a day before."
        ),
        _HOW_TO_STOP,
    ),
    "held": (
        mark("Approve {name}'s pay"),
        mark(
            "{name}'s net pay of {amount} for {first} to {last}, payday {pay_date}, is higher than usual. We "
            "won't send it unless you approve it."
        ),
        mark("Void the payroll, or confirm it before {sent}."),
    ),
    "paid": (
        mark("Autopilot paid {name}"),
        mark("{name} was paid {amount} on {pay_date} for {first} to {last}."),
        _HOW_TO_STOP,
    ),
}
"""The subject and paragraphs, with and without a payroll."""

_NOT_BY_HAND: Final = frozenset({"tax_year_not_final", "unsupported_jurisdiction"})
"""Why a payroll can't be run by hand either."""

AUTOPILOT_KINDS: Final = (*_WORDINGS, "paused", "resumed", "cannot_pay")
"""What a household is notified of; any other kind means that a period can't be paid."""


class PeriodDetails(TypedDict):
    """A pay period as tasks carry it: days in ISO 8601."""

    start: str
    end: str
    pay_date: NotRequired[str]


class TaskDetails(TypedDict, total=False):
    """What a task says besides its payroll; each kind has some of it. Days are in ISO 8601."""

    reasons: Sequence[str]
    failure_count: int
    last_day: str
    """The employee's last day, of a pause because she left."""
    period_start: str
    period_end: str
    for_good: bool
    """Whether the period will not be paid by Autopilot at all."""
    waiting: bool
    """Whether the reason is one that only the operator or the law can remove."""
    next_period: PeriodDetails
    not_paid: Sequence[PeriodDetails]
    reinstated: bool


@dataclass(frozen=True, slots=True)
class Names:
    """The names of an enrolled employee, and of the household that is notified."""

    first_name: str
    last_name: str
    household_first: str


class TaskPayroll(NamedTuple):
    """The payroll that a task is about; `net_pay` in cents, `code` is why it failed."""

    id: UUID
    status: str
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    net_pay: int
    scheduled_send_at: datetime.datetime | None
    code: str | None


def mail_of(
    reader: NoticeReader, kind: str, names: Names, payroll: TaskPayroll | None, details: TaskDetails
) -> Mail:
    """Return the mail to a reader about the household's enrollment and, if it concerns one, its payroll."""
    name = name_in_mail(names.first_name, names.last_name) or reader.say(_AN_EMPLOYEE)
    if kind == "debit_tomorrow" and payroll is not None and payroll.status != "scheduled":
        kind = "debit_now"  # the worker was away when a day before was
    subject, *lines = _paragraphs(kind, reader, name, payroll, details)
    return letter(
        reader.address,
        reader.language,
        subject,
        reader.greeted(names.household_first),
        tuple(lines),
        place=reader.place,
    )


def _paragraphs(
    kind: str, reader: NoticeReader, name: str, payroll: TaskPayroll | None, details: TaskDetails
) -> list[str]:
    say = reader.say
    if kind in _WORDINGS:
        facts = {"name": name} | _facts(reader.language, payroll)
        return [say(each, **facts) for each in _WORDINGS[kind]]
    if kind == "resumed":
        return _resumed(reader, name, details)
    if kind == "paused" and "last_day" in details:
        last_day = day_in(reader.language, datetime.date.fromisoformat(details["last_day"]))
        return [
            say(mark("Autopilot stopped for {name}"), name=name),
            say(mark("{name} left on {day}. Autopilot doesn't pay after that day."), name=name, day=last_day),
            say(
                mark(
                    "If you reinstate {name}, Autopilot continues with the next whole pay period. If not, "
                    "you can end Autopilot."
                ),
                name=name,
            ),
        ]
    if kind == "paused":
        failures = details["failure_count"]
        return [
            say(mark("Autopilot is paused for {name}"), name=name),
            say(
                mark("Autopilot is paused for {name} after {number} failed payrolls in a row."),
                number=failures,
                name=name,
            ),
            *_why(reader, details),
            say(mark("Then resume it. The periods in between are not paid by Autopilot: run them by hand.")),
        ]
    days = {
        "first": day_in(reader.language, datetime.date.fromisoformat(details["period_start"])),
        "last": day_in(reader.language, datetime.date.fromisoformat(details["period_end"])),
    }
    if details.get("waiting"):
        return _pending_paragraphs(reader, name, days, details["reasons"])
    happens = (
        mark("Autopilot didn't pay {name} for {first} to {last}. Run payroll for this period yourself.")
        if details.get("for_good")
        else mark(
            "Autopilot can't pay {name} for {first} to {last} yet. Fix the problem below before the money is sent."
        )
    )
    return [
        say(mark("Autopilot cannot pay {name}"), name=name),
        say(happens, name=name, **days),
        *_why(reader, details),
    ]


def _pending_paragraphs(
    reader: NoticeReader, name: str, days: Mapping[str, str], reasons: Sequence[str]
) -> list[str]:
    """Return the paragraphs for a problem that only the operator or the law can fix: no action is needed."""
    say = reader.say
    lines = [
        say(mark("Autopilot will pay {name} later"), name=name),
        say(mark("Autopilot can't pay {name} for {first} to {last} yet."), name=name, **days),
        *(f"{say(IN_WORDS[cast(Reason, reason)][0])}." for reason in reasons),
        say(
            mark(
                "No action needed. Autopilot keeps trying and pays on the first possible date. We'll email you before "
                "your account is debited."
            )
        ),
    ]
    if _NOT_BY_HAND.intersection(reasons):
        lines.append(say(mark("Until then, this pay period can't be run by hand either.")))
    return lines


def _resumed(reader: NoticeReader, name: str, details: TaskDetails) -> list[str]:
    say = reader.say

    def day(value: str) -> str:
        return day_in(reader.language, datetime.date.fromisoformat(value))

    following = details["next_period"]
    lines = [
        say(mark("Autopilot is on again for {name}"), name=name),
        say(
            mark("{name} works for you again. The next pay period is {first} to {last}, paid on {pay_date}.")
            if details.get("reinstated")
            else mark(
                "Autopilot was paused because tax figures were missing. That was our side, and Hearthpay now pays "
                "without them. The next pay period is {first} to {last}, paid on {pay_date}."
            ),
            name=name,
            first=day(following["start"]),
            last=day(following["end"]),
            pay_date=day(following["pay_date"]),
        ),
    ]
    if details["not_paid"]:
        first, last = details["not_paid"][0]["start"], details["not_paid"][-1]["end"]
        lines.append(
            say(
                mark("Autopilot won't pay {first} to {last}. If you haven't paid it, run payroll yourself."),
                first=day(first),
                last=day(last),
            )
        )
    return [*lines, say(_HOW_TO_STOP)]


def _why(reader: NoticeReader, details: TaskDetails) -> list[str]:
    say = reader.say
    lines = []
    for reason in details.get("reasons", ()):
        why, action = IN_WORDS.get(
            cast(Reason, reason), (reason_of(str(reason)), mark("See what the payroll says of it."))
        )
        lines.append(say(mark("{reason}. What to do: {action}"), reason=say(why), action=say(action)))
    return lines


def _facts(language: str, payroll: TaskPayroll | None) -> dict[str, str]:
    if payroll is None:
        return {}
    sent = payroll.scheduled_send_at
    return {
        "amount": money_in(language, from_cents(payroll.net_pay)),
        "first": day_in(language, payroll.period_start),
        "last": day_in(language, payroll.period_end),
        "pay_date": day_in(language, payroll.pay_date),
        "sent": "" if sent is None else hour_in(language, sent),
    }
