"""The form for a payroll: its initial values, and the order that is read from it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, cast, get_args
from uuid import UUID

from hearthpay.access.refusal import Problem, Refusal, invalid_fields
from hearthpay.banking import calendar
from hearthpay.employees.commands import PayFrequency, PaymentMethod
from hearthpay.employees.models import Employee
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.commands import EmployeePay, Order, SetAsideChoice
from hearthpay.payroll.kinds import kind_from_notes
from hearthpay.payroll.next_payday import NextPayday
from hearthpay.payroll.pay_periods import PeriodOfPay, latest_ended_period, period_from
from hearthpay.web.household.form_parsing import typed_day

RunKind = Literal["hours", "bonus", "catch-up", "fica-refund"]
"""What a payroll is about: hours worked; a bonus alone; past pay, recorded afterward; or a refund of Social Security
and Medicare."""

KINDS: Final[tuple[RunKind, ...]] = get_args(RunKind)
FREQUENCIES: Final[tuple[PayFrequency, ...]] = get_args(PayFrequency)
METHODS: Final[tuple[PaymentMethod, ...]] = get_args(PaymentMethod)

_DAY: Final = datetime.timedelta(days=1)
_FOLLOWED: Final = datetime.timedelta(days=366)
"""How far ahead a period is proposed for an employee who hasn't started."""
_HOURS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3})?")
_UNPAID: Final = re.compile(r"\d{1,2}(?:\.\d{1,2})?")
_DOLLARS: Final = re.compile(r"\d{1,7}(?:\.\d{1,2})?")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?")
_COMMA_FOR_POINT: Final = re.compile(r"(\d+),(\d{1,2})")
_MOST_HOURS: Final = 744
_LONGEST_NOTES: Final = 500

_NOT_HOURS: Final = mark("Enter hours as a number, like 37.5.")
_NOT_DAYS: Final = mark("Enter days as a number, like 1 or 0.5.")
_NOT_DOLLARS: Final = mark("Enter an amount, like 120.50.")
_NOT_A_DAY: Final = mark("Choose a day.")
_NOT_ONE: Final = mark("Choose an option.")
_NOBODY: Final = mark("Select at least one employee to pay.")
_LONG_NOTES: Final = mark("Use 500 characters or fewer.")
_OTHER_NOTES: Final = mark("Choose this kind of payroll above instead.")

_FIELDS: Final = {
    "regular_hours": "regular",
    "overtime_hours": "overtime",
    "bonus": "bonus",
    "other_earnings": "other",
    "unpaid_days": "unpaid",
    "voluntary_set_aside": "aside",
    "payment_method": "method",
}
"""The names of the parts of an employee's pay in the form, before the employee's id."""

_OF_SOMEBODY: Final = re.compile(r"employees\[(\d+)\](?:\.(\w+))?.*")
_DATES: Final = {
    "pay_period_start": "start",
    "pay_period_end": "end",
    "pay_date": "pay_date",
    "pay_frequency": "frequency",
    "notes": "notes",
}


@dataclass(frozen=True, slots=True)
class Dates:
    """A pay period, how often is paid, and the day of payment."""

    start: datetime.date
    end: datetime.date
    frequency: PayFrequency
    pay_date: datetime.date


def field_of(part: str, employee_id: UUID) -> str:
    """Return the name of a form field that concerns one employee."""
    return f"{part}_{employee_id}"


def proposed_dates(
    last: tuple[datetime.date, str] | None,
    people: Sequence[Employee],
    kind: RunKind,
    today: datetime.date,
    now: datetime.datetime,
    *,
    due: NextPayday | None = None,
    unpaid: PeriodOfPay | None = None,
) -> Dates:
    """Return the next period and its payday; for past pay the oldest period without a payroll, ``unpaid``.

    ``due`` is the next payday as earlier payrolls have it, ``last`` the last payroll's last day and frequency.
    Without either it is the latest period that has ended, or a later one in which an employee has started to work,
    unless that is far ahead (`begins_far_ahead`). A payday that has passed is today. Wages by direct deposit are
    dated for the first day on which they can arrive, or for a later payday.
    """
    first = next((each.pay_frequency for each in people), "weekly")
    frequency = cast(PayFrequency, first if last is None else last[1])
    payday = None
    if kind == "fica-refund":
        period = PeriodOfPay(today.replace(month=1, day=1), today)
    elif kind == "catch-up" and unpaid is not None:
        period = unpaid
    elif kind == "hours" and due is not None:
        period, frequency, payday = PeriodOfPay(due.start, due.end), due.frequency, due.pay_date
    elif last is not None and kind != "bonus":
        period = period_from(last[0] + _DAY, frequency)
    else:
        period = latest_ended_period(frequency, today)
        began = _first_start(people)
        while began is not None and period.end < began <= today + _FOLLOWED:
            period = period_from(period.end + _DAY, frequency)
    return Dates(*period, frequency, _payday(period, payday, people, kind, today, now))


def _payday(
    period: PeriodOfPay,
    payday: datetime.date | None,
    people: Sequence[Employee],
    kind: RunKind,
    today: datetime.date,
    now: datetime.datetime,
) -> datetime.date:
    """Return when a proposed period is paid; ``payday`` is its usual day."""
    if kind == "catch-up":
        return min(today, period.end)
    if kind in ("hours", "bonus") and any(each.payment_method == "direct_deposit" for each in people):
        arrives = calendar.banking_day_on_or_after(period.end) if payday is None else payday
        return max(calendar.earliest_pay_date(now), arrives)
    return max(today, period.end if payday is None else payday)


def begins_far_ahead(people: Sequence[Employee], today: datetime.date) -> datetime.date | None:
    """Return the day on which the first of the employees starts, if that is more than a year ahead."""
    began = _first_start(people)
    return began if began is not None and began > today + _FOLLOWED else None


def _first_start(people: Sequence[Employee]) -> datetime.date | None:
    return min((each.start_date for each in people if each.status == "active"), default=None)


def kind_of(order: Order) -> RunKind:
    """Return what an order is about."""
    if order.kind != "regular":
        return "catch-up" if order.kind == "catch_up" else "fica-refund"
    no_hours = all(
        not each.regular_hours + each.overtime_hours and not each.pay_salary for each in order.employees
    )
    return (
        "bonus"
        if no_hours and any(each.bonus or each.other_earnings for each in order.employees)
        else "hours"
    )


def form_values_of(order: Order) -> dict[str, str]:
    """Return an order as its form would be filled in."""
    form_values = {
        "start": order.pay_period_start.isoformat(),
        "end": order.pay_period_end.isoformat(),
        "pay_date": "" if order.pay_date is None else order.pay_date.isoformat(),
        "frequency": order.pay_frequency,
        "notes": order.notes or "",
    }
    for pay in order.employees:
        form_values[field_of("pay", pay.employee_id)] = "on"
        wish = pay.voluntary_set_aside
        values = {
            "regular": _shown(pay.regular_hours),
            "overtime": _shown(pay.overtime_hours),
            "bonus": _shown(pay.bonus),
            "other": _shown(pay.other_earnings),
            "unpaid": _shown(pay.unpaid_days),
            "method": pay.payment_method or "",
            "aside": "" if wish is None else f"{wish.amount or Decimal(0):f}",
        }
        form_values |= {field_of(part, pay.employee_id): value for part, value in values.items()}
    return form_values


def _shown(number: Decimal) -> str:
    return f"{number:f}" if number else ""


def read_order(
    form: Mapping[str, str], people: Sequence[Employee], kind: RunKind, employer_id: UUID
) -> Order:
    """Return the order that was typed. Raises `validation_error` with the problems by the form's own fields."""
    problems: list[Problem] = []

    def read(name: str, parse: Callable[[str], Any], otherwise: Any) -> Any:
        try:
            return parse(form.get(name, "").strip())
        except _NotReadError as error:
            problems.append(Problem(name, error.args[0]))
            return otherwise

    pays = [_pay(each, kind, read) for each in people if field_of("pay", each.id) in form]
    order_of: dict[str, Any] = {
        "pay_period_start": read("start", _day, datetime.date.min),
        "pay_period_end": read("end", _day, datetime.date.max),
        "pay_date": read("pay_date", lambda text: _day(text) if text else None, None),
        "pay_frequency": read("frequency", lambda text: _one_of(text, FREQUENCIES), "weekly"),
        "notes": kind if kind in ("catch-up", "fica-refund") else read("notes", _notes, None),
    }
    if not pays:
        problems.append(Problem("", _NOBODY))
    if problems:
        raise invalid_fields(problems)
    return Order(employer_id=employer_id, employees=tuple(pays), **order_of)


def _pay(person: Employee, kind: RunKind, read: Callable[..., Any]) -> EmployeePay:
    def number(part: str, parse: Callable[[str], Decimal]) -> Decimal:
        return cast(Decimal, read(field_of(part, person.id), parse, Decimal(0)))

    by_hours, earns = kind in ("hours", "catch-up"), kind != "fica-refund"
    return EmployeePay(
        employee_id=person.id,
        regular_hours=number("regular", _hours) if by_hours else Decimal(0),
        overtime_hours=number("overtime", _hours) if by_hours else Decimal(0),
        bonus=number("bonus", _dollars) if earns else Decimal(0),
        other_earnings=number("other", _dollars) if earns else Decimal(0),
        unpaid_days=number("unpaid", _days) if by_hours and person.pay_type == "salary" else Decimal(0),
        pay_salary=by_hours,
        payment_method=read(field_of("method", person.id), lambda text: _one_of(text, METHODS), "check"),
        voluntary_set_aside=read(field_of("aside", person.id), _wish, None) if earns else None,
    )


class _NotReadError(Exception):
    """The field doesn't accept its entry; the argument says what it accepts."""


def _day(text: str) -> datetime.date:
    try:
        day = typed_day(text)
    except ValueError:
        raise _NotReadError(_NOT_A_DAY) from None
    if not 2000 <= day.year <= 2100:
        raise _NotReadError(_NOT_A_DAY)
    return day


def _one_of(text: str, choices: Sequence[str]) -> str:
    if text not in choices:
        raise _NotReadError(_NOT_ONE)
    return text


def _hours(text: str) -> Decimal:
    written = _COMMA_FOR_POINT.sub(r"\1.\2", text) if _COMMA_FOR_POINT.fullmatch(text) else text
    if not written:
        return Decimal(0)
    if not _HOURS.fullmatch(written) or Decimal(written) > _MOST_HOURS:
        raise _NotReadError(_NOT_HOURS)
    return Decimal(written)


def _days(text: str) -> Decimal:
    written = text.replace(",", ".")
    if not written:
        return Decimal(0)
    if not _UNPAID.fullmatch(written):
        raise _NotReadError(_NOT_DAYS)
    return Decimal(written)


def _dollars(text: str) -> Decimal:
    written = text.removeprefix("$").strip()
    if _GROUPED.fullmatch(written):
        written = written.replace(",", "")
    elif _COMMA_FOR_POINT.fullmatch(written):
        written = written.replace(",", ".")
    if not written:
        return Decimal(0)
    if not _DOLLARS.fullmatch(written):
        raise _NotReadError(_NOT_DOLLARS)
    return Decimal(written)


def _wish(text: str) -> SetAsideChoice | None:
    if not text:
        return None
    amount = _dollars(text)
    return SetAsideChoice(amount=amount) if amount else SetAsideChoice(skip=True)


def _notes(text: str) -> str | None:
    if len(text) > _LONGEST_NOTES or not text.isprintable():
        raise _NotReadError(_LONG_NOTES)
    if kind_from_notes(text) != "regular":
        raise _NotReadError(_OTHER_NOTES)
    return text or None


def form_problems(refusal: Refusal, order: Order) -> dict[str, Problem] | None:
    """Return a service's problems by the form's own fields; None for a refusal that concerns no field."""
    if refusal.code != "validation_error" or not isinstance(refusal.details, list):
        return None
    return {_field(each.field, order): each for each in refusal.details}


def _field(name: str, order: Order) -> str:
    if name in _DATES:
        return _DATES[name]
    found = _OF_SOMEBODY.fullmatch(name)
    if found is None or int(found[1]) >= len(order.employees):
        return ""
    return field_of(_FIELDS.get(found[2] or "", "pay"), order.employees[int(found[1])].employee_id)
