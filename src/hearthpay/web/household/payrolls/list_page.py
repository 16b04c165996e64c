"""The list of the household's payrolls by payday: drafts first, filters, totals, and the same as a file."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy import select
from starlette.responses import Response

from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.employees.commands import PaymentMethod
from hearthpay.employees.models import Employee
from hearthpay.employees.service import list_employees
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.commands import PayrollQuery
from hearthpay.payroll.drafts import list_drafts
from hearthpay.payroll.lifecycle import STATUSES, PayrollStatus
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.next_payday import NextPayday, read_next_paydays
from hearthpay.payroll.payroll_lists import (
    PaidIn,
    PaydayPlace,
    PayrollsPage,
    look_through,
    payrolls_for_a_file,
)
from hearthpay.payroll.pots import MoneyPots
from hearthpay.taxes.money import from_cents
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.money import who_is_paid
from hearthpay.web.household.payrolls.names import method_names, status_names
from hearthpay.web.household.payrolls.payroll_states import ShownState, state_of_payroll
from hearthpay.web.household.payrolls.wage_form import METHODS, begins_far_ahead, proposed_dates
from hearthpay.web.household.queries import day_in
from hearthpay.web.presentation import day_text, period_text
from hearthpay.wire.csv_text import Cell, csv_text
from hearthpay.wire.paging import Page

router: Final = APIRouter(include_in_schema=False)

_FILTERS: Final = ("status", "employee", "year", "from", "to", "method")
_STATUSES: Final = tuple(status for status in STATUSES if status not in ("draft", "firing"))
_HEADS: Final[tuple[Cell, ...]] = (
    "pay_date",
    "period_start",
    "period_end",
    "status",
    "employees",
    "payment_methods",
    "gross_pay",
    "deductions",
    "net_pay",
    "employer_taxes",
    "total_cost",
    "payroll_id",
)
_PEOPLE: Final = select(Employee.id, Employee.first_name, Employee.last_name)
_FOUR_DIGITS: Final = re.compile(r"[0-9]{4}")
_ADD_FIRST: Final = mark("Add an employee first. Then run payroll here each payday.")
_BY_AUTOPILOT: Final = mark("Autopilot runs the first payroll. The payday is {day}.")
_STARTS: Final = mark("{name} starts on {day}. Run payroll after the first pay period.")
_ENDED: Final = mark("Run payroll to pay {name} for {period}. You see every amount before it is final.")
_ENDS: Final = mark("The first pay period of {name} ends on {day}. Run payroll when the hours are in.")
_FIRST_YEAR: Final = 2000
_LAST_YEAR: Final = 2100


@dataclass(frozen=True, slots=True)
class Filter:
    """The filter from the query, as far as it is valid, and what the form shows of it."""

    requested: PayrollQuery
    form_values: Mapping[str, str]

    @property
    def query(self) -> str:
        """The filter as a query, without the page."""
        return urlencode(self.form_values)


@dataclass(frozen=True, slots=True)
class PayrollRow:
    """A payroll as the list shows it: its days and its state in words, who is paid, and its money in three pots."""

    payroll_id: UUID
    payday: str
    period: str
    state: ShownState
    names: tuple[str, ...]
    pots: MoneyPots


@household_page(router, "GET", "/payrolls", permission=READ_PAYROLLS)
async def payrolls(at: HouseholdContext) -> Response:
    """List drafts, then payrolls, the latest payday first, and the totals of the selection."""
    asked, after = _filter_of(at), _place_in(at)
    async with at.transaction() as session:
        found = await look_through(session, at.actor, asked.requested, after)
        paydays = await read_next_paydays(session, [at.id])
        drafts = await list_drafts(session, at.actor, at.id)
        people = await session.execute(_PEOPLE.where(Employee.employer_id == at.id))
        names = {employee_id: f"{first} {last}" for employee_id, first, last in people}
        nothing_yet = not found.payrolls and after is None and not asked.form_values
        hired = (await list_employees(session, at.actor, at.id, Page(limit=100)))[0] if nothing_yet else []
    active = [each for each in hired if each.status == "active"]
    due = next(iter(paydays.get(at.id, ())), None)
    facts = {
        "payrolls": [_line(at, each, found.paid.get(each.id, PaidIn())) for each in found.payrolls],
        "paid_name": who_is_paid(
            at.say, at.visitor.language, _first_names(found) or [each.first_name for each in active]
        ),
        "active": active,
        "first_text": _first_text(at, active, due) if nothing_yet else "",
        "due": due,
        "today": at.today,
        "totals": found.totals,
        "drafts": [
            (each, [names.get(pay.employee_id, "") for pay in each.order.employees]) for each in drafts
        ],
        "people": sorted(names.items(), key=lambda each: each[1]),
        "status_names": status_names(at.say, _STATUSES),
        "method_names": method_names(at.say),
        "run_permission": RUN_PAYROLL,
        "form_values": asked.form_values,
        "filtered": bool(asked.form_values),
        "query": asked.query,
        "next_cursor": found.next_cursor,
        "first": after is None,
    }
    return at.show("payrolls.html", facts)


@household_page(router, "GET", "/payrolls/download", permission=READ_PAYROLLS)
async def download(at: HouseholdContext) -> Response:
    """Download the selected payrolls, of all pages, as CSV."""
    asked = _filter_of(at)
    async with at.transaction() as session:
        found, paid = await payrolls_for_a_file(session, at.actor, asked.requested)
    rows = [_HEADS, *(_row(each, paid.get(each.id, PaidIn())) for each in found)]
    headers = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="payrolls-{at.clock.today()}.csv"',
        "Cache-Control": "no-store",
    }
    return Response(csv_text(rows), headers=headers)


def _place_in(at: HouseholdContext) -> PaydayPlace | None:
    """Return where the list continues. Raises `not_found` for an unknown cursor."""
    cursor = at.visitor.request.query_params.get("cursor")
    if not cursor:
        return None
    try:
        return PaydayPlace.decode(cursor)
    except ValueError:
        raise Refusal("not_found", "Page not found.") from None


def _first_text(at: HouseholdContext, active: Sequence[Employee], due: NextPayday | None) -> str:
    """Return when the first payroll is run, for a household that has none yet."""
    say, language = at.say, at.visitor.language
    if not active:
        return say(_ADD_FIRST)
    if due is not None and due.autopilot:
        return say(_BY_AUTOPILOT, day=day_text(language, "weekday", due.pay_date))
    name = who_is_paid(say, language, [each.first_name for each in active])
    ahead = begins_far_ahead(active, at.today)
    if ahead is not None:
        return say(_STARTS, name=name, day=day_text(language, "date", ahead))
    dates = proposed_dates(None, active, "hours", at.today, at.clock.now(), due=due)
    if dates.end < at.today:
        return say(_ENDED, name=name, period=period_text(language, dates.start, dates.end))
    return say(_ENDS, name=name, day=day_text(language, "weekday", dates.end))


def _first_names(found: PayrollsPage) -> list[str]:
    """Return the first names of those who are paid on the page, each once."""
    return list(dict.fromkeys(name for paid in found.paid.values() for name in paid.first_names))


def _line(at: HouseholdContext, payroll: Payroll, paid: PaidIn) -> PayrollRow:
    language = at.visitor.language
    day = day_text(language, "short_weekday", payroll.pay_date)
    return PayrollRow(
        payroll.id,
        day if payroll.pay_date.year == at.today.year else f"{day}, {payroll.pay_date.year}",
        period_text(language, payroll.period_start, payroll.period_end),
        state_of_payroll(at, payroll),
        tuple(paid.names),
        MoneyPots(
            payroll.net_pay,
            paid.set_aside,
            payroll.total_deductions - paid.set_aside,
            payroll.employer_taxes,
        ),
    )


def _row(payroll: Payroll, paid: PaidIn) -> tuple[Cell, ...]:
    amounts = (
        payroll.gross_pay,
        payroll.total_deductions,
        payroll.net_pay,
        payroll.employer_taxes,
        payroll.total_cost,
    )
    return (
        payroll.pay_date.isoformat(),
        payroll.period_start.isoformat(),
        payroll.period_end.isoformat(),
        payroll.status,
        "; ".join(paid.names),
        "; ".join(paid.methods),
        *(from_cents(cents) for cents in amounts),
        str(payroll.id),
    )


def _filter_of(at: HouseholdContext) -> Filter:
    """Return the filter; invalid parts are ignored."""
    query = at.visitor.request.query_params
    status, method = query.get("status", ""), query.get("method", "")
    since, until = day_in(at.visitor, "from"), day_in(at.visitor, "to")
    year = _year(query.get("year", ""))
    known = {
        "status": status if status in _STATUSES else "",
        "employee": str(_id(query.get("employee", "")) or ""),
        "year": str(year or ""),
        "from": "" if since is None else since.isoformat(),
        "to": "" if until is None else until.isoformat(),
        "method": method if method in METHODS else "",
    }
    if year is not None:
        since = max(since or datetime.date.min, datetime.date(year, 1, 1))
        until = min(until or datetime.date.max, datetime.date(year, 12, 31))
    requested = PayrollQuery(
        employer_id=at.id,
        employee_id=_id(known["employee"]),
        status=cast("PayrollStatus", known["status"]) or None,
        method=cast("PaymentMethod", known["method"]) or None,
        since=since,
        until=until,
    )
    return Filter(requested, {name: known[name] for name in _FILTERS if known[name]})


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _year(text: str) -> int | None:
    year = int(text) if _FOUR_DIGITS.fullmatch(text) else None
    return year if year is not None and _FIRST_YEAR <= year <= _LAST_YEAR else None
