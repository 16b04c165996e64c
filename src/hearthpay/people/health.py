"""How the installation goes, for the people who run it: who they are, and the numbers that they are told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.session import become_person
from hearthpay.people.events import Visit, note_event
from hearthpay.people.front_desk import FrontDesk
from hearthpay.people.models import PersonRecord
from hearthpay.people.sessions import SignedIn

_IS_OPERATOR: Final = text("SELECT is_operator()")
_HEALTH: Final = text("SELECT name, figure, moment FROM installation_health(:at)")
_NAME: Final = text(
    "INSERT INTO operators (id, person_id, named_at) VALUES (:id, :person, :at) ON CONFLICT (person_id) DO NOTHING"
)
_UNNAME: Final = text("DELETE FROM operators WHERE person_id = :person")
_AT_THE_COMMAND_LINE: Final = Visit(None, None, None)


class Vital(NamedTuple):
    """One number, in cents where it is money, and since or at when it is so; None where that has no moment."""

    figure: int
    moment: datetime | None


async def runs_the_installation(desk: FrontDesk, who: SignedIn) -> bool:
    """Return whether somebody was named an operator."""
    async with desk.database.transaction(None) as session:
        await become_person(session, who.person_id)
        return bool(await session.scalar(_IS_OPERATOR))


async def vitals(desk: FrontDesk, who: SignedIn) -> Mapping[str, Vital]:
    """Return how it all goes, over all organizations. Raises `not_found` for who is no operator."""
    async with desk.database.transaction(None) as session:
        await become_person(session, who.person_id)
        rows = (await session.execute(_HEALTH, {"at": desk.clock.now()})).all()
    if not rows:
        raise Refusal("not_found", "There is nothing at this address.")
    return {row.name: Vital(row.figure, row.moment) for row in rows}


async def name_operator(session: AsyncSession, clock: Clock, person: PersonRecord, *, named: bool) -> None:
    """Let a person look at how the installation goes, or no more; the session is the owner's. Leaves a row."""
    if named:
        await session.execute(_NAME, {"id": uuid7(), "person": person.id, "at": clock.now()})
    else:
        await session.execute(_UNNAME, {"person": person.id})
    await note_event(
        session, person.id, _AT_THE_COMMAND_LINE, "operator.named" if named else "operator.unnamed"
    )
