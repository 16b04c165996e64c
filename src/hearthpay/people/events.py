"""The audit trail of accounts: one row for each thing that happens to a person's account, in its transaction.

What people do in an organization stands in the organization's audit log; this is what they do to themselves, which is
no organization's business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.session import become_person
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.people.models import PersonEvent

GIVING: Final[Mapping[str, str]] = {
    "account.create": "password",
    "password.reset": "password",
    "password.change": "password",
    "passkey.add": "passkey",
    "second_factor.add": "totp",
}
"""The actions that give a way in, and of which kind: their events say which one, and the digest of what it is."""


class _GivenRow(NamedTuple):
    id: UUID
    digest: str


# Of two that were added at once, the one of which no event tells yet.
_GIVEN: Final = query(
    _GivenRow,
    "SELECT c.id, encode(sha256(convert_to(coalesce(c.password_hash, ''), 'UTF8') || coalesce(c.passkey_id, '') "
    "|| coalesce(c.public_key, '')), 'hex') AS digest FROM credentials c "
    "WHERE c.person_id = :person_id AND c.kind = :kind AND c.ended_at IS NULL "
    "ORDER BY EXISTS (SELECT FROM person_events e WHERE e.person_id = c.person_id "
    "AND e.details ->> 'credential' = c.id::text), c.id DESC LIMIT 1",
)


@dataclass(frozen=True, slots=True)
class Visit:
    """From where a request comes, as far as it is kept: network address, what the browser calls itself, and the
    request's id; and, kept nowhere, the cookie by which a browser is known again.
    """

    address: str | None = None
    device: str | None = None
    request_id: str | None = None
    device_cookie: str | None = field(default=None, repr=False)


async def note_event(
    session: AsyncSession,
    person_id: UUID,
    visit: Visit,
    action: str,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Record `action` (`subject.verb`) of the person whose transaction it is; `details` hold no secret.

    What gives a way in is recorded with it: by that the doctor knows a password that was put there by no event.
    """
    given: dict[str, Any] = {}
    if action in GIVING:
        values = {"person_id": person_id, "kind": GIVING[action]}
        row = await fetch_optional(session, _GIVEN, values)
        if row is not None:
            given = {"credential": str(row.id), "kind": GIVING[action], "digest": row.digest}
    await session.execute(
        insert(PersonEvent).values(
            id=uuid7(),
            person_id=person_id,
            action=action,
            address=visit.address,
            request_id=visit.request_id,
            details={**(details or {}), **given},
        )
    )


async def recent_events(session: AsyncSession, person_id: UUID, limit: int = 50) -> Sequence[PersonEvent]:
    """Return what happened to the account, the newest first; the transaction becomes the person's."""
    await become_person(session, person_id)
    newest = select(PersonEvent).where(PersonEvent.person_id == person_id).order_by(PersonEvent.id.desc())
    return (await session.scalars(newest.limit(limit))).all()
