"""Taking back a direct deposit that was paid by mistake: what the file says, and what becomes of payroll and money."""

from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import TransactionCode
from hearthpay.banking.return_handling import mark_returned
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine
from hearthpay.doctor.reconciliation import reconcile
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from hearthpay.payroll.payday.reversed_deposits import reverse_deposit
from tests.http.api import data
from tests.lifecycle.test_notices_in_time import Post, post, read, until, work
from tests.worlds.town import Family, Town, rows
from tests.worlds.worker_audit import worker_rows

__all__ = ["post"]

WEEK = ("2026-11-20", "2026-11-23", "2026-11-25", "2026-11-27")
PAYDAY = "2026-11-30"


async def paid(town: Town, family: Family) -> tuple[str, int]:
    """A payroll that has been paid; its id and net pay in cents."""
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await until(town, *WEEK, PAYDAY)
    return ran["payroll_id"], round(ran["totals"]["total_net_pay"] * 100)


async def reverse(
    owner_database: Database,
    town: Town,
    family: Family,
    payroll_id: str,
    cents: int,
    reason: str = "wrong_amount",
) -> str:
    async with owner_database.transaction(None) as session:
        organization = (await session.connection()).exec_driver_sql
        [(organization_id,)] = (await organization("SELECT organization_id FROM payrolls")).all()
        actor = Actor("operator", None, organization_id, "live", frozenset(), "cli-test")
        day = await reverse_deposit(
            session,
            actor,
            UUID(payroll_id),
            UUID(family.employee_id),
            reason,  # type: ignore[arg-type]
            cents,
            town.clock.now(),
        )
    return day.isoformat()


async def differences(owner_database: Database, town: Town) -> list[object]:
    """All that the doctor and the reconciliation find."""
    async with owner_database.transaction(None) as session:
        examined = await examine(session, town.clock.now(), lambda *_: None)
        compared = await reconcile(session, town.ring, town.clock.now())
    return [*(each for check in examined for each in check.differences), *compared.findings]


async def test_a_deposit_is_taken_back_and_its_paycheck_undone(
    town: Town, family: Family, owner_database: Database, owner_connection: psycopg.Connection, post: Post
):
    payroll_id, cents = await paid(town, family)
    town.go_to("2026-12-01", 10)
    assert await reverse(owner_database, town, family, payroll_id, cents) == "2026-12-02"
    detail = await read(family, payroll_id)
    failure = detail["failure"]
    assert (detail["status"], failure["kind"], failure["reason"]) == (
        "completed",
        "deposit_reversed",
        "Paid in the wrong amount",
    )
    assert failure["until"] == "2026-12-04T20:00:00Z"
    town.go_to("2026-12-01", 15)
    await work(town)
    assert {each[:2] for each in post.notices()} == {
        ("deposit_reversed", "household"),
        ("deposit_reversed", "employee"),
        ("deposit_reversed", "operator"),
    }
    [sent] = (town.outbox / "outbox").glob("*20261201*")
    [batch] = parse_nacha(sent.read_bytes()).batches
    [entry] = batch.entries
    assert (batch.description, batch.entry_class, batch.company_id) == ("REVERSAL", "PPD", "1123456789")
    assert (entry.code, entry.amount_cents, entry.account) == (
        TransactionCode.CHECKING_DEBIT,
        cents,
        "987654321",
    )
    await until(town, "2026-12-02", "2026-12-03", "2026-12-04", "2026-12-07", "2026-12-08")
    detail = await read(family, payroll_id)
    assert (detail["status"], detail["failure"]["kind"]) == ("failed", "deposit_reversed")
    [paycheck] = detail["employees"]
    assert paycheck["status"] == "reversed"
    assert paycheck["outcome"]["refund"]["status"] == "paid"
    assert rows(owner_connection, "SELECT kind, status, amount FROM bank_entries ORDER BY id") == [
        ("debit", "settled", cents),
        ("credit", "settled", cents),
        ("reversal", "settled", cents),
        ("refund", "settled", cents),
    ]
    assert rows(owner_connection, "SELECT gross_pay FROM year_balances") == [(0,)]
    assert await differences(owner_database, town) == []
    # What it says is possible: the period is free.
    assert data(await family.caller.post("/payroll/run", family.order()))["status"] == "pending_funding"


async def test_a_reversal_that_comes_back_leaves_the_paycheck_as_it_is(
    town: Town, family: Family, owner_database: Database, owner_connection: psycopg.Connection
):
    payroll_id, cents = await paid(town, family)
    await reverse(owner_database, town, family, payroll_id, cents)
    await until(town, "2026-12-01")
    town.go_to("2026-12-03", 10)
    [(entry_id,)] = rows(owner_connection, "SELECT id FROM bank_entries WHERE kind = 'reversal'")
    async with town.worker.transaction(None) as session:
        returned = await mark_returned(session, town.clock.now(), {entry_id: "R01"})
        await apply_returns(session, returned, town.clock.today(), town.clock.now())
    await until(town, "2026-12-03", "2026-12-04", "2026-12-07")
    detail = await read(family, payroll_id)
    assert (detail["status"], detail["failure"]["kind"], detail["failure"]["code"]) == (
        "completed",
        "reversal_returned",
        "R01",
    )
    assert [each["status"] for each in detail["employees"]] == ["paid"]
    assert await differences(owner_database, town) == []
    # An account without money is none that has failed.
    assert rows(owner_connection, "SELECT DISTINCT status FROM bank_accounts") == [("active",)]


async def test_a_reversal_that_could_not_leave_in_time_never_does(
    town: Town, family: Family, owner_database: Database, owner_connection: psycopg.Connection
):
    payroll_id, cents = await paid(town, family)
    town.go_to("2026-12-01", 10)
    await reverse(owner_database, town, family, payroll_id, cents)
    town.go_to("2026-12-07", 15)  # no worker for a week; the file of today would settle on the 8th
    await work(town)
    assert rows(owner_connection, "SELECT status FROM bank_entries WHERE kind = 'reversal'") == [
        ("cancelled",)
    ]
    assert (await read(family, payroll_id))["failure"]["code"] == "reversal_too_late"
    [(entry,)] = rows(owner_connection, "SELECT id::text FROM bank_entries WHERE kind = 'reversal'")
    assert worker_rows(owner_connection, "bank_entry.cancel") == [(entry, {"reason": "too_late"})]


@pytest.mark.parametrize(
    ("day", "off_by", "why"),
    [
        ("2026-12-04", 0, None),
        ("2026-12-07", 0, "the last day for it is 2026-12-07"),
        ("2026-12-01", 1, "amount"),
    ],
)
async def test_only_within_five_banking_days_and_the_amount_confirmed(
    day: str,
    off_by: int,
    why: str | None,
    town: Town,
    family: Family,
    owner_database: Database,
    owner_connection: psycopg.Connection,
):
    payroll_id, cents = await paid(town, family)
    town.go_to(day, 10)
    if why is None:
        await reverse(owner_database, town, family, payroll_id, cents)
        with pytest.raises(Refusal, match="taken back already"):
            await reverse(owner_database, town, family, payroll_id, cents)
        return
    with pytest.raises(Refusal, match=why):
        await reverse(owner_database, town, family, payroll_id, cents + off_by)
    assert rows(owner_connection, "SELECT count(*) FROM bank_entries WHERE kind = 'reversal'") == [(0,)]
    assert "failure" not in await read(family, payroll_id)


async def test_what_has_not_left_or_went_to_an_earlier_account_is_refused(
    town: Town, family: Family, owner_database: Database
):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    cents = round(ran["totals"]["total_net_pay"] * 100)
    await until(town, *WEEK[:3])
    with pytest.raises(Refusal, match="has not left"):
        await reverse(owner_database, town, family, ran["payroll_id"], cents)
    await until(town, WEEK[3], PAYDAY)
    await town.connect(family.caller, family.employer_id, family.employee_id, account="55554444")
    with pytest.raises(Refusal, match="replaced"):
        await reverse(owner_database, town, family, ran["payroll_id"], cents)
