"""Frozen accounts: after "this was not me", no sign-in method can be added for a day, and the address can't be
changed.
"""

import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import FROZEN_FOR
from hearthpay.people.models import PersonRecord

_UNTIL: Final = text("SELECT frozen_until FROM people WHERE id = :person AND frozen_until > :now")


async def freeze_person(session: AsyncSession, now: datetime.datetime, person_id: UUID) -> datetime.datetime:
    """Freeze the account of the person whose transaction it is, and return until when.

    Browsers in which they signed in before no longer count as known.
    """
    until = now + FROZEN_FOR
    await session.execute(
        update(PersonRecord)
        .where(PersonRecord.id == person_id)
        .values(frozen_until=until, devices_since=now, updated_at=now)
    )
    return until


async def refuse_frozen_person(session: AsyncSession, now: datetime.datetime, person_id: UUID) -> None:
    """Raise `invalid_state` while the account is frozen; the transaction is the person's."""
    until: datetime.datetime | None = await session.scalar(_UNTIL, {"person": person_id, "now": now})
    if until is not None:
        raise Refusal(
            "invalid_state",
            "This account was reported as being used by somebody else. For a day no way in can be added, and its "
            "address stays as it is.",
            details={"frozen_until": until},
        )


async def devices_since(session: AsyncSession, person_id: UUID) -> datetime.datetime | None:
    """Return since when browsers count as known for the person whose transaction it is; None means without limit."""
    found: datetime.datetime | None = await session.scalar(
        select(PersonRecord.devices_since).where(PersonRecord.id == person_id)
    )
    return found
