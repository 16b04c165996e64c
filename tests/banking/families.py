"""Families with bank accounts and a payroll under way, to send money for; and the days on which it moves.

Friday, 20 November 2026 is the submission day. Thursday, 26 November is Thanksgiving. The debit settles on Monday 23,
is safe from return on Wednesday 25; the wages leave on Friday 27 and arrive on Monday 30.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.banking.accounts import AccountDetails, connect_employee_account, connect_household_account
from hearthpay.banking.entries import Credit, Debit, collect, pay_out
from hearthpay.banking.models import BankAccount
from hearthpay.banking.nacha.records import AccountType
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.database.household import add_organization, add_paycheck, add_payroll, insert

FRIDAY, MONDAY, TUESDAY, WEDNESDAY = (
    date(2026, 11, 20),
    date(2026, 11, 23),
    date(2026, 11, 24),
    date(2026, 11, 25),
)
BLACK_FRIDAY, PAYDAY = date(2026, 11, 27), date(2026, 11, 30)
NET = 93_800


class Vouched:
    """An instant verification that vouches for every account."""

    async def verify(self, details: AccountDetails) -> bool:
        return details.account.kind == "bank_account"


@dataclass
class Family:
    """A household and its employees, with one payroll that pays each of them NET."""

    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_ids: list[UUID]
    payroll_id: UUID
    paycheck_ids: list[UUID]

    @property
    def tenant_columns(self) -> dict[str, Any]:
        return {
            "organization_id": self.organization_id,
            "employer_id": self.employer_id,
            "sandbox": self.sandbox,
        }

    @property
    def actor(self) -> Actor:
        return Actor(
            "operator",
            None,
            self.organization_id,
            "test" if self.sandbox else "live",
            frozenset(),
            "req_banking",
        )

    @property
    def debit(self) -> Debit:
        return Debit(self.payroll_id, NET * len(self.paycheck_ids), FRIDAY, MONDAY)

    @property
    def credits(self) -> list[Credit]:
        return [Credit(paycheck, NET, BLACK_FRIDAY, PAYDAY) for paycheck in self.paycheck_ids]


def add_family(
    connection: psycopg.Connection,
    organization_id: UUID | None = None,
    *,
    sandbox: bool = False,
    employees: int = 1,
    last_name: str = "Lopez",
    status: str = "pending_funding",
) -> Family:
    organization_id = organization_id or add_organization(connection, f"{last_name} family")
    household: dict[str, Any] = {"organization_id": organization_id, "sandbox": sandbox}
    household["employer_id"] = insert(
        connection,
        "employers",
        **household,
        first_name="María",
        last_name=last_name,
        email="maria@example.com",
        state="CA",
    )
    employee_ids = [
        insert(
            connection,
            "employees",
            **household,
            first_name=f"Rosa {chr(65 + number % 26)}{number}",
            last_name="Díaz",
            work_state="CA",
            residence_state="CA",
            pay_rate_cents=3_000,
            overtime_rate_cents=4_500,
            pay_frequency="weekly",
            start_date=date(2026, 1, 1),
        )
        for number in range(employees)
    ]
    payroll_id = add_payroll(connection, household)
    connection.execute(
        "UPDATE payrolls SET status = %s, pay_date = %s, direct_deposit = true, gross_pay = %s, total_deductions = %s, "
        "net_pay = %s, employer_taxes = %s, total_cost = %s WHERE id = %s",
        (
            status,
            PAYDAY,
            *(cents * employees for cents in (100_000, 6_200, NET, 6_200, 106_200)),
            payroll_id,
        ),
    )
    paycheck_ids = [
        add_paycheck(connection, household, payroll_id, employee_id, position=position)
        for position, employee_id in enumerate(employee_ids)
    ]
    connection.execute(
        "UPDATE paychecks SET payment_method = 'direct_deposit' WHERE payroll_id = %s", (payroll_id,)
    )
    return Family(organization_id, household["employer_id"], sandbox, employee_ids, payroll_id, paycheck_ids)


def details(
    account: str = "5555550000", routing: str = "021000021", account_type: AccountType = "checking"
) -> AccountDetails:
    return AccountDetails(
        parse_number("bank_routing", routing), parse_number("bank_account", account), account_type, "A Bank"
    )


async def connect_household(
    database: Database,
    ring: KeyRing,
    family: Family,
    now: datetime,
    entered: AccountDetails | None = None,
    *,
    verified: bool = True,
    authorized: bool = False,
) -> BankAccount:
    """Connect the household's account, and where so wished have debits of it authorized for all time."""
    async with database.transaction(None) as session:
        employer = await session.get_one(Employer, family.employer_id)
        account = await connect_household_account(
            session,
            ring,
            family.actor,
            employer,
            entered or details("1234500001"),
            now,
            verification=Vouched() if verified else None,
        )
        if authorized:
            await session.execute(
                text(
                    "WITH given AS (INSERT INTO ach_authorizations (id, organization_id, employer_id, sandbox, "
                    "bank_account_id, authorized_by_kind, text_version, authorized_at, expires_at) SELECT new_id(), "
                    "organization_id, employer_id, sandbox, id, 'operator', 'test', '2000-01-01', '2100-01-01' "
                    "FROM bank_accounts WHERE id = :account RETURNING *) "
                    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, "
                    "subject_id, details) SELECT new_id(), organization_id, employer_id, sandbox, 'operator', "
                    "'ach.authorize', id, jsonb_build_object('bank_account_id', bank_account_id, 'text_version', "
                    "text_version, 'authorized_at', authorized_at, 'expires_at', expires_at) FROM given"
                ),
                {"account": account.id},
            )
        return account


async def connect_employee(
    database: Database,
    ring: KeyRing,
    family: Family,
    now: datetime,
    entered: AccountDetails | None = None,
    *,
    position: int = 0,
    verified: bool = True,
) -> BankAccount:
    async with database.transaction(None) as session:
        employee = await session.get_one(Employee, family.employee_ids[position])
        return await connect_employee_account(
            session,
            ring,
            family.actor,
            employee,
            entered or details(f"98765{position:05}"),
            now,
            verification=Vouched() if verified else None,
        )


async def connect_all(
    database: Database, ring: KeyRing, family: Family, now: datetime, *, authorized: bool = False
) -> None:
    await connect_household(database, ring, family, now, authorized=authorized)
    for position in range(len(family.employee_ids)):
        await connect_employee(database, ring, family, now, position=position)


async def collect_one(session: AsyncSession, family: Family, now: datetime) -> UUID:
    return (await collect(session, now, [family.debit]))[family.payroll_id]


async def pay_all(session: AsyncSession, family: Family, now: datetime) -> dict[UUID, UUID]:
    return await pay_out(session, now, family.credits)


def at(day: date, hour: int = 15) -> datetime:
    """That hour in New York, in November after the clocks went back."""
    return datetime(day.year, day.month, day.day, 5, tzinfo=UTC) + timedelta(hours=hour)


def move_to(clock: FixedClock, day: date, hour: int = 15) -> None:
    clock.advance(at(day, hour) - clock.now())


def rows(connection: psycopg.Connection, query: str, *values: object) -> list[tuple[Any, ...]]:
    return connection.execute(query, values).fetchall()


def statuses(connection: psycopg.Connection) -> dict[UUID, str]:
    return dict(rows(connection, "SELECT id, status FROM bank_entries"))
