"""Notices of what employees change themselves: to the addresses of their account and record, and to the household.

Each is queued in the transaction of the change. A test household's are never sent. Whatever the reader may need to
stop is a warning, which repetition doesn't use up; of the rest each reader gets a few a day (`mail/person_mail.py`).
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import PEOPLE
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.languages.catalogue import mark, moment_in, say_in
from hearthpay.mail.mailer import Mail
from hearthpay.mail.person_mail import NEWS, WARNINGS
from hearthpay.people.context import PeopleContext
from hearthpay.people.former_addresses import former_addresses_of_employee, former_addresses_of_household
from hearthpay.people.mails import PersonMailKind, person_mail
from hearthpay.people.stop_links import StopAccount, StopRecord
from hearthpay.time_zones import shown_in

_NEWS_LAST: Final = datetime.timedelta(days=7)
_IN_ENGLISH: Final = "en"
"""No household has been asked for its own language."""

CHANGED: Final = {
    "address": mark("the mailing address"),
    "language": mark("the language of documents"),
    "tax_number": mark("the Social Security number or ITIN"),
    "w4": mark("Form W-4"),
    "certificate": mark("the state's withholding certificate"),
    "bank_connected": mark("the bank account that pay goes to"),
    "bank_withdrawn": mark("the new bank account was canceled"),
    "set_aside_asked": mark("an amount to set aside was asked for"),
    "set_aside_stopped": mark("nothing is set aside any more"),
    "set_aside_approved": mark("the household agreed to what you asked to set aside"),
    "set_aside_declined": mark("the household did not agree to what you asked to set aside"),
    "link": mark("an account was made for this record"),
}
"""The possible changes, as a notice names them."""

_SUBJECTS: Final = {"bank_connected": "bank", "bank_withdrawn": "bank"} | dict.fromkeys(
    ("set_aside_asked", "set_aside_stopped", "set_aside_approved", "set_aside_declined"), "set_aside"
)
"""Changes that follow each other on one subject, of which the last is reported; any other is its own subject."""
_MERE_NEWS: Final = frozenset({"language", "set_aside"})
"""Subjects in which nobody loses anything before they could object."""


_ENDING: Final = mark("account ending in {digits}")
_NONE: Final = mark("none")


class _AccountRow(NamedTuple):
    email: str
    language: str
    person_id: UUID


_ACCOUNT: Final = query(
    _AccountRow,
    "SELECT p.email, p.language, p.id AS person_id FROM employee_links l JOIN {people} p ON p.id = l.person_id "
    "WHERE l.employee_id = :employee AND l.ended_at IS NULL",
    people=PEOPLE,
)

AccountNewsKind = Literal["bank_changed", "bank_entered", "bank_asked", "bank_connected"]
"""A bank account was changed in the employee's account; by a link, so that it is held; needs an owner's approval; or
was connected at once."""

RecordNewsKind = Literal["record_changed", "record_entered", "household_decided"]
"""Something was changed in the employee's account, entered through an invitation's link, or decided by the household.
"""

_BANK: Final = ("bank_connected",)
_HELD: Final = frozenset({"bank_changed", "bank_entered", "bank_asked"})
"""News of accounts that are held, so that they can be canceled."""


@dataclass(frozen=True, slots=True)
class NoticeRecipient:
    """The person with an account for a record: the account's address and language, and the session they act in."""

    email: str
    language: str
    person_id: UUID | None = None
    session_id: UUID | None = None


async def reader_of(session: AsyncSession, employee_id: UUID) -> NoticeRecipient | None:
    """Return who has an account for the employee's record; they are also notified of what wasn't done there."""
    row = await fetch_optional(session, _ACCOUNT, {"employee": employee_id})
    return None if row is None else NoticeRecipient(row.email, row.language, row.person_id)


async def notify_of_change(
    people_context: PeopleContext,
    session: AsyncSession,
    employee: Employee,
    reader: NoticeRecipient | None,
    *changed: str,
    kind: RecordNewsKind = "record_changed",
) -> None:
    """Queue the notices of what was `changed` (some of CHANGED), for the employee and the household.

    If it was changed in the reader's account, the mail to that account's own address has a link that ends the session.
    """
    if employee.sandbox:
        return
    now = people_context.clock.now()
    household = await session.get_one(Employer, employee.employer_id)
    link = None
    if kind == "record_changed" and reader is not None and reader.person_id is not None:
        stop = StopAccount(reader.person_id, "record", now, session_id=reader.session_id)
        link = people_context.stop_link(stop)
    for address, mailbox in (await _addresses(session, now, employee, reader)).items():
        language = mailbox.language
        mail = person_mail(
            kind,
            address,
            language,
            name=mailbox.name,
            link=link if reader is not None and address == reader.email else None,
            operator=people_context.operator,
            household=household.last_name,
            when=_moment(household, language, now),
            what=_change_list(language, changed),
        )
        await _queue(people_context, session, now, kind, mail, employee, changed)
    await _notify_household(people_context, session, now, household, employee, changed)


async def notify_of_link(
    people_context: PeopleContext, session: AsyncSession, employee: Employee, reader: NoticeRecipient
) -> None:
    """Queue the notice that the reader's account was linked to the employee's record."""
    await notify_of_change(people_context, session, employee, reader, "link")


async def notify_of_link_request(
    people_context: PeopleContext, session: AsyncSession, employee: Employee
) -> None:
    """Queue the notice for the household that the employee asks for a new link; of several, the last is sent."""
    household = await session.get_one(Employer, employee.employer_id)
    if employee.sandbox or household.email is None:
        return
    now = people_context.clock.now()
    mail = person_mail(
        "link_requested",
        household.email.lower(),
        _IN_ENGLISH,
        name=household.first_name,
        employee=employee.name,
        when=moment_in(_IN_ENGLISH, now),
    )
    about = f"household link_requested {employee.id}"
    await people_context.queue_mail(
        session, now, "link_requested", mail, now + _NEWS_LAST, sort=NEWS, about=about
    )


async def notify_of_account(
    people_context: PeopleContext,
    session: AsyncSession,
    employee: Employee,
    reader: NoticeRecipient | None,
    *,
    old: str | None,
    new: str,
    start: datetime.datetime,
    kind: AccountNewsKind = "bank_changed",
    by_operator: bool = False,
) -> None:
    """Queue the notice that pay goes to another account from `start`: `old` and `new` are the last digits.

    Its link cancels a change that is held. The household is notified of the employee's changes, but not of what the
    operator connected for the household.
    """
    if employee.sandbox:
        return
    now = people_context.clock.now()
    household = await session.get_one(Employer, employee.employer_id)
    for address, mailbox in (await _addresses(session, now, employee, reader)).items():
        language = mailbox.language
        say = say_in(language)
        mail = person_mail(
            kind,
            address,
            language,
            name=mailbox.name,
            link=_stop_link(people_context, employee, address) if mailbox.stops and kind in _HELD else None,
            operator=people_context.operator,
            household=household.last_name,
            when=_moment(household, language, now),
            old=say(_NONE) if old is None else say(_ENDING, digits=old),
            new=say(_ENDING, digits=new),
            start=_moment(household, language, start),
        )
        await _queue(people_context, session, now, "bank_changed", mail, employee, _BANK)
    if not by_operator:
        await _notify_household(people_context, session, now, household, employee, _BANK)


async def notify_employee(
    people_context: PeopleContext, session: AsyncSession, employee: Employee, what: str, address: str | None
) -> None:
    """Queue the notice of what the household decided, for the employee only."""
    if employee.sandbox or address is None:
        return
    now = people_context.clock.now()
    household = await session.get_one(Employer, employee.employer_id)
    language = employee.language
    mail = person_mail(
        "household_decided",
        address,
        language,
        name=employee.first_name,
        household=household.last_name,
        when=_moment(household, language, now),
        what=_change_list(language, (what,)),
    )
    await _queue(people_context, session, now, "household_decided", mail, employee, (what,))


async def _notify_household(
    people_context: PeopleContext,
    session: AsyncSession,
    now: datetime.datetime,
    household: Employer,
    employee: Employee,
    changed: Sequence[str],
) -> None:
    former = await former_addresses_of_household(session, now, household.id)
    own = () if household.email is None else (household.email.lower(),)
    for address in dict.fromkeys((*own, *former)):
        mail = person_mail(
            "employee_changed",
            address,
            _IN_ENGLISH,
            name=household.first_name if address in own else "",
            employee=employee.name,
            when=_moment(household, _IN_ENGLISH, now),
            what=_change_list(_IN_ENGLISH, changed),
        )
        await _queue(people_context, session, now, "employee_changed", mail, employee, changed)


async def _queue(
    people_context: PeopleContext,
    session: AsyncSession,
    now: datetime.datetime,
    kind: PersonMailKind,
    mail: Mail,
    employee: Employee,
    changed: Sequence[str],
) -> None:
    """Queue the mail as news or as a warning; for each subject of each record only the last is sent."""
    matters = {_SUBJECTS.get(what, what) for what in changed}
    sort = NEWS if matters <= _MERE_NEWS else WARNINGS
    # Both may share one address: the household's notice must not replace the employee's.
    whom = "household" if kind == "employee_changed" else "employee"
    about = f"{whom} {' '.join(sorted(matters))} {employee.id}"
    await people_context.queue_mail(session, now, kind, mail, now + _NEWS_LAST, sort=sort, about=about)


def _moment(household: Employer, language: str, moment: datetime.datetime) -> str:
    with shown_in(household.zone):
        return moment_in(language, moment)


def _change_list(language: str, changed: Sequence[str]) -> str:
    say = say_in(language)
    return ", ".join(say(CHANGED[what]) for what in changed)


@dataclass(frozen=True, slots=True)
class _Mailbox:
    """The language of notices to an address, and whom they greet; empty where it isn't known whose it is now."""

    language: str
    name: str
    stops: bool = True
    """Whether its reader may stop what the notice reports."""


def _stop_link(people_context: PeopleContext, employee: Employee, address: str) -> str | None:
    stop = StopRecord(
        employee.organization_id, employee.employer_id, employee.sandbox, employee.id, address.lower()
    )
    return people_context.stop_link(stop)


async def _addresses(
    session: AsyncSession, now: datetime.datetime, employee: Employee, reader: NoticeRecipient | None
) -> dict[str, _Mailbox]:
    """Return the employee's addresses for notices: taking over one of them, or changing it within the last week,
    doesn't keep the notice from the employee.

    `reader` is None if nobody has an account for the record.
    """
    found = {} if reader is None else {reader.email: _Mailbox(reader.language, employee.first_name)}
    if employee.email is not None:
        found.setdefault(employee.email.lower(), _Mailbox(employee.language, employee.first_name))
    former = await former_addresses_of_employee(session, now, employee.employer_id, employee.id)
    for address, may_restore in former.items():
        found.setdefault(address, _Mailbox(employee.language, "", stops=may_restore))
    return found
