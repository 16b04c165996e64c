"""Which notices a person has turned off, and whether mail reaches them."""

import datetime
from collections.abc import Collection
from dataclasses import dataclass

from hearthpay.database.session import become_person
from hearthpay.mail.bounces import bounced
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.models import PersonRecord
from hearthpay.people.recipients import TOPICS, Topic
from hearthpay.people.sessions import SignedIn


@dataclass(frozen=True, slots=True)
class NoticeChoices:
    """The topics that a person wants mail about, and when their address refused the last mail, if it did."""

    requested: frozenset[str]
    bounced_at: datetime.datetime | None
    weekly_summary: bool = False
    """Whether they get a mail every Monday of what is due in all households."""


async def notice_choices(people_context: PeopleContext, who: SignedIn) -> NoticeChoices:
    """Return the person's choices."""
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        person = await session.get_one(PersonRecord, who.person_id)
        refused = await bounced(session, [person.email])
        return NoticeChoices(
            frozenset(TOPICS) - set(person.muted_notices), refused.get(person.email), person.weekly_summary
        )


async def choose_notices(
    people_context: PeopleContext,
    who: SignedIn,
    requested: Collection[Topic],
    visit: Visit,
    *,
    weekly_summary: bool = False,
) -> None:
    """From now on, send the person mail about these topics only, and the weekly summary if they want it."""
    muted: list[str] = [topic for topic in TOPICS if topic not in requested]
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        person = await session.get_one(PersonRecord, who.person_id)
        if (person.muted_notices, person.weekly_summary) == (muted, weekly_summary):
            return
        person.muted_notices, person.weekly_summary = muted, weekly_summary
        await session.flush()
        details = {"without": muted} | ({"weekly_summary": True} if weekly_summary else {})
        await note_event(session, who.person_id, visit, "notices.choose", details)
