"""Members who chose it get one mail on Mondays of what is due in all households, with names and numbers alone."""

import datetime
from typing import Any

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.dues_records import renew_dues
from hearthpay.duties.weekly_summary import find_weekly_summaries
from hearthpay.mail.notice_rounds import NoticeRound, send_notices
from hearthpay.mail.notices import NotificationSettings
from hearthpay.security.key_ring import KeyRing
from tests.duties.test_service import pay
from tests.http.api import Account, account, app, client, counts, household, new_account, new_key
from tests.worlds.households import add_employee
from tests.worlds.keys import ring

__all__ = ["account", "app", "client", "counts", "household", "new_account", "new_key", "ring"]

SETTINGS = NotificationSettings(sends=True, links_begin="https://pay.example.com")


@pytest.fixture
async def member(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    """A member who chose the summary and one who didn't; the household paid in October. It is Monday, nine o'clock."""
    rosa = await add_employee(account.live, household["id"])
    await pay(account, household, rosa, 5, 10)
    for name, chosen in (("Ana", True), ("Bo", False)):
        owner_connection.execute(
            "WITH p AS (INSERT INTO people (id, email, name, language, created_at, updated_at, weekly_summary) "
            "VALUES (new_id(), %s, %s, 'en', now(), now(), %s) RETURNING id) "
            "INSERT INTO memberships (id, organization_id, person_id, role, joined_at) "
            "SELECT new_id(), %s, p.id, 'owner', now() FROM p",
            (f"{name}@example.com".lower(), name, chosen, account.organization_id),
        )
    clock.advance(datetime.datetime(2026, 11, 23, 14, tzinfo=datetime.UTC) - clock.now())


async def send(worker: Database, ring: KeyRing, clock: FixedClock) -> NoticeRound:
    return await send_notices(worker, ring, clock, SETTINGS, "weekly_summary", find_weekly_summaries)


def queued(owner: psycopg.Connection) -> list[tuple[str, str]]:
    return owner.execute(
        "SELECT recipient, status FROM mail_outbox WHERE kind = 'notice.weekly_summary'"
    ).fetchall()


async def summary(worker: Database, clock: FixedClock) -> str:
    async with worker.transaction(None) as session:
        [[notice]] = await find_weekly_summaries(session, clock.now(), 10)
    assert notice.mail is not None
    assert notice.mail.to == "ana@example.com"
    return notice.mail.text


async def test_the_summary_names_households_and_numbers_but_no_amounts(
    member: None, worker_database: Database, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    await renew_dues(worker_database, clock)
    [(overdue,)] = owner_connection.execute("SELECT overdue_count FROM household_dues").fetchall()
    text = await summary(worker_database, clock)
    assert f"Maria Lopez: {overdue} overdue" in text
    assert "payroll to run for" in text
    assert "$" not in text
    assert "/households?sort=overdue" in text


async def test_each_member_who_chose_it_gets_it_once_a_week(
    member: None,
    worker_database: Database,
    ring: KeyRing,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    await renew_dues(worker_database, clock)
    assert (await send(worker_database, ring, clock)).told == 1
    assert (await send(worker_database, ring, clock)).told == 0
    assert queued(owner_connection) == [("person", "queued")]
    clock.advance(datetime.timedelta(days=1))
    assert (await send(worker_database, ring, clock)).told == 0
    clock.advance(datetime.timedelta(days=6))
    await renew_dues(worker_database, clock)
    assert (await send(worker_database, ring, clock)).told == 1
    owner_connection.execute("UPDATE people SET weekly_summary = false")
    clock.advance(datetime.timedelta(days=7))
    await renew_dues(worker_database, clock)
    assert (await send(worker_database, ring, clock)).told == 0


async def test_it_waits_for_households_that_are_being_checked_until_noon_and_says_so(
    member: None, worker_database: Database, clock: FixedClock
) -> None:
    async with worker_database.transaction(None) as session:
        assert await find_weekly_summaries(session, clock.now(), 10) == []
    clock.advance(datetime.timedelta(hours=4))
    text = await summary(worker_database, clock)
    assert "still being checked" in text
    assert "Nothing is overdue" not in text
