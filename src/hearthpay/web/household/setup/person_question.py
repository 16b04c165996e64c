"""Question 2 of setup: who works for the household. Its answer adds the employee, whose pay is asked next.

The place of a local tax is asked only in states where a paycheck would otherwise assume something about it.
"""

import datetime
import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.missing_localities import unchosen_place
from hearthpay.employees.models import Employee
from hearthpay.employees.schemas import EmployeeChanges, NewEmployee
from hearthpay.employees.service import lock_employee, update_employee
from hearthpay.employees.setup_questions import begin_setup, employee_in_setup
from hearthpay.jurisdictions.requirements import jurisdiction_on
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.unchanged import UNCHANGED
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.employees.employee_view import CHANGED_SINCE, SHOWN, digest_of, is_stale
from hearthpay.web.household.employees.person_form import form_values_of
from hearthpay.web.household.employees.withholding_form import SEVERAL, Withheld
from hearthpay.web.household.employees.words import RELATIONS
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in
from hearthpay.web.household.setup.questions import LEAVE, PERSON, missing, question_facts

router: Final = APIRouter(include_in_schema=False)

NO_PLACE: Final = "none"
"""The answer that no local tax applies."""

LANGUAGES: Final = (("en", "English"), ("es", "Español"))
"""The languages that an employee may read, each in its own words."""

_NONE_OF_THESE: Final = mark("None of these")
_ANCHORS: Final = {"language": "language-en"}


@household_page(router, "GET", "/setup/person", permission=CHANGE_EMPLOYEES)
async def new_person(at: HouseholdContext) -> Response:
    """Ask who works here; somebody whose setup was begun is asked about again."""
    async with at.transaction() as session:
        begun = await employee_in_setup(session, at.id)
    if begun is not None and begun.setup_question is not None:
        return at.go(f"/setup/{begun.id}/person")
    return _page(at, {}, {"start_date": at.clock.today().isoformat()}, at.household.state)


@household_page(router, "POST", "/setup/person", permission=CHANGE_EMPLOYEES)
async def add_person(at: HouseholdContext) -> Response:
    """Add the employee, and ask what the pay is."""
    state = at.household.state
    entries = Entries(at.form)
    values = _values(entries, asks_place=asks_for_place(state, at.clock.today()))
    new = entries.checked(NewEmployee, values | {"employer_id": at.id})
    if new is None:
        return _page(at, entries.problems, at.form, state)
    try:
        async with at.transaction() as session:
            noted = await begin_setup(session, at.actor, at.clock, new.to_command())
    except Refusal as error:
        return _page(at, problems_in(error, at.form), at.form, state)
    return at.go("/setup" if at.form.get(LEAVE) else f"/setup/{noted.employee.id}/pay")


@household_page(router, "GET", "/setup/{employee_id}/person", permission=CHANGE_EMPLOYEES)
async def person_again(at: HouseholdContext) -> Response:
    """Show the answer again, to correct it."""
    return await _again(at, {}, None)


@household_page(router, "POST", "/setup/{employee_id}/person", permission=CHANGE_EMPLOYEES, fresh=True)
async def correct_person(at: HouseholdContext) -> Response:
    """Save the corrected answer, but not over other changes made in the meantime."""
    entries = Entries(at.form)
    try:
        async with at.transaction() as session:
            record = await lock_employee(session, at.actor, employee_in_path(at))
            withheld = await _withheld(at, session)
            asks_place = asks_for_place(record.work_state, at.clock.today())
            stale = is_stale(at.form, digest_of(_held(withheld)))
            changes = entries.checked(EmployeeChanges, _values(entries, asks_place=asks_place))
            if changes is not None and not stale:
                await update_employee(
                    session, at.actor, at.clock, record.id, _command(changes, entries, withheld)
                )
    except Refusal as error:
        return await _again(at, problems_in(error, at.form), at.form)
    if stale:
        return await _again(at, {ROOT: CHANGED_SINCE}, None, status=409)
    if changes is None:
        return await _again(at, entries.problems, at.form)
    return at.go("/setup" if at.form.get(LEAVE) else f"/setup/{employee_in_path(at)}/pay")


@functools.lru_cache(maxsize=256)
def asks_for_place(state: str, on: datetime.date) -> bool:
    """Return whether paychecks of this work state assume something about a local tax until a place is chosen."""
    trial = Employee(
        pay_frequency="biweekly",
        work_state=state,
        residence_state=state,
        localities=[],
        federal_withholding={},
        state_withholding={},
    )
    return unchosen_place(trial, (), on) is not None


def _values(entries: Entries, *, asks_place: bool) -> dict[str, object]:
    """Return the answer as in a request; what is missing becomes a problem of its field."""
    place = entries.text("locality") if asks_place else NO_PLACE
    values: dict[str, object] = {
        "first_name": entries.text("first_name"),
        "last_name": entries.text("last_name"),
        "email": entries.text("email"),
        "start_date": entries.day("start_date"),
        "language": entries.text("language"),
        "relationship": entries.text("relationship"),
        "lives_in": entries.ticked("lives_in"),
    }
    missing(
        entries.problems,
        values | {"locality": place},
        ("first_name", "last_name", "start_date", "locality"),
    )
    return values | {"locality": None if place == NO_PLACE else place}


def _command(changes: EmployeeChanges, entries: Entries, withheld: Withheld) -> ChangeEmployee:
    """Return the changes: an emptied email address is cleared, and the place changes only if another was chosen."""
    command = replace(changes.to_command(), locality=UNCHANGED)
    if entries.text("email") is None:
        command = replace(command, email=None)
    chosen = entries.text("locality")
    return command if chosen is None else withheld.with_place(_code(chosen), command)


def _code(place: str) -> str:
    return "" if place == NO_PLACE else place


async def _withheld(at: HouseholdContext, session: AsyncSession) -> Withheld:
    record = await find_here(at, session)
    return Withheld.of(record, await described(at, session, record), at.clock.today())


def _held(withheld: Withheld) -> dict[str, str]:
    """Return the form's values before anything was typed."""
    held = form_values_of(withheld.employee)
    names = ("first_name", "last_name", "email", "start_date", "language", "relationship", "lives_in")
    return {name: held[name] for name in names if name in held} | {"locality": withheld.place or NO_PLACE}


async def _again(
    at: HouseholdContext,
    problems: Mapping[str, str],
    form_values: Mapping[str, str] | None,
    *,
    status: int = 400,
) -> Response:
    async with at.transaction() as session:
        withheld = await _withheld(at, session)
    held = _held(withheld)
    employee = withheld.employee
    # The form was filled in based on what was shown then.
    facts: dict[str, object] = {
        "shown": digest_of(held) if form_values is None else form_values.get(SHOWN, "")
    }
    if withheld.place == SEVERAL:
        together = (SEVERAL, " + ".join(withheld.names_in_force()))
        facts["places"] = [together, *_places(at, employee.work_state, at.clock.today())]
    typed = held if form_values is None else form_values
    return _page(at, problems, typed, employee.work_state, facts, status=status)


def _page(
    at: HouseholdContext,
    problems: Mapping[str, str],
    form_values: Mapping[str, str],
    state: str,
    facts: Mapping[str, object] | None = None,
    *,
    status: int = 400,
) -> Response:
    today = at.clock.today()
    asked = question_facts(PERSON, f"{at.root}/setup/household", problems, form_values, _ANCHORS) | {
        "relations": RELATIONS,
        "languages": LANGUAGES,
        "state_name": STATES[state],
        "places": _places(at, state, today) if asks_for_place(state, today) else None,
    }
    return at.show("setup/person.html", asked | dict(facts or {}), status=status if problems else 200)


def _places(at: HouseholdContext, state: str, on: datetime.date) -> list[tuple[str, str]]:
    """Return the places of a state with a tax of their own, by code, and that it is none of them."""
    names = {each.code: each.name for each in jurisdiction_on(state, on).localities}
    return [*names.items(), (NO_PLACE, at.say(_NONE_OF_THESE))]
