"""Records a grant that was ended by a secret a program sent, and notifies the person if it means a theft.

In the transaction that ended it. A secret used a second time was stolen, from the program or by it.
"""

import datetime
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.plans import NOTHING
from hearthpay.database.relations import PEOPLE
from hearthpay.database.session import become
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_one, fetch_optional, query
from hearthpay.languages.catalogue import moment_in
from hearthpay.mail.person_mail import WARNINGS
from hearthpay.people.context import PeopleContext
from hearthpay.people.mails import person_mail
from hearthpay.security.key_ring import KeyRingError

STOLEN: Final = frozenset({"code_reused", "refresh_reused"})
"""The reasons for which a grant ends automatically; the person is notified of these."""

_NEWS_LAST: Final = datetime.timedelta(days=7)


class _FindRow(NamedTuple):
    grant_id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    person_id: UUID
    client_name: str
    ended_because: str | None


_FIND: Final = query(
    _FindRow,
    "SELECT {columns} FROM find_agent_grant(:shown, :client)",
    columns=column_list(_FindRow._fields),
)


class _PersonRow(NamedTuple):
    name: str
    email: str
    language: str


_PERSON: Final = query(
    _PersonRow, "SELECT name, email, language FROM {people} p WHERE id = :person", people=PEOPLE
)

_log = structlog.get_logger("hearthpay.oauth")


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """Where a revocation comes from: the context that sends mail to people, and the request's id."""

    people_context: PeopleContext
    request_id: str


async def record_revocation(
    session: AsyncSession, now: datetime.datetime, origin: RequestOrigin, *, shown: bytes, client_id: str
) -> None:
    """Record that the grant of this secret has just ended, and notify its person if that means a theft.

    From here on the transaction belongs to the grant's tenant.
    """
    row = await fetch_one(session, _FIND, {"shown": shown, "client": client_id})
    actor = Actor.token(
        row.grant_id,
        row.organization_id,
        frozenset(),
        sandbox=row.sandbox,
        request_id=origin.request_id,
        terms=NOTHING,
        households=(row.employer_id,),
    )
    await become(session, actor.tenant)
    await record_audit(
        session,
        actor,
        "agent.end",
        employer_id=row.employer_id,
        subject_id=row.grant_id,
        details={"client": row.client_name, "reason": row.ended_because},
    )
    if row.ended_because in STOLEN:
        await _warn(session, now, origin.people_context, row.person_id, row.client_name, row.grant_id)


async def _warn(
    session: AsyncSession,
    now: datetime.datetime,
    people_context: PeopleContext,
    person_id: UUID,
    client_name: str,
    grant_id: UUID,
) -> None:
    """Queue the warning; without keys to encrypt it there is none, and the grant has ended anyway."""
    person = await fetch_optional(session, _PERSON, {"person": person_id})
    if person is None or people_context.ring is None:
        return
    mail = person_mail(
        "agent_ended",
        person.email,
        person.language,
        name=person.name,
        client=client_name,
        when=moment_in(person.language, now),
    )
    try:
        about = f"agent_ended {grant_id}"
        await people_context.queue_mail(
            session, now, "agent_ended", mail, now + _NEWS_LAST, sort=WARNINGS, about=about
        )
    except KeyRingError as error:
        _log.error("nobody was told of a stolen token", cause=type(error).__name__)
