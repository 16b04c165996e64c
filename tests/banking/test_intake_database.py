"""Files from the bank: matched to what was sent, each taken in once, and believed whole or not at all."""

from __future__ import annotations

import asyncio

import pytest

from hearthpay.banking.authorizations import authorization_of, authorize
from hearthpay.banking.entries import Debit, collect
from hearthpay.banking.files import BuiltFile
from hearthpay.banking.gateways.gateway import IncomingFile
from hearthpay.banking.intake import Intake, take_in
from hearthpay.banking.nacha.returns import AccountCorrection, Change, Rejection, build_returns
from hearthpay.banking.settlement import settle_debits
from hearthpay.banking.unread_files import describe
from hearthpay.database.vault_store import read_secret
from hearthpay.employers.models import Employer
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import NumberKind
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
    connect_all,
    connect_employee,
    connect_household,
    details,
    rows,
)
from tests.banking.world import World


def traces(world: World) -> list[str]:
    return [
        trace for (trace,) in rows(world.owner, "SELECT trace_number FROM bank_entries ORDER BY trace_number")
    ]


def answered(
    world: World, built: BuiltFile | None, *answers: Rejection | Change, name: str = "returns.ach"
) -> IncomingFile:
    """The file in which the bank answers to a file of ours."""
    return IncomingFile(name, build_returns(world.nacha(built), answers, created_at=at(TUESDAY, 6)))


async def take(world: World, incoming: IncomingFile) -> Intake:
    async with world.worker.transaction(None) as session:
        return await take_in(session, world.ring, incoming, at(TUESDAY, 8))


async def sent_debit(world: World) -> tuple[Family, BuiltFile | None]:
    family = await world.family()
    async with world.operator.transaction(None) as session:
        employer = await session.get_one(Employer, family.employer_id)
        await authorize(session, family.actor, employer, world.clock.now())
    await world.collect(family)
    return family, await world.build(FRIDAY)


@pytest.mark.parametrize(
    ("code", "handling", "account", "authorization"),
    [
        ("R01", "retry", "active", "active"),
        ("R02", "fail", "failed", "active"),
        ("R07", "stop", "active", "revoked"),
        ("R99", "fail", "failed", "active"),
    ],
)
async def test_a_returned_debit(
    world: World, code: str, handling: str, account: str, authorization: str
) -> None:
    family, built = await sent_debit(world)
    intake = await take(world, answered(world, built, Rejection("121042880000001", code)))
    [returned] = intake.returned
    assert (intake.duplicate, intake.refused, intake.changes, intake.problems) == (False, None, 0, ())
    assert (returned.kind, returned.payroll_id, returned.amount) == ("debit", family.payroll_id, NET)
    assert (returned.code, returned.return_class, returned.attempt) == (code, handling, 1)
    assert not returned.was_settled
    assert len(returned.message) > 40
    assert rows(world.owner, "SELECT status, return_code FROM bank_entries") == [("returned", code)]
    assert rows(world.owner, "SELECT status FROM bank_accounts WHERE employee_id IS NULL") == [(account,)]
    async with world.operator.transaction(None) as session:
        state = await authorization_of(session, family.employer_id, at(TUESDAY, 8))
    assert state.status == authorization
    assert rows(
        world.owner,
        "SELECT actor_kind, subject_id, details FROM audit_log WHERE action = 'bank_entry.return'",
    ) == [("system", returned.entry_id, {"kind": "debit", "code": code})]


async def test_a_returned_credit_fails_the_employees_account(world: World) -> None:
    family = await world.family(employees=2, status="processing")
    await world.pay(family)
    built = await world.build(BLACK_FRIDAY)
    intake = await take(world, answered(world, built, Rejection("121042880000002", "R03")))
    [returned] = intake.returned
    assert (returned.kind, returned.paycheck_id, returned.employee_id) == (
        "credit",
        family.paycheck_ids[1],
        family.employee_ids[1],
    )
    assert rows(world.owner, "SELECT employee_id, reason FROM bank_accounts WHERE status = 'failed'") == [
        (family.employee_ids[1], "No account, or not the holder's (R03).")
    ]


async def test_a_returned_prenote_fails_the_account_it_tried(world: World) -> None:
    family = add_family(world.owner)
    await connect_employee(world.operator, world.ring, family, world.clock.now(), verified=False)
    built = await world.build(FRIDAY)
    intake = await take(world, answered(world, built, Rejection("121042880000001", "R04")))
    assert [(each.kind, each.amount) for each in intake.returned] == [("prenote", 0)]
    assert rows(world.owner, "SELECT status FROM bank_accounts") == [("failed",)]


async def test_a_late_return_of_a_settled_debit_is_told_as_such(world: World) -> None:
    _, built = await sent_debit(world)
    async with world.worker.transaction(None) as session:
        await settle_debits(session, at(WEDNESDAY))
    intake = await take(world, answered(world, built, Rejection("121042880000001", "R10")))
    assert [each.was_settled for each in intake.returned] == [True]


async def test_a_return_spares_the_account_that_came_afterwards(world: World) -> None:
    family, built = await sent_debit(world)
    await connect_household(world.operator, world.ring, family, world.clock.now())
    await take(world, answered(world, built, Rejection("121042880000001", "R02")))
    assert rows(
        world.owner, "SELECT status, reason FROM bank_accounts WHERE employee_id IS NULL ORDER BY id"
    ) == [("replaced", None), ("active", None)]


async def test_the_same_file_again_changes_nothing(world: World) -> None:
    _, built = await sent_debit(world)
    incoming = answered(world, built, Rejection("121042880000001", "R01"))
    await take(world, incoming)
    before = rows(world.owner, "SELECT * FROM bank_entries")
    log = rows(world.owner, "SELECT count(*) FROM audit_log")
    again = await take(world, incoming)
    assert (again.duplicate, again.returned, again.refused) == (True, (), None)
    assert rows(world.owner, "SELECT * FROM bank_entries") == before
    assert rows(world.owner, "SELECT count(*) FROM audit_log") == log
    assert rows(world.owner, "SELECT status, returns FROM bank_intake") == [("processed", 1)]


async def test_the_same_file_at_once_is_taken_in_once(world: World) -> None:
    _, built = await sent_debit(world)
    incoming = answered(world, built, Rejection("121042880000001", "R01"))
    intakes = await asyncio.gather(*(take(world, incoming) for _ in range(6)))
    assert sorted(each.duplicate for each in intakes) == [False, *[True] * 5]
    assert sum(len(each.returned) for each in intakes) == 1


async def test_another_content_under_the_same_name_is_another_file(world: World) -> None:
    family = await world.family(employees=2)
    await world.pay(family)
    built = await world.build(BLACK_FRIDAY)
    await take(world, answered(world, built, Rejection("121042880000001", "R03")))
    other = await take(world, answered(world, built, Rejection("121042880000002", "R03")))
    assert (other.refused, len(other.returned)) == (None, 1)
    assert rows(world.owner, "SELECT count(*) FROM bank_entries WHERE status = 'returned'") == [(2,)]


async def test_the_same_content_under_another_name_counts_once(world: World) -> None:
    _, built = await sent_debit(world)
    first = answered(world, built, Rejection("121042880000001", "R01"))
    await take(world, first)
    again = await take(world, IncomingFile("another.ach", first.content))
    assert (again.duplicate, again.returned, again.finished) == (True, (), True)
    assert rows(world.owner, "SELECT name FROM bank_intake") == [("returns.ach",)]


@pytest.mark.parametrize("damage", ["cut", "amount", "hash", "empty"])
async def test_a_file_that_is_not_in_order_changes_nothing(world: World, damage: str) -> None:
    family = await world.family(employees=2)
    await world.pay(family)
    built = await world.build(BLACK_FRIDAY)
    whole = answered(
        world, built, Rejection("121042880000001", "R03"), Rejection("121042880000002", "R03")
    ).content
    content = {
        "cut": whole[: len(whole) // 2],
        "amount": whole.replace(b"0000093800", b"0000093801", 1),
        "hash": whole.replace(b"0004200004", b"0004200005", 1),
        "empty": b"",
    }[damage]
    assert content != whole
    before = rows(world.owner, "SELECT * FROM bank_entries ORDER BY id")
    intake = await take(world, IncomingFile("bad.ach", content))
    assert intake.refused is not None
    assert "line" in intake.refused
    assert intake.returned == ()
    assert rows(world.owner, "SELECT * FROM bank_entries ORDER BY id") == before
    assert rows(world.owner, "SELECT name, status, problem FROM bank_intake") == [
        ("bad.ach", "refused", intake.refused)
    ]
    again = await take(world, IncomingFile("bad.ach", content))
    assert (again.duplicate, again.refused) == (True, intake.refused)


async def test_returns_that_fit_nothing_are_reported_and_the_others_count(world: World) -> None:
    """A file that the bank mixed up: an entry that was never sent, another amount, one returned before."""
    family = await world.family(employees=4)
    await world.pay(family)
    built = await world.build(BLACK_FRIDAY)
    rejections = [Rejection(trace, "R03") for trace in traces(world)]
    first = answered(world, built, rejections[0], name="first.ach")
    await take(world, first)
    incoming = answered(world, built, *rejections, name="second.ach")
    world.owner.execute(
        "UPDATE bank_entries SET trace_number = '121042880009999' WHERE trace_number = '121042880000002'"
    )
    world.owner.execute("UPDATE bank_entries SET amount = 1 WHERE trace_number = '121042880000003'")
    intake = await take(world, incoming)
    assert [each.paycheck_id for each in intake.returned] == [family.paycheck_ids[3]]
    assert intake.problems == ("R03 of trace 121042880000001: the entry has come back before, as R03",)
    assert [describe(each) for each in intake.unread] == [
        "R03 of trace 121042880000002: no entry was sent under this number",
        "R03 of trace 121042880000003: the entry was sent with 1 cents, not 93800",
    ]
    # The second may be any payment of its amount that hasn't come back; the third is one of the two that it names.
    second, third = (each.entries for each in intake.unread)
    assert (len(second), len(third - second)) == (1, 1)


async def test_a_trace_number_used_again_means_the_newer_entry(world: World) -> None:
    family, _ = await sent_debit(world)
    world.owner.execute("UPDATE bank_trace_numbers SET last_used = 0")
    async with world.worker.transaction(None) as session:
        await collect(session, world.clock.now(), [Debit(family.payroll_id, NET, MONDAY, TUESDAY, attempt=2)])
    built = await world.build(MONDAY)
    intake = await take(world, answered(world, built, Rejection("121042880000001", "R01")))
    assert [each.attempt for each in intake.returned] == [2]


@pytest.mark.parametrize(
    ("code", "correction", "routing", "account", "kind"),
    [
        ("C01", AccountCorrection(account="333344445"), "021000021", "333344445", "checking"),
        ("C02", AccountCorrection(routing="011000015"), "011000015", "9876500000", "checking"),
        (
            "C03",
            AccountCorrection(routing="011000015", account="12345678901"),
            "011000015",
            "12345678901",
            "checking",
        ),
        ("C05", AccountCorrection(account_type="savings"), "021000021", "9876500000", "savings"),
        (
            "C06",
            AccountCorrection(account="5550001111", account_type="savings"),
            "021000021",
            "5550001111",
            "savings",
        ),
        (
            "C07",
            AccountCorrection(routing="011000015", account="77777", account_type="savings"),
            "011000015",
            "77777",
            "savings",
        ),
    ],
)
async def test_a_notice_of_change_corrects_the_account_before_the_next_entry(
    world: World, code: str, correction: AccountCorrection, routing: str, account: str, kind: str
) -> None:
    family = await world.family(status="processing")
    await world.pay(family)
    built = await world.build(BLACK_FRIDAY)
    intake = await take(world, answered(world, built, Change("121042880000001", code, correction)))
    assert (intake.changes, intake.problems, intake.returned) == (1, (), ())
    owner = SecretOwner(family.organization_id, family.employer_id, False, "employee", family.employee_ids[0])
    numbers: list[NumberKind] = ["bank_routing", "bank_account"]
    async with world.worker.transaction(None) as session:
        read = [
            (await read_secret(session, world.ring, family.actor, owner, each, purpose="test")).reveal()
            for each in numbers
        ]
    assert read == [routing, account]
    assert rows(
        world.owner,
        "SELECT status, account_type, last_four, reason FROM bank_accounts WHERE employee_id IS NOT NULL",
    ) == [("active", kind, account[-min(4, len(account) // 2) :], f"Corrected by the bank ({code}).")]
    assert rows(world.owner, "SELECT status FROM bank_entries") == [("sent",)]
    log = rows(world.owner, "SELECT details::text FROM audit_log WHERE action = 'bank_account.correct'")
    assert len(log) == 1
    assert account not in log[0][0]


async def test_notices_that_correct_nothing_are_reported(world: World) -> None:
    family = await world.family(employees=3, status="processing")
    await world.pay(family)
    built = await world.build(BLACK_FRIDAY)
    await connect_employee(world.operator, world.ring, family, world.clock.now(), details("8888"), position=2)
    intake = await take(
        world,
        answered(
            world,
            built,
            Change("121042880000001", "C04", AccountCorrection(name="Rosa")),
            Change("121042880000002", "C01", AccountCorrection(account="12-AB")),
            Change("121042880000003", "C01", AccountCorrection(account="123456")),
        ),
    )
    assert intake.changes == 0
    assert [problem.partition(": ")[2] for problem in intake.problems] == [
        "the bank has another name for the holder: compare it with the name in the person's record",
        "A bank account number has 4 to 17 digits.",
        "the account has been replaced",
    ]


async def test_what_follows_and_the_intake_are_one_transaction(world: World) -> None:
    _, built = await sent_debit(world)
    incoming = answered(world, built, Rejection("121042880000001", "R02"))

    async def take_in_and_fail() -> None:
        async with world.worker.transaction(None) as session:
            assert (await take_in(session, world.ring, incoming, at(TUESDAY, 8))).returned
            raise RuntimeError("the payroll could not be failed")

    with pytest.raises(RuntimeError):
        await take_in_and_fail()
    assert rows(world.owner, "SELECT status FROM bank_entries") == [("sent",)]
    assert rows(world.owner, "SELECT count(*) FROM bank_intake") == [(0,)]
    assert len((await take(world, incoming)).returned) == 1


async def test_wages_sent_before_a_new_account_was_entered_go_where_they_went(world: World) -> None:
    family = await world.family(status="processing")
    await world.pay(family)
    await world.build(BLACK_FRIDAY)
    await connect_all(world.operator, world.ring, family, at(PAYDAY, 9))
    assert rows(
        world.owner,
        "SELECT b.status FROM bank_entries e JOIN bank_accounts b ON b.id = e.bank_account_id",
    ) == [("replaced",)]
