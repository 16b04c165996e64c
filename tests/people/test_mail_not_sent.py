"""Mail that does not arrive: what real servers refuse, delay or drop, what the folder takes, and who is shown it."""

import asyncio
import email
import email.policy
import re
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from hearthpay.access.refusal import Refusal
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, become_person
from hearthpay.mail.bounces import bounced
from hearthpay.mail.mail_folder import KEPT_FOR, MailFolder, fill_folder
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.person_postman import PersonPostman
from hearthpay.mail.postman import Postman
from hearthpay.people import credentials, first_owner, operators
from hearthpay.people.context import PeopleContext
from hearthpay.people.first_owner import offer_first_owner
from hearthpay.people.notice_choices import choose_notices, notice_choices
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from tests.mail.servers import Postbox, mail_server, silent_server
from tests.people.visitors import HERE, MARIA, PASSWORD, VISIT, at_the_command_line, signed_in
from tests.web.people_browser import HOME, Browser

SENDER = "Hearthpay <payroll@example.com>"


@asynccontextmanager
async def dropping_server() -> AsyncIterator[str]:
    """A server that greets, and drops the connection as soon as it is told of a mail; yields its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        while line := await reader.readline():
            if line.upper().startswith(b"MAIL"):
                break
            writer.write(b"250 OK\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"smtp://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def outbox(connection: psycopg.Connection) -> list[tuple[object, ...]]:
    return connection.execute(
        "SELECT status, reason, content IS NULL FROM mail_outbox WHERE kind = 'person.reset' ORDER BY id"
    ).fetchall()


async def ask(people_context: PeopleContext, ring: KeyRing, url: str) -> None:
    postman = PersonPostman(
        people_context.database, ring, Mailer(url, SENDER, patience=0.5), people_context.clock
    )
    await credentials.ask_for_reset(replace(people_context, postman=postman), MARIA, HERE, VISIT)
    await postman.settle()


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (lambda: mail_server(Postbox("550 5.1.1 no such user")), ("failed", "recipient_refused", True)),
        (lambda: mail_server(Postbox("451 4.7.1 later please")), ("queued", "mail_server_busy", False)),
        (silent_server, ("queued", "mail_server_too_slow", False)),
        (dropping_server, ("queued", "mail_server_unreachable", False)),
    ],
    ids=["refuses", "delays", "silent", "drops"],
)
async def test_what_becomes_of_a_mail(
    kind: Callable[[], AbstractAsyncContextManager[str]],
    state: tuple[object, ...],
    people_context: PeopleContext,
    maria: SignedIn,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
    worker_database: Database,
    clock: FixedClock,
) -> None:
    async with kind() as url:
        await ask(people_context, ring, url)
    assert outbox(owner_connection) == [state]
    refused = state[0] == "failed"
    assert ((await notice_choices(people_context, maria)).bounced_at is not None) is refused
    clock.advance(timedelta(minutes=2))
    postbox = Postbox()
    async with mail_server(postbox) as url:
        await Postman(worker_database, ring, Mailer(url, SENDER), clock).send_due(lambda: False)
        resets = [mail for mail in postbox.mails if "password" in str(mail["Subject"])]
        assert len(resets) == (0 if refused else 1)
        clock.advance(timedelta(minutes=2))
        await ask(people_context, ring, url)  # what arrives later ends it
    assert (await notice_choices(people_context, maria)).bounced_at is None


async def test_only_addresses_that_were_asked_about_are_told(
    people_context: PeopleContext, maria: SignedIn, ring: KeyRing
) -> None:
    async with mail_server(Postbox("550 no")) as url:
        await ask(people_context, ring, url)
    async with people_context.database.transaction(None) as session:
        assert list(await bounced(session, ["Maria@example.com", "other@example.com"])) == [
            "Maria@example.com"
        ]
        assert await bounced(session, []) == {}


async def test_without_a_mail_server_mail_lies_in_a_folder_of_its_owner_alone(
    people_context: PeopleContext,
    maria: SignedIn,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
    worker_database: Database,
    clock: FixedClock,
    tmp_path: Path,
) -> None:
    owner_connection.execute("DELETE FROM mail_outbox")
    here = replace(people_context, sends_mail=False, keeps_mail=True)
    await credentials.ask_for_reset(here, MARIA, HERE, VISIT)
    assert outbox(owner_connection) == [("queued", "no_mail_server", False)]
    folder = MailFolder.of({}, tmp_path)
    assert folder is not None
    assert (await fill_folder(worker_database, ring, folder, clock)).sent == 1
    (file,) = folder.path.iterdir()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
    assert (mail["To"], mail.get_content_type()) == (MARIA, "multipart/alternative")
    assert HERE in str(mail.get_body(("plain",)))
    assert outbox(owner_connection) == [("withheld", "kept_in_folder", True)]
    assert (await fill_folder(worker_database, ring, folder, clock)).sent == 0
    clock.advance(KEPT_FOR + timedelta(days=400))
    await fill_folder(worker_database, ring, folder, clock)
    assert list(folder.path.iterdir()) == []


async def test_mail_that_is_meant_for_a_server_does_not_go_into_the_folder(
    people_context: PeopleContext,
    maria: SignedIn,
    ring: KeyRing,
    worker_database: Database,
    clock: FixedClock,
    tmp_path: Path,
) -> None:
    """A worker without SMTP_URL beside a web server with it: the mail waits for a worker that has it."""
    await credentials.ask_for_reset(people_context, MARIA, HERE, VISIT)
    folder = MailFolder(tmp_path / "mail")
    assert (await fill_folder(worker_database, ring, folder, clock)).sent == 0
    assert not folder.path.exists()


async def test_a_folder_that_cannot_be_written_is_tried_again(
    people_context: PeopleContext,
    maria: SignedIn,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
    worker_database: Database,
    clock: FixedClock,
    tmp_path: Path,
) -> None:
    await credentials.ask_for_reset(
        replace(people_context, sends_mail=False, keeps_mail=True), MARIA, HERE, VISIT
    )
    (tmp_path / "mail").write_text("in the way")
    folder = MailFolder(tmp_path / "mail")
    assert (await fill_folder(worker_database, ring, folder, clock)).failed == 1
    assert outbox(owner_connection) == [("queued", "folder_not_writable", False)]
    (tmp_path / "mail").unlink()
    clock.advance(timedelta(minutes=2))
    assert (await fill_folder(worker_database, ring, folder, clock)).sent == 1


def test_the_folder_is_where_the_settings_say(tmp_path: Path) -> None:
    named = MailFolder.of({"MAIL_FOLDER": str(tmp_path / "post")}, tmp_path / "data")
    beside = MailFolder.of({}, tmp_path / "data")
    assert named is not None
    assert beside is not None
    assert (named.path, beside.path) == (tmp_path / "post", tmp_path / "data/mail")
    assert MailFolder.of({}, None) is None


# Operators


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing, people_context: PeopleContext) -> FastAPI:
    app = create_app(database, clock, AppSettings(public_url=HOME, ring=ring, keeps_mail=True))
    app.state.people_context = replace(people_context, sends_mail=False, keeps_mail=True)
    return app


async def signed_in_browser(app: FastAPI) -> Browser:
    browser = Browser.of(app)
    assert (await browser.sign_in(MARIA, PASSWORD)).headers["location"] == "/home"
    return browser


async def test_an_operator_sees_what_was_not_sent_and_nobody_else_does(
    app: FastAPI,
    people_context: PeopleContext,
    maria: SignedIn,
    ring: KeyRing,
    owner_database: Database,
    clock: FixedClock,
) -> None:
    async with mail_server(Postbox("550 no")) as url:
        await ask(people_context, ring, url)
    browser = await signed_in_browser(app)
    assert (await browser.look("/operator/mail")).status_code == 404
    with pytest.raises(Refusal, match="Page not found"):
        await operators.mails_not_sent(people_context, maria)
    assert (
        await operators.mails_not_sent(people_context, replace(maria, operates=True)) == []
    )  # nor by a mistake of ours
    async with owner_database.transaction(None) as session:
        await operators.make_operator(session, at_the_command_line(owner_database, clock), MARIA)
    page = await browser.look("/operator/mail")
    assert page.status_code == 200
    assert "The address was refused" in page.text
    assert MARIA not in page.text.partition("<main")[2].partition("</main>")[0]
    notifications = await browser.look("/settings/notifications")
    assert "Our last email to you bounced" in notifications.text
    assert "/operator/mail" in notifications.text
    assert "The address refused mail on" in (await browser.look("/settings/members")).text
    async with owner_database.transaction(None) as session:
        await operators.unmake_operator(session, at_the_command_line(owner_database, clock), MARIA)
    assert (await browser.look("/operator/mail")).status_code == 404


async def test_the_first_owner_is_the_operator_and_a_later_one_is_not(
    people_context: PeopleContext, owner_database: Database, clock: FixedClock
) -> None:
    async with owner_database.transaction(None) as session:
        token = await offer_first_owner(session, clock)
    assert token is not None
    new = NewPerson("Maria", PASSWORD, "en")
    entered = await first_owner.become_first_owner(people_context, token.text, MARIA, new, "Lopez", VISIT)
    assert (await signed_in(people_context, entered.token.text)).operates
    async with people_context.database.transaction(None) as session:
        other = await signed_in(people_context, entered.token.text)
        await operators.operate_first(session, clock.now(), other.person_id, token.text, VISIT)


_UPDATE = "UPDATE people SET operator_since = now()"
_INSERT = (
    "INSERT INTO people (id, email, name, language, created_at, updated_at, operator_since) "
    "VALUES (current_person(), 'x@example.com', 'X', 'en', now(), now(), now())"
)


@pytest.mark.parametrize("statement", [_UPDATE, _INSERT])
async def test_the_service_cannot_make_an_operator(
    people_context: PeopleContext, maria: SignedIn, statement: str
) -> None:
    person = maria.person_id if statement == _UPDATE else uuid4()
    with pytest.raises(ProgrammingError, match=r"permission denied|row-level security"):
        await _as_person(people_context, person, statement)


async def _as_person(people_context: PeopleContext, person: UUID, statement: str) -> None:
    async with people_context.database.transaction(None) as session:
        await become_person(session, person)
        await session.execute(text(statement))


async def test_what_a_person_does_without_is_kept(
    app: FastAPI, people_context: PeopleContext, maria: SignedIn
) -> None:
    browser = await signed_in_browser(app)
    saved = await browser.send("/settings/notifications", page="/settings/notifications", topic_duties="on")
    assert saved.status_code == 200
    assert (await notice_choices(people_context, maria)).requested == {"duties"}
    await choose_notices(people_context, maria, ["payday", "duties", "documents"], VISIT)
    assert (await notice_choices(people_context, maria)).requested == {"payday", "duties", "documents"}


async def test_the_plan_shows_what_is_used(app: FastAPI, maria: SignedIn) -> None:
    browser = await signed_in_browser(app)
    page: httpx.Response = await browser.look("/settings/plan")
    assert re.search(r"<p>Households</p>\s*<p>0 of \d+", page.text)
    assert "Included" in page.text
