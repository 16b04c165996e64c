"""Wages never leave while a return of their debit lies unread at the bank, and no file keeps others from being paid.

The debits leave on Friday, November 20, and count as collected on Wednesday; the deposits leave on Friday, November 27.
A household that runs its payroll after the file has come isn't held by it.
"""

from __future__ import annotations

import os
from dataclasses import replace

import psycopg
import pytest

from hearthpay.banking.gateways.gateway import LARGEST_FILE
from hearthpay.database.session import Database
from hearthpay.doctor.exposure import open_cases
from hearthpay.doctor.reconciliation import reconcile
from tests.cases import every_case
from tests.http.api import Account
from tests.lifecycle.unread import (
    damaged,
    debit_of,
    finish,
    leave,
    open_files,
    return_of,
    run_of,
    set_all_aside,
    wages_left,
)
from tests.worlds.town import Town, rows

HOSTILE_NAMES = (
    b"RETURNS.ACH",
    b"back\\slash.ach",
    b"latin-\xe9",
    b"-rf",
    b"new\nline",
    b"a" * 255,
    b"\xc3" * 180,
    "\u202etxt".encode(),
)


async def test_a_record_that_does_not_fit_holds_its_debit_alone(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
) -> None:
    """Eight households in one week, each returned in its own way; the good returns count at once."""
    owner = owner_connection
    paid = {name: await run_of(town, account.live, 10 + hour) for hour, name in enumerate(HELD)}
    taken = {name: await run_of(town, account.live, 30 + hour) for hour, name in enumerate(TAKEN)}
    _, bystander = await run_of(town, account.live, 40)
    town.go_to("2026-11-20")
    await town.work()
    town.go_to("2026-11-24", 8)
    for name, (_, payroll_id) in {**paid, **taken}.items():
        leave(town, *(HELD | TAKEN)[name](town, owner, payroll_id))
    await town.work()
    with every_case() as case:
        for name, (_, payroll_id) in taken.items():
            with case(name):
                assert debit_of(owner, payroll_id) == "returned"
    for day in ("2026-11-25", "2026-11-27", "2026-11-30"):
        town.go_to(day)
        report = await town.work()
        assert len([each for each in report.problems if "is not read" in each]) == len(HELD)
    with every_case() as case:
        for name, (_, payroll_id) in paid.items():
            with case(name):
                assert debit_of(owner, payroll_id) == "sent"
    assert wages_left(owner, bystander)
    files = await open_files(owner_database)
    assert {each.payments for each in files} == {1}
    assert not any(each.holds_all for each in files)
    assert await set_all_aside(owner_database, town) == len(HELD)
    assert rows(owner, "SELECT count(*) FROM audit_log WHERE action = 'bank_entry.release'") == [(len(HELD),)]
    await town.work()
    assert list((town.outbox / "inbox").iterdir()) == []
    town.go_to("2026-12-01")
    await town.work()
    assert all(wages_left(owner, payroll_id) for _, payroll_id in paid.values())
    assert not any(wages_left(owner, payroll_id) for _, payroll_id in taken.values())


HELD = {
    "another amount": lambda town, owner, payroll: (
        "amount.ach",
        return_of(
            town,
            owner,
            payroll,
            change=lambda each: replace(each, amount_cents=each.amount_cents + 90_000_000),
        ),
    ),
    "another account": lambda town, owner, payroll: (
        "account.ach",
        return_of(town, owner, payroll, change=lambda each: replace(each, account="55566677")),
    ),
    "another company": lambda town, owner, payroll: (
        "company.ach",
        return_of(town, owner, payroll, company_id="9999999999"),
    ),
    "a class of its own": lambda town, owner, payroll: (
        "iat.ach",
        return_of(town, owner, payroll).replace(b"PPD", b"IAT"),
    ),
    "a code between banks": lambda town, owner, payroll: (
        "dispute.ach",
        return_of(town, owner, payroll, "R69"),
    ),
    "a code that is none": lambda town, owner, payroll: (
        "code.ach",
        return_of(town, owner, payroll).replace(b"799R01", b"799X01"),
    ),
    "a trace number that is not ours": lambda town, owner, payroll: (
        "trace.ach",
        return_of(town, owner, payroll).replace(b"799R0112104288", b"799R0199999999"),
    ),
    "no trace number": lambda town, owner, payroll: (
        "blank.ach",
        return_of(town, owner, payroll).replace(b"799R0112104288", b"799R01        "),
    ),
}
TAKEN = {
    "one line": lambda town, owner, payroll: (
        "unbroken.ach",
        return_of(town, owner, payroll, "R02").replace(b"\n", b""),
    ),
    "CRLF": lambda town, owner, payroll: (
        "crlf.ach",
        return_of(town, owner, payroll, "R02").replace(b"\n", b"\r\n"),
    ),
    "EBCDIC": lambda town, owner, payroll: (
        "RETURNS.ACH",
        return_of(town, owner, payroll, "R02").replace(b"\n", b"").decode().encode("cp037"),
    ),
    "a hostile name": lambda town, owner, payroll: (b"\xff\\..\n", return_of(town, owner, payroll, "R02")),
}


WHOLE = {
    "cut": lambda town, content: leave(town, "cut.ach", content[: len(content) // 2]),
    "empty": lambda town, content: leave(town, "empty.ach", b""),
    "altered": lambda town, content: leave(town, "altered.ach", content.replace(b"9000001", b"9000002", 1)),
    "encrypted": lambda town, content: leave(town, b"\xffpgp\\", b"\x85\x01" + bytes(range(256)) * 3),
    "link": lambda town, content: _link(town, content),
    "too large": lambda town, content: _large(town),
    "being written": lambda town, content: leave(town, "returns.ach.part", content),
}


def _link(town: Town, content: bytes) -> None:
    (town.outbox / "elsewhere").write_bytes(content)
    (town.outbox / "inbox" / "link.ach").symlink_to("../elsewhere")


def _large(town: Town) -> None:
    leave(town, "large.ach", b"")
    os.truncate(town.outbox / "inbox" / "large.ach", LARGEST_FILE + 1)


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("arrives", ["2026-11-24", "2026-11-27"])
async def test_a_file_that_cannot_be_read_holds_all_that_was_presented_before(
    town: Town,
    account: Account,
    owner_connection: psycopg.Connection,
    owner_database: Database,
    kind: str,
    arrives: str,
) -> None:
    """It comes before the debit counts as collected, or after that and before the deposits leave."""
    owner = owner_connection
    _, returned = await run_of(town, account.live, 20)
    town.go_to("2026-11-20")
    await town.work()
    if arrives == "2026-11-27":
        town.go_to("2026-11-25")
        await town.work()
        assert debit_of(owner, returned) == "settled"
    town.go_to(arrives, 8)
    content = return_of(town, owner, returned, "R10")
    WHOLE[kind](town, content)
    await town.work()
    _, bystander = await run_of(town, account.live, 30)
    for day in ("2026-11-25", "2026-11-27", "2026-11-30", "2026-12-01"):
        if day >= arrives:
            town.go_to(day)
            report = await town.work()
            assert report.problems
    assert not wages_left(owner, returned)
    if kind == "being written":
        finish(town, "returns.ach.part", "returns.ach")
        await town.work()
        assert debit_of(owner, returned) == "returned"
        return
    [file] = await open_files(owner_database)
    assert (file.holds_all, file.payments, file.households) == (True, 1, 1)
    async with owner_database.transaction(None) as session:
        [case] = [each for each in await open_cases(session, town.clock.now()) if each.kind == "file_unread"]
        found = await reconcile(session, town.ring, town.clock.now())
    assert (case.id, case.amount, case.employer_id) == (file.id, file.amount, None)
    assert (found.wrong, "file_unread" in {each.check for each in found.findings}) == ((), True)
    days = {"2026-11-24": ("2026-12-01",), "2026-11-27": ("2026-12-02", "2026-12-03", "2026-12-04")}[arrives]
    for day in days:
        town.go_to(day)
        await town.work()
    assert wages_left(owner, bystander), "it was presented after the file came"
    leave(town, "good.ach", content)
    await town.work()
    assert debit_of(owner, returned) == "returned"


async def test_a_file_that_is_whole_at_last_ends_the_hold_of_its_beginning(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
) -> None:
    _, returned = await run_of(town, account.live, 20)
    _, other = await run_of(town, account.live, 21)
    town.go_to("2026-11-20")
    await town.work()
    town.go_to("2026-11-24", 8)
    content = return_of(town, owner_connection, returned, "R02")
    leave(town, "RETURNS.ACH", content[:500])
    await town.work()
    assert len(await open_files(owner_database)) == 1
    leave(town, "RETURNS.ACH", content)
    await town.work()
    assert await open_files(owner_database) == []
    assert debit_of(owner_connection, returned) == "returned"
    # The next day's file under the same name: another content that can't be read, and then is replaced by a third.
    town.go_to("2026-11-25", 8)
    lost = return_of(town, owner_connection, other)
    leave(town, "RETURNS.ACH", lost.replace(b"9000001", b"9000002", 1))
    await town.work()
    leave(town, "RETURNS.ACH", return_of(town, owner_connection, returned, "R02"))
    town.go_to("2026-11-27")
    await town.work()
    assert (debit_of(owner_connection, other), len(await open_files(owner_database))) == ("sent", 1)


async def test_the_operator_is_told_of_an_unread_file_each_banking_day(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
) -> None:
    await run_of(town, account.live, 20)
    town.go_to("2026-11-20")
    await town.work()
    town.go_to("2026-11-24", 8)
    leave(town, "a.ach", b"nothing of a bank")
    for day in ("2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"):
        for hour in (9, 16):
            town.go_to(day, hour)
            await town.work()
    told = rows(owner_connection, "SELECT count(*) FROM mail_outbox WHERE kind = 'notice.file_unread'")
    assert told == [(3,)], "not on Thanksgiving, nor on Saturday"
    await set_all_aside(owner_database, town)
    town.go_to("2026-11-30")
    assert (await town.work()).problems == ()
    assert told == rows(
        owner_connection, "SELECT count(*) FROM mail_outbox WHERE kind = 'notice.file_unread'"
    )


async def _names_and_damages(
    town: Town, account: Account, owner: psycopg.Connection, owner_database: Database, count: int
) -> None:
    """Files of hostile names and damaged contents: wages never leave before their return, a bystander's do."""
    _, returned = await run_of(town, account.live, 20)
    town.go_to("2026-11-20")
    await town.work()
    town.go_to("2026-11-24", 8)
    content = return_of(town, owner, returned, "R10")
    for seed in range(count):
        name = HOSTILE_NAMES[seed % len(HOSTILE_NAMES)][:240] + b"%d" % seed
        leave(town, name, damaged(content, seed))
    await town.work()
    _, bystander = await run_of(town, account.live, 30)
    status = debit_of(owner, returned)
    assert status == "returned" or await open_files(owner_database)
    for day in ("2026-11-24", "2026-11-25", "2026-11-27", "2026-11-30", "2026-12-01"):
        town.go_to(day)
        await town.work()
        assert not wages_left(owner, returned)
    assert wages_left(owner, bystander)


async def test_hostile_names_and_damaged_contents_keep_nobody_from_being_paid(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
) -> None:
    await _names_and_damages(town, account, owner_connection, owner_database, 32)


@pytest.mark.long
async def test_three_hundred_hostile_names_and_damaged_contents(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_database: Database
) -> None:
    await _names_and_damages(town, account, owner_connection, owner_database, 300)
