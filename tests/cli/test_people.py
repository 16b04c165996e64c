"""`hearthpay people`, on an embedded database of its own: links that open, lists that tell, refusals in a line."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.clock import SystemClock
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.people import credentials, first_owner, sign_in, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.sign_up import NewPerson
from hearthpay.people.throttle import SignInThrottle
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.conftest import plain_url
from tests.database.sealing import service_database
from tests.people.visitors import MARIA, PASSWORD, VISIT
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install


@pytest.fixture
def running() -> Iterator[EmbeddedServer]:
    server = install(Path(tempfile.mkdtemp(prefix="hearthpay-people-")))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.data_dir, ignore_errors=True)


def test_from_nobody_to_somebody_who_is_helped(running: EmbeddedServer) -> None:
    where = ("--data-dir", str(running.data_dir))

    def people(*arguments: str) -> str:
        result = hearthpay("people", *arguments, *where)
        assert result.returncode == 0, result.stderr
        return result.stdout.decode().strip()

    def refused(*arguments: str) -> str:
        result = hearthpay("people", *arguments, *where)
        assert result.returncode == 2, result.stdout
        return result.stderr.decode()

    def token(link: str, kind: str) -> str:
        begin, _, found = link.rpartition("/")
        assert begin == f"http://localhost:8000/{kind}"
        return found

    assert "first-owner" in people("list")
    earlier, link = people("first-owner"), people("first-owner")
    database = service_database(running.service_url())
    clock = SystemClock()
    people_context = PeopleContext(
        database, clock, KeyRing((EncryptionKey.generate(),)), SignInThrottle(clock), no_sooner_than=0
    )
    new = NewPerson("Maria Lopez", PASSWORD, "en")

    async def story() -> None:
        with pytest.raises(Refusal, match="used already"):
            await first_owner.become_first_owner(
                people_context, token(earlier, "welcome"), MARIA, new, "Lopez", VISIT
            )
        await first_owner.become_first_owner(
            people_context, token(link, "welcome"), MARIA, new, "Lopez", VISIT
        )
        listed = await asyncio.to_thread(people, "list")
        assert listed.startswith(f"{MARIA}  Maria Lopez  organizations 1  last seen 20")
        assert "people already" in await asyncio.to_thread(refused, "first-owner")

        reset = await asyncio.to_thread(people, "reset", MARIA)
        await credentials.reset_password(people_context, token(reset, "reset"), "walnut-lantern-77", VISIT)
        await sign_in.sign_in(people_context, MARIA, "walnut-lantern-77", VISIT)
        assert await asyncio.to_thread(people, "end-sessions", MARIA) == "Sessions ended: 2."
        nothing = await asyncio.to_thread(people, "remove-second-factor", MARIA)
        assert nothing == "There is no second factor."
        assert await asyncio.to_thread(people, "operator", MARIA, "--remove") == "No operator any more."
        assert _told(running) == ["person.by_operator"] * 3, "of the reset, the sessions and the last command"

        here = ("--organization", "Lopez")
        invited = await asyncio.to_thread(people, "invite", "ana@example.com", *here)
        await sign_up.join_as_new_person(people_context, token(invited, "join"), new, VISIT)
        changed = await asyncio.to_thread(people, "change-role", "ana@example.com", *here, "--role", "viewer")
        assert changed == "The member is now viewer. We email all members."
        assert "needs an owner" in await asyncio.to_thread(refused, "remove-member", MARIA, *here)
        removed = await asyncio.to_thread(people, "remove-member", "ana@example.com", *here)
        assert removed == "The member was removed. We email all members."
        gone = await asyncio.to_thread(refused, "remove-member", "ana@example.com", *here)
        assert "no member with this address" in gone
        assert "nobody with this address" in await asyncio.to_thread(refused, "reset", "x@example.com")
        assert "no organization" in await asyncio.to_thread(
            refused, "invite", "bea@example.com", "--organization", "Nobody"
        )
        await database.dispose()

    asyncio.run(story())


def _told(running: EmbeddedServer) -> list[str]:
    """The kinds of mail that wait for people, in the folder's turn."""
    with psycopg.connect(plain_url(running.owner_url())) as connection:
        rows = connection.execute(
            "SELECT kind FROM mail_outbox WHERE recipient = 'person' AND status = 'queued' ORDER BY id"
        )
        return [kind for (kind,) in rows.fetchall()]
