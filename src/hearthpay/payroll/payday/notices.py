"""Notices by mail of a payroll's normal course: tomorrow's debit, and payday.

On payday the household is notified, and each employee who has an address: that they were paid and have a pay stub,
without the amount, since other people may read the mail. For what Autopilot pays or debits, the household gets
Autopilot's own notices.
"""

import datetime
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import debited_on
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.household_clocks import at_a_clock, by_mode
from hearthpay.database.relations import AUTOPILOT_PERIODS, EMPLOYEES, EMPLOYERS, NOTICES
from hearthpay.database.statements import Fragment, compose
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import day_in, hour_in, mark, money_in, weekday_in
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice, Recipient
from hearthpay.mail.wording import name_in_mail
from hearthpay.payroll.ledger.costs import EXPECTED_SET_ASIDE
from hearthpay.people.recipients import (
    NoticeReader,
    Topic,
    addressed,
    readers_of_employees,
    readers_of_households,
)
from hearthpay.taxes.money import from_cents

AHEAD: Final = datetime.timedelta(hours=24)
"""How long before a debit is sent its notice goes out; there is none for payrolls run later than that."""
STILL_NEWS: Final = datetime.timedelta(days=7)
"""How long after its day a payday notice is sent: a payroll completes some days after the pay date."""

MUTED_BY: Final = mark("You can turn this notice off in Hearthpay, under Settings, Notifications.")
_SOMEBODY: Final = mark("Your employer")

_PAYROLL: Final = compose(
    "SELECT p.id, p.organization_id, p.employer_id, p.sandbox, p.period_start, p.period_end, p.pay_date, p.net_pay, "
    "p.scheduled_send_at, h.first_name AS household_first, h.last_name AS household_last, "
    "CAST(p.net_pay + {set_aside} AS bigint) AS debited, "
    "EXISTS (SELECT FROM {autopilot_periods} a WHERE a.payroll_id = p.id) AS of_autopilot "
    "FROM payrolls p JOIN {employers} h ON h.id = p.employer_id ",
    set_aside=EXPECTED_SET_ASIDE,
    autopilot_periods=AUTOPILOT_PERIODS,
    employers=EMPLOYERS,
)


class PaydayPayroll(NamedTuple):
    """A payroll that a notice is about, and the name of its household."""

    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    net_pay: int
    scheduled_send_at: datetime.datetime | None
    household_first: str
    household_last: str
    debited: int
    """The net pay and what the employees set aside."""

    of_autopilot: bool


_PAYDAYS: Final = by_mode(
    lambda mode: query(
        PaydayPayroll,
        "{payroll} WHERE p.status = 'completed' AND {mode} AND p.pay_date BETWEEN :since AND :today "
        "AND NOT EXISTS (SELECT FROM {notices} n WHERE n.payroll_id = p.id "
        "AND n.kind IN ('notice.payday', 'notice.pay_stub')) ORDER BY row_number() OVER "
        "(PARTITION BY p.organization_id ORDER BY p.pay_date, p.id), p.pay_date, p.id LIMIT :limit",
        payroll=_PAYROLL,
        mode=mode,
        notices=NOTICES,
    ),
    Fragment("p.sandbox"),
)


_DEBITS: Final = by_mode(
    lambda mode: query(
        PaydayPayroll,
        "{payroll} WHERE p.status = 'scheduled' AND p.direct_deposit AND {mode} "
        "AND p.due_at > :now AND p.due_at <= :until AND p.scheduled_send_at > :now "
        "AND p.created_at < p.scheduled_send_at - CAST(:ahead AS interval) "
        "AND NOT EXISTS (SELECT FROM {autopilot_periods} a WHERE a.payroll_id = p.id) "
        "AND NOT EXISTS (SELECT FROM {notices} n WHERE n.payroll_id = p.id AND n.kind = 'notice.debit_ahead') "
        "ORDER BY row_number() OVER (PARTITION BY p.organization_id ORDER BY p.scheduled_send_at, p.id), "
        "p.scheduled_send_at, p.id LIMIT :limit",
        payroll=_PAYROLL,
        mode=mode,
        autopilot_periods=AUTOPILOT_PERIODS,
        notices=NOTICES,
    ),
    Fragment("p.sandbox"),
)


class _PaidRow(NamedTuple):
    payroll_id: UUID
    id: UUID
    first_name: str
    last_name: str


_SCHEDULED: Final = query(
    _PaidRow,
    "SELECT n.payroll_id, e.id, e.first_name, e.last_name "
    "FROM payroll_entries n JOIN {employees} e ON e.id = n.employee_id WHERE n.payroll_id = ANY(:payrolls) "
    "ORDER BY n.payroll_id, n.position",
    employees=EMPLOYEES,
)
_PAID: Final = query(
    _PaidRow,
    "SELECT c.payroll_id, e.id, e.first_name, e.last_name "
    "FROM paychecks c JOIN {employees} e ON e.id = c.employee_id WHERE c.payroll_id = ANY(:payrolls) "
    "AND c.reverses IS NULL AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) "
    "ORDER BY c.payroll_id, c.position",
    employees=EMPLOYEES,
)


async def find_paydays(session: AsyncSession, now: datetime.datetime, limit: int) -> list[list[Notice]]:
    """Return the notices of payrolls that are paid and whose payday has come, one list per payroll."""
    today = now.astimezone(BUSINESS_TIME).date()
    values = {"since": today - STILL_NEWS, "today": today, "limit": limit}
    payrolls = await fetch_all(session, _PAYDAYS[at_a_clock(session)], values)
    if not payrolls:
        return []
    paid = await fetch_all(session, _PAID, {"payrolls": [row.id for row in payrolls]})
    households = await readers_of_households(session, {row.employer_id for row in payrolls})
    employees = await readers_of_employees(session, {row.id for row in paid})
    found = []
    for payroll in payrolls:
        people = [row for row in paid if row.payroll_id == payroll.id]
        notices: list[Notice] = []
        if not payroll.of_autopilot:
            notices += _to_household(payroll, people, households.get(payroll.employer_id, ()))
        for each in people:
            notices += _to_employee(payroll, each, employees.get(each.id))
        found.append(notices)
    return [notices for notices in found if notices]


async def find_debits_ahead(session: AsyncSession, now: datetime.datetime, limit: int) -> list[list[Notice]]:
    """Return the notices of debits that are sent within AHEAD, one list per payroll."""
    values = {"now": now, "until": now + AHEAD, "ahead": AHEAD, "limit": limit}
    payrolls = await fetch_all(session, _DEBITS[at_a_clock(session)], values)
    if not payrolls:
        return []
    paid = await fetch_all(session, _SCHEDULED, {"payrolls": [row.id for row in payrolls]})
    readers = await readers_of_households(session, {row.employer_id for row in payrolls})
    names = {
        row.id: [(each.first_name, each.last_name) for each in paid if each.payroll_id == row.id]
        for row in payrolls
    }
    return [
        addressed(
            _notice(payroll, "debit_ahead", "household"),
            readers.get(payroll.employer_id, ()),
            lambda reader, payroll=payroll: debit_ahead_mail(reader, payroll, names[payroll.id]),  # type: ignore[misc]
        )
        for payroll in payrolls
    ]


def debit_ahead_mail(to: NoticeReader, payroll: PaydayPayroll, names: Sequence[tuple[str, str]]) -> Mail:
    """Return the mail that the household's account will soon be debited, with the amount, the employees and the
    period.
    """
    say, language = to.say, to.language
    assert payroll.scheduled_send_at is not None, "it is scheduled"
    facts = {
        "sent": hour_in(language, payroll.scheduled_send_at),
        "leaves": weekday_in(language, debited_on(payroll.scheduled_send_at)),
        "amount": money_in(language, from_cents(payroll.debited)),
        "names": _names(to, names),
        **_days(language, payroll),
    }
    lines = (
        say(
            mark(
                "{amount} leaves your account on {leaves}. It pays {names} for {first} to {last}, payday {pay_date}."
            ),
            **facts,
        ),
        say(mark("Make sure your account has enough money. You can void the payroll until {sent}."), **facts),
    )
    subject = say(mark("Upcoming debit for the {day} payday"), day=facts["pay_date"])
    return letter(to.address, language, subject, to.greeted(payroll.household_first), lines, place=to.place)


def payday_mail(to: NoticeReader, payroll: PaydayPayroll, names: Sequence[tuple[str, str]]) -> Mail:
    """Return the mail that a payroll is paid, with the employees and the amounts."""
    say, language = to.say, to.language
    facts = {
        "amount": money_in(language, from_cents(payroll.net_pay)),
        "names": _names(to, names),
        **_days(language, payroll),
    }
    lines = (
        say(mark("{amount} net pay to {names} for {first} to {last}, payday {pay_date}."), **facts),
        say(
            mark("Pay stubs are ready in Hearthpay. Some states require you to give one with each paycheck.")
        ),
    )
    subject = say(mark("{day} payroll completed"), day=facts["pay_date"])
    return letter(
        to.address,
        language,
        subject,
        to.greeted(payroll.household_first),
        lines,
        place=to.place,
        closing=(say(MUTED_BY),),
    )


def pay_stub_mail(to: NoticeReader, payroll: PaydayPayroll, first_name: str) -> Mail:
    """Return the mail that an employee was paid and has a pay stub; it doesn't state the amount."""
    say, language = to.say, to.language
    household = name_in_mail(payroll.household_first, payroll.household_last) or say(_SOMEBODY)
    facts = {"household": household, **_days(language, payroll)}
    lines = (
        say(
            mark("Your pay from {household} for {first} to {last} is recorded. Payday: {pay_date}."), **facts
        ),
        say(mark("Your pay stub is ready. Ask your employer for it, or sign in to Hearthpay.")),
    )
    subject = say(mark("Your {day} pay stub"), day=facts["pay_date"])
    return letter(to.address, language, subject, to.greeted(first_name), lines, place=to.place)


def _to_household(
    payroll: PaydayPayroll, people: Sequence[_PaidRow], readers: Sequence[NoticeReader]
) -> list[Notice]:
    names = [(each.first_name, each.last_name) for each in people]
    topic: Topic = "payday"
    return addressed(
        _notice(payroll, "payday", "household"),
        readers,
        lambda reader: payday_mail(reader, payroll, names),
        topic,
    )


def _to_employee(payroll: PaydayPayroll, employee: _PaidRow, reader: NoticeReader | None) -> Iterator[Notice]:
    yield from addressed(
        _notice(payroll, "pay_stub", "employee", employee.id),
        () if reader is None else (reader,),
        lambda found: pay_stub_mail(found, payroll, employee.first_name),
        "payday",
    )


def _notice(
    payroll: PaydayPayroll, kind: str, recipient: Recipient, employee_id: UUID | None = None
) -> Notice:
    return Notice(
        f"{kind}:{payroll.id}:{employee_id or recipient}",
        kind,
        recipient,
        None,
        payroll.organization_id,
        payroll.employer_id,
        payroll.sandbox,
        employee_id,
        payroll.id,
    )


def _names(to: NoticeReader, names: Sequence[tuple[str, str]]) -> str:
    known = [name for name in (name_in_mail(*each) for each in names) if name]
    return ", ".join(known) or to.say(mark("your employee"))


def _days(language: str, payroll: PaydayPayroll) -> dict[str, str]:
    days: dict[str, datetime.date] = {
        "first": payroll.period_start,
        "last": payroll.period_end,
        "pay_date": payroll.pay_date,
    }
    return {name: day_in(language, day) for name, day in days.items()}
