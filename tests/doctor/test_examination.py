"""How the doctor looks: at one moment, changing nothing, telling enough; and what its command prints."""

import os
import subprocess

import orjson
import pytest
from sqlalchemy import text

from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.doctor import examination
from hearthpay.doctor.balance_checks import year_totals
from hearthpay.doctor.escrow_checks import escrow_balances
from hearthpay.doctor.examination import MOST_TOLD, examine, open_for_reading
from tests.doctor.books import Books
from tests.doctor.test_checks import IDS
from tests.worlds.commands import hearthpay_says

BALANCES = text("UPDATE escrow_accounts SET balance = balance + :cents")


def silent(done: int, total: int, name: str) -> None:
    assert done < total


async def test_what_is_written_meanwhile_is_no_difference(books: Books, server: EmbeddedServer):
    database = open_for_reading(server.owner_url(), OWNER_ROLE)
    try:
        async with database.transaction(None) as session:
            before = await examine(session, books.clock.now(), silent, [escrow_balances])
            async with books.owner.transaction(None) as writer:
                await writer.execute(BALANCES, {"cents": 1})
            during = await examine(session, books.clock.now(), silent, [escrow_balances])
        async with database.transaction(None) as session:
            after = await examine(session, books.clock.now(), silent, [escrow_balances])
    finally:
        await database.dispose()
        async with books.owner.transaction(None) as writer:
            await writer.execute(BALANCES, {"cents": -1})
    assert [result[0].found > 0 for result in (before, during, after)] == [False, False, True]


async def test_nothing_can_be_written_while_looking(server: EmbeddedServer, books: Books):
    database = open_for_reading(server.owner_url(), OWNER_ROLE)
    try:
        with pytest.raises(DatabaseUnavailable, match="takes no writes"):
            async with database.transaction(None) as session:
                await session.execute(BALANCES, {"cents": 1})
        async with database.transaction(None) as session:
            # Long enough for every check, and it ends when it is forgotten.
            assert await session.scalar(text("SHOW statement_timeout")) == "12h"
            assert await session.scalar(text("SHOW idle_in_transaction_session_timeout")) == "30min"
            assert await session.scalar(text("SHOW transaction_isolation")) == "repeatable read"
    finally:
        await database.dispose()


async def test_an_examination_that_takes_too_long_gives_its_snapshot_back(
    books: Books, server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(examination, "SNAPSHOT_SECONDS", 0)
    database = open_for_reading(server.owner_url(), OWNER_ROLE)
    try:
        with pytest.raises(DatabaseUnavailable, match="held its snapshot"):
            async with database.transaction(None) as session:
                await examine(session, books.clock.now(), silent, [escrow_balances, escrow_balances])
    finally:
        await database.dispose()


async def test_many_differences_are_counted_and_the_first_are_told(books: Books):
    async with books.owner.transaction(None) as session:
        await session.execute(
            text(
                "INSERT INTO year_balances (organization_id, employer_id, sandbox, employee_id, tax_year, codes, "
                "taxable_wages, amounts, gross_pay, net_pay, employee_taxes, employer_taxes) "
                "SELECT organization_id, employer_id, sandbox, id, year, '{}', '{}', '{}', "
                "7, 0, 0, 0 FROM employees, generate_series(1900, 2000) AS year"
            )
        )
        (result,) = await examine(session, books.clock.now(), silent, [year_totals])
        employees = await session.scalar(text("SELECT count(*) FROM employees"))
        await session.rollback()
    assert result.found == 101 * employees
    assert len(result.differences) == MOST_TOLD
    assert {(each.subject, each.recorded, each.expected) for each in result.differences} == {
        ("employee", "0.07", "0.00")
    }


async def test_progress_names_each_check_before_it_runs(books: Books):
    told = []
    async with books.owner.transaction(None) as session:
        await examine(session, books.clock.now(), lambda *step: told.append(step))
    assert told == [(number, len(IDS), each) for number, each in enumerate(IDS)]


def hearthpay(server: EmbeddedServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command on the tests' own server."""
    return hearthpay_says(
        *arguments, environment={**os.environ, "DATABASE_URL": server.owner_url()}, timeout=60
    )


async def test_the_command_tells_what_differs_and_ends_with_one(books: Books, server: EmbeddedServer):
    # The command asks the real clock, by which what waits in the books may be overdue one day.
    async with books.owner.transaction(None) as session:
        await session.execute(
            text("UPDATE payrolls SET scheduled_send_at = scheduled_send_at + interval '100 years'")
        )
        await session.execute(BALANCES, {"cents": 123})
        account = await session.scalar(text("SELECT min(employee_id::text) FROM escrow_accounts"))
    try:
        printed = hearthpay(server, "doctor")
        as_json = hearthpay(server, "doctor", "--json")
    finally:
        async with books.owner.transaction(None) as session:
            await session.execute(BALANCES, {"cents": -123})
    sound = hearthpay(server, "doctor")
    async with books.owner.transaction(None) as session:
        await session.execute(
            text("UPDATE payrolls SET scheduled_send_at = scheduled_send_at - interval '100 years'")
        )

    assert printed.returncode == 1, printed.stderr
    wrong = [line for line in printed.stdout.splitlines() if line.startswith("WRONG")]
    assert len(wrong) == 1
    assert "escrow_balances" in wrong[0]
    assert f"employee {account}: balance is " in printed.stdout
    assert "figures differ" in printed.stdout
    assert f"{len(IDS)} of {len(IDS)}: {IDS[-1]}" in printed.stderr

    assert as_json.returncode == 1
    document = orjson.loads(as_json.stdout)
    assert document["sound"] is False
    assert [check["name"] for check in document["checks"] if check["found"]] == ["escrow_balances"]
    assert document["checks"][0].keys() == {"name", "law", "found", "differences", "seconds"}

    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert sound.stdout.splitlines()[-1] == "The books are right."
    assert sound.stdout.count("\nok ") + sound.stdout.startswith("ok ") == len(IDS)
