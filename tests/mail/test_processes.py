"""Real servers and workers against mail servers that hang, die or come back: nobody else waits, and no mail is lost."""

from __future__ import annotations

import asyncio
import email
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import psycopg
import pytest

from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from tests.conftest import plain_url
from tests.mail.servers import Postbox, in_a_thread, mail_server, silent_server
from tests.server.test_serve import Service
from tests.worlds.commands import hearthpay_says
from tests.worlds.installations import install

INVITED = 60

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-mail-"))
    install(folder)
    yield folder
    EmbeddedServer(folder).stop()
    shutil.rmtree(folder, ignore_errors=True)


def settings(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """What the processes of a test are started with."""
    monkeypatch.setattr("tests.server.test_serve.START_WITHIN", 180)  # on a machine that does much else
    monkeypatch.setenv("SMTP_URL", url)
    monkeypatch.setenv("MAIL_FROM", "Hearthpay <payroll@example.com>")
    monkeypatch.setenv("HEARTHPAY_PUBLIC_URL", "https://pay.example.com")
    monkeypatch.setenv(
        "MAIL_LIMITS", "employee=1000,household=1000,organization=1000,mailbox=1000,young=1000"
    )


def command(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return hearthpay_says(*arguments, "--data-dir", data_dir)


def new_key(data_dir: Path, organization: str) -> str:
    made = command(data_dir, "keys", "create", "--organization", organization, "--mode", "live")
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def client_of(service: Service, key: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"{service.address}/api/v1",
        headers={"Authorization": f"Bearer {key}"},
        timeout=60,
        limits=httpx.Limits(max_connections=100),
    )


async def add_people(client: httpx.AsyncClient, number: int) -> list[str]:
    """Employees to invite, five to a household."""
    people: list[str] = []
    while len(people) < number:
        home = {"first_name": "Maria", "last_name": "Lopez", "email": "m@example.com", "state": "TX"}
        employer = (await client.post("/employers", json=home)).json()["data"]["id"]
        for _ in range(min(5, number - len(people))):
            body = {
                "employer_id": employer,
                "first_name": f"Rosa {len(people)}",
                "last_name": "Diaz",
                "email": f"rosa{len(people)}@example.com",
                "pay_rate": 25,
                "start_date": "2026-01-05",
            }
            people.append((await client.post("/employees", json=body)).json()["data"]["id"])
    return people


async def invite(client: httpx.AsyncClient, person: str, key: str) -> dict[str, Any]:
    answer = await client.post(
        f"/employees/{person}/invite", json={"type": "tax_info"}, headers={"Idempotency-Key": key}
    )
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()["data"]
    return told


@contextmanager
def owner_of(data_dir: Path) -> Iterator[psycopg.Connection]:
    """The owner's connection to the embedded database of the processes."""
    embedded = EmbeddedServer(data_dir)
    embedded.start()
    try:
        with psycopg.connect(plain_url(embedded.owner_url()), autocommit=True) as connection:
            yield connection
    finally:
        embedded.stop()


@pytest.mark.long
def test_a_mail_server_that_hangs_holds_up_nobody(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty invitations of one tenant at once left every other tenant with 503s only."""

    async def siege(
        service: Service, keys: list[str]
    ) -> tuple[list[dict[str, Any]], list[float], list[float]]:
        async with client_of(service, keys[0]) as first, client_of(service, keys[1]) as second:
            people = await add_people(first, INVITED)
            (theirs,) = await add_people(second, 1)
            over = asyncio.Event()
            seconds: list[float] = []
            probes: list[float] = []

            async def live_on() -> None:
                while not over.is_set():
                    for address, noted in (
                        ("/employees/" + theirs + "/invite", seconds),
                        (f"{service.address}/healthz", probes),
                    ):
                        began = time.perf_counter()
                        if address.startswith("http"):
                            answer = await second.get(address)
                        else:
                            body = {"type": "tax_info", "send_email": False}
                            answer = await second.post(address, json=body)
                        assert answer.status_code == 200, answer.text
                        noted.append(time.perf_counter() - began)

            living = asyncio.create_task(live_on())
            told = await asyncio.gather(*(invite(first, person, person) for person in people))
            over.set()
            await living
        return told, seconds, probes

    # However many of one account are worked on: what is tried here is the wait for the mail server.
    monkeypatch.setenv("HEARTHPAY_REQUESTS_AT_ONCE", "64")
    with in_a_thread(silent_server()) as url:
        settings(monkeypatch, url)
        service = Service(data_dir)
        try:
            keys = [new_key(data_dir, name) for name in ("Siege", "Neighbour")]
            told, seconds, probes = asyncio.run(siege(service, keys))
        finally:
            service.stop()
    assert {(each["email_sent"], each["email_status"]) for each in told} == {(False, "queued")}
    assert len(seconds) > 5
    # Nobody waited for the mail server, not even on a machine that does much else.
    assert max(seconds + probes) < 9
    assert median(seconds) < 3
    assert median(probes) < 1

    # All of it was kept, and leaves as soon as the server is well: sixty mails by one worker, each once.
    postbox = Postbox()
    with in_a_thread(mail_server(postbox)) as url:
        settings(monkeypatch, url)
        embedded = EmbeddedServer(data_dir)
        embedded.start()
        with owner_of(data_dir) as owner:
            owner.execute(
                "UPDATE mail_outbox SET due_at = now(), leased_until = NULL WHERE status = 'queued'"
            )
        done = command(data_dir, "worker", "--once")
        assert "Emails sent: 60" in done.stdout, done.stdout + done.stderr
    assert sorted(envelope.rcpt_tos[0] for envelope in postbox.envelopes) == sorted(
        f"rosa{number}@example.com" for number in range(INVITED)
    )


def test_killed_between_the_mail_servers_yes_and_our_note(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the mail leaves once more, as the same message; it is never lost."""

    class TakesAndSaysNothing(Postbox):
        async def handle_DATA(self, *arguments: Any) -> str:
            await super().handle_DATA(*arguments)
            await asyncio.sleep(60)
            return "250 OK"

    first = TakesAndSaysNothing()

    async def ask(service: Service, key: str, person: str | None = None) -> tuple[str, dict[str, Any] | None]:
        async with client_of(service, key) as client:
            if person is None:
                (person,) = await add_people(client, 1)
                asking = asyncio.create_task(invite(client, person, "same"))
                while not first.envelopes:  # noqa: ASYNC110 - another thread's list
                    await asyncio.sleep(0.05)
                service.kill()
                await asyncio.gather(asking, return_exceptions=True)
                return person, None
            return person, await invite(client, person, "same")

    with in_a_thread(mail_server(first)) as url:
        settings(monkeypatch, url)
        service = Service(data_dir)
        key = new_key(data_dir, "Lopez family")
        person, _ = asyncio.run(ask(service, key))

    second = Postbox()
    with in_a_thread(mail_server(second)) as url:
        settings(monkeypatch, url)
        service = Service(data_dir)
        try:
            # Within the lease it may still be under way: the answer is the truth as far as it is known.
            _, told = asyncio.run(ask(service, key, person))
            assert told is not None
            assert (told["email_sent"], told["email_status"]) == (False, "queued")
            with owner_of(data_dir) as owner:
                owner.execute("UPDATE mail_outbox SET leased_until = now()")  # a minute later
            assert command(data_dir, "worker", "--once").returncode == 0
            _, later = asyncio.run(ask(service, key, person))
            assert later == told | {"email_sent": True, "email_status": "sent", "email_reason": None}
        finally:
            service.stop()
    # The household is told of keys, too: that is another mail.
    invitations = [
        each for each in (*first.envelopes, *second.envelopes) if each.rcpt_tos == ["rosa0@example.com"]
    ]
    ids = {email.message_from_bytes(bytes(envelope.content))["Message-ID"] for envelope in invitations}
    assert len(invitations) == 2
    assert len(ids) == 1


@pytest.mark.long
def test_numbers_outlive_rotations_and_removals_under_two_servers_and_a_worker(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server wrote under the old key after a rotation, and said "saved" under one that was gone."""
    saved: dict[str, str] = {}

    async def write(services: list[Service], key: str, people: list[str], over: asyncio.Event) -> int:
        """Each person enters one number after the other, at this server and at that; counts the 503s."""
        written = refused = 0
        async with httpx.AsyncClient(timeout=60) as browser:
            while not over.is_set() or written < len(people) * 2:
                for number, person in enumerate(people):
                    service = services[(written + number) % 2]
                    async with client_of(service, key) as client:
                        body = {"type": "tax_info", "send_email": number == 0}
                        link = (await client.post(f"/employees/{person}/invite", json=body)).json()["data"]
                    token = link["portal_url"].rpartition("/")[2]
                    ssn = f"{500 + number}{10 + written % 89}{1000 + written}"
                    page = await browser.post(f"{service.address}/portal/{token}", data={"tax_number": ssn})
                    assert page.status_code in (303, 503), page.text
                    if page.status_code == 303:
                        saved[person] = ssn
                        written += 1
                    else:
                        refused += 1
        return refused

    async def rotate(over: asyncio.Event) -> list[str]:
        gone: list[str] = []
        try:
            for _ in range(2):
                rotated = await asyncio.to_thread(command, data_dir, "vault", "rotate")
                assert rotated.returncode == 0, rotated.stderr
                listed = await asyncio.to_thread(command, data_dir, "vault", "keys")
                assert listed.returncode == 0, listed.stderr
                lines = [line.split() for line in listed.stdout.splitlines()]
                (current,) = [line[0] for line in lines if line[1] == "current"]
                refused = await asyncio.to_thread(command, data_dir, "vault", "remove", current)
                assert refused.returncode == 2
                for key_id in [line[0] for line in lines if line[1] == "retired"]:
                    removed = await asyncio.to_thread(command, data_dir, "vault", "remove", key_id)
                    assert removed.returncode == 0, removed.stderr
                    gone.append(key_id)
        finally:
            over.set()
        return gone

    async def all_at_once(services: list[Service], key: str) -> tuple[int, list[str]]:
        async with client_of(services[0], key) as client:
            people = await add_people(client, 5)
        over = asyncio.Event()
        refused, gone = await asyncio.gather(write(services, key, people, over), rotate(over))
        return refused, gone

    postbox = Postbox()
    with in_a_thread(mail_server(postbox)) as url:
        settings(monkeypatch, url)
        services = [Service(data_dir), Service(data_dir)]
        try:
            key = new_key(data_dir, "Lopez family")
            refused, gone = asyncio.run(all_at_once(services, key))
            assert refused == 0
            assert len(gone) == 2
            once = command(data_dir, "worker", "--once")
            assert once.returncode == 0, once.stdout + once.stderr
            with owner_of(data_dir) as owner:
                ((current,),) = owner.execute("SELECT id FROM vault_keys WHERE status = 'current'").fetchall()
                assert {*owner.execute("SELECT key_id FROM vault")} == {(current,)}
            assert [line.partition(":")[0] for line in (data_dir / "vault.keys").read_text().split()] == [
                current
            ]
            assert asyncio.run(_readable(data_dir)) == saved
        finally:
            for service in services:
                service.stop()
    assert postbox.envelopes

    # And keys of another database are refused by name before anything is served.
    monkeypatch.setenv("HEARTHPAY_KEYS", "other:" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=")
    for program in (("serve", "--port", "0"), ("worker", "--once")):
        refused_start = command(data_dir, *program)
        assert refused_start.returncode != 0
        assert f"lacks the key '{current}'" in refused_start.stderr
        assert "Traceback" not in refused_start.stderr


async def _readable(data_dir: Path) -> dict[str, str]:
    """Every Social Security number that the key file of today can read, by employee."""
    from sqlalchemy import select

    from hearthpay.database.session import Database
    from hearthpay.database.vault_store import read_secret, vault
    from hearthpay.security.key_ring import open_key_file
    from hearthpay.security.vault_cipher import SecretOwner
    from tests.security.conftest import Clerk

    embedded = EmbeddedServer(data_dir)
    embedded.start()
    database = Database(embedded.owner_url(), role=OWNER_ROLE, pool_size=1)
    ring = open_key_file(data_dir / "vault.keys")
    found: dict[str, str] = {}
    try:
        async with database.transaction(None) as session:
            for row in (await session.execute(select(vault).where(vault.c.kind == "ssn"))).all():
                owner = SecretOwner(
                    row.organization_id, row.employer_id, row.sandbox, "employee", row.owner_id
                )
                number = await read_secret(
                    session, ring, Clerk("system", None, None), owner, "ssn", purpose="test"
                )
                found[str(row.owner_id)] = number.reveal()
    finally:
        await database.dispose()
        embedded.stop()
    return found
