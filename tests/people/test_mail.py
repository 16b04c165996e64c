"""Mail to people leaves with the request that caused it; what a server does not take waits for the worker."""

import hashlib
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.person_mail import LINKS, NEWS, RESETS, WARNINGS
from hearthpay.mail.person_postman import PersonPostman
from hearthpay.mail.postman import Postman
from hearthpay.people import credentials
from hearthpay.people.context import PeopleContext
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


async def ask(people_context: PeopleContext, ring: KeyRing, url: str) -> None:
    postman = PersonPostman(
        people_context.database, ring, Mailer(url, SENDER, patience=2), people_context.clock
    )
    await credentials.ask_for_reset(replace(people_context, postman=postman), MARIA, HERE, VISIT)
    await postman.settle()


async def test_it_leaves_at_once(
    people_context: PeopleContext, maria: SignedIn, ring: KeyRing, owner_connection: psycopg.Connection
) -> None:
    postbox = Postbox()
    async with mail_server(postbox) as url:
        await ask(people_context, ring, url)
    assert len(postbox.envelopes) == 1
    assert outbox(owner_connection) == [("sent", None, True, 1)]


async def test_what_is_not_taken_waits_for_the_worker(
    people_context: PeopleContext,
    maria: SignedIn,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
    worker_database: Database,
    clock: FixedClock,
) -> None:
    await ask(people_context, ring, "smtp://127.0.0.1:9")
    assert outbox(owner_connection) == [("queued", "mail_server_unreachable", False, 1)]
    clock.advance(timedelta(minutes=2))
    postbox = Postbox()
    async with mail_server(postbox) as url:
        worker = Postman(worker_database, ring, Mailer(url, SENDER), clock)
        await worker.send_due(lambda: False)
    assert outbox(owner_connection) == [("sent", None, True, 2)]


async def test_nothing_leaves_that_was_rolled_back(
    people_context: PeopleContext, maria: SignedIn, ring: KeyRing, owner_connection: psycopg.Connection
) -> None:
    postbox = Postbox()
    async with mail_server(postbox) as url:
        postman = PersonPostman(people_context.database, ring, Mailer(url, SENDER), people_context.clock)
        undone = replace(people_context, postman=postman)
        with suppress(_Undone):
            async with undone.database.transaction(None) as session:
                now = people_context.clock.now()
                mail = person_mail("reset", MARIA, "en", link=HERE)
                await undone.queue_mail(session, now, "reset", mail, now + timedelta(hours=1))
                raise _Undone
        await postman.settle()
    assert postbox.envelopes == []
    assert outbox(owner_connection) == []


_DEEDS: dict[str, dict[str, Any]] = {
    "link": {"sort": LINKS},
    "reset": {"sort": RESETS},
    "news about language": {"sort": NEWS, "about": "language"},
    "news about set_aside": {"sort": NEWS, "about": "set_aside"},
    "warning again": {"sort": WARNINGS, "about": "bank"},
    "warning of others": {"sort": WARNINGS, "about": "bank of another household"},
}


_AT_RANDOM: Final = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
_given = given(
    deeds=st.lists(
        st.tuples(st.sampled_from(sorted(_DEEDS)), st.integers(1, 30), st.sampled_from([0, 1, 59, 61, 600])),
        max_size=8,
    )
)


@settings_of_hypothesis(max_examples=4, **_AT_RANDOM)
@_given
async def test_whatever_is_repeated_a_warning_is_told_within_the_hour(
    deeds: list[tuple[str, int, int]],
    people_context: PeopleContext,
    ring: KeyRing,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    worker_database: Database,
) -> None:
    """And no sort of mail uses up another; a server that takes mail has been sent the last warning an hour later."""
    reader = f"{uuid4().hex}@example.com"

    async def queue(language: str = "en", **how: Any) -> None:
        async with people_context.database.transaction(None) as session:
            now = clock.now()
            mail = person_mail("reset", reader, language, link=HERE)
            await people_context.queue_mail(session, now, "any", mail, now + timedelta(days=7), **how)

    postbox = Postbox()
    async with mail_server(postbox) as url:
        worker = Postman(worker_database, ring, Mailer(url, SENDER), clock)
        for deed, times, minutes in deeds:
            for _ in range(times):
                await queue(**_DEEDS[deed])
            if minutes:
                await worker.send_due(lambda: False, chunk=100)
            clock.advance(timedelta(minutes=minutes))
        await queue("es", sort=WARNINGS, about="bank")
        rows = owner_connection.execute(
            "SELECT status, due_at <= %s, counted_as FROM mail_outbox WHERE address_hash = %s ORDER BY id",
            (clock.now() + WARNINGS.pause, hashlib.sha256(reader.encode()).digest()),
        ).fetchall()
        assert rows[-1] == ("queued", True, "warning")
        assert ("failed", "warning") not in {(status, sort) for status, _, sort in rows}
        for sort in (LINKS, RESETS, NEWS):
            mine = [status for status, _, counted in rows if counted == sort.name]
            assert mine.count("failed") == 0 or len(mine) > (sort.a_day or 0)
        clock.advance(WARNINGS.pause)
        while (await worker.send_due(lambda: False, chunk=100)).remaining:
            pass
    assert sum(b"contrase" in (each.content or b"") for each in postbox.envelopes) == 1
    assert owner_connection.execute(
        "SELECT status FROM mail_outbox WHERE address_hash = %s ORDER BY id DESC LIMIT 1",
        (hashlib.sha256(reader.encode()).digest(),),
    ).fetchone() == ("sent",)


test_whatever_is_repeated_a_warning_is_told_within_the_hour_for_long = pytest.mark.long(
    settings_of_hypothesis(max_examples=10, **_AT_RANDOM)(
        _given(test_whatever_is_repeated_a_warning_is_told_within_the_hour.hypothesis.inner_test)
    )
)
