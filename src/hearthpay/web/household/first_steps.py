"""The first household, and the steps to the first payday, each a page of the app."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from sqlalchemy import select
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES, CREATE_HOUSEHOLD
from hearthpay.access.refusal import Refusal
from hearthpay.employees.missing_localities import unchosen_place
from hearthpay.employees.models import Employee
from hearthpay.employees.onboarding import onboarding_of
from hearthpay.employees.schemas import EmployeeItem, item_of
from hearthpay.employers.schemas import NewEmployer
from hearthpay.employers.service import create_employer
from hearthpay.insurance.service import read_policies
from hearthpay.payroll.commands import PayrollQuery
from hearthpay.payroll.service import list_payrolls
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.framework import go, page_of, show
from hearthpay.web.household.context import ROOT, HouseholdContext, household_page
from hearthpay.web.household.employees.person_form import address_in
from hearthpay.web.household.form_parsing import Entries, problems_in
from hearthpay.web.household.setup import STEPS, Setup
from hearthpay.web.household.state_accounts.words import POLICY_WORDS
from hearthpay.web.message_text import message_text
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class StartStep:
    """One step on the page: its state is `done`, `now` or `open`; `path` is relative to the household's address."""

    name: str
    title: str
    state: str
    path: str | None


@page_of(router, "GET", f"{ROOT}/start", "member", permission=CREATE_HOUSEHOLD)
async def household_form(visitor: Visitor) -> Response:
    """The form about the household."""
    who = visitor.signed_in
    first, _, last = who.name.rpartition(" ")
    return _household(
        visitor, {}, {"first_name": first or last, "last_name": last if first else "", "email": who.email}
    )


@page_of(router, "POST", f"{ROOT}/start", "member", permission=CREATE_HOUSEHOLD)
async def make_household(visitor: Visitor) -> Response:
    """Create the household, and continue with its employees."""
    entries = Entries(visitor.form)
    values = {
        "first_name": entries.text("first_name"),
        "last_name": entries.text("last_name"),
        "email": entries.text("email"),
        "state": entries.text("address_state"),
        "address": address_in(entries),
    }
    new = entries.checked(NewEmployer, values)
    if new is None:
        if "state" in entries.problems:
            entries.problems.setdefault("address_state", entries.problems.pop("state"))
        return _household(visitor, entries.problems, visitor.form)
    actor = visitor.actor()
    try:
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            made = await create_employer(session, actor, visitor.people_context.clock, new.to_command())
    except Refusal as error:
        return _household(visitor, problems_in(error, visitor.form), visitor.form)
    return go(f"{ROOT}/{made.id}/employees/new?setup=1")


@household_page(router, "GET", "/setup", permission=CHANGE_EMPLOYEES)
async def setup(at: HouseholdContext) -> Response:
    """Show how far setup is, and what is next."""
    async with at.transaction() as session:
        statement = select(Employee).where(Employee.employer_id == at.id, Employee.status == "active")
        employee = await session.scalar(statement.order_by(Employee.id).limit(1))
        onboarding = await onboarding_of(session, at.clock, [] if employee is None else [employee])
        payrolls, _ = await list_payrolls(session, at.actor, PayrollQuery(employer_id=at.id, limit=1))
        policies = await read_policies(session, at.id, at.clock.today())
    item = None if employee is None else item_of(employee, onboarding[employee.id])
    place = None
    if employee is not None:
        home = employee.address["city"] if employee.address else employee.city
        work = at.household.address.city if at.household.address is not None else None
        place = unchosen_place(employee, (work, home), at.clock.today())
    done = {
        "household": True,
        "employee": item is not None,
        "withholding": employee is not None and bool(employee.federal_withholding),
        "invitation": item is not None and item.onboarding.tax_info != "missing",
        "method": item is not None and not _needs_account(item),
        "payroll": bool(payrolls),
    }
    return at.show(
        "setup.html",
        {
            "steps": _steps(done, item),
            "employee": item,
            "finished": all(done.values()),
            "place": place,
            "place_text": ""
            if place is None
            else message_text(at.say, at.visitor.language, place.coded_message),
            "policies": [each for each in policies if each.missing],
            "policy_words": POLICY_WORDS,
        },
    )


def _steps(done: Mapping[str, bool], employee: EmployeeItem | None) -> list[StartStep]:
    """Return the steps in order; the first that isn't done is the current one."""
    steps: list[StartStep] = []
    now_found = False
    for name, title in STEPS:
        is_now = not done[name] and not now_found
        now_found = now_found or is_now
        state = "done" if done[name] else "now" if is_now else "open"
        steps.append(StartStep(name, title, state, _path(name, employee)))
    return steps


def _needs_account(employee: EmployeeItem) -> bool:
    """Return whether pay is to go to an account that the employee hasn't been asked for yet."""
    return employee.payment_method == "direct_deposit" and employee.onboarding.bank_account == "missing"


def _path(step: str, employee: EmployeeItem | None) -> str | None:
    """Return the page of a step; None if it depends on another."""
    if step == "household":
        return "/household"
    if employee is None:
        return "/employees/new?setup=1" if step == "employee" else None
    return {
        "employee": f"/employees/{employee.id}/change",
        "withholding": f"/employees/{employee.id}/withholding?setup=1",
        "invitation": f"/employees/{employee.id}/invitations?setup=1",
        "method": f"/employees/{employee.id}/{'invitations' if _needs_account(employee) else 'method'}?setup=1",
        "payroll": "/payrolls/new",
    }[step]


def _household(visitor: Visitor, problems: dict[str, str], form_values: Mapping[str, str]) -> Response:
    facts = {
        "problems": problems,
        "form_values": form_values,
        "states": tuple(sorted(STATES)),
        "setup": Setup(under_way=True, step="household"),
    }
    return show(visitor, "start.html", facts, status=400 if problems else 200, folder="household")
