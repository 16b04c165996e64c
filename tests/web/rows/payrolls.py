"""Payrolls."""

from datetime import date
from decimal import Decimal
from typing import Final
from uuid import UUID, uuid4

from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.drafts import save_draft
from tests.web.rows.row import at_household, kept
from tests.web.rows.world import World

_AT: Final = "/app/{household_id}/payrolls"

ROWS: Final = {
    f"GET {_AT}": at_household(200),
    f"GET {_AT}/download": at_household(200),
    f"GET {_AT}/new": kept(200),
    f"GET {_AT}/drafts/{{draft_id}}": at_household(200),
    f"POST {_AT}/drafts/{{draft_id}}": kept(
        303,
        kind="hours",
        start="2026-11-16",
        end="2026-11-22",
        pay_date="2026-11-27",
        frequency="weekly",
        **{"pay_{employee_id}": "on", "regular_{employee_id}": "38", "method_{employee_id}": "check"},
    ),
    f"GET {_AT}/drafts/{{draft_id}}/change": kept(200),
    f"POST {_AT}/drafts/{{draft_id}}/run": kept(303, preview_token="of a draft that was dropped"),
    f"GET {_AT}/drafts/{{draft_id}}/drop": kept(200),
    f"POST {_AT}/drafts/{{draft_id}}/drop": kept(303),
    f"GET {_AT}/{{payroll_id}}": at_household(200),
    f"GET {_AT}/{{payroll_id}}/lines/{{employee_id}}/{{code}}": at_household(200),
    f"GET {_AT}/{{payroll_id}}/stubs/{{employee_id}}": kept(200),
    f"GET {_AT}/{{payroll_id}}/void": kept(200),
    f"POST {_AT}/{{payroll_id}}/void": kept(303, reason="The hours were wrong."),
    f"POST {_AT}/{{payroll_id}}/hand-over": kept(303),
    f"GET {_AT}/{{payroll_id}}/receipt": at_household(200),
    f"GET {_AT}/{{payroll_id}}/correct": kept(200),
    f"POST {_AT}/{{payroll_id}}/correct": kept(
        400, reason="The hours were wrong.", form_id="0190a000-0000-7000-8000-00000000c0de"
    ),
    f"GET {_AT}/{{payroll_id}}/deposits/{{employee_id}}": kept(200),
    f"POST {_AT}/{{payroll_id}}/deposits/{{employee_id}}": kept(400, action="none"),
    f"GET {_AT}/{{payroll_id}}/authorize": kept(200, fresh=True),
    f"POST {_AT}/{{payroll_id}}/authorize": kept(303, fresh=True, agree="on"),
}


def week(world: World, *employees: UUID, hours: int = 38) -> Order:
    """The week after those that `World.pay` pays, by check."""
    return Order(
        employer_id=world.household_id,
        pay_period_start=date(2026, 11, 16),
        pay_period_end=date(2026, 11, 22),
        pay_date=date(2026, 11, 27),
        pay_frequency="weekly",
        employees=tuple(
            EmployeePay(employee_id=each, regular_hours=Decimal(hours), payment_method="check")
            for each in employees or (world.employee_id,)
        ),
    )


async def draft_of(world: World, *employees: UUID) -> UUID:
    """A draft of that week."""
    draft_id = uuid4()
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await save_draft(session, world.actor, world.people_context.clock, draft_id, week(world, *employees))
    return draft_id


async def things(world: World) -> dict[str, str]:
    """A draft, and a payroll that was paid by check long ago."""
    draft_id = await draft_of(world)
    return {
        "draft_id": str(draft_id),
        "payroll_id": str(await world.pay(weeks_ago=20)),
        "code": "US-SS-EE",
    }
