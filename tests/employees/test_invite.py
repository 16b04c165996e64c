"""Inviting an employee to the portal: the link, the email, and the rules of both."""

import asyncio
import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy import event
from structlog.testing import capture_logs

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.security.key_ring import KeyRing
from tests.http.api import BASE_URL, MARIA, ROSA, Account, NewAccount, NewKey, data, fields, refusal
from tests.mail.servers import Postbox, silent_server
from tests.worlds.inviting import ROSAS_EMAIL, give_bank_account, invite, statuses

Counts = Callable[[], dict[str, int]]

LINK = re.compile(re.escape(BASE_URL) + r"/portal/[0-9A-Za-z]{43}")


def use_mailer(app: FastAPI, mailer: Mailer | None) -> None:
    app.state.runtime = replace(app.state.runtime, mailer=mailer)


def text_of(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    assert part is not None
    content = part.get_content()
    assert isinstance(content, str)
    return content


async def test_the_link_is_sent_to_the_employee(
    account: Account, rosa: dict[str, Any], postbox: Postbox
) -> None:
    invited = data(await invite(account.live, rosa))
    assert LINK.fullmatch(invited["portal_url"])
    assert invited == {
        "portal_url": invited["portal_url"],
        "email_sent": True,
        "expires_at": "2026-11-27T15:00:00Z",
        "email_status": "sent",
        "email_reason": None,
        "employer_id": rosa["employer_id"],
        "employee_id": rosa["id"],
    }
    (mail,) = postbox.mails
    assert mail["To"] == ROSAS_EMAIL
    assert mail["From"] == "Hearthpay <payroll@example.com>"
    assert mail["Subject"] == "The “Maria Lopez” household needs your tax information for payroll"
    assert mail["Date"] == "Fri, 20 Nov 2026 15:00:00 +0000"
    for kind in ("plain", "html"):
        text = text_of(mail, kind)
        assert invited["portal_url"] in text
        assert "Hello Rosa," in text
        assert "Friday, November 27, at 7:00 AM Pacific time" in text
    assert postbox.envelopes[0].rcpt_tos == [ROSAS_EMAIL]


async def test_a_bank_account_is_asked_for_in_other_words(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], postbox: Postbox
) -> None:
    assert data(await invite(account.live, rosa, type="bank_account"))["email_sent"]
    (mail,) = postbox.mails
    assert mail["Subject"] == "The “Maria Lopez” household would like to pay you by direct deposit"
    assert "routing and account number" in text_of(mail, "plain")


async def test_names_are_escaped_in_the_mail(
    account: Account, household: dict[str, Any], postbox: Postbox
) -> None:
    body = {**ROSA, "first_name": "<b>Rosa & Co", "email": ROSAS_EMAIL}
    employee = data(await account.live.post("/employees", body), 201)
    data(await invite(account.live, employee))
    (mail,) = postbox.mails
    assert "Hello b Rosa &amp; Co," in text_of(mail, "html")
    assert "Hello b Rosa & Co," in text_of(mail, "plain")


async def test_only_a_hash_of_the_token_is_stored(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    token = data(await invite(account.live, rosa))["portal_url"].rsplit("/", 1)[1]
    rows = owner_connection.execute("SELECT token_hash, created_at, expires_at FROM invitations").fetchall()
    assert [bytes(row[0]) for row in rows] == [hashlib.sha256(token.encode()).digest()]
    assert rows[0][2] - rows[0][1] == timedelta(days=7)
    for table in ("invitations", "audit_log", "employees", "idempotency_keys"):
        for (line,) in owner_connection.execute(f"SELECT t::text FROM {table} t").fetchall():
            assert token not in line


async def test_a_new_invitation_cancels_the_pending_one_of_its_type(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    data(await invite(account.live, rosa, type="bank_account"))
    first = data(await invite(account.live, rosa))
    second = data(await invite(account.live, rosa))
    assert first["portal_url"] != second["portal_url"]
    assert statuses(owner_connection) == ["cancelled", "pending"]
    assert statuses(owner_connection, "bank_account") == ["pending"]


async def test_it_is_traced_with_what_it_replaced(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    for send_email in (True, False):
        data(await invite(account.live, rosa, send_email=send_email))
    ids = [row[0] for row in owner_connection.execute("SELECT id FROM invitations ORDER BY id").fetchall()]
    rows = owner_connection.execute(
        "SELECT actor_kind, actor_id, employer_id, sandbox, subject_id, details FROM audit_log "
        "WHERE action = 'invitation.create' ORDER BY id"
    ).fetchall()
    common = ("key", account.live.key_id, UUID(rosa["employer_id"]), False)
    told = {"employee_id": rosa["id"], "type": "tax_info"}
    assert rows == [
        (*common, ids[0], told | {"send_email": True, "email": "queued", "cancelled": None}),
        (*common, ids[1], told | {"send_email": False, "email": "not_requested", "cancelled": str(ids[0])}),
    ]


async def test_a_bank_account_needs_direct_deposit(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection, counts: Counts
) -> None:
    before = counts()
    for send_email in (True, False):
        response = await invite(account.live, rosa, type="bank_account", send_email=send_email)
        error = refusal(response, 412, "direct_deposit_unavailable")
        assert error["details"] == {"employer_id": rosa["employer_id"]}
    assert counts() == before
    assert statuses(owner_connection, "bank_account") == []
    data(await invite(account.live, rosa))  # tax information does not need it


async def test_a_bank_account_is_asked_for_once_in_24_hours(
    account: Account,
    rosa: dict[str, Any],
    banked: dict[str, Any],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    postbox: Postbox,
) -> None:
    data(await invite(account.live, rosa, type="bank_account"))
    for waited, seconds in ((timedelta(0), 86_400), (timedelta(hours=23, minutes=59, seconds=58.5), 2)):
        clock.advance(waited)
        response = await invite(account.live, rosa, type="bank_account")
        error = refusal(response, 412, "invitation_too_soon")
        assert error["details"] == {"retry_at": "2026-11-21T15:00:00Z"}
        assert response.headers["Retry-After"] == str(seconds)
    assert statuses(owner_connection, "bank_account") == ["pending"]
    clock.advance(timedelta(seconds=1.5))
    data(await invite(account.live, rosa, type="bank_account"))
    assert statuses(owner_connection, "bank_account") == ["cancelled", "pending"]
    assert len(postbox.mails) == 2


async def test_the_limit_is_each_employees_own(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any]
) -> None:
    ana = data(await account.live.post("/employees", {**ROSA, "first_name": "Ana"}), 201)
    for employee in (rosa, ana):
        data(await invite(account.live, employee, type="bank_account"))


async def test_without_an_email_the_limit_does_not_apply(
    account: Account,
    rosa: dict[str, Any],
    banked: dict[str, Any],
    owner_connection: psycopg.Connection,
    postbox: Postbox,
) -> None:
    data(await invite(account.live, rosa, type="bank_account"))
    for _ in range(2):
        quiet = data(await invite(account.live, rosa, type="bank_account", send_email=False))
        assert not quiet["email_sent"]
    assert statuses(owner_connection, "bank_account") == ["cancelled", "cancelled", "pending"]
    assert len(postbox.mails) == 1
    refusal(await invite(account.live, rosa, type="bank_account"), 412, "invitation_too_soon")


async def test_whoever_has_left_is_asked_for_tax_information_only(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    """The W-2 is still to come; wages are not."""
    data(await account.live.post(f"/employees/{rosa['id']}/terminate", {}))
    error = refusal(await invite(account.live, rosa, type="bank_account"), 400, "invalid_state")
    assert error["details"] == {"status": "terminated", "end_date": "2026-11-20"}
    assert statuses(owner_connection) == []
    assert LINK.fullmatch(data(await invite(account.live, rosa))["portal_url"])
    assert statuses(owner_connection) == ["pending"]


async def test_without_an_address_there_is_a_link_all_the_same(
    account: Account, household: dict[str, Any], postbox: Postbox
) -> None:
    employee = data(await account.live.post("/employees", ROSA), 201)
    invited = data(await invite(account.live, employee))
    assert LINK.fullmatch(invited["portal_url"])
    assert not invited["email_sent"]
    assert postbox.mails == []


async def test_nothing_leaves_the_sandbox(
    database: Database, ring: KeyRing, account: Account, postbox: Postbox
) -> None:
    sandbox = data(await account.test.post("/employers", MARIA), 201)
    await give_bank_account(database, ring, account.organization_id, sandbox)
    employee = data(await account.test.post("/employees", {**ROSA, "email": ROSAS_EMAIL}), 201)
    for kind in ("tax_info", "bank_account"):
        assert not data(await invite(account.test, employee, type=kind))["email_sent"]
    assert postbox.mails == []
    # The rules are the same, so that they can be tried out.
    refusal(await invite(account.test, employee, type="bank_account"), 412, "invitation_too_soon")


async def test_a_service_without_a_mail_server_gives_the_link_only(
    app: FastAPI, account: Account, rosa: dict[str, Any]
) -> None:
    use_mailer(app, None)
    assert not data(await invite(account.live, rosa))["email_sent"]


async def test_a_refused_email_leaves_the_invitation_valid(
    account: Account, rosa: dict[str, Any], postbox: Postbox, owner_connection: psycopg.Connection
) -> None:
    postbox.refusal = f"550 no such mailbox <{ROSAS_EMAIL}>"
    with capture_logs() as logged:
        invited = data(await invite(account.live, rosa))
    assert not invited["email_sent"]
    assert statuses(owner_connection) == ["pending"]
    (line,) = [entry for entry in logged if entry["event"] == "email not sent"]
    assert line["cause"] == "SMTPRecipientsRefused"
    assert ROSAS_EMAIL not in repr(logged)
    assert invited["portal_url"].rsplit("/", 1)[1] not in repr(logged)


async def test_a_silent_mail_server_is_not_waited_for(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    async with silent_server() as url:
        use_mailer(app, Mailer(url, "payroll@example.com", patience=0.3))
        began = time.monotonic()
        assert not data(await invite(account.live, rosa))["email_sent"]
    assert time.monotonic() - began > 0.25  # and not forever: the server would never answer
    assert statuses(owner_connection) == ["pending"]


async def test_strangers_and_the_other_mode_find_nobody(
    account: Account,
    rosa: dict[str, Any],
    new_account: NewAccount,
    new_key: NewKey,
    owner_connection: psycopg.Connection,
    postbox: Postbox,
) -> None:
    other = await new_account("Other family")
    for caller in (account.test, other.live, other.test):
        refusal(await invite(caller, rosa), 404, "not_found")
    refusal(await invite(account.live, {"id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"}), 404, "not_found")
    refusal(await invite(account.live, {"id": "rosa"}), 404, "not_found")
    narrow = await new_key("Lopez family", scopes=("payroll",))
    refusal(await invite(narrow, rosa), 403, "scope_required")
    assert statuses(owner_connection) == []
    assert postbox.mails == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "type"),
        ({"type": "w4"}, "type"),
        ({"type": None}, "type"),
        ({"type": "tax_info", "send_email": "no"}, "send_email"),
        ({"type": "tax_info", "ssn": "536-22-8145"}, "ssn"),
        ({"type": "tax_info", "email": "someone@example.com"}, "email"),
    ],
)
async def test_a_bad_body_is_refused(
    account: Account,
    rosa: dict[str, Any],
    body: dict[str, Any],
    field: str,
    owner_connection: psycopg.Connection,
) -> None:
    response = await account.live.post(f"/employees/{rosa['id']}/invite", body)
    error = refusal(response, 400, "validation_error")
    assert fields(error) == [field]
    assert error["example"] == {"type": "tax_info", "send_email": True}
    assert "8145" not in response.text
    assert statuses(owner_connection) == []


async def test_a_retry_is_answered_with_the_same_link_and_sends_nothing(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection, postbox: Postbox
) -> None:
    first = await invite(account.live, rosa, idempotency_key="invite")
    again = await invite(account.live, rosa, idempotency_key="invite")
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert statuses(owner_connection) == ["pending"]
    assert len(postbox.mails) == 1
    conflict = await invite(account.live, rosa, idempotency_key="invite", send_email=False)
    refusal(conflict, 409, "idempotency_conflict")


async def test_of_invitations_at_once_one_stays_pending(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    answers = await asyncio.gather(*(invite(account.live, rosa) for _ in range(5)))
    assert len({data(answer)["portal_url"] for answer in answers}) == 5
    assert sorted(statuses(owner_connection)) == ["cancelled"] * 4 + ["pending"]
    answers = await asyncio.gather(*(invite(account.live, rosa, type="bank_account") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412, 412]
    assert statuses(owner_connection, "bank_account") == ["pending"]


async def test_the_employee_shows_who_is_invited(
    account: Account, rosa: dict[str, Any], banked: dict[str, Any], clock: FixedClock
) -> None:
    async def onboarding() -> Any:
        (listed,) = data(await account.live.get("/employees", employer_id=banked["id"]))
        return listed["onboarding"]

    assert rosa["onboarding"] == {"bank_account": "missing", "tax_info": "missing"}
    data(await invite(account.live, rosa, type="bank_account"))
    assert await onboarding() == {"bank_account": "invited", "tax_info": "missing"}
    patched = await account.live.client.patch(
        f"/api/v1/employees/{rosa['id']}", json={"pay_rate": 30}, headers=account.live.headers()
    )
    assert data(patched)["onboarding"] == {"bank_account": "invited", "tax_info": "missing"}
    clock.advance(timedelta(days=7, seconds=-1))
    assert (await onboarding())["bank_account"] == "invited"
    clock.advance(timedelta(seconds=1))
    assert (await onboarding())["bank_account"] == "missing"


async def test_a_list_asks_for_all_at_once(
    account: Account, household: dict[str, Any], service_pool: Database
) -> None:
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        sent.append(statement)

    async def statements_of_a_list(length: int) -> int:
        sent.clear()
        assert len(data(await account.live.get("/employees", employer_id=household["id"]))) == length
        return len(sent)

    engine = service_pool._engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        data(await account.live.post("/employees", ROSA), 201)
        one = await statements_of_a_list(1)
        for name in ("Ana", "Berta", "Carla", "Dora"):
            employee = data(await account.live.post("/employees", {**ROSA, "first_name": name}), 201)
            data(await invite(account.live, employee))
        assert await statements_of_a_list(5) == one
    finally:
        event.remove(engine, "before_cursor_execute", note)
