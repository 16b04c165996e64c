"""A household's calendar of duties from its books, and its entries: done, filing frequency, closed accounts."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_CALENDAR, READ_CALENDAR, allow
from hearthpay.access.refusal import invalid
from hearthpay.clock import Clock
from hearthpay.duties.accounts import Account
from hearthpay.duties.amounts import Amounts, is_among
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.deposits import PayrollLine, TaxDeposit, calendar_years, tax_deposits, with_payroll
from hearthpay.duties.employment_records import items_of_employment
from hearthpay.duties.facts_records import read_facts
from hearthpay.duties.frequency import FrequencyReason
from hearthpay.duties.household import FEDERAL, Household
from hearthpay.duties.kept_calendars import KnownHousehold, known_household
from hearthpay.duties.models import AccountClosing, DutyMark, FilingChoice
from hearthpay.duties.periods import MONTHS, day_of_month
from hearthpay.duties.records import LedgerOfYears, codes_by_payday
from hearthpay.duties.rules import duties_of
from hearthpay.duties.settlement import SettledCalendar
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.ledger.months import (
    read_household_months,
    read_lines_by_payday,
    read_paid_places,
    read_wages_from_before,
)
from hearthpay.registrations.service import read_numbers_on_file
from hearthpay.taxes.jurisdictions import STATES

YEARS_BACK: Final = 3
YEARS_AHEAD: Final = 2
"""How many calendar years before and after the current one a calendar may extend."""

LONGEST_DAYS: Final = 731
"""The most days that one calendar may span: two years."""

_YEARS_BEFORE: Final = 2
"""What is due in a year covers at most this many years back; the year before that can make it due."""


@dataclass(frozen=True, slots=True)
class CalendarQuery:
    """Which household's calendar, from which day to which, both included; None: from today, to a year after it."""

    employer_id: UUID | None = None
    since: datetime.date | None = None
    until: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class HouseholdCalendar:
    """What is due for a household from one day to another, both included."""

    employer: Employer
    since: datetime.date
    until: datetime.date
    items: tuple[CalendarItem, ...]


# Reading


async def read_calendar(
    session: AsyncSession, actor: Actor, clock: Clock, requested: CalendarQuery
) -> HouseholdCalendar:
    """Return the calendar as of today's books.

    Raises what `allow` and `resolve_employer` raise, and `validation_error` for days outside any calendar.
    """
    allow(actor, READ_CALENDAR)
    since, until = days_of(requested.since, requested.until, clock.today())
    employer = await resolve_employer(session, actor, requested.employer_id)
    items = await calendar_of_household(session, actor, clock, employer, since, until)
    return HouseholdCalendar(employer, since, until, items)


async def calendar_of_household(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    since: datetime.date,
    until: datetime.date,
) -> tuple[CalendarItem, ...]:
    """Return the items of a household that was already looked up. Raises what `allow` raises."""
    allow(actor, READ_CALENDAR, employer.id)
    return await items_of(session, employer, clock.today(), since, until)


def days_of(
    since: datetime.date | None, until: datetime.date | None, today: datetime.date
) -> tuple[datetime.date, datetime.date]:
    """Return the days of a calendar: a year from today by default.

    Raises `validation_error` naming ``from`` or ``to``.
    """
    earliest = datetime.date(today.year - YEARS_BACK, 1, 1)
    latest = datetime.date(today.year + YEARS_AHEAD, MONTHS, 31)
    first = today if since is None else since
    if not earliest <= first <= latest:
        raise invalid("from", f"must lie between {earliest} and {latest}")
    last = until or min(day_of_month(first.year + 1, first.month, first.day), latest)
    if not earliest <= last <= latest:
        raise invalid("to", f"must lie between {earliest} and {latest}")
    if last < first:
        raise invalid("to", f"must not be before the first day, {first}")
    if (last - first).days > LONGEST_DAYS:
        raise invalid("to", f"must be at most {LONGEST_DAYS} days after the first day, {first}")
    return first, last


async def items_of(
    session: AsyncSession,
    employer: Employer,
    today: datetime.date,
    since: datetime.date,
    until: datetime.date,
) -> tuple[CalendarItem, ...]:
    """Return what is due for a household. Doesn't check permissions: the caller must."""
    _, calendar = await settled_calendar_of(session, employer, today, since, until)
    return calendar.items


async def settled_calendar_of(
    session: AsyncSession,
    employer: Employer,
    today: datetime.date,
    since: datetime.date,
    until: datetime.date,
    records: Sequence[Employee] | None = None,
    known: KnownHousehold | None = None,
) -> tuple[Household, SettledCalendar]:
    """Return the facts of a household with what is due, paid and open. Doesn't check permissions: the caller must.

    ``records`` are its employees by id, and ``known`` what `known_household_of` returns for the same days, where
    they are read already.
    """
    if records is None:
        records = await read_employees(session, employer.id)
    if known is None:
        known = await known_household_of(session, employer, today, since, until, records)
    of_employment = await items_of_employment(session, employer, today, known.household.done, records)
    further = tuple(item for item in of_employment if since <= item.due <= until)
    return known.household, known.calendar(since, until, further)


async def known_household_of(
    session: AsyncSession,
    employer: Employer,
    today: datetime.date,
    since: datetime.date,
    until: datetime.date,
    records: Sequence[Employee],
) -> KnownHousehold:
    """Return the facts of a household and its wages, for a calendar of these days; the caller checks permissions."""
    years = range(since.year - _YEARS_BEFORE, until.year + 1)
    return await _known_household(session, employer, today, years, records)


async def deposits_of_payroll(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    pay_date: datetime.date,
    lines: Sequence[PayrollLine],
    *,
    in_ledger: bool,
) -> tuple[TaxDeposit, ...]:
    """Return the payments of taxes that the lines of a payroll are part of, by due date, as of today's books.

    ``in_ledger`` says whether the payroll is posted; one that is previewed or scheduled is added to the books first.
    Raises what `allow` raises.
    """
    allow(actor, READ_CALENDAR, employer.id)
    first, last = calendar_years(pay_date)
    household = await _household(
        session, employer, clock.today(), range(first.year - _YEARS_BEFORE, last.year + 1)
    )
    if not in_ledger:
        persons = {
            row.id: row.person_id or row.id
            for row in await session.execute(
                select(Employee.id, Employee.person_id).where(Employee.employer_id == employer.id)
            )
        }
        charged = [each._replace(employee_id=persons[each.employee_id]) for each in lines]
        by_payday = frozenset(codes_by_payday({each.line for each in charged}))
        household = with_payroll(household, charged, pay_date, by_payday)
    return tax_deposits(household, lines, pay_date)


async def read_employees(session: AsyncSession, employer_id: UUID) -> Sequence[Employee]:
    """Return the employees of a household, also those who left, by id."""
    statement = select(Employee).where(Employee.employer_id == employer_id).order_by(Employee.id)
    return (await session.scalars(statement)).all()


async def _household(
    session: AsyncSession,
    employer: Employer,
    today: datetime.date,
    years: range,
    records: Sequence[Employee] | None = None,
) -> Household:
    return (await _known_household(session, employer, today, years, records)).household


async def _known_household(
    session: AsyncSession,
    employer: Employer,
    today: datetime.date,
    years: range,
    records: Sequence[Employee] | None = None,
) -> KnownHousehold:
    if records is None:
        records = await read_employees(session, employer.id)
    spanned = {"first_year": years[0] - 1, "last_year": years[-1]}
    months, wages = await read_household_months(session, employer.id, **spanned)
    by_payday = codes_by_payday({code for lines in {month.lines for month in months} for code in lines.codes})
    ledger = LedgerOfYears(
        months=months,
        wages=wages,
        places=await read_paid_places(session, employer.id),
        before=await read_wages_from_before(session, employer.id, **spanned),
        paydays=await read_lines_by_payday(session, employer.id, by_payday, **spanned) if by_payday else (),
        numbers=await read_numbers_on_file(session, employer.id),
    )
    return known_household(
        employer, records, ledger, await read_facts(session, employer.id), today=today, years=years
    )


@dataclass(frozen=True, slots=True)
class AccountFiling:
    """How often a household files under an account today, and why; ``closed_on`` is the account's last day."""

    jurisdiction: str
    account: Account
    reason: FrequencyReason
    closed_on: datetime.date | None
    concerns: bool
    """Whether anything is, or was, paid under it; the household may have chosen a frequency anyway."""


async def account_filings(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer, jurisdictions: Iterable[str]
) -> tuple[AccountFiling, ...]:
    """Return how the household files under each account of the jurisdictions, in their order, as of today's books.

    Raises what `allow` raises, KeyError for a jurisdiction without duties.
    """
    allow(actor, READ_CALENDAR, employer.id)
    today = clock.today()
    household = await _household(session, employer, today, range(today.year - _YEARS_BEFORE, today.year + 1))
    closed = {(each.jurisdiction, each.account): each.on for each in household.closed}
    recorded = {(each.jurisdiction, each.account) for each in household.filings} | closed.keys()
    found = []
    for jurisdiction in jurisdictions:
        duties = duties_of(jurisdiction)
        amounts = Amounts(household, duties)
        borne = {line for person in household.employees for line in person.local_lines} | household.open_lines
        borne |= household.cents_by_line.keys()
        for account in duties.accounts:
            key = (jurisdiction, account.name)
            lines = amounts.lines_of(account.name)
            found.append(
                AccountFiling(
                    jurisdiction,
                    account,
                    amounts.reason_of(account.name, today),
                    closed.get(key),
                    key in recorded or any(is_among(line, lines) for line in borne),
                )
            )
    return tuple(found)


# What the household enters


async def mark_duty(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    *,
    key: str,
    done_on: datetime.date | None,
) -> None:
    """Record when the household did what an item requires, or with None that it didn't; with an audit row.

    Raises what `allow` raises, and `validation_error` for a key that the household's calendar doesn't have, and for a
    future day.
    """
    allow(actor, KEEP_CALENDAR, employer.id)
    today = clock.today()
    if done_on is not None and done_on > today:
        raise invalid("done_on", "Enter today's date or an earlier one.")
    before = await session.scalar(
        select(DutyMark.done_on).where(DutyMark.employer_id == employer.id, DutyMark.item_key == key)
    )
    if before is None and (done_on is None or not await _has_item(session, employer, today, key)):
        raise invalid(
            "key", "names nothing that this household's calendar has" if done_on else "is not marked"
        )
    row = {"item_key": key, "done_on": done_on}
    subject = await _say(session, clock, employer, DutyMark, row, ("item_key",))
    await record_audit(
        session,
        actor,
        "duty.mark",
        employer_id=employer.id,
        subject_id=subject,
        details={"key": key, "before": _day(before), "after": _day(done_on)},
    )


async def choose_filing(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    *,
    jurisdiction: str,
    account: str,
    since_year: int,
    frequency: str | None,
) -> None:
    """Record how often the household files under an account from a year on, or with None that it has not chosen.

    With an audit row. Raises what `allow` raises, and `validation_error` for an account without a choice, a frequency
    that it doesn't have, and a year out of range.
    """
    allow(actor, KEEP_CALENDAR, employer.id)
    known = _account(jurisdiction, account)
    if frequency is not None and frequency not in known.frequencies:
        raise invalid("frequency", f"must be one of {', '.join(known.frequencies)}")
    this_year = clock.today().year
    if not this_year - YEARS_BACK <= since_year <= this_year + YEARS_AHEAD:
        raise invalid(
            "since_year", f"must lie between {this_year - YEARS_BACK} and {this_year + YEARS_AHEAD}"
        )
    before = await session.scalar(
        select(FilingChoice.frequency).where(
            FilingChoice.employer_id == employer.id,
            FilingChoice.jurisdiction == jurisdiction,
            FilingChoice.account == account,
            FilingChoice.since_year == since_year,
        )
    )
    row = {
        "jurisdiction": jurisdiction,
        "account": account,
        "since_year": since_year,
        "frequency": frequency,
    }
    named = ("jurisdiction", "account", "since_year")
    subject = await _say(session, clock, employer, FilingChoice, row, named)
    await record_audit(
        session,
        actor,
        "duty.filing",
        employer_id=employer.id,
        subject_id=subject,
        details={
            "jurisdiction": jurisdiction,
            "account": account,
            "since_year": since_year,
            "before": before,
            "after": frequency,
        },
    )


async def note_closing(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    *,
    jurisdiction: str,
    account: str,
    closed_on: datetime.date | None,
) -> None:
    """Record the last day for which an agency wants reports under an account it closed, or with None that it is open.

    With an audit row. Raises what `allow` raises, and `validation_error` for an unknown account.
    """
    allow(actor, KEEP_CALENDAR, employer.id)
    _account(jurisdiction, account)
    before = await session.scalar(
        select(AccountClosing.closed_on).where(
            AccountClosing.employer_id == employer.id,
            AccountClosing.jurisdiction == jurisdiction,
            AccountClosing.account == account,
        )
    )
    row = {"jurisdiction": jurisdiction, "account": account, "closed_on": closed_on}
    subject = await _say(session, clock, employer, AccountClosing, row, ("jurisdiction", "account"))
    await record_audit(
        session,
        actor,
        "duty.account",
        employer_id=employer.id,
        subject_id=subject,
        details={
            "jurisdiction": jurisdiction,
            "account": account,
            "before": _day(before),
            "after": _day(closed_on),
        },
    )


async def _has_item(session: AsyncSession, employer: Employer, today: datetime.date, key: str) -> bool:
    since = datetime.date(today.year - YEARS_BACK, 1, 1)
    until = datetime.date(today.year + YEARS_AHEAD, MONTHS, 31)
    return any(item.key == key for item in await items_of(session, employer, today, since, until))


def _account(jurisdiction: str, account: str) -> Account:
    if jurisdiction != FEDERAL and jurisdiction not in STATES:
        raise invalid("jurisdiction", "must be US, one of the 50 states or DC, by its two letters")
    duties = duties_of(jurisdiction)
    for known in duties.accounts:
        if known.name == account:
            return known
    names = ", ".join(known.name for known in duties.accounts) or "none"
    raise invalid("account", f"is no account of {jurisdiction} with a choice, which has {names}")


async def _say(
    session: AsyncSession,
    clock: Clock,
    employer: Employer,
    table: type[DutyMark] | type[FilingChoice] | type[AccountClosing],
    facts: dict[str, Any],
    named: tuple[str, ...],
) -> UUID:
    """Store an entry in place of an earlier one for the same key; return the row's id. Of two at once one remains."""
    now = clock.now()
    row = facts | {
        "id": uuid7(),
        "organization_id": employer.organization_id,
        "employer_id": employer.id,
        "sandbox": employer.sandbox,
        "created_at": now,
        "updated_at": now,
    }
    changed = {name: value for name, value in facts.items() if name not in named}
    statement = (
        insert(table)
        .values(row)
        .on_conflict_do_update(index_elements=("employer_id", *named), set_=changed | {"updated_at": now})
        .returning(table.id)
    )
    subject: UUID = (await session.execute(statement)).scalar_one()
    return subject


def _day(day: datetime.date | None) -> str | None:
    return None if day is None else day.isoformat()
