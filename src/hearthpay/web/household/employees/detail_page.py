"""One employee: all details, the state of the numbers, and the ways to change them."""

from typing import Final
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES, GIVE_WORD, READ_EMPLOYEES, RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.banking.account_changes import pending_change
from hearthpay.banking.accounts import current_employee_accounts
from hearthpay.employees.models import Employee
from hearthpay.employees.onboarding import onboarding_of
from hearthpay.employees.same_person import other_record_warning, other_records
from hearthpay.employees.schemas import EmployeeDetail, detail_of
from hearthpay.employees.service import find_employee
from hearthpay.payroll.set_asides.escrow import read_account
from hearthpay.web.framework import id_in_path
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.low_pay import low_pay
from hearthpay.web.household.employees.person_form import CHOICES
from hearthpay.web.household.employees.withholding_form import Withheld, choice_text
from hearthpay.web.household.employees.words import FILING_STATUSES, OLD_STATUSES, STATE_ENTRY_NAMES
from hearthpay.web.message_text import message_text

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/employees/{employee_id}", permission=READ_EMPLOYEES)
async def employee(at: HouseholdContext) -> Response:
    """Show the record of the person and the job."""
    async with at.transaction() as session:
        record = await find_here(at, session)
        found = await described(at, session, record)
        account = await read_account(session, record.id)
        banks = await current_employee_accounts(session, [record.id])
        change = await pending_change(session, record.id)
    withheld = Withheld.of(record, found, at.clock.today())
    low = low_pay(record, at.clock.today(), at.home_address) if record.status == "active" else None
    facts = {
        "employee": found,
        "low_pay": "" if low is None else message_text(at.say, at.visitor.language, low),
        "account": account,
        "bank": banks.get(record.id),
        "change": change,
        "may_agree": at.may(GIVE_WORD),
        "law": withheld.law,
        "localities": withheld.names_in_force(),
        "choices": CHOICES,
        "entry_names": STATE_ENTRY_NAMES,
        "state_withholding": {
            name: choice_text(at.say, at.visitor.language, told) if isinstance(told, str) else told
            for name, told in found.state_withholding.items()
        },
        "filing_statuses": FILING_STATUSES,
        "old_statuses": OLD_STATUSES,
        "may_change": at.may(CHANGE_EMPLOYEES),
        "may_set_aside": at.may(RUN_PAYROLL),
    }
    return at.show("employees/one.html", facts)


def employee_in_path(at: HouseholdContext) -> UUID:
    """Return the employee id from the path. Raises `not_found` for an invalid one."""
    return id_in_path(at.visitor, "employee_id")


async def find_here(at: HouseholdContext, session: AsyncSession) -> Employee:
    """Return the employee named in the path. Raises `not_found` for another household's."""
    found = await find_employee(session, at.actor, employee_in_path(at))
    if found.employer_id != at.id:
        raise Refusal("not_found", "We couldn't find that employee.")
    return found


async def described(at: HouseholdContext, session: AsyncSession, record: Employee) -> EmployeeDetail:
    """Return the employee as the API describes it."""
    onboarding = await onboarding_of(session, at.clock, [record])
    others = await other_records(session, [record])
    return detail_of(record, onboarding[record.id], map(other_record_warning, others.get(record.id, ())))
