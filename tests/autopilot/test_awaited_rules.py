"""Operators are told of pay dates under rules that are not final: when, how often, and until when."""

import datetime
import re
from pathlib import Path

import psycopg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from structlog.testing import capture_logs

from hearthpay.database.session import Database
from hearthpay.languages.catalogue import say_in
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.provisional_law.notices import (
    headline,
    notify_of_provisional_rules,
    provisional_rules_mail,
)
from hearthpay.payroll.provisional_law.pay_dates import (
    Pieces,
    ProvisionalPayDates,
    ProvisionalRules,
    find_provisional,
    read_provisional_rules,
)
from hearthpay.people.recipients import NoticeReader
from tests.autopilot.pilot import Pilot
from tests.worlds.rule_editions import edition, unpublished_program

DESK = NotificationSettings(sends=True, operator="ops@example.com")
DECEMBER = datetime.date(2026, 12, 1)


async def tell(pilot: Pilot, day: str, hour: int = 12) -> int:
    pilot.town.go_to(day, hour)
    return await notify_of_provisional_rules(pilot.town.worker, pilot.town.ring, pilot.town.clock, DESK)


async def awaited(pilot: Pilot, day: str) -> ProvisionalRules:
    async with pilot.town.worker.transaction(None) as session:
        return await read_provisional_rules(session, datetime.date.fromisoformat(day))


async def test_nothing_is_told_before_december_where_the_next_pay_date_is_final(pilot: Pilot) -> None:
    await pilot.enroll()
    assert await tell(pilot, "2026-11-23") == 0
    assert not await awaited(pilot, "2026-11-30")


async def test_told_from_december_once_then_weekly_and_logged_daily(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    told = []
    logged = []
    for day in range(1, 17):
        for hour in (9, 10, 15):
            with capture_logs() as logs:
                told += [day] * await tell(pilot, f"2026-12-{day:02}", hour)
            logged += [day for each in logs if each["event"] == "pay dates under rules that are not final"]
    assert told == [1, 8, 15]
    assert logged == list(range(1, 17))
    rows = owner_connection.execute(
        "SELECT recipient, status, organization_id FROM mail_outbox WHERE kind = 'notice.awaited_rules'"
    ).fetchall()
    assert rows == [("operator", "queued", None)] * 3


async def test_people_who_operate_are_written_to_in_their_language_and_once(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    for name, operates in (("ops", True), ("ada", True), ("eva", False)):
        owner_connection.execute(
            "INSERT INTO people (id, email, name, language, created_at, updated_at, operator_since) "
            "VALUES (gen_random_uuid(), %s, %s, 'es', now(), now(), CASE WHEN %s THEN now() END)",
            (f"{name}@example.com", name, operates),
        )
    assert await tell(pilot, "2026-12-01") == 2


async def test_a_pay_date_within_45_days_counts_at_any_time(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    owner_connection.execute("UPDATE autopilot_enrollments SET next_pay_date = '2027-01-04'")
    assert not await awaited(pilot, "2026-11-19")
    assert (await awaited(pilot, "2026-11-20")).provisional == Pieces(enrollments=1)
    assert (await awaited(pilot, "2027-01-02")).provisional == Pieces(enrollments=1)


async def test_what_is_paused_or_a_sandboxs_does_not_count(
    pilot: Pilot, sandbox_pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await sandbox_pilot.enroll()
    assert not await awaited(pilot, "2026-12-01")
    await pilot.enroll()
    assert (await awaited(pilot, "2026-12-01")).all == Pieces(enrollments=1)
    await pilot.ask("pause")
    assert not await awaited(pilot, "2026-12-01")


async def test_a_scheduled_payroll_counts_once(pilot: Pilot, owner_connection: psycopg.Connection) -> None:
    await pilot.enroll()
    pilot.town.go_to("2026-11-27", 15)
    await pilot.generate()
    owner_connection.execute("UPDATE payrolls SET pay_date = '2027-01-04' WHERE status = 'scheduled'")
    found = await awaited(pilot, "2026-11-23")
    assert found.all == Pieces(payrolls=1)
    assert {each.jurisdiction for each in found.jurisdictions} >= {"US"}


async def test_silent_once_an_edition_makes_everything_final(pilot: Pilot, tmp_path: Path) -> None:
    await pilot.enroll()
    names = ("2027/us.toml", "2027/states/CA.toml", "2027/local/CA.toml")
    assert await tell(pilot, "2026-12-01") == 1
    with edition(tmp_path, *((name, carried) for name in names if carried_file(name))):
        assert not await awaited(pilot, "2026-12-02")
        assert await tell(pilot, "2026-12-20") == 0
    assert await tell(pilot, "2026-12-20") == 1


def carried_file(name: str) -> bool:
    from hearthpay.taxes.rulebook import RULES

    return (RULES / name).is_file()


def carried(content: str) -> str:
    """Let every line that a file speaks of be carried on by the law."""
    head, *tables = re.split(r"(?m)^(?=\[\[finality\]\])", content)
    for place, table in enumerate(tables):
        table = re.sub(r'(?m)^status = ".*"$', 'status = "carried"', table)
        tables[place] = re.sub(r"(?m)^(figures|awaited) = .*\n", "", table)
    return head + "".join(tables)


def test_without_rules_or_with_an_unknown_line_it_is_held(tmp_path: Path) -> None:
    found = find_provisional(
        [
            ProvisionalPayDates("payroll", 2031, ("CA",), 2),
            ProvisionalPayDates("enrollment", 2026, ("CA",), 5),
        ],
        DECEMBER,
    )
    assert (found.held, found.provisional, found.years) == (Pieces(payrolls=2), Pieces(), (2031,))
    new = unpublished_program("CA-NEW-EE", "ca-edd", "2027-01-01")
    ahead = [
        ProvisionalPayDates("enrollment", 2027, ("CA",), 3),
        ProvisionalPayDates("payroll", 2027, ("CA", "NY"), 2),
    ]
    ahead.append(ProvisionalPayDates("payroll", 2027, ("NY",), 1))
    before = find_provisional(ahead, DECEMBER)
    assert before.held == Pieces()
    with edition(tmp_path, ("2027/states/CA.toml", new)):
        after = find_provisional(ahead, DECEMBER)
    assert after.held == Pieces(3, 2)
    assert after.provisional == Pieces(0, 1)
    assert after.key != before.key
    counts = {each.jurisdiction: (each.status, each.pieces) for each in after.jurisdictions}
    assert counts["CA"] == ("held", Pieces(3, 2))
    assert counts["US"] == ("provisional", Pieces(3, 3))
    assert "2027-03" in next(each.months for each in after.jurisdictions if each.jurisdiction == "CA")


def test_the_mail_says_how_many_and_what_to_do() -> None:
    found = find_provisional(
        [
            ProvisionalPayDates("enrollment", 2027, ("CA",), 2),
            ProvisionalPayDates("payroll", 2031, ("CA",), 1),
        ],
        DECEMBER,
    )
    mail = provisional_rules_mail(NoticeReader("ops@example.com"), found)
    assert "2 enrollments and 1 scheduled payroll have pay dates under rules that are not final." in mail.text
    assert "pip install --upgrade hearthpay" in mail.text
    assert "hearthpay rules" in mail.text
    spanish = provisional_rules_mail(NoticeReader("ops@example.com", "es"), found)
    assert headline(say_in("es"), found) in spanish.text
    assert "2 inscripciones y 1 nómina programada" in spanish.text


async def test_it_is_read_by_its_indexes(owner_database: Database) -> None:
    """The function is planned within the query that asks it, and each of its conditions has an index of its own."""

    async def plan_of(session: AsyncSession, query: str) -> str:
        return "\n".join(await session.scalars(text(f"EXPLAIN {query}")))

    async def leave_only(session: AsyncSession, table: str, index: str) -> None:
        """Drop the table's other indexes, until the transaction ends: with few rows any of them costs the same."""
        others = await session.scalars(
            text(
                "SELECT indexrelid::regclass::text FROM pg_index "
                "WHERE indrelid = CAST(:table AS regclass) AND indexrelid <> CAST(:index AS regclass) "
                "AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
            ),
            {"table": table, "index": index},
        )
        for other in others.all():
            await session.execute(text(f"DROP INDEX {other}"))

    async with owner_database.transaction(None) as session:
        await session.execute(text("SET LOCAL enable_seqscan = off"))
        whole = await plan_of(session, "SELECT * FROM pay_dates_ahead('2026-11-23', '2027-01-07', false)")
        await leave_only(session, "autopilot_enrollments", "autopilot_enrollments_pay_date_idx")
        enrollments = await plan_of(
            session,
            "SELECT employee_id FROM autopilot_enrollments "
            "WHERE status = 'active' AND NOT sandbox AND next_pay_date <= '2027-01-07'",
        )
        await leave_only(session, "payrolls", "payrolls_scheduled_idx")
        payrolls = await plan_of(
            session,
            "SELECT id FROM payrolls WHERE status = 'scheduled' AND NOT sandbox AND pay_date <= '2027-01-07'",
        )
        await session.rollback()
    assert "Function Scan" not in whole
    assert "autopilot_enrollments_pay_date_idx" in enrollments
    assert "payrolls_scheduled_idx" in payrolls
