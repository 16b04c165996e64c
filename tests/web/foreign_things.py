"""Of whatever a page's path can name: one that is somebody else's. One without a row fails `test_foreign_ids.py`.

Each maker gets the owner's connection, and the owner of another organization; it answers the id of a thing that is
hers. What she is answered at her own pages shows that it is there at all.
"""

from collections.abc import Callable
from typing import Final
from uuid import UUID, uuid4

import psycopg

from hearthpay.people.sessions import SignedIn
from tests.database.household import add_agent, insert
from tests.people.visitors import MARIA

Maker = Callable[[psycopg.Connection, SignedIn], UUID]


def _membership(connection: psycopg.Connection, whose: SignedIn) -> UUID:
    """Of a second member of hers, whom she may remove, and whose address is in dispute."""
    assert whose.here is not None
    person, membership = uuid4(), uuid4()
    connection.execute(
        "INSERT INTO people (id, email, name, language, created_at, updated_at, disputed_address, disputed_at) "
        "VALUES (%s, %s, 'A member', 'en', now(), now(), %s, now())",
        (person, f"{person}@example.com", f"former-{person}@example.com"),
    )
    connection.execute(
        "INSERT INTO memberships (id, organization_id, person_id, role, joined_at, leaving_asked_at, leaving_asked_by) "
        "VALUES (%s, %s, %s, 'viewer', now(), now(), %s)",
        (membership, whose.here.organization_id, person, whose.person_id),
    )
    return membership


def _invitation(connection: psycopg.Connection, whose: SignedIn) -> UUID:
    assert whose.here is not None
    invitation = uuid4()
    connection.execute(
        "INSERT INTO member_invitations (id, organization_id, email, role, token_hash, created_at, expires_at) "
        "VALUES (%s, %s, %s, 'viewer', %s, '2026-11-20', '2026-12-01')",
        (invitation, whose.here.organization_id, MARIA, invitation.bytes * 2),
    )
    return invitation


def _key(connection: psycopg.Connection, whose: SignedIn) -> UUID:
    assert whose.here is not None
    key = uuid4()
    connection.execute(
        "INSERT INTO api_keys (id, organization_id, mode, scopes, key_hash, last_four) "
        "VALUES (%s, %s, 'live', '{payroll}', %s, 'abcd')",
        (key, whose.here.organization_id, key.bytes * 2),
    )
    return key


def _passkey(connection: psycopg.Connection, whose: SignedIn) -> UUID:
    passkey = uuid4()
    connection.execute(
        "INSERT INTO credentials (id, person_id, kind, name, passkey_id, public_key, sign_count, created_at, "
        "confirmed_at) VALUES (%s, %s, 'passkey', 'Mine', %s, %s, 0, now(), now())",
        (passkey, whose.person_id, passkey.bytes, b"x" * 32),
    )
    return passkey


def _session(connection: psycopg.Connection, whose: SignedIn) -> UUID:
    return whose.session_id


def _grant(connection: psycopg.Connection, whose: SignedIn) -> UUID:
    """Of an agent that she has let into a household of hers."""
    assert whose.here is not None
    of = {"organization_id": whose.here.organization_id, "sandbox": False}
    names = {"first_name": "Ada", "last_name": "Smith", "email": "ada@example.com", "state": "CA"}
    household = of | {"employer_id": insert(connection, "employers", **of, **names)}
    return add_agent(connection, household, whose.person_id)


FOREIGN: Final[dict[str, Maker]] = {
    "membership_id": _membership,
    "invitation_id": _invitation,
    "key_id": _key,
    "passkey_id": _passkey,
    "session_id": _session,
    "way_id": _passkey,
    "grant_id": _grant,
}
"""By the name of the parameter. What households have, the areas' own `things` make, in a world of another's."""

TOKENS: Final = {
    "/sign-up/{token}": "sign_up",
    "/welcome/{token}": "first_owner",
    "/join/{token}": "invitation",
    "/reset/{token}": "reset",
    "/new-email/{token}": "new_email",
    "/sign-in/link/{token}": "sign_in",
    "/connect/{token}": "question",
    "/portal/{token}/account": "of an employee",
    "/stop/{token}": "stop",
}
"""Addresses that carry a token, with the kind that opens them: it is tried at each of the others."""
