"""Mail to people leaves with the request that caused it; what a server does not take waits for the worker."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import psycopg

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.person_postman import PersonPostman
from hearthpay.mail.postman import Postman
from hearthpay.people import credentials
from hearthpay.people.front_desk import FrontDesk
from hearthpay.people.mails import person_mail
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.mail.servers import Postbox, mail_server
from tests.people.visitors import HERE, MARIA, VISIT


class _Undone(Exception):  # noqa: N818 - not a failure
    """Ends a transaction of which nothing shall stay."""


SENDER = "Hearthpay <payroll@example.com>"


def outbox(connection: psycopg.Connection) -> list[tuple[object, ...]]:
    return connection.execute(
        "SELECT status, reason, content IS NULL, attempts FROM mail_outbox WHERE kind = 'person.reset' ORDER BY id"
    ).fetchall()


async def ask(desk: FrontDesk, ring: KeyRing, url: str) -> None:
    postman = PersonPostman(desk.database, ring, Mailer(url, SENDER, patience=2), desk.clock)
    await credentials.ask_for_reset(replace(desk, postman=postman), MARIA, HERE, VISIT)
    await postman.settle()


async def test_it_leaves_at_once(
    desk: FrontDesk, maria: SignedIn, ring: KeyRing, owner_connection: psycopg.Connection
) -> None:
    postbox = Postbox()
    async with mail_server(postbox) as url:
        await ask(desk, ring, url)
    assert len(postbox.envelopes) == 1
    assert outbox(owner_connection) == [("sent", None, True, 1)]


async def test_what_is_not_taken_waits_for_the_worker(
    desk: FrontDesk,
    maria: SignedIn,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
    worker_database: Database,
    clock: FixedClock,
) -> None:
    await ask(desk, ring, "smtp://127.0.0.1:9")
    assert outbox(owner_connection) == [("queued", "mail_server_unreachable", False, 1)]
    clock.advance(timedelta(minutes=2))
    postbox = Postbox()
    async with mail_server(postbox) as url:
        worker = Postman(worker_database, ring, Mailer(url, SENDER), clock)
        await worker.send_due(lambda: False)
    assert outbox(owner_connection) == [("sent", None, True, 2)]


async def test_nothing_leaves_that_was_rolled_back(
    desk: FrontDesk, maria: SignedIn, ring: KeyRing, owner_connection: psycopg.Connection
) -> None:
    postbox = Postbox()
    async with mail_server(postbox) as url:
        postman = PersonPostman(desk.database, ring, Mailer(url, SENDER), desk.clock)
        undone = replace(desk, postman=postman)
        with suppress(_Undone):
            async with undone.database.transaction(None) as session:
                now = desk.clock.now()
                mail = person_mail("reset", MARIA, "en", link=HERE)
                await undone.queue_mail(session, now, "reset", mail, now + timedelta(hours=1))
                raise _Undone
        await postman.settle()
    assert postbox.envelopes == []
    assert outbox(owner_connection) == []
