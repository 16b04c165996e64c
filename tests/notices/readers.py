"""Members of a household's organization, and the outbox as the worker reads it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import orjson
import psycopg
import pytest

from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import NotificationSettings
from hearthpay.security.content_seal import SealedContent, mail_place, open_content
from hearthpay.worker.duties import worker_duties
from hearthpay.worker.duty import Progress
from tests.http.api import Account
from tests.worlds.town import Family, Town

DESK = NotificationSettings(sends=True, operator="operator@example.com")


@dataclass
class Post:
    """What was written to whom."""

    town: Town
    owner: psycopg.Connection

    def mails(self, kind: str) -> list[Mail]:
        """What waits to be sent of this kind, in the order of addresses."""
        sealed = self.owner.execute(
            "SELECT id, content, nonce, key_id FROM mail_outbox WHERE kind = %s AND content IS NOT NULL",
            (f"notice.{kind}",),
        ).fetchall()
        opened = [
            Mail(**orjson.loads(open_content(self.town.ring, mail_place(mail_id), SealedContent(*content))))
            for mail_id, *content in sealed
        ]
        return sorted(opened, key=lambda each: each.to)

    def states(self, kind: str) -> list[tuple[Any, ...]]:
        return self.owner.execute(
            "SELECT recipient, status, reason FROM mail_outbox WHERE kind = %s ORDER BY 1, 2, 3",
            (f"notice.{kind}",),
        ).fetchall()

    async def round(self, notifications: NotificationSettings = DESK, duty: str = "news") -> Progress:
        """Let the worker do one duty."""
        town = self.town
        duties = {
            each.name: each
            for each in worker_duties(
                town.worker, town.ring, town.bank, town.clock, notifications=notifications
            )
        }
        return await duties[duty].work(lambda: False)


@pytest.fixture
def post(town: Town, owner_connection: psycopg.Connection) -> Post:
    return Post(town, owner_connection)


@dataclass
class Members:
    """People of the family's organization, each at `<name>@example.com`."""

    owner: psycopg.Connection
    organization_id: str

    def add(self, name: str, role: str, language: str = "en", *, muted: tuple[str, ...] = ()) -> UUID:
        person = uuid4()
        self.owner.execute(
            "INSERT INTO people (id, email, name, language, created_at, updated_at, muted_notices) "
            "VALUES (%s, %s, %s, %s, now(), now(), %s)",
            (person, f"{name}@example.com", name.title(), language, list(muted)),
        )
        self.owner.execute(
            "INSERT INTO memberships (id, organization_id, person_id, role, joined_at) VALUES (%s, %s, %s, %s, now())",
            (uuid4(), self.organization_id, person, role),
        )
        return person


@pytest.fixture
def members(family: Family, account: Account, owner_connection: psycopg.Connection) -> Members:
    """Of the family's organization; the household and its employee have addresses, the employee reads Spanish."""
    owner_connection.execute("UPDATE employers SET email = 'Home@example.com'")
    owner_connection.execute("UPDATE employees SET email = 'worker@example.com', language = 'es'")
    return Members(owner_connection, str(account.organization_id))
