"""To-dos as rows of pages: what to do, by when and for what, the amount, and the page that the row leads to."""

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.issues.open_payments import OpenPayment
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.todos.to_do import Agenda, ToDo, ToDoGroup, ToDoKind
from hearthpay.todos.wording import NO_PAYROLL_SINCE, action_text, days_late_text
from hearthpay.web.presentation import day_text

RowSymbol = Literal["late", "pay", "people", "paper", "flag", "bank", "day"]

GROUP_WORDS: Final[Mapping[ToDoGroup, str]] = {
    "money": mark("Payments"),
    "overdue": mark("Overdue"),
    "this_week": mark("This week"),
    "no_date": mark("Also to do"),
    "this_month": mark("Within a month"),
    "later": mark("Later"),
}
COMING_UP: Final = mark("Coming up")
"""The heading of what is due later, where nothing is to be done now."""

_SYMBOLS: Final[Mapping[ToDoKind, RowSymbol]] = {
    "debit_due": "bank",
    "debit_returned": "bank",
    "deposit_failed": "bank",
    "payroll_failed": "pay",
    "deposit_held": "bank",
    "authorization_needed": "bank",
    "payroll_held": "pay",
    "run_payroll": "pay",
    "first_payroll": "pay",
    "check_to_hand_over": "pay",
    "authorize_autopilot": "bank",
    "account_failed": "bank",
    "account_needs_word": "people",
    "account_to_confirm": "people",
    "new_link_asked": "people",
    "pay_rate_missing": "people",
    "tax_info_missing": "people",
    "tax_info_asked": "people",
    "bank_account_asked": "people",
    "get_policy": "flag",
    "renew_policy": "flag",
    "register": "flag",
    "enter_number": "flag",
    "enter_rate": "flag",
    "ein_missing": "flag",
    "replace_key": "flag",
    "renew_agent": "flag",
}

_LATE: Final = mark("was due {day}")
_BY: Final = mark("by {day}")
_WAS_DUE: Final = mark("was due {day}. If you did it, mark it as done.")
_SO_FAR: Final = mark("amount so far")
_PAYDAY: Final = mark("payday {day}")
_PAYDAY_WAS: Final = mark("payday was {day}")
_ASKED: Final = mark("Requested {day}")
_APPLIED: Final = mark("Applied on {day}")
_EIN: Final = mark("From the IRS. It's free and takes about 10 minutes.")
_RATE: Final = mark("From the state's notice. Until then, we use the new-employer rate.")
_EXPIRED: Final = mark("expired {day}")
_EXPIRES: Final = mark("expires {day}")
_THEN_ARRIVES: Final = mark("then the pay arrives {day}")
_REJECTED: Final = mark("Your bank rejected the account.")
_MOST: Final = 4
"""How many rows the home page has of what is due within a month and later."""


@dataclass(frozen=True, slots=True)
class ToDoRow:
    """A to-do as a page shows it; `late` says by how many days, `details` the rest of the second line."""

    to_do: ToDo
    action: str
    late: str
    details: str
    symbol: RowSymbol

    @property
    def amount(self) -> int | None:
        """The cents at the end of the row; None where the sentence has them."""
        return self.to_do.amount if self.to_do.payment is None else None

    @property
    def tone(self) -> str:
        """The class of its row."""
        return "late" if self.late else ""


def row_of(to_do: ToDo, today: datetime.date, say: Say, language: str) -> ToDoRow:
    """Return a to-do as a row."""
    late = days_late_text(to_do, language, today)
    return ToDoRow(
        to_do,
        action_text(to_do, language, today),
        late,
        _details(to_do, today, say, language, is_late=bool(late)),
        "late" if late else _SYMBOLS.get(to_do.kind, "paper"),
    )


def home_groups(agenda: Agenda, say: Say, language: str) -> list[tuple[ToDoGroup, str, tuple[ToDoRow, ...]]]:
    """Return the groups of the home page in order, each with its heading and rows."""
    groups = dict(agenda.groups)
    sooner = len(groups.get("this_month", ()))
    if "later" in groups:
        groups["later"] = groups["later"][: max(_MOST - sooner, 0)]
    words = dict(GROUP_WORDS)
    if agenda.is_clear:
        merged = (*groups.pop("this_month", ()), *groups.pop("later", ()))
        groups, words["this_month"] = {"this_month": merged}, COMING_UP
    return [
        (group, say(words[group]), rows_of(to_dos, agenda.today, say, language))
        for group, to_dos in groups.items()
        if to_dos
    ]


def rows_of(to_dos: Iterable[ToDo], today: datetime.date, say: Say, language: str) -> tuple[ToDoRow, ...]:
    """Return to-dos as rows."""
    return tuple(row_of(each, today, say, language) for each in to_dos)


def _details(to_do: ToDo, today: datetime.date, say: Say, language: str, *, is_late: bool) -> str:
    """Return whom it is about, or whether its amount may grow, and its date."""
    parts = [_about(to_do, say), _date(to_do, today, say, language, is_late=is_late)]
    text = " · ".join(part for part in parts if part)
    return text[:1].upper() + text[1:]


def _about(to_do: ToDo, say: Say) -> str:
    match to_do.kind:
        case "pay_taxes" | "file_and_pay" | "file_return" | "amend_return":
            return say(_SO_FAR) if to_do.is_running and to_do.amount else ""
        case "register" | "enter_number":
            return STATES.get(to_do.state or "", "")
        case "get_policy" | "renew_policy":
            return STATES.get(to_do.state or "", "")
        case "ein_missing":
            return say(_EIN)
        case "enter_rate":
            return say(_RATE)
        case "account_failed":
            return say(_REJECTED)
        case "run_payroll" | "give_notice" | "give_statement" | "file_report":
            return to_do.name or ""
        case _:
            return ""


def _date(to_do: ToDo, today: datetime.date, say: Say, language: str, *, is_late: bool) -> str:
    def weekday(day: datetime.date) -> str:
        return day_text(language, "weekday", day)

    if to_do.payment is not None:
        return _payday_of(to_do.payment, today, say, weekday)
    if to_do.kind in ("tax_info_asked", "bank_account_asked") and to_do.day is not None:
        return say(_ASKED, day=weekday(to_do.day))
    if to_do.kind == "enter_number" and to_do.day is not None:
        return say(_APPLIED, day=weekday(to_do.day))
    if to_do.kind in ("replace_key", "renew_agent") and to_do.due_on is not None:
        return say(_EXPIRED if to_do.due_on < today else _EXPIRES, day=weekday(to_do.due_on))
    if to_do.kind == "authorize_autopilot" and to_do.day is not None:
        return say(_PAYDAY, day=weekday(to_do.day))
    if to_do.kind == "first_payroll" and to_do.day is not None:
        return say(NO_PAYROLL_SINCE, day=day_text(language, "date", to_do.day))
    if to_do.kind in ("run_payroll", "check_to_hand_over") and to_do.day:
        return say(_PAYDAY_WAS if to_do.day < today else _PAYDAY, day=weekday(to_do.day))
    if to_do.due_on is None or (to_do.kind in ("get_policy", "enter_rate") and to_do.due_on < today):
        return ""
    if is_late:
        return say(_LATE, day=weekday(to_do.due_on))
    return say(_WAS_DUE if to_do.due_on < today else _BY, day=weekday(to_do.due_on))


def _payday_of(
    payment: OpenPayment, today: datetime.date, say: Say, weekday: Callable[[datetime.date], str]
) -> str:
    """Return when the pay arrives or was due; nothing where that isn't known."""
    if payment.arrives_on is not None:
        return say(_THEN_ARRIVES, day=weekday(payment.arrives_on)) if payment.arrives_on >= today else ""
    if payment.pay_date is None or payment.stage == "owed":
        return ""
    return say(_PAYDAY_WAS if payment.pay_date < today else _PAYDAY, day=weekday(payment.pay_date))
