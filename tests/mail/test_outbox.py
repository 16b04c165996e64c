"""Mail on its way out: queued with the fact it tells of, sent once, tried again, capped, erased when it has left."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi import FastAPI
from psycopg import errors
from sqlalchemy import text

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.database.turns import Turns
from hearthpay.mail.limits import USUAL_LIMITS, MailLimits, MailLimitsError, mail_limits
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.outbox import LEASE, LONGEST_PAUSE, claim_due_mails, pause_after
from hearthpay.mail.postman import Postman, Round
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.http.api import MARIA, ROSA, Account, Caller, data
from tests.mail.servers import Postbox, mail_server, silent_server
from tests.worlds.inviting import ROSAS_EMAIL, invite

SENDER = "Hearthpay <payroll@example.com>"
NewAccount = Callable[[str], Awaitable[Account]]


def never() -> bool:
    return False


def use(app: FastAPI, **parts: Any) -> None:
    app.state.runtime = replace(app.state.runtime, **parts)


def outbox(owner: psycopg.Connection) -> list[tuple[str, str | None, bool]]:
    """Status, reason, and whether the content is still kept, the oldest first."""
    return owner.execute("SELECT status, reason, content IS NOT NULL FROM mail_outbox ORDER BY id").fetchall()


@pytest.fixture
def nobody_listens() -> Mailer:
    return Mailer("smtp://127.0.0.1:1", SENDER)


async def in_worker(
    worker: Database, ring: KeyRing, clock: FixedClock, url: str, *, patience: float = 5
) -> Round:
    return await Postman(worker, ring, Mailer(url, SENDER, patience=patience), clock).send_due(never)


async def test_what_has_left_is_erased_and_traced(
    account: Account, rosa: dict[str, Any], postbox: Postbox, owner_connection: psycopg.Connection
) -> None:
    invited = data(await invite(account.live, rosa))
    assert (invited["email_sent"], invited["email_status"], invited["email_reason"]) == (True, "sent", None)
    assert outbox(owner_connection) == [("sent", None, False)]
    row = owner_connection.execute("SELECT id FROM mail_outbox").fetchone()
    assert row is not None
    assert postbox.mails[0]["Message-ID"] == f"<{row[0]}@example.com>"
    trail = owner_connection.execute(
        "SELECT actor_kind, subject_id, details FROM audit_log WHERE action = 'mail.sent'"
    ).fetchall()
    assert trail == [("system", row[0], {"attempts": 1})]


async def test_a_mail_server_that_is_away_gets_the_mail_later(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    clock: FixedClock,
    ring: KeyRing,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    nobody_listens: Mailer,
    postbox: Postbox,
) -> None:
    use(app, mailer=nobody_listens)
    first = await invite(account.live, rosa, idempotency_key="invite")
    told = data(first)
    assert (told["email_sent"], told["email_status"]) == (False, "queued")
    assert told["email_reason"] == "mail_server_unreachable"
    assert outbox(owner_connection) == [("queued", "mail_server_unreachable", True)]
    # A repetition is no way to try more often: it tells what is known.
    again = await invite(account.live, rosa, idempotency_key="invite")
    assert again.content == first.content

    async with mail_server(postbox) as url:
        assert await in_worker(worker_database, ring, clock, url) == Round(0, 0, 0)  # not due yet
        clock.advance(timedelta(minutes=1))
        assert await in_worker(worker_database, ring, clock, url) == Round(1, 0, 0)
        assert await in_worker(worker_database, ring, clock, url) == Round(0, 0, 0)
    (mail,) = postbox.mails
    assert mail["To"] == ROSAS_EMAIL
    assert told["portal_url"] in str(mail)
    assert outbox(owner_connection) == [("sent", None, False)]
    last = data(await invite(account.live, rosa, idempotency_key="invite"))
    assert last == told | {"email_sent": True, "email_status": "sent", "email_reason": None}


async def test_nothing_that_waits_can_be_read(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    owner_connection: psycopg.Connection,
    nobody_listens: Mailer,
) -> None:
    """Neither the outbox nor a stored answer holds the link, and another row's content opens nowhere."""
    use(app, mailer=nobody_listens)
    token = data(await invite(account.live, rosa, idempotency_key="k"))["portal_url"].rsplit("/", 1)[1]
    tables = [
        name
        for (name,) in owner_connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
    ]
    for table in tables:
        for (line,) in owner_connection.execute(f"SELECT t::text FROM {table} t").fetchall():
            assert token not in line
            assert token.encode().hex() not in line
    ((key_id, body),) = owner_connection.execute("SELECT key_id, body FROM idempotency_keys").fetchall()
    assert key_id is not None
    assert b"portal" not in bytes(body)


async def test_a_refused_recipient_is_not_tried_again(
    account: Account, rosa: dict[str, Any], postbox: Postbox, owner_connection: psycopg.Connection
) -> None:
    postbox.refusal = f"550 no such mailbox <{ROSAS_EMAIL}>"
    told = data(await invite(account.live, rosa, idempotency_key="k"))
    assert (told["email_sent"], told["email_status"], told["email_reason"]) == (
        False,
        "failed",
        "recipient_refused",
    )
    assert outbox(owner_connection) == [("failed", "recipient_refused", False)]
    postbox.refusal = None
    assert data(await invite(account.live, rosa, idempotency_key="k")) == told
    assert postbox.envelopes == []


async def test_a_mail_that_takes_long_is_told_as_queued_and_still_leaves(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    owner_connection: psycopg.Connection,
) -> None:
    monkeypatch.setattr("hearthpay.employees.routes.Postman", _impatient(0.2))

    class Slow(Postbox):
        async def handle_DATA(self, *arguments: Any) -> str:
            await asyncio.sleep(0.6)
            return await super().handle_DATA(*arguments)

    slow = Slow()
    async with mail_server(slow) as url:
        use(app, mailer=Mailer(url, SENDER))
        told = data(await invite(account.live, rosa, idempotency_key="k"))
        assert (told["email_sent"], told["email_status"]) == (False, "queued")
        assert told["email_reason"] == "not_taken_yet"
        for _ in range(50):
            await asyncio.sleep(0.1)
            if outbox(owner_connection) == [("sent", None, False)]:
                break
        assert len(slow.envelopes) == 1
        assert data(await invite(account.live, rosa, idempotency_key="k"))["email_sent"]


def _impatient(seconds: float) -> Callable[..., Postman]:
    return lambda *parts: Postman(*parts, short_wait=seconds)


async def test_two_who_ask_the_same_at_once_send_one_mail_and_agree(
    account: Account, rosa: dict[str, Any], postbox: Postbox
) -> None:
    answers = await asyncio.gather(*(invite(account.live, rosa, idempotency_key="k") for _ in range(6)))
    assert len({answer.content for answer in answers}) == 1
    assert data(answers[0])["email_sent"]
    assert len(postbox.envelopes) == 1


async def test_workers_at_once_send_each_mail_once(
    app: FastAPI,
    account: Account,
    household: dict[str, Any],
    clock: FixedClock,
    ring: KeyRing,
    worker_database: Database,
    nobody_listens: Mailer,
    postbox: Postbox,
) -> None:
    use(app, mailer=nobody_listens)
    for name in ("Ana", "Berta", "Carla", "Dora", "Eva"):
        body = {**ROSA, "first_name": name, "email": f"{name.lower()}@example.com"}
        employee = data(await account.live.post("/employees", body), 201)
        for kind in ("tax_info",):
            assert data(await invite(account.live, employee, type=kind))["email_status"] == "queued"
    clock.advance(timedelta(minutes=1))
    async with mail_server(postbox) as url:
        rounds = await asyncio.gather(*(in_worker(worker_database, ring, clock, url) for _ in range(4)))
    assert sum(each.sent for each in rounds) == 5
    assert sorted(envelope.rcpt_tos[0] for envelope in postbox.envelopes) == [
        f"{name}@example.com" for name in ("ana", "berta", "carla", "dora", "eva")
    ]


async def test_a_process_that_dies_with_a_mail_in_hand_loses_nothing(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    clock: FixedClock,
    ring: KeyRing,
    worker_database: Database,
    nobody_listens: Mailer,
    postbox: Postbox,
) -> None:
    use(app, mailer=nobody_listens)
    data(await invite(account.live, rosa))
    clock.advance(timedelta(minutes=1))
    async with worker_database.transaction(None) as session:
        (in_hand,) = await claim_due_mails(session, clock, 5, Turns())  # and then it is killed
    async with mail_server(postbox) as url:
        clock.advance(LEASE - timedelta(seconds=1))
        assert await in_worker(worker_database, ring, clock, url) == Round(0, 0, 0)
        clock.advance(timedelta(seconds=1))
        assert await in_worker(worker_database, ring, clock, url) == Round(1, 0, 0)
    assert postbox.mails[0]["Message-ID"] == f"<{in_hand.id}@example.com>"


async def test_it_is_tried_less_and_less_often_until_the_link_expires(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    clock: FixedClock,
    ring: KeyRing,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    nobody_listens: Mailer,
) -> None:
    minutes = [pause_after(attempt) / timedelta(minutes=1) for attempt in range(1, 12)]
    assert minutes == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]
    assert pause_after(10_000) == LONGEST_PAUSE
    use(app, mailer=nobody_listens)
    data(await invite(account.live, rosa))
    tries = 0
    for _ in range(7 * 24 + 1):
        clock.advance(timedelta(hours=1))
        tries += (await in_worker(worker_database, ring, clock, "smtp://127.0.0.1:1")).failed
    assert outbox(owner_connection) == [("failed", "mail_server_unreachable", False)]
    assert 30 < tries < 50
    ((details,),) = owner_connection.execute(
        "SELECT details FROM audit_log WHERE action = 'mail.failed'"
    ).fetchall()
    assert details["reason"] == "mail_server_unreachable"


async def test_a_link_that_is_replaced_or_used_is_not_sent_any_more(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    owner_connection: psycopg.Connection,
    nobody_listens: Mailer,
    postbox: Postbox,
    clock: FixedClock,
    ring: KeyRing,
    worker_database: Database,
) -> None:
    use(app, mailer=nobody_listens)
    data(await invite(account.live, rosa, idempotency_key="first"))
    second = data(await invite(account.live, rosa))
    assert outbox(owner_connection)[0] == ("withdrawn", "replaced", False)
    told = data(await invite(account.live, rosa, idempotency_key="first"))
    assert (told["email_status"], told["email_reason"]) == ("failed", "replaced")
    done = await account.live.client.post(second["portal_url"], data={"tax_number": "536-22-8145"})
    assert done.status_code == 303
    assert outbox(owner_connection)[1] == ("withdrawn", "used", False)
    clock.advance(timedelta(hours=1))
    async with mail_server(postbox) as url:
        await app.state.people_context.postman.settle()
        assert await in_worker(worker_database, ring, clock, url) == Round(0, 0, 0)
    # No link has left; what was entered is told.
    assert {each["Subject"] for each in postbox.mails} == {
        "Your record with the Lopez household was changed",
        "Rosa Diaz changed something",
    }


async def test_a_day_has_room_for_so_many_mails_and_no_more(
    app: FastAPI, account: Account, rosa: dict[str, Any], clock: FixedClock, postbox: Postbox
) -> None:
    """150 invitations to 150 strangers left in 3.7 seconds."""
    told = [data(await invite(account.live, rosa)) for _ in range(USUAL_LIMITS.employee + 2)]
    assert [each["email_sent"] for each in told] == [True] * USUAL_LIMITS.employee + [False] * 2
    assert (told[-1]["email_status"], told[-1]["email_reason"]) == ("failed", "daily_limit_of_employee")
    assert len(postbox.envelopes) == USUAL_LIMITS.employee
    clock.advance(timedelta(hours=8, minutes=59))
    assert data(await invite(account.live, rosa))["email_reason"] == "daily_limit_of_employee"
    clock.advance(timedelta(minutes=1))  # midnight UTC
    assert data(await invite(account.live, rosa))["email_sent"]


async def test_requests_at_once_do_not_all_find_room(
    app: FastAPI, account: Account, rosa: dict[str, Any], postbox: Postbox
) -> None:
    told = [data(answer) for answer in await asyncio.gather(*(invite(account.live, rosa) for _ in range(12)))]
    limited = [each for each in told if each["email_reason"] == "daily_limit_of_employee"]
    assert len(limited) == 12 - USUAL_LIMITS.employee
    # Each takes the place of the one before, whose mail is withdrawn if it has not left.
    assert len(postbox.envelopes) <= USUAL_LIMITS.employee


async def test_household_and_organization_have_limits_of_their_own(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    household: dict[str, Any],
    new_account: NewAccount,
    postbox: Postbox,
) -> None:
    use(app, mail_limits=MailLimits(employee=10, household=2, organization=3, mailbox=100, young=100))

    async def add(caller: Caller, name: str, home: dict[str, Any]) -> dict[str, Any]:
        body = {**ROSA, "first_name": name, "email": f"{name.lower()}@example.com", "employer_id": home["id"]}
        made: dict[str, Any] = data(await caller.post("/employees", body), 201)
        return made

    second = data(await account.live.post("/employers", {**MARIA, "last_name": "Miller"}), 201)
    people = [
        rosa,
        await add(account.live, "Ana", household),
        await add(account.live, "Berta", household),
        await add(account.live, "Carla", second),
        await add(account.live, "Dora", second),
    ]
    told = [data(await invite(account.live, person))["email_reason"] for person in people]
    assert told == [None, None, "daily_limit_of_household", None, "daily_limit_of_organization"]
    other = await new_account("Other family")
    theirs = data(await other.live.post("/employers", MARIA), 201)
    assert data(await invite(other.live, await add(other.live, "Eva", theirs)))["email_sent"]
    assert len(postbox.envelopes) == 4


async def test_the_sandbox_has_no_mail_that_could_leave(
    account: Account, owner_connection: psycopg.Connection, postbox: Postbox
) -> None:
    data(await account.test.post("/employers", MARIA), 201)
    employee = data(await account.test.post("/employees", {**ROSA, "email": ROSAS_EMAIL}), 201)
    told = data(await invite(account.test, employee))
    assert (told["email_sent"], told["email_status"], told["email_reason"]) == (False, None, "sandbox")
    assert outbox(owner_connection) == [("withheld", "sandbox", False)]
    with pytest.raises(errors.CheckViolation):
        owner_connection.execute(
            "UPDATE mail_outbox SET status = 'queued', finished_at = NULL, content = '\\x00', "
            "nonce = '\\x000000000000000000000000', key_id = (SELECT coalesce(max(id), 'k') FROM vault_keys)"
        )
    assert postbox.envelopes == []


@pytest.mark.parametrize(
    ("body", "reason"), [({"send_email": False}, "not_requested"), ({}, "no_address"), ({}, "no_mail_server")]
)
async def test_where_no_mail_was_to_leave_the_answer_says_why(
    app: FastAPI, account: Account, household: dict[str, Any], body: dict[str, Any], reason: str
) -> None:
    email = {} if reason == "no_address" else {"email": ROSAS_EMAIL}
    if reason == "no_mail_server":
        use(app, mailer=None)
    employee = data(await account.live.post("/employees", ROSA | email), 201)
    told = data(await invite(account.live, employee, **body))
    assert (told["email_sent"], told["email_status"], told["email_reason"]) == (False, None, reason)


async def test_a_service_without_keys_invites_nobody(
    app: FastAPI, account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    use(app, ring=None)
    answer = await invite(account.live, rosa, idempotency_key="k")
    assert answer.status_code == 503
    assert owner_connection.execute("SELECT FROM invitations").rowcount == 0


async def test_a_refused_invitation_leaves_no_mail(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection, postbox: Postbox
) -> None:
    """The mail is queued in the transaction of the invitation, and gone with it."""
    owner_connection.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$; "
        "CREATE TRIGGER refuse BEFORE INSERT ON invitations FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    try:
        assert (await invite(account.live, rosa)).status_code == 500
    finally:
        owner_connection.execute("DROP TRIGGER refuse ON invitations; DROP FUNCTION refuse")
    assert outbox(owner_connection) == []
    assert postbox.envelopes == []


async def test_a_mail_whose_key_is_away_waits_for_it(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    clock: FixedClock,
    ring: KeyRing,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    nobody_listens: Mailer,
    postbox: Postbox,
) -> None:
    use(app, mailer=nobody_listens)
    data(await invite(account.live, rosa))
    clock.advance(timedelta(minutes=1))
    async with mail_server(postbox) as url:
        stranger = KeyRing((EncryptionKey.generate(),))
        assert await in_worker(worker_database, stranger, clock, url) == Round(0, 1, 0)
        assert outbox(owner_connection) == [("queued", "key_missing", True)]
        clock.advance(timedelta(minutes=2))
        assert await in_worker(worker_database, ring, clock, url) == Round(1, 0, 0)


async def test_a_server_that_hangs_ends_a_round(
    app: FastAPI,
    account: Account,
    household: dict[str, Any],
    clock: FixedClock,
    ring: KeyRing,
    worker_database: Database,
    nobody_listens: Mailer,
) -> None:
    use(app, mailer=nobody_listens, mail_limits=MailLimits(100, 100, 100, mailbox=100, young=100))
    for name in ("Ana", "Berta", "Carla", "Dora", "Eva"):
        body = {**ROSA, "first_name": name, "email": f"{name.lower()}@example.com"}
        data(await invite(account.live, data(await account.live.post("/employees", body), 201)))
    clock.advance(timedelta(minutes=1))
    async with silent_server() as url:
        postman = Postman(worker_database, ring, Mailer(url, SENDER, patience=0.3), clock)
        assert await postman.send_due(never, chunk=3) == Round(0, 3, 0)
        assert await postman.send_due(never, chunk=3) == Round(0, 2, 0)


async def test_a_round_takes_no_more_than_its_chunk_however_the_database_goes_about_it(
    app: FastAPI,
    account: Account,
    household: dict[str, Any],
    clock: FixedClock,
    worker_database: Database,
    nobody_listens: Mailer,
) -> None:
    use(app, mailer=nobody_listens, mail_limits=MailLimits(100, 100, 100, mailbox=100, young=100))
    for name in ("Ana", "Berta", "Carla", "Dora", "Eva"):
        body = {**ROSA, "first_name": name, "email": f"{name.lower()}@example.com"}
        data(await invite(account.live, data(await account.live.post("/employees", body), 201)))
    clock.advance(timedelta(minutes=1))
    ways = ("hashjoin", "mergejoin", "hashagg", "sort", "material", "indexscan", "bitmapscan")
    async with worker_database.transaction(None) as session:
        for way in ways:
            await session.execute(text(f"SET LOCAL enable_{way} = off"))
        assert len(await claim_due_mails(session, clock, 3, Turns())) == 3
        assert len(await claim_due_mails(session, clock, 3, Turns())) == 2


def test_limits_are_data_that_an_operator_may_replace() -> None:
    assert mail_limits({}) == USUAL_LIMITS
    assert mail_limits({"MAIL_LIMITS": "employee=1, organization=1000"}) == MailLimits(
        1, USUAL_LIMITS.household, 1000, USUAL_LIMITS.mailbox, USUAL_LIMITS.young
    )
    for bad in ("employee", "employee=", "employee=-1", "employee=1,employee=2", "planet=1", "employee=١"):
        with pytest.raises(MailLimitsError, match="MAIL_LIMITS"):
            mail_limits({"MAIL_LIMITS": bad})


async def test_a_name_cannot_speak_through_the_mail(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection, postbox: Postbox
) -> None:
    """A name from before such names were refused: the mail leaves, plain and without a link but ours."""
    owner_connection.execute(
        "UPDATE employers SET first_name = %s, last_name = 'Win at http://evil.example/x now' WHERE id = %s",
        ("=?utf-8?q?Smith=0D=0ABcc=3A_victim=40example.net=0D=0A=0D=0A?=", UUID(household["id"])),
    )
    employee = data(
        await account.live.post("/employees", {**ROSA, "email": ROSAS_EMAIL, "employer_id": household["id"]}),
        201,
    )
    owner_connection.execute(
        "UPDATE employees SET first_name = 'a@evil.com' WHERE id = %s", (employee["id"],)
    )
    told = data(await invite(account.live, employee))
    assert told["email_sent"]
    (mail,) = postbox.mails
    assert mail["Bcc"] is None
    assert postbox.envelopes[0].rcpt_tos == [ROSAS_EMAIL]
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    for part in mail.iter_parts():
        text = part.get_content()
        assert set(re.findall(r"https?://[^\s\"<]+", text)) == {told["portal_url"]}
        assert re.search(r"evil\.\w|@|=\?", text.replace(told["portal_url"], "")) is None


async def test_such_names_are_refused_from_now_on(account: Account, household: dict[str, Any]) -> None:
    for name in (
        "=?utf-8?b?U21pdGg=?=",
        "http://evil.example",
        "Smith\u2028",
        "Sm\u2028ith",
        "Smi\x85th",
        "evil.com",
    ):
        answer = await account.live.post("/employees", {**ROSA, "first_name": name})
        if name.strip() == "Smith":  # at the end it is white space like any other, and trimmed
            assert data(answer, 201)["first_name"] == "Smith"
            continue
        assert answer.status_code == 400, name
        problem = json.loads(answer.content)["error"]["details"][0]
        assert problem["field"] == "first_name"
        assert "evil" not in problem["message"]
