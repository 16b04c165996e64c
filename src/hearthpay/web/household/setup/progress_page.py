"""Where setup stands: the questions that are answered, the next one, and what is to do after them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.employees.missing_localities import UnchosenPlace, unchosen_place
from hearthpay.employees.models import Employee
from hearthpay.employees.onboarding import onboarding_of
from hearthpay.employees.setup_questions import FREQUENCY, LAST_QUESTION, METHOD, PAY, employee_in_setup
from hearthpay.insurance.service import read_policies
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.commands import PayrollQuery
from hearthpay.payroll.service import list_payrolls
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.context import HouseholdContext, household_page, name_of
from hearthpay.web.household.employees.words import FREQUENCIES, METHODS
from hearthpay.web.household.setup.questions import HOUSEHOLD, PERSON, QUESTIONS
from hearthpay.web.household.state_accounts.words import POLICY_WORDS
from hearthpay.web.message_text import message_text
from hearthpay.web.presentation import dollars_text

router: Final = APIRouter(include_in_schema=False)

_AN_HOUR: Final = mark("{rate} an hour")
_A_YEAR: Final = mark("{amount} a year")
_A_PERIOD: Final = mark("{amount} each pay period")


@dataclass(frozen=True, slots=True)
class QuestionStep:
    """A question on the page; its state is `done`, `now` or `open`, and `path` is relative to the household's."""

    title: str
    told: str
    state: str
    path: str | None


@household_page(router, "GET", "/setup", permission=CHANGE_EMPLOYEES)
async def setup(at: HouseholdContext) -> Response:
    """Show where setup stands, and what is next."""
    async with at.transaction() as session:
        employee = await employee_in_setup(session, at.id)
        return await setup_page(at, session, employee)


async def unfinished_setup(at: HouseholdContext, session: AsyncSession) -> Response | None:
    """Return the page of a setup with open questions, in place of the home page; None if nothing is open.

    A household that was paid from before isn't asked any more.
    """
    if not at.may(CHANGE_EMPLOYEES):
        return None
    employee = await employee_in_setup(session, at.id)
    if employee is not None:
        if employee.status != "active" or employee.setup_question is None:
            return None
        if await _paid_before(at, session):
            return None
    return await setup_page(at, session, employee)


async def setup_page(at: HouseholdContext, session: AsyncSession, employee: Employee | None) -> Response:
    """Return the page with the questions, and what is to do after them."""
    today = at.clock.today()
    question = _next_question(employee)
    policies = await read_policies(session, at.id, today)
    place, has_number = None, False
    if employee is not None:
        onboarding = await onboarding_of(session, at.clock, [employee])
        has_number = onboarding[employee.id].tax_info == "complete"
        place = _open_place(at, employee)
    steps = _steps(question, at, employee)
    facts = {
        "today": today,
        "first_name": at.visitor.signed_in.name.split(" ")[0],
        "steps": steps,
        "now": next((each for each in steps if each.state == "now"), None),
        "answered": LAST_QUESTION if question is None else question - 1,
        "last": LAST_QUESTION,
        "paid_before": question is None and await _paid_before(at, session),
        "employee": employee,
        "has_number": has_number,
        "state_name": STATES[at.household.state],
        "has_ein": at.household.ein_status != "none",
        "place": place,
        "place_text": "" if place is None else message_text(at.say, at.visitor.language, place.coded_message),
        "policies": [each for each in policies if each.missing],
        "state_names": STATES,
        "policy_words": POLICY_WORDS,
    }
    return at.show("setup/progress.html", facts)


async def _paid_before(at: HouseholdContext, session: AsyncSession) -> bool:
    """Return whether the household has a payroll."""
    payrolls, _ = await list_payrolls(session, at.actor, PayrollQuery(employer_id=at.id, limit=1))
    return bool(payrolls)


def _next_question(employee: Employee | None) -> int | None:
    """Return the next question to ask; None if all are answered."""
    if employee is None:
        return PERSON
    if employee.setup_question is not None:
        return employee.setup_question
    return PAY if employee.incomplete else None


def _steps(question: int | None, at: HouseholdContext, employee: Employee | None) -> list[QuestionStep]:
    """Return the questions in order: with the answer, or with what is asked."""
    answers = _answers(at, employee)
    steps = []
    for number, (title, asked) in QUESTIONS.items():
        state = "done" if question is None or number < question else "now" if number == question else "open"
        told = answers[number] if state == "done" else at.say(asked)
        steps.append(QuestionStep(title, told, state, _path(number, employee) if state != "open" else None))
    return steps


def _answers(at: HouseholdContext, employee: Employee | None) -> dict[int, str]:
    """Return what was answered to each question, in the reader's words."""
    answers = {HOUSEHOLD: f"{name_of(at.household)}, {STATES[at.household.state]}"}
    if employee is None:
        return answers
    if employee.salary is not None:
        paid = _A_YEAR if employee.salary_per == "year" else _A_PERIOD
        pay = at.say(paid, amount=dollars_text(employee.salary))
    else:
        pay = at.say(_AN_HOUR, rate=dollars_text(employee.pay_rate))
    return answers | {
        PERSON: employee.name,
        PAY: pay,
        FREQUENCY: at.say(FREQUENCIES[employee.pay_frequency]),
        METHOD: at.say(METHODS[employee.payment_method]),
    }


def _path(number: int, employee: Employee | None) -> str | None:
    if number == HOUSEHOLD:
        return "/setup/household"
    if employee is None:
        return "/setup/person" if number == PERSON else None
    part = {PERSON: "person", PAY: "pay", FREQUENCY: "frequency", METHOD: "method"}[number]
    return f"/setup/{employee.id}/{part}"


def _open_place(at: HouseholdContext, employee: Employee) -> UnchosenPlace | None:
    """Return what is open about the place of the employee's local taxes."""
    home = employee.address["city"] if employee.address else employee.city
    work = at.household.address.city if at.household.address is not None else None
    return unchosen_place(employee, (work, home), at.clock.today())
