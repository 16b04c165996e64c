"""News of what an employee changes herself: to her account's address and that of her record, and to the household.

Each is queued in the transaction of the change. A test household's never leave. Whatever somebody may have to stop is a
warning, which no repetition uses up; of the rest each reader gets a few a day (`mail/person_mail.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import PEOPLE
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.languages.catalogue import mark, moment_in, say_in
from hearthpay.mail.mailer import Mail
from hearthpay.mail.person_mail import NEWS, WARNINGS
from hearthpay.people.front_desk import FrontDesk
from hearthpay.people.mails import PersonMailKind, person_mail

_NEWS_LAST: Final = timedelta(days=7)
_IN_ENGLISH: Final = "en"
"""A household's own language nobody has asked for."""

CHANGED: Final = {
    "address": mark("the postal address"),
    "language": mark("the language of papers"),
    "tax_number": mark("the Social Security number or ITIN"),
    "w4": mark("Form W-4"),
    "certificate": mark("the state's withholding certificate"),
    "bank_connected": mark("the bank account that pay goes to"),
    "bank_withdrawn": mark("the new bank account was taken back"),
    "set_aside_asked": mark("an amount to set aside was asked for"),
    "set_aside_stopped": mark("nothing is set aside any more"),
    "set_aside_approved": mark("the household agreed to what you asked to set aside"),
    "set_aside_declined": mark("the household did not agree to what you asked to set aside"),
    "link": mark("an account was made for this record"),
}
"""What can have been changed, as a notice says it."""

_SUBJECTS: Final = {"bank_connected": "bank", "bank_withdrawn": "bank"} | dict.fromkeys(
    ("set_aside_asked", "set_aside_stopped", "set_aside_approved", "set_aside_declined"), "set_aside"
)
"""What follows each other in one matter, of which the last is told; everything else is a matter of its own."""
_MERE_NEWS: Final = frozenset({"language", "set_aside"})
"""Matters in which nobody loses anything before he could object."""


_ENDING: Final = mark("account ending in {digits}")
_NONE: Final = mark("none")
_ACCOUNT: Final = text(
    f"SELECT p.email, p.language FROM employee_links l JOIN {PEOPLE} p ON p.id = l.person_id "
    "WHERE l.employee_id = :employee AND l.ended_at IS NULL"
)

AccountNewsKind = Literal["bank_changed", "bank_entered", "bank_connected"]
"""A bank account was changed in her account; by a link, so that it waits; or was connected at once."""

RecordNewsKind = Literal["record_changed", "record_entered"]
"""Something was changed in her account, or was entered by the link of an invitation."""

_BANK: Final = ("bank_connected",)


@dataclass(frozen=True, slots=True)
class NewsReader:
    """Whoever has an account for a record: the address of it, and her language."""

    email: str
    language: str


async def reader_of(session: AsyncSession, employee_id: UUID) -> NewsReader | None:
    """Return who has an account for the employee's record: told also of what was not done there."""
    row = (await session.execute(_ACCOUNT, {"employee": employee_id})).one_or_none()
    return None if row is None else NewsReader(row.email, row.language)


async def tell_of_change(
    desk: FrontDesk,
    session: AsyncSession,
    employee: Employee,
    reader: NewsReader | None,
    *changed: str,
    kind: RecordNewsKind = "record_changed",
) -> None:
    """Queue the news of what was `changed` (some of CHANGED), for the employee and the household."""
    if employee.sandbox:
        return
    now = desk.clock.now()
    household = await session.get_one(Employer, employee.employer_id)
    for address, language in _addresses(employee, reader).items():
        mail = person_mail(
            kind,
            address,
            language,
            name=employee.first_name,
            household=household.last_name,
            when=moment_in(language, now),
            what=_said(language, changed),
        )
        await _queue(desk, session, now, kind, mail, employee, changed)
    await _tell_household(desk, session, now, household, employee, changed)


async def tell_of_link(
    desk: FrontDesk, session: AsyncSession, employee: Employee, address: str, language: str
) -> None:
    """Queue the news that an account was linked to the employee's record."""
    await tell_of_change(desk, session, employee, NewsReader(address, language), "link")


async def tell_of_account(
    desk: FrontDesk,
    session: AsyncSession,
    employee: Employee,
    reader: NewsReader | None,
    *,
    old: str | None,
    new: str,
    start: datetime,
    kind: AccountNewsKind = "bank_changed",
    link: str | None = None,
    by_operator: bool = False,
) -> None:
    """Queue the news that pay goes to another account from `start` on: `old` and `new` are the last digits.

    The `link` leads to where a change that waits is taken back. The household is told of what she changed; what the
    operator connected, he did for the household.
    """
    if employee.sandbox:
        return
    now = desk.clock.now()
    household = await session.get_one(Employer, employee.employer_id)
    for address, language in _addresses(employee, reader).items():
        say = say_in(language)
        mail = person_mail(
            kind,
            address,
            language,
            name=employee.first_name,
            link=link,
            household=household.last_name,
            when=moment_in(language, now),
            old=say(_NONE) if old is None else say(_ENDING, digits=old),
            new=say(_ENDING, digits=new),
            start=moment_in(language, start),
        )
        await _queue(desk, session, now, "bank_changed", mail, employee, _BANK)
    if not by_operator:
        await _tell_household(desk, session, now, household, employee, _BANK)


async def tell_employee(
    desk: FrontDesk, session: AsyncSession, employee: Employee, what: str, address: str | None
) -> None:
    """Queue the news of what the household decided, for the employee alone."""
    if employee.sandbox or address is None:
        return
    now = desk.clock.now()
    household = await session.get_one(Employer, employee.employer_id)
    language = employee.language
    mail = person_mail(
        "record_changed",
        address,
        language,
        name=employee.first_name,
        household=household.last_name,
        when=moment_in(language, now),
        what=_said(language, (what,)),
    )
    await _queue(desk, session, now, "record_changed", mail, employee, (what,))


async def _tell_household(
    desk: FrontDesk,
    session: AsyncSession,
    now: datetime,
    household: Employer,
    employee: Employee,
    changed: Sequence[str],
) -> None:
    if household.email is None:
        return
    mail = person_mail(
        "employee_changed",
        household.email.lower(),
        _IN_ENGLISH,
        name=household.first_name,
        employee=employee.name,
        when=moment_in(_IN_ENGLISH, now),
        what=_said(_IN_ENGLISH, changed),
    )
    await _queue(desk, session, now, "employee_changed", mail, employee, changed)


async def _queue(
    desk: FrontDesk,
    session: AsyncSession,
    now: datetime,
    kind: PersonMailKind,
    mail: Mail,
    employee: Employee,
    changed: Sequence[str],
) -> None:
    """Queue the mail as news or as a warning: of each matter of each record the last is told."""
    matters = {_SUBJECTS.get(what, what) for what in changed}
    sort = NEWS if matters <= _MERE_NEWS else WARNINGS
    # One address may be both's: what the household is told takes the place of nothing that she is told.
    whom = "household" if kind == "employee_changed" else "employee"
    about = f"{whom} {' '.join(sorted(matters))} {employee.id}"
    await desk.queue_mail(session, now, kind, mail, now + _NEWS_LAST, sort=sort, about=about)


def _said(language: str, changed: Sequence[str]) -> str:
    say = say_in(language)
    return ", ".join(say(CHANGED[what]) for what in changed)


def _addresses(employee: Employee, reader: NewsReader | None) -> dict[str, str]:
    """Return where the employee is told, with the language: whoever took one of the two does not keep it from her.

    There is no `reader` where nobody has an account for the record.
    """
    found = {} if reader is None else {reader.email: reader.language}
    if employee.email is not None:
        found.setdefault(employee.email.lower(), employee.language)
    return found
