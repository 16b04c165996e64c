"""Bank files over the database: what goes in, what waits, and that a crash sends the same bytes again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import date, datetime

import pytest

from hearthpay.banking.accounts import fail_accounts
from hearthpay.banking.entries import Debit, Refund, collect, pay_out, refund
from hearthpay.banking.files import (
    build_file,
    current_cut_off,
    deliver_files,
    earliest_settlement,
)
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.banking.nacha.records import TransactionCode
from hearthpay.security.file_seal import SealedFile, open_file
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_cipher import UnreadableSecretError
from tests.banking.families import (
    BLACK_FRIDAY,
    FRIDAY,
    MONDAY,
    NET,
    PAYDAY,
    TUESDAY,
    WEDNESDAY,
    add_family,
    at,
    collect_one,
    connect_employee,
    connect_household,
    details,
    move_to,
    pay_all,
    rows,
    statuses,
)
from tests.banking.world import World
from tests.database.damage import without_triggers
from tests.worlds.originator import ORIGINATOR


@pytest.mark.parametrize(
    ("now", "cut_off", "earliest"),
    [
        (at(FRIDAY, 14), date(2026, 11, 19), MONDAY),
        (at(FRIDAY, 15), FRIDAY, MONDAY),
        (at(FRIDAY, 23), FRIDAY, MONDAY),
        # Late, the bank works on the file only on Monday.
        (at(date(2026, 11, 21), 9), FRIDAY, TUESDAY),
        (at(MONDAY, 9), FRIDAY, TUESDAY),
        (at(WEDNESDAY, 15), WEDNESDAY, BLACK_FRIDAY),
        (at(date(2026, 11, 26), 16), WEDNESDAY, PAYDAY),
    ],
)
def test_the_cut_off_and_the_first_settlement(now: datetime, cut_off: date, earliest: date) -> None:
    assert current_cut_off(now) == cut_off
    assert earliest_settlement(now) == earliest


async def test_one_file_carries_everything_that_is_due(world: World) -> None:
    family, chens = await world.family(employees=2), await world.family(last_name="Chen")
    prenoted = add_family(world.owner, last_name="New")
    await connect_household(world.operator, world.ring, prenoted, world.clock.now(), verified=False)
    await connect_employee(
        world.operator,
        world.ring,
        prenoted,
        world.clock.now(),
        details(account_type="savings"),
        verified=False,
    )
    await world.collect(family, chens)
    async with world.worker.transaction(None) as session:
        now = world.clock.now()
        await collect(session, now, [Debit(chens.payroll_id, 77, FRIDAY, MONDAY, attempt=2)])
        await refund(session, now, [Refund(family.paycheck_ids[0], 55, FRIDAY, MONDAY)])
        await pay_out(session, now, family.credits)  # due on Black Friday
    built = await world.build(FRIDAY)
    assert built is not None
    assert (built.name, built.cut_off, built.entries, built.held) == ("hearthpay-20261120.ach", FRIDAY, 6, ())
    assert (built.debit_total, built.credit_total) == (3 * NET + 77, 55)
    file = world.nacha(built)
    content = [
        (batch.description, batch.effective_date, entry.code, entry.amount_cents)
        for batch in file.batches
        for entry in batch.entries
    ]
    assert content == [
        ("FUNDING", MONDAY, TransactionCode.CHECKING_DEBIT_PRENOTE, 0),
        ("FUNDING", MONDAY, TransactionCode.CHECKING_DEBIT, 2 * NET),
        ("FUNDING", MONDAY, TransactionCode.CHECKING_DEBIT, NET),
        ("PAYROLL", MONDAY, TransactionCode.SAVINGS_CREDIT_PRENOTE, 0),
        ("REFUND", MONDAY, TransactionCode.CHECKING_CREDIT, 55),
        ("RETRY PYMT", MONDAY, TransactionCode.CHECKING_DEBIT, 77),
    ]
    entry = file.batches[0].entries[1]
    assert (entry.routing, entry.account, entry.name) == ("021000021", "1234500001", "MARIA LOPEZ")
    assert [each.trace for batch in file.batches for each in batch.entries] == [
        f"12104288000000{number}" for number in range(1, 7)
    ]
    assert rows(
        world.owner, "SELECT status, count(*), count(trace_number) FROM bank_entries GROUP BY 1 ORDER BY 1"
    ) == [("pending", 2, 0), ("sent", 6, 6)]


async def test_every_number_that_is_read_stands_in_the_audit_log_once(world: World) -> None:
    family = await world.family(employees=2)
    await world.collect(family)
    async with world.worker.transaction(None) as session:
        await refund(session, world.clock.now(), [Refund(family.paycheck_ids[0], 55, FRIDAY, MONDAY)])
        await pay_all(session, family, world.clock.now())
    await world.build(BLACK_FRIDAY)
    log = rows(
        world.owner,
        "SELECT actor_kind, subject_id, details->>'kind', details->>'purpose' FROM audit_log "
        "WHERE action = 'vault.read' ORDER BY subject_id, 3",
    )
    assert sorted(log, key=str) == sorted(
        (
            ("system", subject, kind, "banking.nacha_file")
            for subject in (family.employer_id, *family.employee_ids)
            for kind in ("bank_account", "bank_routing")
        ),
        key=str,
    )


async def test_wages_are_effective_on_payday_also_when_sent_early(world: World) -> None:
    family = await world.family()
    world.owner.execute("SELECT 1")
    await world.pay(family)
    world.owner.execute("UPDATE bank_entries SET send_on = %s", (WEDNESDAY,))
    file = world.nacha(await world.build(WEDNESDAY))
    assert [(batch.description, batch.effective_date) for batch in file.batches] == [("PAYROLL", PAYDAY)]
    assert rows(world.owner, "SELECT status, effective_date FROM bank_entries") == [("sent", PAYDAY)]


async def test_a_late_file_settles_on_the_first_day_that_it_can(world: World) -> None:
    family = await world.family()
    await world.collect(family)
    built = await world.build(MONDAY, 9)
    assert built is not None
    assert built.cut_off == FRIDAY
    assert [batch.effective_date for batch in world.nacha(built).batches] == [TUESDAY]


async def test_before_the_cut_off_and_with_nothing_due_there_is_no_file(world: World) -> None:
    family = await world.family()
    assert await world.build(FRIDAY, 15) is None
    await world.pay(family)
    assert await world.build(MONDAY, 15) is None
    move_to(world.clock, BLACK_FRIDAY, 14)
    assert await world.build(BLACK_FRIDAY, 14) is None
    assert await world.build(BLACK_FRIDAY, 15) is not None
    assert rows(world.owner, "SELECT cut_off FROM bank_files") == [(BLACK_FRIDAY,)]


async def test_a_cut_off_has_one_file_and_what_comes_later_waits_for_the_next(world: World) -> None:
    first, second = await world.family(), await world.family(last_name="Chen")
    await world.collect(first)
    assert await world.build(FRIDAY) is not None
    await world.collect(second)
    assert await world.build(FRIDAY, 16) is None
    built = await world.build(MONDAY)
    assert built is not None
    assert built.entries == 1
    [batch] = world.nacha(built).batches
    assert batch.effective_date == TUESDAY
    assert batch.entries[0].trace == "121042880000002"


async def test_the_files_made_on_one_day_are_told_apart(world: World) -> None:
    """Friday's file, made late on Monday morning, and Monday's own; on Tuesday it begins again."""
    families = [await world.family(last_name=name) for name in ("Chen", "Smith", "Lopez")]
    await world.collect(families[0])
    late = world.nacha(await world.build(MONDAY, 9))
    for family, day in zip(families[1:], (MONDAY, TUESDAY), strict=True):
        async with world.worker.transaction(None) as session:
            await collect(
                session, world.clock.now(), [replace(family.debit, send_on=day, settle_on=WEDNESDAY)]
            )
    own = world.nacha(await world.build(MONDAY))
    next_day = world.nacha(await world.build(TUESDAY))
    assert [file.modifier for file in (late, own, next_day)] == ["A", "B", "A"]
    assert late.created_at.date() == own.created_at.date()


async def test_workers_at_once_build_one_file(world: World) -> None:
    families = [await world.family(last_name=f"Family {letter}") for letter in "ABCDEF"]
    await world.collect(*families)
    move_to(world.clock, FRIDAY)
    built = await asyncio.gather(
        *(build_file(world.worker, world.ring, ORIGINATOR, world.clock) for _ in range(8))
    )
    assert [each.entries for each in built if each is not None] == [6]
    assert rows(world.owner, "SELECT count(*), count(DISTINCT trace_number) FROM bank_entries") == [(6, 6)]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("DELETE FROM vault WHERE owner_id = %(employee)s AND kind = 'bank_account'", "holds no number"),
        (
            "UPDATE vault SET key_id = 'lost' WHERE owner_id = %(employee)s AND kind = 'bank_routing'",
            "key 'lost' is not in the key ring",
        ),
        (
            "UPDATE vault SET ciphertext = overlay(ciphertext placing '\\x00' from 1) WHERE owner_id = %(employee)s",
            "does not decrypt",
        ),
        (
            "UPDATE employees SET first_name = '李', last_name = '明' WHERE id = %(employee)s",
            "the name has no letter",
        ),
        (
            "UPDATE employees SET first_name = '(', last_name = ')' WHERE id = %(employee)s",
            "name: must have a letter",
        ),
        ("UPDATE bank_accounts SET status = 'failed' WHERE employee_id = %(employee)s", "account is failed"),
        (
            "UPDATE bank_accounts SET status = 'verifying' WHERE employee_id = %(employee)s",
            "account is verifying",
        ),
        (
            "UPDATE bank_accounts SET status = 'replaced' WHERE employee_id = %(employee)s",
            "account is replaced",
        ),
    ],
)
async def test_an_entry_that_cannot_go_waits_and_holds_nothing_back(
    world: World, damage: str, reason: str
) -> None:
    good, bad = await world.family(employees=2), await world.family(last_name="Chen", employees=2)
    await world.pay(good, bad)
    with without_triggers(world.owner):
        world.owner.execute(damage, {"employee": bad.employee_ids[0]})  # type: ignore[call-overload]
    built = await world.build(BLACK_FRIDAY)
    assert built is not None
    assert built.entries == 3
    [held] = built.held
    assert reason in held.hold.reason
    assert len(world.nacha(built).batches[0].entries) == 3
    noted = "SELECT id, held_reason, hold_code, held_since FROM bank_entries WHERE held_reason IS NOT NULL"
    assert rows(world.owner, noted) == [(held.entry_id, held.hold.reason, held.hold.code, world.clock.now())]
    assert rows(world.owner, "SELECT paycheck_id, id FROM bank_entries WHERE status = 'pending'") == [
        (bad.paycheck_ids[0], held.entry_id)
    ]
    # Once the employee has entered an account and a name that banks can read, the wages go.
    world.owner.execute("UPDATE employees SET first_name = 'Ming', last_name = 'Li'")
    await connect_employee(world.operator, world.ring, bad, world.clock.now(), details("4444555566"))
    later = await world.build(PAYDAY)
    assert later is not None
    assert (later.entries, later.held) == (1, ())
    assert world.nacha(later).batches[0].entries[0].account == "4444555566"


async def test_a_cut_off_where_everything_waits_makes_no_file(world: World) -> None:
    family = await world.family()
    account = await connect_employee(world.operator, world.ring, family, world.clock.now())
    await world.pay(family)
    async with world.worker.transaction(None) as session:
        await fail_accounts(session, world.clock.now(), {account.id: "closed"})
    built = await world.build(BLACK_FRIDAY)
    assert built is not None
    assert (built.id, built.entries, len(built.held)) == (None, 0, 1)
    assert rows(world.owner, "SELECT count(*) FROM bank_files") == [(0,)]


async def test_sandbox_money_never_enters_a_file(world: World) -> None:
    real, sandbox = await world.family(), await world.family(last_name="Play", sandbox=True)
    await world.collect(real, sandbox)
    built = await world.build(FRIDAY)
    assert built is not None
    assert built.entries == 1
    await world.build(MONDAY)
    assert rows(world.owner, "SELECT status FROM bank_entries WHERE sandbox") == [("pending",)]


async def test_trace_numbers_start_again_before_they_would_run_out(world: World) -> None:
    family = await world.family(employees=3)
    world.owner.execute("INSERT INTO bank_trace_numbers VALUES ('12104288', 9999997)")
    await world.pay(family)
    entries = world.nacha(await world.build(BLACK_FRIDAY)).batches[0].entries
    assert [entry.trace[8:] for entry in entries] == ["0000001", "0000002", "0000003"]
    assert rows(world.owner, "SELECT last_used FROM bank_trace_numbers") == [(3,)]


async def test_the_file_lies_sealed_in_the_database(world: World) -> None:
    family = await world.family()
    await world.collect(family)
    built = await world.build(FRIDAY)
    assert built is not None
    content = world.content(built)
    assert b"1234500001" in content
    [(sealed, nonce, key)] = rows(world.owner, "SELECT sealed_content, nonce, key_id FROM bank_files")
    assert b"1234500001" not in sealed
    assert built.id is not None
    for file_id, name, ring in (
        (family.payroll_id, built.name, world.ring),
        (built.id, "another.ach", world.ring),
        (built.id, built.name, KeyRing((EncryptionKey(key, b"\1" * 31 + b"\2"),))),
    ):
        with pytest.raises(UnreadableSecretError):
            open_file(ring, file_id, name, SealedFile(sealed, nonce, key))


async def test_files_are_delivered_once_in_order(world: World, tmp_path) -> None:
    gateway = folder_gateway(tmp_path)
    family, chens = await world.family(), await world.family(last_name="Chen")
    await world.collect(family)
    first = await world.build(FRIDAY)
    await world.collect(chens)
    second = await world.build(MONDAY)
    assert first is not None
    assert second is not None
    delivered = await deliver_files(world.worker, world.ring, gateway, world.clock)
    assert delivered == (first.name, second.name)
    assert (tmp_path / "outbox" / first.name).read_bytes() == world.content(first)
    assert await deliver_files(world.worker, world.ring, gateway, world.clock) == ()
    assert rows(world.owner, "SELECT DISTINCT status, delivered_at FROM bank_files") == [
        ("delivered", world.clock.now())
    ]


class DiedError(Exception):
    """The process dies."""


@dataclass
class DyingGateway:
    """Delivers to the real gateway, and dies before or after."""

    gateway: object
    after: bool
    seen: list[bytes]

    async def deliver(self, name: str, content: bytes) -> None:
        self.seen.append(content)
        if self.after:
            await self.gateway.deliver(name, content)  # type: ignore[attr-defined]
        raise DiedError


@pytest.mark.parametrize("after", [True, False])
async def test_a_crash_around_the_delivery_sends_the_same_bytes_again(
    world: World, tmp_path, after: bool
) -> None:
    gateway = folder_gateway(tmp_path)
    await world.collect(await world.family())
    built = await world.build(FRIDAY)
    assert built is not None
    dying = DyingGateway(gateway, after, [])
    with pytest.raises(DiedError):
        await deliver_files(world.worker, world.ring, dying, world.clock)
    assert rows(world.owner, "SELECT status FROM bank_files") == [("built",)]
    move_to(world.clock, MONDAY, 9)
    assert await deliver_files(world.worker, world.ring, gateway, world.clock) == (built.name,)
    assert [path.name for path in (tmp_path / "outbox").iterdir()] == [built.name]
    assert (tmp_path / "outbox" / built.name).read_bytes() == dying.seen[0]


async def test_a_failure_in_the_middle_leaves_everything_to_be_sent(world: World) -> None:
    """The database refuses the file's row: no entry is marked, no trace number used, no reading logged."""
    await world.collect(await world.family())
    world.owner.execute("ALTER TABLE bank_files ADD CONSTRAINT no_room CHECK (entries < 0) NOT VALID")
    try:
        with pytest.raises(Exception, match="no_room"):
            await world.build(FRIDAY)
    finally:
        world.owner.execute("ALTER TABLE bank_files DROP CONSTRAINT no_room")
    assert set(statuses(world.owner).values()) == {"pending"}
    assert rows(world.owner, "SELECT count(*) FROM bank_trace_numbers") == [(0,)]
    assert rows(world.owner, "SELECT count(*) FROM audit_log WHERE action = 'vault.read'") == [(0,)]
    built = await world.build(FRIDAY, 16)
    assert built is not None
    assert built.entries == 1


async def test_an_entry_taken_in_after_the_lock_waits(world: World) -> None:
    family, late = await world.family(), await world.family(last_name="Late")
    await world.collect(family)
    async with world.worker.transaction(None) as session:
        await collect_one(session, late, world.clock.now())
        built = await world.build(FRIDAY)
    assert built is not None
    assert built.entries == 1
    assert rows(world.owner, "SELECT count(*) FROM bank_entries WHERE status = 'pending'") == [(1,)]
