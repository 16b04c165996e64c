"""People to test with: a context over the real database, somebody signed in, and the mail she was sent.

A test package takes these fixtures by importing them in its `conftest.py`.
"""

import re
from dataclasses import dataclass
from uuid import UUID

import orjson
import psycopg
import pytest

from hearthpay.clock import Clock, FixedClock
from hearthpay.database.session import Database
from hearthpay.people import sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn, find_session
from hearthpay.people.sign_up import NewPerson
from hearthpay.people.throttle import SignInThrottle
from hearthpay.security.content_seal import SealedContent, mail_place, open_content
from hearthpay.security.key_ring import EncryptionKey, KeyRing

HERE = "https://pay.example.com"
VISIT = Visit("192.0.2.7", "Firefox", "request")
PASSWORD = "orchid-tractor-58"
MARIA = "maria@example.com"


@pytest.fixture
def ring() -> KeyRing:
    return KeyRing((EncryptionKey.generate(),))


@pytest.fixture
def people_context(database: Database, clock: FixedClock, ring: KeyRing) -> PeopleContext:
    return PeopleContext(
        database, clock, ring, SignInThrottle(clock), sends_mail=True, no_sooner_than=0, links_begin=HERE
    )


def at_the_command_line(database: Database, clock: Clock) -> PeopleContext:
    """The operator's context, who has no way to send mail."""
    return PeopleContext(database, clock, None, SignInThrottle(clock), no_sooner_than=0)


def mails(connection: psycopg.Connection, ring: KeyRing) -> list[dict[str, str]]:
    """Every mail that waits for a person, the oldest first: to, subject, text, html."""
    rows = connection.execute(
        "SELECT id, content, nonce, key_id FROM mail_outbox WHERE recipient = 'person' AND content IS NOT NULL "
        "ORDER BY id"
    ).fetchall()
    return [orjson.loads(open_content(ring, mail_place(i), SealedContent(c, n, k))) for i, c, n, k in rows]


def link_in(mail: dict[str, str]) -> str:
    """The token of the link in a mail."""
    found = re.search(r"https://[^\s]+/([0-9A-Za-z]{43})", mail["text"])
    assert found is not None, mail["text"]
    return found[1]


@dataclass
class Newcomers:
    """Makes accounts by signing up."""

    people_context: PeopleContext
    connection: psycopg.Connection
    ring: KeyRing

    async def make(self, email: str, organization: str = "Lopez", password: str = PASSWORD) -> SignedIn:
        await sign_up.ask_to_sign_up(self.people_context, email, "en", HERE, VISIT)
        token = link_in(mails(self.connection, self.ring)[-1])
        new = NewPerson("Maria Lopez", password, "en")
        entered = await sign_up.finish_sign_up(self.people_context, token, new, organization, VISIT)
        return await signed_in(self.people_context, entered.token.text)


async def signed_in(people_context: PeopleContext, token: str) -> SignedIn:
    found = await find_session(people_context, token)
    assert found is not None
    return found


@pytest.fixture
async def maria(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing
) -> SignedIn:
    """An owner who has just made her account."""
    return await Newcomers(people_context, owner_connection, ring).make(MARIA)


def events_of(connection: psycopg.Connection, person_id: UUID) -> list[str]:
    rows = connection.execute(
        "SELECT action FROM person_events WHERE person_id = %s ORDER BY id", (person_id,)
    )
    return [action for (action,) in rows.fetchall()]
