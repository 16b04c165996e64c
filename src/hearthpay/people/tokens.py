"""One-time tokens: links sent by mail and challenges given to a browser. Each works once, for one purpose, for a
limited time.

The database keeps hashes. Using one up is one statement, so if two requests use the same token, only one succeeds.
"""

import datetime
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.refusal import Refusal
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.people.models import OneTimeToken
from hearthpay.security.portal_tokens import PortalToken, generate_token, parse_token

TokenKind = Literal[
    "sign_up", "reset", "new_email", "first_owner", "challenge", "employee_account", "sign_in"
]

LASTS: Final[dict[TokenKind, datetime.timedelta]] = {
    "sign_up": datetime.timedelta(hours=24),
    "reset": datetime.timedelta(hours=1),
    "new_email": datetime.timedelta(hours=24),
    "first_owner": datetime.timedelta(hours=24),
    "challenge": datetime.timedelta(minutes=5),
    "employee_account": datetime.timedelta(hours=24),
    "sign_in": datetime.timedelta(hours=2),
}


class _FindRow(NamedTuple):
    token_id: UUID
    kind: str
    email: str
    person_id: UUID | None
    organization_id: UUID | None
    expires_at: datetime.datetime
    used_at: datetime.datetime | None


_FIND: Final = query(
    _FindRow,
    "SELECT {columns} FROM find_one_time_token(:token_hash)",
    columns=column_list(_FindRow._fields),
)


class _UseRow(NamedTuple):
    email: str
    person_id: UUID | None
    organization_id: UUID | None


_USE: Final = query(
    _UseRow,
    "SELECT {columns} FROM use_one_time_token(:token_hash, :kind, :holder, :now)",
    columns=column_list(_UseRow._fields),
)
_END_OWN: Final = text("SELECT end_own_tokens(:now)")


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What a token is about; which fields are set depends on its kind."""

    email: str | None
    person_id: UUID | None
    organization_id: UUID | None


async def leave_token(
    session: AsyncSession,
    now: datetime.datetime,
    kind: TokenKind,
    *,
    email: str | None = None,
    person_id: UUID | None = None,
    organization_id: UUID | None = None,
    bound_to: bytes | None = None,
) -> PortalToken:
    """Return a new token; for a person's own token, the transaction is theirs."""
    token = generate_token()
    await session.execute(
        insert(OneTimeToken).values(
            id=uuid7(),
            kind=kind,
            token_hash=token.hash,
            email=email,
            person_id=person_id,
            organization_id=organization_id,
            bound_to=bound_to,
            created_at=now,
            expires_at=now + LASTS[kind],
        )
    )
    return token


async def look_at_token(
    session: AsyncSession, now: datetime.datetime, kind: TokenKind, presented: str
) -> TokenFacts:
    """Return what a valid token is about. Raises `not_found`, and `gone` for one that has expired."""
    token = parse_token(presented)
    row = None if token is None else await fetch_optional(session, _FIND, {"token_hash": token.hash})
    if row is None or row.kind != kind:
        raise Refusal("not_found", "Link not found.")
    if row.used_at is not None or row.expires_at <= now:
        raise _expired()
    return TokenFacts(row.email, row.person_id, row.organization_id)


async def use_token(
    session: AsyncSession,
    now: datetime.datetime,
    kind: TokenKind,
    presented: str,
    *,
    holder: bytes | None = None,
) -> TokenFacts:
    """Use the token up and return what it is about.

    Raises `gone` for any that doesn't work: used, expired, made for another purpose, given to another browser.
    """
    token = parse_token(presented)
    values = {"token_hash": None if token is None else token.hash, "kind": kind, "holder": holder, "now": now}
    row = None if token is None else await fetch_optional(session, _USE, values)
    if row is None:
        raise _expired()
    return TokenFacts(row.email, row.person_id, row.organization_id)


async def end_own_tokens(session: AsyncSession, now: datetime.datetime) -> None:
    """Revoke every link of the person whose transaction it is."""
    await session.execute(_END_OWN, {"now": now})


def _expired() -> Refusal:
    return Refusal("gone", "This link was used already or has expired.")
