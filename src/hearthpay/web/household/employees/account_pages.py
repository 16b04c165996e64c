"""An employee's new bank account for the household: an owner approves it if an address was changed before."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import GIVE_WORD, STOP_ACCOUNT_CHANGE
from hearthpay.banking.account_changes import approve_change, pending_change, withdraw_change
from hearthpay.employees.own_notices import notify_of_change, reader_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import employee_in_path, find_here

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees/{employee_id}/account", permission=GIVE_WORD, fresh=True)
async def confirm_account_change(at: HouseholdContext) -> Response:
    """Show the pending account, and ask whether the employee requested it."""
    async with at.transaction() as session:
        record = await find_here(at, session)
        facts = {"employee": record, "change": await pending_change(session, record.id)}
    return at.show("employees/account.html", facts)


@household_page(router, "POST", "/employees/{employee_id}/account/agree", permission=GIVE_WORD, fresh=True)
async def agree(at: HouseholdContext) -> Response:
    """Approve the new account: it is used once its waiting day has passed."""
    async with at.transaction() as session:
        record = await find_here(at, session)
        await approve_change(session, at.actor, at.clock, record.id)
    return at.go(f"/employees/{employee_in_path(at)}")


@household_page(
    router, "POST", "/employees/{employee_id}/account/refuse", permission=STOP_ACCOUNT_CHANGE, fresh=True
)
async def refuse(at: HouseholdContext) -> Response:
    """Reject the pending account; the employee is notified."""
    people_context = at.visitor.people_context
    async with at.transaction() as session:
        record = await find_here(at, session)
        if await withdraw_change(session, at.actor, at.clock, record.id):
            reader = await reader_of(session, record.id)
            await notify_of_change(
                people_context, session, record, reader, "bank_withdrawn", kind="household_decided"
            )
    return at.go(f"/employees/{employee_in_path(at)}")
