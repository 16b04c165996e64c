"""The audit trail of accounts: one row for each event of a person's account, in its transaction.

What people do in an organization is in the organization's audit log; this is what they do to their own account, which
no organization may see.
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
"""The actions that add a sign-in method, and its kind: their events record which one, and its digest."""


class _GivenRow(NamedTuple):
    id: UUID
    digest: str


# If two were added at once, the one that no event records yet.
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
    """Where a request comes from, as far as it is stored: network address, the browser's name, and the request's id;
    and, never stored, the cookie that identifies a known browser.
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
    """Record `action` (`subject.verb`) for the person whose transaction it is; `details` contain no secret.

    An added sign-in method is recorded with it: this lets the doctor detect a password that no event added.
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
    """Return the account's events, newest first; the transaction becomes the person's."""
    await become_person(session, person_id)
    newest = select(PersonEvent).where(PersonEvent.person_id == person_id).order_by(PersonEvent.id.desc())
    return (await session.scalars(newest.limit(limit))).all()
