"""The notice that an employee's Form W-2 is ready, once the year has ended and their household has issued it."""

import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.household_clocks import at_a_clock, by_mode
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, NOTICES
from hearthpay.database.statements import Fragment, column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import mark
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice
from hearthpay.mail.wording import name_in_mail
from hearthpay.people.recipients import NoticeReader, addressed, readers_of_employees

STILL_NEWS: Final = datetime.timedelta(days=7)
"""The age beyond which no notice is sent about an issued document."""

_SOMEBODY: Final = mark("Your employer")
_KEY: Final = Fragment(
    "'document:' || d.employee_id || ':' || d.kind || ':' || d.tax_year || ':' || d.version"
)


class NewPaper(NamedTuple):
    """A paper that was issued, and whom it is about."""

    key: str
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID
    kind: str
    tax_year: int
    first_name: str
    household_first: str
    household_last: str


_NEW: Final = by_mode(
    lambda mode: query(
        NewPaper,
        "SELECT {columns} FROM (SELECT DISTINCT {key} AS key, d.organization_id, d.employer_id, d.sandbox, "
        "d.employee_id, d.kind, d.tax_year, e.first_name, h.first_name AS household_first, "
        "h.last_name AS household_last FROM documents d "
        "JOIN {employees} e ON e.id = d.employee_id JOIN {employers} h ON h.id = d.employer_id "
        "WHERE d.kind IN ('w2', 'w2c') AND {mode} AND d.created_at > :since "
        "AND d.created_at <= :now "
        "AND date_part('year', d.created_at AT TIME ZONE 'America/New_York') > d.tax_year "
        "AND NOT EXISTS (SELECT FROM {notices} n WHERE n.notice_key = {key})) issued "
        "ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY key), key LIMIT :limit",
        columns=column_list(NewPaper._fields),
        key=_KEY,
        employees=EMPLOYEES,
        employers=EMPLOYERS,
        mode=mode,
        notices=NOTICES,
    ),
    Fragment("d.sandbox"),
)


async def find_new_papers(session: AsyncSession, now: datetime.datetime, limit: int) -> list[list[Notice]]:
    """Return the notices about newly issued documents, a list for each."""
    rows = await fetch_all(
        session, _NEW[at_a_clock(session)], {"now": now, "since": now - STILL_NEWS, "limit": limit}
    )
    readers = await readers_of_employees(session, {row.employee_id for row in rows})
    return [
        addressed(
            Notice(
                row.key,
                "document_ready",
                "employee",
                None,
                row.organization_id,
                row.employer_id,
                row.sandbox,
                row.employee_id,
            ),
            (readers[row.employee_id],) if row.employee_id in readers else (),
            partial(_write, row),
            "documents",
        )
        for row in rows
    ]


def document_ready_mail(to: NoticeReader, paper: NewPaper) -> Mail:
    """The notice that the form is ready, and from whom to get it."""
    say = to.say
    household = name_in_mail(paper.household_first, paper.household_last) or say(_SOMEBODY)
    facts = {"household": household, "year": paper.tax_year}
    if paper.kind == "w2":
        subject = mark("Your Form W-2 for {year} is ready")
        happened = mark(
            "Your {year} Form W-2 from {household} is ready. You need it to file your taxes. Sign in "
            "to Hearthpay, or ask {household} for a copy."
        )
    else:
        subject = mark("Your Form W-2 for {year} was corrected")
        happened = mark(
            "{household} has made a Form W-2c, which corrects your Form W-2 for {year}. Ask for it if you have not "
            "been given it, or sign in to Hearthpay if you have an account."
        )
    never = say(mark("We never send such a form by email, as it holds your numbers."))
    lines = (say(happened, **facts), never)
    return letter(
        to.address, to.language, say(subject, **facts), to.greeted(paper.first_name), lines, place=to.place
    )


def _write(paper: NewPaper, reader: NoticeReader) -> Mail:
    return document_ready_mail(reader, paper)
