"""Enrolling an employee: first the terms, then their result with the authorization.

The terms are in the address, so that looking ahead changes nothing and going back keeps the entries.
"""

from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import ENROLL_AUTOPILOT
from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.commands import Agreement, EnrolledTerms, EnrollEmployee
from hearthpay.autopilot.enrolling import enroll
from hearthpay.autopilot.proposals import usual_schedule
from hearthpay.autopilot.records import STANDING_TEXT_VERSION, standing_text
from hearthpay.employees.models import Employee
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.autopilot.forecast import forecast
from hearthpay.web.household.autopilot.terms_form import form_values_of_terms, pay_day_choices, read_terms
from hearthpay.web.household.autopilot.words import AUTHORIZATION, REASONS
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import find_here
from hearthpay.web.household.employees.words import FREQUENCIES
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in

router: Final = APIRouter(include_in_schema=False)

MUST_AGREE: Final = mark("Check the box to agree. Without your agreement, nothing is debited.")
OTHER_TEXT: Final = mark("The text has changed. Read it again and check the box.")
_CANNOT: Final = mark("Autopilot may not pay this employee yet. Below you see why.")


@household_page(router, "GET", "/autopilot/enroll/{employee_id}", permission=ENROLL_AUTOPILOT, fresh=True)
async def enroll_form(at: HouseholdContext) -> Response:
    """Show what to pay and when; once the terms are complete, their result and the authorization."""
    asked = dict(at.visitor.request.query_params)
    if "standard_hours" not in asked or "change" in asked:
        return await _terms(at, {}, asked)
    entries = Entries(asked)
    terms = read_terms(entries, at.clock)
    if terms is None:
        return await _terms(at, entries.problems, asked)
    return await _agreement(at, terms, {})


@household_page(router, "POST", "/autopilot/enroll/{employee_id}", permission=ENROLL_AUTOPILOT, fresh=True)
async def enroll_employee(at: HouseholdContext) -> Response:
    """Enroll, with the agreement to the debits as it was read."""
    entries = Entries(at.form)
    terms = read_terms(entries, at.clock)
    if terms is None:
        return await _terms(at, entries.problems, at.form)
    problems = problems_of_agreement(at)
    if problems:
        return await _agreement(at, terms, problems)
    try:
        async with at.transaction() as session:
            employee = await find_here(at, session)
            requested = EnrollEmployee(
                employer_id=at.id, employee_id=employee.id, terms=terms, agreement=agreement_of(at)
            )
            view = await enroll(
                session, at.actor, at.clock, requested, direct_deposit_enabled=at.runtime.direct_deposit
            )
    except Refusal as error:
        problems = problems_in(error, at.form)
        if isinstance(error.details, dict) and "reasons" in error.details:
            problems = {ROOT: _CANNOT}
        return await _agreement(at, terms, problems)
    return at.go(f"/autopilot/{view.enrollment.id}")


def problems_of_agreement(at: HouseholdContext) -> dict[str, str]:
    """Return what is wrong with the checkbox: it is missing, or it was for another version of the text."""
    if not at.form.get("agree"):
        return {"agree": MUST_AGREE}
    if at.form.get("text_version") != STANDING_TEXT_VERSION:
        return {"agree": OTHER_TEXT}
    return {}


def agreement_of(at: HouseholdContext) -> Agreement:
    """Return the visitor's consent, with the version of the text and the IP address."""
    return Agreement(
        text_version=at.form["text_version"],
        address=at.visitor.visit.address,
        confirm_large_payroll=at.form.get("confirm_large_payroll") == "on",
    )


def text_of_agreement(at: HouseholdContext) -> dict[str, object]:
    """Return the text as it is recorded, its numbered sentences, and how they read in the visitor's language."""
    recorded = standing_text().partition("\n1. ")[2]
    sentences = [" ".join(part.split()) for part in _numbered(recorded)]
    return {
        "text_version": STANDING_TEXT_VERSION,
        "sentences": sentences,
        "translated": AUTHORIZATION if at.visitor.language != "en" else (),
    }


def _numbered(text: str) -> list[str]:
    parts, number = [], 2
    while f"\n{number}. " in text:
        part, _, text = text.partition(f"\n{number}. ")
        parts.append(part)
        number += 1
    return [*parts, text]


async def _terms(at: HouseholdContext, problems: dict[str, str], asked: Mapping[str, str]) -> Response:
    async with at.transaction() as session:
        employee = await find_here(at, session)
        usual = await usual_schedule(session, employee, at.clock.today())
    facts = {
        "employee": employee,
        "frequencies": FREQUENCIES,
        "pay_days": pay_day_choices(at.say),
        "usual": {"anchor": usual.anchor.isoformat(), "pay_days_after": str(usual.pay_days_after)},
        "problems": problems,
        "form_values": asked if "standard_hours" in asked else {},
    }
    return at.show("autopilot/terms.html", facts, status=400 if problems else 200)


async def _agreement(at: HouseholdContext, terms: EnrolledTerms, problems: dict[str, str]) -> Response:
    async with at.transaction() as session:
        employee: Employee = await find_here(at, session)
        outlook = await forecast(
            session, employee, terms, at.clock.now(), direct_deposit_enabled=at.runtime.direct_deposit
        )
    facts = text_of_agreement(at) | {
        "employee": employee,
        "terms": terms,
        "typed": form_values_of_terms(terms),
        "frequencies": FREQUENCIES,
        "outlook": outlook,
        "reasons_in_words": REASONS,
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show("autopilot/agree.html", facts, status=400 if problems else 200)
