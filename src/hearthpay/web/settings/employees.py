"""Employees' accounts for the household: who has one, and their requests to set money aside."""

from typing import Final, cast

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES, RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.employees.links import employees_with_accounts, end_link
from hearthpay.employees.own_notices import notify_employee
from hearthpay.payroll.set_asides.requests import RequestDecision, decide_request, pending_requests
from hearthpay.web.framework import go, id_in_path, page_of, show
from hearthpay.web.mode_switch import in_other_mode
from hearthpay.web.my.record import money
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_HERE: Final = "/settings/employees"
_DECISIONS: Final = ("approved", "declined")


@page_of(router, "GET", "/settings/employees", "member", permission=READ_EMPLOYEES)
async def employees(visitor: Visitor) -> Response:
    """List the employees with accounts, and their requests."""
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        facts = {
            "requests": await pending_requests(session, actor),
            "accounts": await employees_with_accounts(session, actor),
            "may_decide": _may(visitor),
            "money": money,
        }
    facts |= await in_other_mode(visitor, requests=_count_requests, accounts=_count_accounts)
    return show(visitor, "employees.html", facts)


async def _count_requests(session: AsyncSession, actor: Actor) -> int:
    return len(await pending_requests(session, actor))


async def _count_accounts(session: AsyncSession, actor: Actor) -> int:
    return len(await employees_with_accounts(session, actor))


@page_of(
    router, "POST", "/settings/employees/requests/{request_id}/{decision}", "member", permission=RUN_PAYROLL
)
async def decide(visitor: Visitor) -> Response:
    """Approve or decline an employee's request to set money aside."""
    actor, people_context = visitor.actor(), visitor.people_context
    decision = visitor.request.path_params["decision"]
    if decision not in _DECISIONS:
        raise Refusal("not_found", "Page not found. Check the address.")
    async with people_context.database.transaction(actor.tenant) as session:
        employee = await decide_request(
            session,
            actor,
            people_context.clock,
            id_in_path(visitor, "request_id"),
            cast(RequestDecision, decision),
        )
        accounts = await employees_with_accounts(session, actor)
        address = next((each.email for each in accounts if each.employee_id == employee.id), employee.email)
        await notify_employee(people_context, session, employee, f"set_aside_{decision}", address)
    return go(_HERE)


@page_of(
    router,
    "POST",
    "/settings/employees/accounts/{link_id}/end",
    "member",
    permission=CHANGE_EMPLOYEES,
    fresh=True,
)
async def end_access(visitor: Visitor) -> Response:
    """End an account's access to the employee's record."""
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        await end_link(session, actor, visitor.people_context.clock, id_in_path(visitor, "link_id"))
    return go(_HERE)


def _may(visitor: Visitor) -> bool:
    try:
        allow(visitor.actor(), RUN_PAYROLL)
    except Refusal:
        return False
    return True
