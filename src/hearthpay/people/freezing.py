"""Frozen accounts: after "this was not me", no sign-in method can be added for a day, and the address can't be
changed.
"""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import FROZEN_FOR
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.people.devices import KnownBrowsers
from hearthpay.people.models import PersonRecord

_UNTIL: Final = text("SELECT frozen_until FROM people WHERE id = :person AND frozen_until > :now")
_REPORTED: Final = text("SELECT strangers_until >= :act FROM people WHERE id = :person")
_FORGET: Final = text(
    "UPDATE people p SET strangers_until = :now, strangers_from = CASE WHEN EXISTS (SELECT FROM credentials c "
    "WHERE c.person_id = p.id AND c.kind = 'password' AND c.ended_at IS NULL AND c.doubted_at IS NOT NULL) "
    "THEN least(p.strangers_from, :since) ELSE :since END WHERE p.id = :person"
)


class _KnownRow(NamedTuple):
    devices_since: datetime.datetime | None
    strangers_from: datetime.datetime | None
    strangers_until: datetime.datetime | None


_KNOWN: Final = query(
    _KnownRow, "SELECT devices_since, strangers_from, strangers_until FROM people WHERE id = :person"
)


async def freeze_person(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, latest: datetime.datetime
) -> datetime.datetime | None:
    """Freeze the account of the person whose transaction it is, and return the end of its freeze; None if it isn't
    frozen.

    A freeze in force keeps its end. If the `latest` reported act is from before the last report, nothing is frozen.
    """
    already: datetime.datetime | None = await session.scalar(_UNTIL, {"person": person_id, "now": now})
    if already is not None:
        return already
    if await reported_since(session, person_id, latest):
        return None
    until = now + FROZEN_FOR
    await session.execute(
        update(PersonRecord).where(PersonRecord.id == person_id).values(frozen_until=until, updated_at=now)
    )
    return until


async def reported_since(session: AsyncSession, person_id: UUID, act: datetime.datetime) -> bool:
    """Return whether the account was reported after `act`; the transaction is the person's."""
    return bool(await session.scalar(_REPORTED, {"person": person_id, "act": act}))


async def forget_browsers(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, since: datetime.datetime
) -> None:
    """Let browsers in which the person was first seen from `since` until now no longer count as known.

    While the password is in doubt, the browsers of an earlier report stay forgotten too.
    """
    await session.execute(_FORGET, {"person": person_id, "now": now, "since": since})


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


async def known_browsers(session: AsyncSession, person_id: UUID) -> KnownBrowsers:
    """Return which browsers count as known for the person whose transaction it is."""
    row = await fetch_optional(session, _KNOWN, {"person": person_id})
    return KnownBrowsers() if row is None else KnownBrowsers(*row)
