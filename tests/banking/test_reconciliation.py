"""Reconciliation: silent over what is in order, and for every damage the one finding that tells it."""

from __future__ import annotations

from datetime import date

import pytest
from sqlalchemy import text

from hearthpay.banking.corrections import correct_account
from hearthpay.banking.entries import Debit, collect
from hearthpay.banking.files import BuiltFile
from hearthpay.banking.gateways.gateway import IncomingFile
from hearthpay.banking.intake import take_in
from hearthpay.banking.nacha.returns import AccountCorrection, Rejection, build_returns
from hearthpay.banking.settlement import settle_credits, settle_debits
from hearthpay.doctor.reconciliation import Reconciliation, reconcile
from hearthpay.security.file_seal import seal_file
from tests.banking.families import (
    BLACK_FRIDAY,
    FRIDAY,
    MONDAY,
    NET,
    PAYDAY,
    TUESDAY,
    WEDNESDAY,
    Family,
    add_family,
    at,
    connect_household,
    rows,
)
from tests.banking.world import World
from tests.database.damage import without_triggers


async def look(world: World) -> Reconciliation:
    async with world.operator.transaction(None) as session:
        return await reconcile(session, world.ring, world.clock.now())


async def week(world: World) -> tuple[Family, BuiltFile, BuiltFile]:
    """Two households' payrolls, collected and paid, beside a third whose account is only tried."""
    family, chens = await world.family(employees=2), await world.family(last_name="Chen")
    waiting = add_family(world.owner, last_name="New")
    await connect_household(world.operator, world.ring, waiting, world.clock.now(), verified=False)
    await world.collect(family, chens)
    first = await world.build(FRIDAY)
    async with world.worker.transaction(None) as session:
        await settle_debits(session, at(WEDNESDAY))
    world.owner.execute("UPDATE payrolls SET status = 'processing' WHERE status = 'pending_funding'")
    await world.pay(family, chens)
    second = await world.build(BLACK_FRIDAY)
    async with world.worker.transaction(None) as session:
        await settle_credits(session, at(PAYDAY))
    assert first is not None
    assert second is not None
    return family, first, second


async def test_what_is_in_order_is_passed_over_in_silence(world: World) -> None:
    await week(world)
    progress: list[tuple[int, int]] = []
    async with world.operator.transaction(None) as session:
        result = await reconcile(
            session, world.ring, world.clock.now(), lambda done, total: progress.append((done, total))
        )
    assert result == Reconciliation(2, 6, ())
    assert progress == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("damage", "checks"),
    [
        ("UPDATE bank_files SET debit_total = debit_total + 1 WHERE id = %(first)s", ["debit_total"]),
        ("UPDATE bank_files SET credit_total = credit_total + 1 WHERE id = %(second)s", ["credit_total"]),
        ("UPDATE bank_files SET entries = entries + 1 WHERE id = %(first)s", ["entry_count"]),
        ("UPDATE bank_files SET sha256 = sha256(sealed_content) WHERE id = %(first)s", ["file_changed"]),
        ("UPDATE bank_files SET name = 'other.ach' WHERE id = %(first)s", ["file_unreadable"]),
        ("UPDATE bank_files SET key_id = 'lost' WHERE id = %(second)s", ["file_unreadable"]),
        (
            "UPDATE bank_entries SET effective_date = '2026-12-01' WHERE paycheck_id = %(paycheck)s",
            ["entry_differs"],
        ),
        (
            "UPDATE bank_entries SET trace_number = '121042880009999' WHERE paycheck_id = %(paycheck)s",
            ["entry_differs", "entry_unknown"],
        ),
        ("DELETE FROM bank_entries WHERE kind = 'prenote'", ["entry_unknown"]),
        (
            "UPDATE bank_entries SET amount = amount + 1 WHERE kind = 'debit' AND payroll_id = %(payroll)s",
            ["entry_differs", "debit_differs"],
        ),
        (
            "UPDATE bank_entries SET amount = amount - 1 WHERE paycheck_id = %(paycheck)s",
            ["entry_differs", "credit_differs"],
        ),
        (
            "UPDATE bank_entries SET status = 'pending' WHERE paycheck_id = %(paycheck)s",
            ["not_sent"],
        ),
        (
            """
            INSERT INTO bank_entries SELECT r.* FROM bank_entries o, jsonb_populate_record(o, jsonb_build_object(
                'id', new_id(), 'kind', 'refund', 'status', 'pending', 'file_id', NULL, 'trace_number', NULL,
                'amount', 5)) r WHERE o.paycheck_id = %(paycheck)s
            """,
            ["refund_differs"],
        ),
    ],
)
async def test_every_damage_is_found(world: World, damage: str, checks: list[str]) -> None:
    family, first, second = await week(world)
    with without_triggers(world.owner):
        world.owner.execute(
            damage,  # type: ignore[call-overload]
            {
                "first": first.id,
                "second": second.id,
                "paycheck": family.paycheck_ids[0],
                "payroll": family.payroll_id,
            },
        )
    findings = (await look(world)).findings
    assert [finding.check for finding in findings] == checks
    assert all(finding.expected != finding.found for finding in findings)


async def test_a_tampered_file_is_found_line_and_all(world: World) -> None:
    """Somebody who has the key and the database still cannot write another amount into the file unseen."""
    _, first, _ = await week(world)
    content = world.content(first).replace(b"0000093800", b"0000093801", 1)
    assert first.id is not None
    sealed = seal_file(world.ring.newest, first.id, first.name, content)
    world.owner.execute(
        "UPDATE bank_files SET sealed_content = %s, nonce = %s, key_id = %s WHERE id = %s",
        (sealed.ciphertext, sealed.nonce, sealed.key_id, first.id),
    )
    [finding] = (await look(world)).findings
    assert finding.check == "file_unreadable"
    assert "line" in finding.message


@pytest.mark.parametrize("kept_ending", [True, False])
async def test_a_file_that_was_sealed_anew_with_another_account_is_found(
    world: World, kept_ending: bool
) -> None:
    """No sum of a file holds account numbers: one that is sealed and noted anew is told by the vault alone."""
    _, _, second = await week(world)
    assert second.id is not None
    nacha = world.nacha(second)
    number = nacha.batches[0].entries[0].account
    other = (
        ("9" if number[0] != "9" else "8") + number[1:]
        if kept_ending
        else number[:-1] + str((int(number[-1]) + 1) % 10)
    )
    content = world.content(second).replace(number.encode(), other.encode(), 1)
    sealed = seal_file(world.ring.newest, second.id, second.name, content)
    world.owner.execute(
        "UPDATE bank_files SET sealed_content = %s, nonce = %s, key_id = %s, sha256 = sha256(%s) WHERE id = %s",
        (sealed.ciphertext, sealed.nonce, sealed.key_id, content, second.id),
    )
    [finding] = (await look(world)).findings
    assert finding.check == "account_differs"
    assert number not in repr(finding)
    assert other not in repr(finding)


async def test_an_account_that_the_bank_has_corrected_since_is_no_finding(world: World) -> None:
    family, _, _ = await week(world)
    async with world.worker.transaction(None) as session:
        [(account,)] = (
            await session.execute(
                text("SELECT id FROM bank_accounts WHERE employee_id = :employee"),
                {"employee": family.employee_ids[0]},
            )
        ).all()
        correction = AccountCorrection(account="998877665544")
        assert await correct_account(session, world.ring, account, "C01", correction, at(PAYDAY)) is None
    assert (await look(world)).findings == ()


async def test_a_payroll_collected_twice_is_found(world: World) -> None:
    family, _, _ = await week(world)
    again = Debit(family.payroll_id, 2 * NET, MONDAY, TUESDAY, attempt=2)
    async with world.worker.transaction(None) as session:
        await collect(session, world.clock.now(), [again])
    [finding, waiting] = (await look(world)).findings
    assert waiting.check == "debit_waits"
    assert (finding.check, finding.subject_id, finding.expected, finding.found) == (
        "collected_twice",
        family.payroll_id,
        "1",
        "2",
    )


async def test_wages_paid_from_a_debit_that_came_back_are_our_exposure(world: World) -> None:
    family, first, _ = await week(world)
    [(trace,)] = rows(
        world.owner,
        "SELECT trace_number FROM bank_entries WHERE kind = 'debit' AND payroll_id = %s",
        family.payroll_id,
    )
    content = build_returns(
        world.nacha(first), [Rejection(trace, "R10")], created_at=at(date(2026, 12, 7), 6)
    )
    async with world.worker.transaction(None) as session:
        await take_in(session, world.ring, IncomingFile("late.ach", content), at(date(2026, 12, 7), 8))
    findings = (await look(world)).findings
    assert [(each.check, each.subject_id, each.expected, each.found) for each in findings] == [
        ("wages_not_collected", family.payroll_id, "0", str(2 * NET))
    ]


async def test_a_payout_is_held_against_its_movement(world: World) -> None:
    family = await world.family()
    world.owner.execute(
        "WITH m AS (INSERT INTO escrow_movements (id, organization_id, employer_id, sandbox, employee_id, kind, "
        "payment_method, amount, balance, created_at) VALUES (new_id(), %(organization_id)s, %(employer_id)s, "
        "%(sandbox)s, %(employee)s, 'payout', 'direct_deposit', -700, 0, now()) RETURNING id) "
        "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, "
        "escrow_movement_id, amount, status, send_on, settle_on, created_at, updated_at) "
        "SELECT new_id(), %(organization_id)s, %(employer_id)s, %(sandbox)s, 'payout', b.id, %(employee)s, m.id, "
        "701, 'pending', '2026-11-20', '2026-11-23', now(), now() "
        "FROM m, bank_accounts b WHERE b.employee_id = %(employee)s",
        {**family.tenant_columns, "employee": family.employee_ids[0]},
    )
    [finding] = (await look(world)).findings
    assert (finding.check, finding.expected, finding.found) == ("payout_differs", "700", "701")
