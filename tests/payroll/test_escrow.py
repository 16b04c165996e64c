"""Escrow in the database: rules, deposits, reversals, payouts, as service, worker and operator do them."""

import asyncio
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.models import Employee
from hearthpay.payroll.set_asides import escrow
from hearthpay.payroll.set_asides.escrow import NO_ACCOUNT, EscrowAccount
from hearthpay.payroll.set_asides.rules import SetAsideRule
from tests.database.household import NOW, Household, add_employee, add_household, add_organization, insert


@dataclass
class House:
    """A household whose books hold nothing that is set aside yet."""

    owner: psycopg.Connection
    rows: Household
    actor: Actor

    @property
    def tenant(self) -> dict[str, Any]:
        return {
            "organization_id": self.rows.organization_id,
            "employer_id": self.rows.employer_id,
            "sandbox": self.rows.sandbox,
        }

    def employee(self) -> UUID:
        return add_employee(self.owner, self.tenant)

    def paycheck(
        self,
        employee_id: UUID,
        set_aside: int,
        *,
        method: str = "check",
        through_bank: bool | None = None,
        reverses: UUID | None = None,
    ) -> UUID:
        sign = -1 if reverses else 1
        payroll_id = insert(
            self.owner,
            "payrolls",
            **self.tenant,
            status="completed",
            period_start=date(2026, 11, 9),
            period_end=date(2026, 11, 15),
            pay_date=date(2026, 11, 20),
            pay_date_defaulted=False,
            pay_frequency="weekly",
            rulebook_version="2026.1",
            tax_year=2026,
            gross_pay=100_000,
            total_deductions=6_200 + set_aside,
            net_pay=93_800 - set_aside,
            employer_taxes=6_200,
            total_cost=106_200,
            direct_deposit=method == "direct_deposit" if through_bank is None else through_bank,
            created_by_kind="key",
        )
        return insert(
            self.owner,
            "paychecks",
            **self.tenant,
            id=uuid7(),
            payroll_id=payroll_id,
            employee_id=employee_id,
            position=-1 if reverses else 0,
            reverses=reverses,
            tax_year=2026,
            period="[2026-11-09,2026-11-15]",
            payment_method=method,
            regular_hours=0,
            regular_pay=100_000 * sign,
            overtime_hours=0,
            overtime_pay=0,
            bonus=0,
            other_earnings=0,
            gross_pay=100_000 * sign,
            employee_taxes=6_200 * sign,
            employer_taxes=6_200 * sign,
            set_aside=set_aside * sign,
            net_pay=(93_800 - set_aside) * sign,
            total_cost=106_200 * sign,
            ytd_gross_pay=0,
            ytd_net_pay=0,
            ytd_employee_taxes=0,
            ytd_employer_taxes=0,
            employee_name="Grace Miller",
            work_state="CA",
            residence_state="CA",
        )

    def bank_account(self, employee_id: UUID, status: str = "active") -> UUID:
        return insert(
            self.owner,
            "bank_accounts",
            **self.tenant,
            id=uuid7(),
            employee_id=employee_id,
            account_type="checking",
            last_four="6789",
            status=status,
            verification="prenote",
            created_at=NOW,
            updated_at=NOW,
        )

    def trail(self, action: str) -> list[Any]:
        return self.owner.execute(
            "SELECT subject_id, employer_id, actor_kind, details FROM audit_log WHERE action = %s ORDER BY id",
            (action,),
        ).fetchall()


@pytest.fixture
def house(owner_connection: psycopg.Connection, empty_tables: None) -> House:
    organization_id = add_organization(owner_connection, "Lopez family")
    rows = add_household(owner_connection, organization_id)
    actor = Actor("operator", None, organization_id, "live", frozenset(), "request")
    return House(owner_connection, rows, actor)


async def set_aside(house: House, database: Database, employee_id: UUID, cents: int, **how: Any) -> UUID:
    paycheck = house.paycheck(employee_id, cents, **how)
    async with database.transaction(house.rows.tenant) as session:
        await escrow.deposit(session, NOW, [paycheck])
    return paycheck


async def account_of(house: House, database: Database, employee_id: UUID) -> EscrowAccount:
    async with database.transaction(house.rows.tenant) as session:
        return await escrow.read_account(session, employee_id)


async def movements_of(house: House, database: Database, employee_id: UUID) -> list[tuple[Any, ...]]:
    """Kind, method, amount and balance of each movement, oldest first."""
    async with database.transaction(house.rows.tenant) as session:
        found = await escrow.list_movements(session, employee_id)
    return [(each.kind, each.payment_method, each.amount, each.balance) for each in reversed(found)]


async def pay_out(
    house: House,
    database: Database,
    clock: FixedClock,
    employee_id: UUID,
    amount: Any,
    method: str,
    **more: Any,
) -> UUID:
    async with database.transaction(house.rows.tenant) as session:
        employee = await session.get_one(Employee, employee_id)
        return await escrow.payout(
            session, house.actor, clock, employee, amount=Decimal(amount), method=method, **more
        )


async def test_a_rule_is_set_changed_and_ended_and_each_leaves_a_trace(house: House, database: Database):
    employee_id = house.employee()
    assert await account_of(house, database, employee_id) == NO_ACCOUNT
    rules = [SetAsideRule(rate=Decimal("0.05")), SetAsideRule(amount_cents=5_000), None]
    for rule in rules:
        async with database.transaction(house.rows.tenant) as session:
            employee = await session.get_one(Employee, employee_id)
            await escrow.set_rule(session, house.actor, employee, rule)
        assert (await account_of(house, database, employee_id)).rule == rule
    trail = house.trail("escrow.set_rule")
    assert [row[3] for row in trail] == [
        {"before": None, "after": {"rate": "0.05"}},
        {"before": {"rate": "0.05"}, "after": {"amount": "50.00"}},
        {"before": {"amount": "50.00"}, "after": None},
    ]
    assert {row[:3] for row in trail} == {(employee_id, house.rows.employer_id, "operator")}


async def test_a_rule_leaves_the_balance_alone(house: House, database: Database):
    employee_id = house.employee()
    await set_aside(house, database, employee_id, 1_500)
    async with database.transaction(house.rows.tenant) as session:
        employee = await session.get_one(Employee, employee_id)
        await escrow.set_rule(session, house.actor, employee, SetAsideRule(amount_cents=1))
    assert await account_of(house, database, employee_id) == EscrowAccount(
        SetAsideRule(amount_cents=1), 1_500, 0
    )


async def test_deposits_of_many_employees_go_in_at_once(house: House, worker_database: Database):
    first, second, third = house.employee(), house.employee(), house.employee()
    paychecks = [
        house.paycheck(first, 1_000),
        house.paycheck(second, 2_000, method="direct_deposit"),
        house.paycheck(first, 300, method="direct_deposit"),
        house.paycheck(third, 0),
        house.paycheck(first, 40, method="cash"),
    ]
    async with worker_database.transaction(None) as session:
        await escrow.deposit(session, NOW, paychecks)
        accounts = await escrow.read_rules_and_balances(session, [first, second, third])
    assert accounts == {first: EscrowAccount(None, 1_340, 300), second: EscrowAccount(None, 2_000, 2_000)}
    assert await movements_of(house, worker_database, first) == [
        ("deposit", "check", 1_000, 1_000),
        ("deposit", "direct_deposit", 300, 1_300),
        ("deposit", "cash", 40, 1_340),
    ]


async def test_a_paycheck_cannot_be_deposited_twice(house: House, database: Database):
    employee_id = house.employee()
    paycheck = await set_aside(house, database, employee_id, 1_000)
    with pytest.raises(Exception, match="escrow_movements_paycheck_id_key"):
        async with database.transaction(house.rows.tenant) as session:
            await escrow.deposit(session, NOW, [paycheck])
    assert (await account_of(house, database, employee_id)).balance == 1_000


async def test_what_a_catch_up_payroll_sets_aside_the_household_keeps(house: House, database: Database):
    employee_id = house.employee()
    await set_aside(house, database, employee_id, 1_000, method="direct_deposit", through_bank=False)
    assert await account_of(house, database, employee_id) == EscrowAccount(None, 1_000, 0)


async def test_a_reversal_takes_back_what_was_deposited(house: House, database: Database):
    employee_id = house.employee()
    await set_aside(house, database, employee_id, 700)
    paycheck = await set_aside(house, database, employee_id, 1_000, method="direct_deposit")
    reversing = house.paycheck(employee_id, 1_000, method="direct_deposit", reverses=paycheck)
    async with database.transaction(house.rows.tenant) as session:
        await escrow.reverse(session, NOW, [paycheck])
        (latest, *_) = await escrow.list_movements(session, employee_id)
    assert (latest.kind, latest.amount, latest.balance, latest.paycheck_id) == (
        "reversal",
        -1_000,
        700,
        reversing,
    )
    assert await account_of(house, database, employee_id) == EscrowAccount(None, 700, 0)


async def test_a_reversal_after_a_payout_leaves_a_debt_that_later_deposits_make_good(
    house: House, database: Database, clock: FixedClock
):
    employee_id = house.employee()
    paycheck = await set_aside(house, database, employee_id, 1_000)
    await pay_out(house, database, clock, employee_id, "10.00", "cash")
    house.paycheck(employee_id, 1_000, reverses=paycheck)
    async with database.transaction(house.rows.tenant) as session:
        await escrow.reverse(session, NOW, [paycheck])
    assert (await account_of(house, database, employee_id)).balance == -1_000
    await set_aside(house, database, employee_id, 1_500, method="direct_deposit")
    account = await account_of(house, database, employee_id)
    assert (account.balance, account.held) == (500, 1_500)
    assert account.available("direct_deposit") == 500
    assert account.available("check") == 0


async def test_concurrent_deposits_of_one_employee_lose_nothing(house: House, database: Database):
    employee_id = house.employee()
    paychecks = [house.paycheck(employee_id, 100 + n) for n in range(20)]

    async def one(paycheck: UUID) -> None:
        async with database.transaction(house.rows.tenant) as session:
            await escrow.deposit(session, NOW, [paycheck])

    await asyncio.gather(*(one(paycheck) for paycheck in paychecks))
    assert (await account_of(house, database, employee_id)).balance == sum(100 + n for n in range(20))
    movements = await movements_of(house, database, employee_id)
    so_far = 0
    for _, _, amount, balance in movements:
        so_far += amount
        assert balance == so_far
    assert len(movements) == 20


async def test_concurrent_payouts_never_exceed_the_balance(
    house: House, database: Database, clock: FixedClock
):
    employee_id = house.employee()
    await set_aside(house, database, employee_id, 10_000)
    outcomes = await asyncio.gather(
        *(pay_out(house, database, clock, employee_id, "30.00", "check") for _ in range(6)),
        return_exceptions=True,
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    assert len(refused) == 3
    assert {error.code for error in refused} == {"invalid_state"}
    assert sum(isinstance(outcome, UUID) for outcome in outcomes) == 3
    assert (await account_of(house, database, employee_id)).balance == 1_000
    assert len(house.trail("escrow.payout")) == 3


async def test_by_hand_only_what_the_household_keeps_by_bank_only_what_is_held(
    house: House, database: Database, clock: FixedClock
):
    employee_id = house.employee()
    house.bank_account(employee_id)
    await set_aside(house, database, employee_id, 1_000)
    await set_aside(house, database, employee_id, 2_000, method="direct_deposit")
    for amount, method in (("10.01", "check"), ("10.01", "cash"), ("20.01", "direct_deposit")):
        with pytest.raises(Refusal) as refusal:
            await pay_out(house, database, clock, employee_id, amount, method)
        assert refusal.value.code == "invalid_state"
        assert refusal.value.details == {
            "available": Decimal(amount) - Decimal("0.01"),
            "balance": Decimal("30.00"),
            "held": Decimal("20.00"),
        }
    assert await account_of(house, database, employee_id) == EscrowAccount(None, 3_000, 2_000)
    await pay_out(house, database, clock, employee_id, "4", "cash", note="for the holidays")
    movement = await pay_out(house, database, clock, employee_id, "20", "direct_deposit")
    assert await account_of(house, database, employee_id) == EscrowAccount(None, 600, 0)
    assert house.owner.execute(
        "SELECT kind, amount, status, escrow_movement_id, employee_id, send_on, settle_on FROM bank_entries "
        "WHERE kind = 'payout'"
    ).fetchall() == [
        ("payout", 2_000, "pending", movement, employee_id, date(2026, 11, 20), date(2026, 11, 23))
    ]
    assert house.trail("escrow.payout")[0][3] | {"movement": None} == {
        "movement": None,
        "amount": "4.00",
        "method": "cash",
        "note": "for the holidays",
    }


@pytest.mark.parametrize("status", [None, "verifying", "failed"])
async def test_without_an_active_account_no_direct_deposit(
    house: House, database: Database, clock: FixedClock, status: str | None
):
    employee_id = house.employee()
    if status is not None:
        house.bank_account(employee_id, status)
    await set_aside(house, database, employee_id, 2_000, method="direct_deposit")
    with pytest.raises(Refusal) as refusal:
        await pay_out(house, database, clock, employee_id, "20", "direct_deposit")
    assert refusal.value.code == "direct_deposit_unavailable"
    assert await account_of(house, database, employee_id) == EscrowAccount(None, 2_000, 2_000)
    assert len(await movements_of(house, database, employee_id)) == 1
    assert house.trail("escrow.payout") == []


@pytest.mark.parametrize(
    ("amount", "method", "note", "field"),
    [
        ("0", "check", None, "amount"),
        ("-1", "check", None, "amount"),
        ("0.001", "check", None, "amount"),
        ("NaN", "check", None, "amount"),
        ("Infinity", "check", None, "amount"),
        ("1e30", "check", None, "amount"),
        ("1", "wire", None, "method"),
        ("1", "check", "", "note"),
        ("1", "check", "a\nb", "note"),
        ("1", "check", "x" * 501, "note"),
    ],
)
async def test_bad_payouts_name_the_field_and_change_nothing(
    house: House, database: Database, clock: FixedClock, amount, method, note, field
):
    employee_id = house.employee()
    await set_aside(house, database, employee_id, 2_000)
    with pytest.raises(Refusal) as refusal:
        await pay_out(house, database, clock, employee_id, amount, method, note=note)
    assert refusal.value.code == "validation_error"
    assert [problem.field for problem in refusal.value.details] == [field]
    assert (await account_of(house, database, employee_id)).balance == 2_000


async def test_a_returned_payout_is_in_the_account_again(
    house: House, database: Database, worker_database: Database, clock: FixedClock
):
    employee_id = house.employee()
    house.bank_account(employee_id)
    await set_aside(house, database, employee_id, 2_000, method="direct_deposit")
    movement = await pay_out(house, database, clock, employee_id, "15", "direct_deposit")
    entry = house.owner.execute(
        "SELECT id FROM bank_entries WHERE escrow_movement_id = %s", (movement,)
    ).fetchone()
    async with worker_database.transaction(None) as session:
        await escrow.return_payouts(session, NOW, [entry[0]])
    assert (await account_of(house, database, employee_id)).balance == 500  # it has not come back yet
    file_id = insert(
        house.owner,
        "bank_files",
        id=uuid7(),
        name="f1",
        cut_off=date(2026, 11, 20),
        status="built",
        entries=1,
        debit_total=0,
        credit_total=1_500,
        sha256=b"\x00" * 32,
        sealed_content=b"",
        nonce=b"\x00" * 12,
        key_id="k",
        created_at=NOW,
    )
    house.owner.execute(
        "UPDATE bank_entries SET status = 'returned', return_code = 'R03', effective_date = '2026-11-23', "
        "file_id = %s, trace_number = '123456780000001' WHERE id = %s",
        (file_id, entry[0]),
    )
    async with worker_database.transaction(None) as session:
        await escrow.return_payouts(session, NOW, [entry[0]])
    assert await account_of(house, database, employee_id) == EscrowAccount(None, 2_000, 2_000)
    assert (await movements_of(house, database, employee_id))[-1] == (
        "payout_returned",
        "direct_deposit",
        1_500,
        2_000,
    )


async def test_another_organization_sees_and_changes_nothing(house: House, database: Database):
    employee_id = house.employee()
    paycheck = house.paycheck(employee_id, 2_000)
    stranger = add_household(house.owner, add_organization(house.owner, "Smith family"))
    async with database.transaction(stranger.tenant) as session:
        await escrow.deposit(session, NOW, [paycheck])
        assert await escrow.read_account(session, employee_id) == NO_ACCOUNT
    assert await account_of(house, database, employee_id) == NO_ACCOUNT
