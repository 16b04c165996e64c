"""The to-dos of a household: one list for its home page, its calendar, the API, the mails and AI assistants."""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_TO_DOS, allow
from hearthpay.clock import Clock
from hearthpay.duties.service import read_employees, settled_calendar_of
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.filing.service import balances_span
from hearthpay.payroll.issues.open_payment_rows import read_open_payments
from hearthpay.payroll.issues.open_payments import OpenPayment
from hearthpay.payroll.never_paid import NeverPaid, read_never_paid
from hearthpay.payroll.next_payday import NextPayday, read_next_paydays
from hearthpay.registrations.derivation import EVERY_ACCOUNT
from hearthpay.registrations.service import read_registrations
from hearthpay.todos.access_rows import find_expiring_access
from hearthpay.todos.account_rows import to_dos_of_registrations
from hearthpay.todos.duty_rows import to_dos_of_calendar
from hearthpay.todos.payday_rows import to_dos_of_never_paid, to_dos_of_paydays
from hearthpay.todos.payment_rows import to_dos_of_payments, without_failed_paydays, without_failed_people
from hearthpay.todos.records import find_recorded_to_dos
from hearthpay.todos.to_do import WEEK, Agenda, ToDo, in_order

HORIZON: Final = datetime.timedelta(days=150)
"""How far an agenda looks ahead."""


@dataclass(frozen=True, slots=True)
class ToDosQuery:
    """Which household's to-dos; what is due later than in so many days is left out."""

    employer_id: UUID | None = None
    due_within: int = WEEK.days


async def list_to_dos(
    session: AsyncSession, actor: Actor, clock: Clock, requested: ToDosQuery
) -> tuple[Agenda, tuple[ToDo, ...]]:
    """Return a household's agenda, and those of its to-dos that are requested, most urgent first.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_TO_DOS)
    employer = await resolve_employer(session, actor, requested.employer_id)
    agenda = await agenda_of_household(session, actor, clock, employer)
    return agenda, agenda.due_before(agenda.today + datetime.timedelta(days=requested.due_within))


async def agenda_of_household(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer
) -> Agenda:
    """Return the agenda of a household that was already looked up. Raises what `allow` raises."""
    allow(actor, READ_TO_DOS, employer.id)
    return await read_agenda(session, employer, clock.now(), clock.today())


async def read_agenda(
    session: AsyncSession, employer: Employer, now: datetime.datetime, today: datetime.date
) -> Agenda:
    """Return the agenda of a household; the caller has checked that it may be shown."""
    employees = await read_employees(session, employer.id)
    since, until = balances_span(today)
    _, calendar = await settled_calendar_of(session, employer, today, since, until, employees)
    registrations = await read_registrations(session, employer, today, employees, include=EVERY_ACCOUNT)
    payments = await read_open_payments(session, [employer.id], now)
    paydays = await _paydays(session, employer, payments)
    found = [
        *to_dos_of_payments(payments, today),
        *to_dos_of_calendar(employer.id, calendar.items, today, today + HORIZON),
        *to_dos_of_paydays(employer.id, paydays, today, today + HORIZON),
        *to_dos_of_never_paid(await _never_paid(session, employer, today, payments)),
        *to_dos_of_registrations(employer.id, registrations),
        *await find_recorded_to_dos(session, [employer.id], now, today),
        *await find_expiring_access(session, employer.id, now, today),
    ]
    return Agenda(employer.id, today, in_order(found, today), calendar, paydays)


async def other_to_dos_of_household(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer
) -> tuple[ToDo, ...]:
    """Return the to-dos of a household that aren't items of its calendar. Raises what `allow` raises."""
    allow(actor, READ_TO_DOS, employer.id)
    return await read_other_to_dos(session, employer, clock.now(), clock.today())


async def read_other_to_dos(
    session: AsyncSession,
    employer: Employer,
    now: datetime.datetime,
    today: datetime.date,
    *,
    coming: bool = False,
) -> tuple[ToDo, ...]:
    """Return what records and paydays show, without the calendar; the caller has checked that it may be shown.

    `coming`: with each debit that is known, however far ahead.
    """
    payments = await read_open_payments(session, [employer.id], now, coming=coming)
    paydays = await _paydays(session, employer, payments)
    found = [
        *to_dos_of_payments(payments, today),
        *to_dos_of_paydays(employer.id, paydays, today, today + HORIZON),
        *to_dos_of_never_paid(await _never_paid(session, employer, today, payments)),
        *await find_recorded_to_dos(session, [employer.id], now, today),
        *await find_expiring_access(session, employer.id, now, today),
    ]
    return in_order(found, today)


async def _paydays(
    session: AsyncSession, employer: Employer, payments: Collection[OpenPayment]
) -> tuple[NextPayday, ...]:
    found = (await read_next_paydays(session, [employer.id])).get(employer.id, ())
    return without_failed_paydays(found, payments)


async def _never_paid(
    session: AsyncSession, employer: Employer, today: datetime.date, payments: Collection[OpenPayment]
) -> tuple[NeverPaid, ...]:
    found = (await read_never_paid(session, [employer.id], today)).get(employer.id, ())
    return without_failed_people(found, payments)
