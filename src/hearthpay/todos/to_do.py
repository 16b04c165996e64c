"""A to-do as plain facts, without a sentence, and the agenda: the to-dos of a household in order of urgency."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args
from uuid import UUID, uuid5

from hearthpay.duties.periods import CoveredDays
from hearthpay.duties.settlement import SettledCalendar
from hearthpay.payroll.issues.open_payments import OpenPayment
from hearthpay.payroll.next_payday import NextPayday
from hearthpay.taxes.agencies import Agency

ToDoKind = Literal[
    "debit_returned",
    "deposit_failed",
    "payroll_failed",
    "deposit_held",
    "authorization_needed",
    "debit_due",
    "payroll_held",
    "authorize_autopilot",
    "account_failed",
    "account_needs_word",
    "account_to_confirm",
    "new_link_asked",
    "pay_rate_missing",
    "run_payroll",
    "first_payroll",
    "check_to_hand_over",
    "pay_taxes",
    "file_and_pay",
    "file_return",
    "file_report",
    "amend_return",
    "give_statement",
    "give_notice",
    "get_policy",
    "renew_policy",
    "register",
    "enter_number",
    "enter_rate",
    "tax_info_missing",
    "tax_info_asked",
    "bank_account_asked",
    "ein_missing",
    "replace_key",
    "renew_agent",
    "choose_election",
]
"""Kinds of to-dos, the more urgent first among those of one day."""

KINDS: Final[tuple[ToDoKind, ...]] = get_args(ToDoKind)

ToDoGroup = Literal["money", "overdue", "this_week", "no_date", "this_month", "later"]
GROUPS: Final[tuple[ToDoGroup, ...]] = get_args(ToDoGroup)
NOW: Final[frozenset[ToDoGroup]] = frozenset({"money", "overdue", "this_week", "no_date"})
"""The groups of what is to be done now: while one has a to-do, nothing is all clear."""

SubjectType = Literal[
    "calendar_item", "payroll", "employee", "registration", "employer", "api_key", "agent_grant"
]

WEEK: Final = datetime.timedelta(days=7)
MONTH: Final = datetime.timedelta(days=31)

_AT_ONCE: Final = frozenset(
    {
        "authorize_autopilot",
        "account_failed",
        "account_needs_word",
        "pay_rate_missing",
    }
)
"""These are due at once: without them, money or the next payroll stays on hold."""

_FAILED: Final = frozenset(
    {"debit_returned", "deposit_failed", "payroll_failed", "deposit_held", "account_failed"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    """One thing that a household has to do; what its kind doesn't have is None. Amounts are in cents."""

    employer_id: UUID
    kind: ToDoKind
    key: str
    """Its permanent name within the household."""

    subject_type: SubjectType
    subject_id: str
    path: str
    """The page for it, relative to the household's own address; one of the settings begins with ``/settings``."""

    due_on: datetime.date | None = None
    overdue: bool = False
    amount: int | None = None
    is_running: bool = False
    """Whether the period of a payment isn't over, so that the amount is what is owed so far."""

    agency: str | None = None
    """To whom it is paid or sent, by its short name."""

    what: str | None = None
    """What a duty asks for, in the words of its rule."""

    name: str | None = None
    """Of the employee or the connected app that it is about; of an API key its last four characters."""

    day: datetime.date | None = None
    """A payroll's payday, the day of a request, or the first day of work of somebody who was never paid."""

    state: str | None = None
    account: str | None = None
    period: str | None = None
    """Of taxes: what is paid or filed, as the tax ledger names it; of an assigned rate its year."""

    covers: CoveredDays | None = None
    """The days that a duty is for, which the title names."""

    office: Agency | None = None
    payment: OpenPayment | None = None
    """The payment that it is about: its stage, its days and the account's last digits."""

    @property
    def id(self) -> UUID:
        """Its permanent and globally unique name; of a calendar item, the item's `uid`."""
        return uuid5(self.employer_id, self.key)

    @property
    def has_failed(self) -> bool:
        """Whether it is about something that went wrong at the bank."""
        return self.kind in _FAILED

    @property
    def address(self) -> str:
        """The page for it, relative to the service's own address."""
        return self.path if self.path.startswith("/settings") else f"/app/{self.employer_id}{self.path}"

    def group(self, today: datetime.date) -> ToDoGroup:
        """Return where it belongs in the agenda of a day."""
        if self.payment is not None:
            return "money"
        if self.overdue:
            return "overdue"
        if self.kind in _AT_ONCE:
            return "this_week"
        if self.due_on is None or self.due_on < today:
            return "no_date"
        if self.due_on < today + WEEK:
            return "this_week"
        return "this_month" if self.due_on < today + MONTH else "later"


@dataclass(frozen=True)
class Agenda:
    """The to-dos of a household on a day, most urgent first, up to a last due date; and the calendar behind them."""

    employer_id: UUID
    today: datetime.date
    to_dos: tuple[ToDo, ...]
    calendar: SettledCalendar
    paydays: tuple[NextPayday, ...] = ()
    """The next paydays, the earliest first."""

    @cached_property
    def groups(self) -> dict[ToDoGroup, tuple[ToDo, ...]]:
        """The to-dos by group, in order; a group without any is left out."""
        found: dict[ToDoGroup, list[ToDo]] = {}
        for each in self.to_dos:
            found.setdefault(each.group(self.today), []).append(each)
        return {group: tuple(each) for group, each in found.items()}

    @property
    def now(self) -> tuple[ToDo, ...]:
        """What is overdue, due this week, or to be done without a date."""
        return tuple(each for each in self.to_dos if each.group(self.today) in NOW)

    @property
    def coming(self) -> tuple[ToDo, ...]:
        """What is due later."""
        return tuple(each for each in self.to_dos if each.group(self.today) not in NOW)

    @property
    def is_clear(self) -> bool:
        """Whether nothing is to be done now."""
        return not self.now

    @property
    def clear_until(self) -> datetime.date | None:
        """The due date of the next to-do that is due later; None if there is none."""
        return next((each.due_on for each in self.coming), None)

    def due_before(self, day: datetime.date) -> tuple[ToDo, ...]:
        """Return what is to be done now, and what is due before a day."""
        return tuple(
            each
            for each in self.to_dos
            if each.group(self.today) in NOW or (each.due_on is not None and each.due_on < day)
        )


def in_order(to_dos: Iterable[ToDo], today: datetime.date) -> tuple[ToDo, ...]:
    """Return the to-dos, most urgent first."""
    return tuple(
        sorted(
            to_dos,
            key=lambda each: (
                GROUPS.index(each.group(today)),
                each.due_on or datetime.date.min,
                KINDS.index(each.kind),
                each.key,
            ),
        )
    )
