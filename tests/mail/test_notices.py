"""Notices: each once, to whom it concerns, within limits of their own, and nothing from the sandbox."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.limits import MailLimits
from hearthpay.mail.mailer import Mail, Mailer
from hearthpay.mail.notices import (
    KEPT_FOR,
    OPERATOR_LIMIT,
    Notice,
    NotificationSettings,
    OperatorAddressError,
    queue_notice,
)
from hearthpay.mail.postman import Postman
from hearthpay.security.key_ring import KeyRing
from tests.http.api import Account, data
from tests.mail.servers import Postbox, mail_server
from tests.worlds.inviting import invite

MAIL = Mail("someone@example.com", "Your payroll", "What happened.\n", "<p>What happened.</p>")
DESK = NotificationSettings(sends=True, operator="operator@example.com")
OPERATORS = Notice("problem:1", "problem", "operator", MAIL)


async def queue(
    worker: Database,
    ring: KeyRing,
    clock: FixedClock,
    *notices: Notice,
    notifications: NotificationSettings = DESK,
) -> None:
    async with worker.transaction(None) as session:
        for notice in notices:
            await queue_notice(session, ring, notifications, clock.now(), notice)


def outbox(owner: psycopg.Connection) -> list[tuple[Any, ...]]:
    query = (
        "SELECT recipient, status, reason, content IS NOT NULL FROM mail_outbox WHERE notice_key IS NOT NULL"
    )
    return owner.execute(f"{query} ORDER BY id").fetchall()


async def of_household(account: Account, rosa: dict[str, Any]) -> Notice:
    return Notice(
        "held:1",
        "held",
        "household",
        MAIL,
        UUID(str(account.organization_id)),
        UUID(rosa["employer_id"]),
    )


async def test_the_operator_s_notice_is_of_no_tenant_and_leaves_once(
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    await queue(worker_database, ring, clock, OPERATORS, OPERATORS)
    assert outbox(owner_connection) == [("operator", "queued", None, True)]
    postbox = Postbox()
    async with mail_server(postbox) as url:
        postman = Postman(worker_database, ring, Mailer(url, "Hearthpay <payroll@example.com>"), clock)
        assert (await postman.send_due(lambda: False)).sent == 1
    await queue(worker_database, ring, clock, OPERATORS)  # also when it has left
    assert outbox(owner_connection) == [("operator", "sent", None, False)]
    assert [mail["To"] for mail in postbox.mails] == ["someone@example.com"]


async def test_what_nobody_takes_is_given_up_in_a_week(
    worker_database: Database, ring: KeyRing, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    await queue(worker_database, ring, clock, OPERATORS)
    clock.advance(KEPT_FOR)
    postman = Postman(worker_database, ring, Mailer("smtp://127.0.0.1:1", "payroll@example.com"), clock)
    assert (await postman.send_due(lambda: False)).failed == 1
    assert outbox(owner_connection) == [("operator", "failed", "not_taken_in_time", False)]


async def test_limits_are_counted_apart_from_invitations(
    account: Account,
    rosa: dict[str, Any],
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    notifications = replace(
        DESK, limits=MailLimits(employee=1, household=2, organization=9, mailbox=100, young=100)
    )
    first = await of_household(account, rosa)
    notices = [replace(first, key=f"held:{number}") for number in range(3)]
    await queue(worker_database, ring, clock, *notices, notifications=notifications)
    assert [each[1:3] for each in outbox(owner_connection)] == [
        ("queued", None),
        ("queued", None),
        ("failed", "daily_limit_of_household"),
    ]
    # Nor do they use up the household's invitations.
    assert data(await invite(account.live, rosa))["email_status"] == "sent"
    operators = [replace(OPERATORS, key=f"problem:{number}") for number in range(OPERATOR_LIMIT + 1)]
    await queue(worker_database, ring, clock, *operators)
    assert outbox(owner_connection)[-1][1:3] == ("failed", "daily_limit_of_operator")
    assert len(outbox(owner_connection)) == 3 + OPERATOR_LIMIT + 1


@pytest.mark.parametrize(
    ("notifications", "mail", "reason"),
    [(NotificationSettings(), MAIL, "no_mail_server"), (DESK, None, "no_address")],
)
async def test_what_cannot_be_sent_is_noted(
    notifications: NotificationSettings,
    mail: Mail | None,
    reason: str,
    account: Account,
    rosa: dict[str, Any],
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    notice = replace(await of_household(account, rosa), mail=mail)
    await queue(worker_database, ring, clock, notice, notifications=notifications)
    assert outbox(owner_connection) == [("household", "withheld", reason, False)]


def test_the_operator_s_address_is_checked_at_the_start() -> None:
    notifications = NotificationSettings.of(
        {"HEARTHPAY_OPERATOR_EMAIL": " ops@example.com ", "MAIL_LIMITS": "household=3"}, sends=True
    )
    assert (notifications.operator, notifications.limits.household, notifications.sends) == (
        "ops@example.com",
        3,
        True,
    )
    assert NotificationSettings.of({}, sends=False) == NotificationSettings()
    with pytest.raises(OperatorAddressError, match="HEARTHPAY_OPERATOR_EMAIL"):
        NotificationSettings.of({"HEARTHPAY_OPERATOR_EMAIL": "nobody, everybody@example.com"}, sends=True)
