"""What the worker has written of delicate acts, read as its readers do."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import orjson
import psycopg
import pytest

from hearthpay.alerts.delivery import AlertRound, send_alerts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.notices import NotificationSettings
from hearthpay.security.content_seal import SealedContent, mail_place, open_content
from hearthpay.security.key_ring import KeyRing

DESK = NotificationSettings(
    sends=True, operator="operator@example.com", links_begin="https://pay.example.com"
)


@dataclass(frozen=True)
class Alerted:
    """One mail about delicate acts."""

    to: str
    subject: str
    text: str

    @property
    def link(self) -> str:
        """The path that its link leads to."""
        return stop_path(self.text)


Tell = Callable[[], Awaitable[list[Alerted]]]


def stop_path(text: str) -> str:
    """The path of the link in a warning."""
    found = re.search(r"https?://[^/\s]+(/stop/[A-Za-z0-9_-]+)", text)
    assert found is not None, text
    return found[1]


def alerts_in(connection: psycopg.Connection, ring: KeyRing) -> list[Alerted]:
    """Every mail about delicate acts that waits, the oldest first."""
    rows = connection.execute(
        "SELECT id, content, nonce, key_id FROM mail_outbox WHERE kind = 'notice.security_alert' "
        "AND content IS NOT NULL ORDER BY id"
    ).fetchall()
    opened = [orjson.loads(open_content(ring, mail_place(i), SealedContent(c, n, k))) for i, c, n, k in rows]
    return [Alerted(each["to"], each["subject"], each["text"]) for each in opened]


def quiet(connection: psycopg.Connection) -> None:
    """Let the visits whose actions wait to be told be over: by the database's time, as in the log."""
    connection.execute(
        "UPDATE security_alerts SET created_at = created_at - interval '15 minutes' WHERE told_at IS NULL"
    )


@pytest.fixture
def alerted(
    worker_database: Database, ring: KeyRing, clock: FixedClock, owner_connection: psycopg.Connection
) -> Tell:
    """Has the worker tell what waits to be told; returns what was written by that."""

    async def tell() -> list[Alerted]:
        before = len(alerts_in(owner_connection, ring))
        quiet(owner_connection)
        told: AlertRound = await send_alerts(worker_database, ring, clock, DESK)
        assert told.failed == 0
        return alerts_in(owner_connection, ring)[before:]

    return tell
