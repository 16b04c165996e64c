"""The weekly mail of what is due in an organization's households, for members who chose it: names and numbers alone.

It goes out on Mondays from eight in the morning, Eastern time, and waits until noon for households that are not
calculated yet. It leaves out what a household has to pay, because other people may read the mail.
"""

import datetime
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.household_clocks import at_a_clock
from hearthpay.database.relations import EMPLOYERS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.duties.dues import SIX_DAYS, rules_fingerprint
from hearthpay.duties.dues_lists import DuesCounts, count_dues
from hearthpay.languages.catalogue import day_in, mark, say_in
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice
from hearthpay.mail.places import MailPlace
from hearthpay.mail.wording import name_in_mail
from hearthpay.payroll.payday.notices import MUTED_BY
from hearthpay.people.recipients import WeeklyReader, weekly_readers

MOST_NAMED: Final = 20
"""Households that one mail names."""

_FROM_HOUR: Final = 8
_AT_THE_LATEST: Final = 12
_MONDAY: Final = 0
_A_HOUSEHOLD: Final = mark("A household")


class DueHousehold(NamedTuple):
    """A household that has something to do this week, or something overdue."""

    first_name: str
    last_name: str
    overdue_count: int
    week_count: int
    payday_to_run: datetime.date | None


_DUE: Final = query(
    DueHousehold,
    "SELECT h.first_name, h.last_name, d.overdue_count, d.week_count, d.payday_to_run "
    "FROM household_dues d JOIN {employers} h ON h.id = d.employer_id "
    "WHERE d.organization_id = :organization AND NOT d.sandbox AND d.computed_on = CAST(:today AS date) "
    "AND d.rules = :rules "
    "AND (SELECT true FROM outdated_dues o WHERE o.employer_id = d.employer_id LIMIT 1) IS NULL "
    "AND (d.overdue_count > 0 OR d.week_count > 0 OR d.payday_to_run <= CAST(:until AS date)) "
    "ORDER BY d.overdue_since NULLS LAST, d.payday_to_run NULLS LAST, h.last_name_key, h.first_name_key, h.id "
    "LIMIT :limit",
    employers=EMPLOYERS,
)


async def find_weekly_summaries(
    session: AsyncSession, now: datetime.datetime, limit: int
) -> list[list[Notice]]:
    """Return this Monday's summaries that are not queued yet, one list per member; the session is the worker's."""
    here = now.astimezone(BUSINESS_TIME)
    today = here.date()
    if at_a_clock(session) or today.weekday() != _MONDAY or here.hour < _FROM_HOUR:
        return []
    found: list[list[Notice]] = []
    known: dict[UUID, tuple[Sequence[DueHousehold], DuesCounts]] = {}
    for reader in await weekly_readers(session, today, limit):
        if reader.organization_id not in known:
            known[reader.organization_id] = await _read(session, reader.organization_id, today)
        households, counts = known[reader.organization_id]
        if counts.being_checked and here.hour < _AT_THE_LATEST:
            continue
        mail = weekly_summary_mail(reader, households, today, being_checked=counts.being_checked)
        found.append([Notice(reader.key, "weekly_summary", "person", mail, reader.organization_id)])
    return found


async def _read(
    session: AsyncSession, organization: UUID, today: datetime.date
) -> tuple[Sequence[DueHousehold], DuesCounts]:
    asked = {
        "organization": organization,
        "today": today,
        "until": today + SIX_DAYS,
        "rules": rules_fingerprint(),
        "limit": MOST_NAMED + 1,
    }
    scope = {"organization_id": organization, "sandbox": False, "reached": None}
    return await fetch_all(session, _DUE, asked), await count_dues(session, scope, today)


def weekly_summary_mail(
    to: WeeklyReader, households: Sequence[DueHousehold], today: datetime.date, *, being_checked: int
) -> Mail:
    """Return the mail: what each household has to do this week, those with something overdue first."""
    say = say_in(to.language)
    line = partial(_line, to.language, today=today)
    named = households[:MOST_NAMED]
    if named:
        lines = [say(mark("This week in your households:")), *map(line, named)]
    elif being_checked:
        lines = [say(mark("We have nothing to show you yet."))]
    else:
        lines = [say(mark("Nothing is overdue, and nothing is due this week."))]
    if len(households) > len(named):
        lines.append(say(mark("More households have something to do. See the list.")))
    if being_checked:
        lines.append(say(mark("Some households are still being checked. The list has them soon.")))
    subject = say(mark("Your households this week, from {day}"), day=day_in(to.language, today))
    organization = name_in_mail(to.organization)
    closing = [say(MUTED_BY)]
    if organization:
        closing.insert(
            0, say(mark("This is about the households of {organization}."), organization=organization)
        )
    return letter(
        to.address,
        to.language,
        subject,
        to.name,
        tuple(lines),
        place=MailPlace("/households?sort=overdue", mark("Open your households")),
        closing=tuple(closing),
    )


def _line(language: str, household: DueHousehold, *, today: datetime.date) -> str:
    say = say_in(language)
    parts = []
    if household.overdue_count:
        parts.append(say(mark("{number} overdue"), number=household.overdue_count))
    if household.week_count:
        parts.append(say(mark("{number} due this week"), number=household.week_count))
    payday = household.payday_to_run
    if payday is not None and payday <= today + SIX_DAYS:
        parts.append(say(mark("payroll to run for {day}"), day=day_in(language, payday)))
    name = name_in_mail(household.first_name, household.last_name) or say(_A_HOUSEHOLD)
    return say(mark("{household}: {what}."), household=name, what=", ".join(parts))
