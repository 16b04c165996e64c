"""Autopilot."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from uuid_utils.compat import uuid7

from hearthpay.autopilot.commands import Agreement, EnrolledTerms, EnrollEmployee
from hearthpay.autopilot.enrolling import enroll
from hearthpay.autopilot.records import STANDING_TEXT_VERSION
from hearthpay.banking.accounts import AccountDetails, connect_employee_account, connect_household_account
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.payroll.commands import Confirmations, EmployeePay, Order
from hearthpay.payroll.service import run_payroll
from hearthpay.security.vault_numbers import parse_number
from tests.web.rows.row import Row, at_household, kept
from tests.web.rows.world import World
from tests.worlds.town import ROUTING, Vouching

_PATH: Final = "/app/{household_id}/autopilot"
_ENROLL: Final = f"{_PATH}/enroll/{{employee_id}}"
_ONE: Final = f"{_PATH}/{{enrollment_id}}"
_HELD: Final = f"{_PATH}/held/{{held_id}}"
_TERMS: Final = {
    "standard_hours": "40",
    "frequency": "weekly",
    "anchor_period_start": "2026-11-16",
    "pay_days_after": "9",
}
_AGREED: Final = {"agree": "on", "text_version": STANDING_TEXT_VERSION}

ROWS: Final[dict[str, Row]] = {
    f"GET {_PATH}": at_household(200),
    f"GET {_PATH}/history": at_household(200),
    f"GET {_ENROLL}": kept(200, fresh=True),
    # This installation has no bank, and she was not paid yet: the page says so.
    f"POST {_ENROLL}": kept(400, fresh=True, **_TERMS, **_AGREED),
    f"GET {_HELD}": kept(200, fresh=True),
    f"POST {_HELD}": kept(303, fresh=True, decision="approve"),
    f"GET {_ONE}": at_household(200),
    f"GET {_ONE}/agree": kept(200, fresh=True),
    f"POST {_ONE}/agree": kept(303, fresh=True, **_AGREED),
    f"GET {_ONE}/change": kept(200, fresh=True),
    f"POST {_ONE}/change": kept(
        303,
        fresh=True,
        from_period="2026-12-07",
        standard_hours="38",
        frequency="weekly",
        pay_days_after="9",
    ),
    f"POST {_ONE}/pause": kept(303),
    f"POST {_ONE}/resume": kept(303),  # without a bank it goes on once there is one
    f"GET {_ONE}/skip": kept(200),
    f"POST {_ONE}/skip": kept(303, what="through", through_date="2026-12-01"),
    f"GET {_ONE}/stop": kept(200),
    f"POST {_ONE}/stop": kept(303),
}


async def things(world: World) -> dict[str, str]:
    """An enrollment of somebody who was paid before, and a payroll of it that is held."""
    nina = await world.employ("Nina", "Vega")
    await world.pay(nina)
    await connect_accounts(world, nina)
    terms = EnrolledTerms(
        standard_hours=Decimal(40), frequency="weekly", anchor=date(2026, 11, 16), pay_days_after=9
    )
    requested = EnrollEmployee(
        employer_id=world.household_id,
        employee_id=nina,
        terms=terms,
        agreement=Agreement(text_version=STANDING_TEXT_VERSION),
    )
    week = Order(
        employer_id=world.household_id,
        pay_period_start=date(2026, 11, 16),
        pay_period_end=date(2026, 11, 22),
        pay_date=date(2026, 12, 1),
        pay_frequency="weekly",
        employees=(
            EmployeePay(employee_id=nina, regular_hours=Decimal(40), payment_method="direct_deposit"),
        ),
    )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        run = await run_payroll(
            session,
            world.actor,
            world.people_context.clock,
            week,
            Confirmations(confirm_ach_debit=True),
            direct_deposit_enabled=True,
        )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        view = await enroll(
            session, world.actor, world.people_context.clock, requested, direct_deposit_enabled=True
        )
    _hold(world, view.enrollment.id, run.id)
    return {"enrollment_id": str(view.enrollment.id), "held_id": str(run.id)}


async def connect_accounts(world: World, employee_id: UUID) -> None:
    """Connect the household's account and the employee's, both vouched for."""
    details = AccountDetails(
        parse_number("bank_routing", ROUTING), parse_number("bank_account", "123456789"), "checking"
    )
    ring, now = world.people_context.ring, world.people_context.clock.now()
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        household = await session.get_one(Employer, world.household_id)
        employee = await session.get_one(Employee, employee_id)
        await connect_household_account(
            session, ring, world.actor, household, details, now, verification=Vouching()
        )
        await connect_employee_account(
            session, ring, world.actor, employee, details, now, verification=Vouching()
        )


def _hold(world: World, enrollment_id: UUID, payroll_id: UUID) -> None:
    """Let a scheduled payroll be one that Autopilot made of its first period and holds; it goes on with the next."""
    world.connection.execute(
        "UPDATE autopilot_enrollments SET next_start = next_start + 7, next_end = next_end + 7, "
        "next_pay_date = next_pay_date + 7, generate_at = generate_at + interval '7 days' WHERE id = %s",
        (enrollment_id,),
    )
    world.connection.execute(
        "INSERT INTO autopilot_periods (id, organization_id, employer_id, sandbox, enrollment_id, employee_id, "
        "version, period_start, period_end, pay_date, send_at, outcome, payroll_id, held, net_pay, decided_at) "
        "SELECT %s, e.organization_id, e.employer_id, e.sandbox, e.id, e.employee_id, 1, p.period_start, p.period_end, "
        "p.pay_date, p.scheduled_send_at, 'scheduled', p.id, '{above_enrolled_net}', p.net_pay, %s "
        "FROM autopilot_enrollments e, payrolls p WHERE e.id = %s AND p.id = %s",
        (uuid7(), datetime(2026, 11, 20, tzinfo=UTC), enrollment_id, payroll_id),
    )
