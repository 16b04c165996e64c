"""Programs that register themselves: dynamic client registration (RFC 7591), limited, and deleted if unused.

All are public clients: a program that runs on people's machines keeps no secret, and the proof key of each code (RFC
7636) is what counts. Anything else that a program requests at its registration is answered with what it gets instead
(section 3.2.1).
"""

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.oauth.models import AgentClient
from hearthpay.oauth.redirects import refused_redirect
from hearthpay.oauth.refusals import OAuthError
from hearthpay.wire.secrecy import holds_a_secret, key_holds_a_secret

UNUSED_FOR: Final = datetime.timedelta(hours=24)
"""How long a program that nobody has authorized is remembered."""
AN_HOUR: Final = 20
IN_ALL: Final = 5_000

_MOST_ADDRESSES: Final = 10
_LONGEST_NAME: Final = 100
_UNNAMED: Final = "unnamed program"
_INTRODUCE: Final = text(
    "SELECT introduce_agent(:id, :client_id, :kind, :name, :uris, :address, :now, :until, :an_hour, :in_all)"
)


@dataclass(frozen=True, slots=True)
class Client:
    """A program, with the name it gives itself."""

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]


async def register(
    session: AsyncSession, now: datetime.datetime, metadata: Mapping[str, Any], came_from: str
) -> Client:
    """Store a program and return it with its new id.

    Raises OAuthError: `invalid_redirect_uri`, `invalid_client_metadata`; `temporarily_unavailable` after too many.
    """
    name, uris = read_metadata(metadata)
    client = Client(str(uuid7()), name, uris)
    if not await _introduce(session, now, client, came_from):
        raise OAuthError(
            "temporarily_unavailable", "Too many programs were registered. Try again later.", status=429
        )
    return client


async def find_client(session: AsyncSession, now: datetime.datetime, client_id: str) -> Client | None:
    """Return the program with this id, if it is still stored."""
    found = await session.scalar(
        select(AgentClient).where(AgentClient.client_id == client_id, AgentClient.expires_at > now)
    )
    return None if found is None else Client(found.client_id, found.name, tuple(found.redirect_uris))


def read_metadata(metadata: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the name and addresses that a program gives (RFC 7591, section 2). Raises OAuthError."""
    uris = metadata.get("redirect_uris")
    if not isinstance(uris, Sequence) or isinstance(uris, str) or not 0 < len(uris) <= _MOST_ADDRESSES:
        raise OAuthError(
            "invalid_redirect_uri", f"redirect_uris must be a list of one to {_MOST_ADDRESSES} addresses."
        )
    for uri in uris:
        why = refused_redirect(uri) if isinstance(uri, str) else "is not a text"
        if why is None and key_holds_a_secret(unquote(uri)):
            why = "looks like it has a Social Security or bank account number in it"
        if why is not None:
            raise OAuthError("invalid_redirect_uri", f"An address in redirect_uris {why}.")
    for field, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        values = metadata.get(field, [needed])
        if not isinstance(values, list) or needed not in values:
            raise OAuthError("invalid_client_metadata", f"{field} must have '{needed}'.")
    name = metadata.get("client_name")
    if name is not None and not isinstance(name, str):
        raise OAuthError("invalid_client_metadata", "client_name must be a text.")
    return plain_name(name), tuple(dict.fromkeys(uris))


def plain_name(name: str | None) -> str:
    """Return a program's name for display: one printable line, without what looks like a number of the vault."""
    plain = "".join(each if each.isprintable() else " " for each in (name or ""))
    if holds_a_secret(plain):
        return _UNNAMED
    return " ".join(plain.split())[:_LONGEST_NAME] or _UNNAMED


async def _introduce(session: AsyncSession, now: datetime.datetime, client: Client, came_from: str) -> bool:
    done: bool = (
        await session.execute(
            _INTRODUCE,
            {
                "id": uuid7(),
                "client_id": client.client_id,
                "kind": "registered",
                "name": client.name,
                "uris": list(client.redirect_uris),
                "address": hashlib.sha256(came_from.encode()).digest(),
                "now": now,
                "until": now + UNUSED_FOR,
                "an_hour": AN_HOUR,
                "in_all": IN_ALL,
            },
        )
    ).scalar_one()
    return done
