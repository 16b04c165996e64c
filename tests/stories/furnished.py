"""A household that is lived in: two employees, a finished year, overdue duties, payrolls in every state."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from uuid import UUID

from hearthpay.banking.accounts import AccountDetails, connect_employee_account
from hearthpay.database.vault_store import store_secret
from hearthpay.duties.service import CalendarQuery, mark_duty, read_calendar
from hearthpay.employees.commands import PaymentMethod
from hearthpay.employees.models import Employee
from hearthpay.employers.commands import ChangeEmployer, PostalAddress
from hearthpay.employers.ein import keep_ein
from hearthpay.employers.models import Employer
from hearthpay.employers.service import update_employer
from hearthpay.filing.commands import RecordTaxPayment
from hearthpay.filing.service import balances_of_household, record_tax_payment
from hearthpay.payroll.commands import Confirmations, EmployeePay, Order
from hearthpay.payroll.service import run_payroll
from hearthpay.payroll.voiding import void_payroll
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import parse_number
from tests.web.rows import AREAS
from tests.web.rows.world import World
from tests.worlds.town import ROUTING, Vouching

_DONE_BEFORE = date(2026, 10, 15)
"""What was due earlier is paid and done; what was due since is overdue on November 20."""


async def furnish(world: World) -> dict[str, str]:
    """Let the household have a past and a week of work; return what the paths of its pages name.

    Rosa works there since October 2025 and is paid by check; Nina has Autopilot, which holds a payroll of hers.
    """
    world.connection.execute(
        "UPDATE employees SET start_date = '2025-10-06' WHERE id = %s", (world.employee_id,)
    )
    await _address_and_numbers(world)
    for weeks_ago in (*range(57, 46, -1), *range(24, 20, -1), *range(19, 1, -1)):  # the rows have the 20th
        await world.pay(weeks_ago=weeks_ago, hours=45 if weeks_ago % 4 == 1 else 40)
    await _settle(world)
    things = {"organization": str(world.actor.organization_id)}
    for area in AREAS:
        if hasattr(area, "things"):
            things |= await area.things(world)
    await _connect(world, world.employee_id)
    void = await world.pay(weeks_ago=1, hours=30)
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await void_payroll(session, world.actor, world.people_context.clock, void, "The hours were wrong.")
    states = {
        "void": void,
        "ahead": await _run(world, date(2026, 11, 2), date(2026, 11, 24), "check"),
        "deposit": await _run(world, date(2026, 11, 9), date(2026, 11, 30), "direct_deposit"),
    }
    return things | {f"payroll_{name}": str(payroll) for name, payroll in states.items()}


async def _address_and_numbers(world: World) -> None:
    context, actor = world.people_context, world.actor
    moved = ChangeEmployer(
        address=PostalAddress(line1="1 Oak Street", city="Oakland", state="CA", zip="94601")
    )
    async with context.database.transaction(actor.tenant) as session:
        await update_employer(session, actor, context.clock, world.household_id, moved)
    async with context.database.transaction(actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        await keep_ein(session, context.ring, actor, employer, "98-7654321")
        whose = SecretOwner(actor.organization_id, employer.id, False, "employee", world.employee_id)
        await store_secret(session, context.ring, actor, whose, parse_number("ssn", "123-45-6789"))


async def _settle(world: World) -> None:
    """Pay and do what was due until the middle of October."""
    context, actor = world.people_context, world.actor
    async with context.database.transaction(actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        for agency in await balances_of_household(session, actor, context.clock, employer):
            for period in agency.periods:
                if period.due is not None and period.due < _DONE_BEFORE and period.open > 0:
                    payment = RecordTaxPayment(
                        agency=agency.agency.id,
                        account_type=period.account,
                        period=period.period,
                        amount=period.open,
                        paid_on=period.due,
                        method="bank_account",
                        employer_id=employer.id,
                    )
                    await record_tax_payment(session, actor, context.clock, payment)
    async with context.database.transaction(actor.tenant) as session:
        employer = await session.get_one(Employer, world.household_id)
        requested = CalendarQuery(world.household_id, date(2025, 10, 1), _DONE_BEFORE)
        for item in (await read_calendar(session, actor, context.clock, requested)).items:
            if item.due < _DONE_BEFORE and item.done_on is None:
                await mark_duty(session, actor, context.clock, employer, key=item.key, done_on=item.due)


async def _connect(world: World, employee_id: UUID) -> None:
    details = AccountDetails(
        parse_number("bank_routing", ROUTING), parse_number("bank_account", "55550022"), "checking"
    )
    context, now = world.people_context, world.people_context.clock.now()
    async with context.database.transaction(world.actor.tenant) as session:
        employee = await session.get_one(Employee, employee_id)
        await connect_employee_account(
            session, context.ring, world.actor, employee, details, now, verification=Vouching()
        )


async def _run(world: World, start: date, pay_date: date, method: PaymentMethod) -> UUID:
    order = Order(
        employer_id=world.household_id,
        pay_period_start=start,
        pay_period_end=date.fromordinal(start.toordinal() + 6),
        pay_date=pay_date,
        pay_frequency="weekly",
        employees=(
            EmployeePay(employee_id=world.employee_id, regular_hours=Decimal(40), payment_method=method),
        ),
    )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        run = await run_payroll(
            session,
            world.actor,
            world.people_context.clock,
            order,
            Confirmations(confirm_ach_debit=True),
            direct_deposit_enabled=True,
        )
    return run.id
