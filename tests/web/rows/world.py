"""A household of the first organization to make rows of, by the services that the pages use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg

from hearthpay.access.actor import Actor
from hearthpay.access.plans import terms_of
from hearthpay.employees.commands import AddEmployee
from hearthpay.employees.service import create_employee
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.service import create_employer
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.service import run_payroll
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn


@dataclass(frozen=True, slots=True)
class World:
    """The first organization's household, with somebody who works there; `actor` is its owner, without limits."""

    people_context: PeopleContext
    connection: psycopg.Connection
    owner: SignedIn
    actor: Actor
    household_id: UUID
    employee_id: UUID

    @classmethod
    async def make(
        cls, people_context: PeopleContext, connection: psycopg.Connection, owner: SignedIn, **household: str
    ) -> World:
        terms = terms_of("professional", {"employees_per_household": None, "households": None})
        actor = replace(owner.actor("r"), terms=terms)
        new = {"first_name": "Maria", "last_name": "Lopez", "state": "CA", "email": "maria@example.com"}
        async with people_context.database.transaction(actor.tenant) as session:
            made = await create_employer(
                session, actor, people_context.clock, CreateEmployer(**(new | household))
            )
        world = cls(people_context, connection, owner, actor, made.id, made.id)
        return replace(world, employee_id=await world.employ("Rosa", "Diaz"))

    async def employ(self, first_name: str, last_name: str) -> UUID:
        """Add somebody to the household."""
        new = AddEmployee(
            first_name=first_name,
            last_name=last_name,
            employer_id=self.household_id,
            email=f"{first_name}@example.com".lower(),
            pay_rate=Decimal("28.50"),
            pay_frequency="weekly",
            start_date=date(2026, 1, 5),
        )
        async with self.people_context.database.transaction(self.actor.tenant) as session:
            noted = await create_employee(session, self.actor, self.people_context.clock, new)
        return noted.employee.id

    async def pay(self, *employees: UUID, weeks_ago: int = 0, hours: int = 40) -> UUID:
        """Pay a week by check, record in retrospect that it was paid, or schedule one that is ahead."""
        end = date(2026, 11, 15) - timedelta(weeks=weeks_ago)
        order = Order(
            employer_id=self.household_id,
            pay_period_start=end - timedelta(days=6),
            pay_period_end=end,
            pay_date=end + timedelta(days=5),
            pay_frequency="weekly",
            employees=tuple(
                EmployeePay(employee_id=each, regular_hours=Decimal(hours), payment_method="check")
                for each in employees or (self.employee_id,)
            ),
            notes="catch-up" if weeks_ago > 0 else None,
        )
        async with self.people_context.database.transaction(self.actor.tenant) as session:
            run = await run_payroll(
                session, self.actor, self.people_context.clock, order, direct_deposit_enabled=False
            )
        return run.id
