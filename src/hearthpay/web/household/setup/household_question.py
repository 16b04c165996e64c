"""Question 1 of setup: who the employer is, and in which state. Its answer creates the household."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_HOUSEHOLD, CREATE_HOUSEHOLD
from hearthpay.access.refusal import Refusal
from hearthpay.employers.schemas import EmployerChanges, NewEmployer
from hearthpay.employers.service import create_employer, update_employer
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.framework import go, page_of, show
from hearthpay.web.household.context import ROOT, HouseholdContext, household_page
from hearthpay.web.household.employees.person_form import address_in
from hearthpay.web.household.form_parsing import Entries, problems_in
from hearthpay.web.household.setup.questions import HOUSEHOLD, LEAVE, missing, question_facts
from hearthpay.web.household.worklist import first_households
from hearthpay.web.mode_switch import count_households, in_other_mode
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_STATES: Final = sorted(STATES.items(), key=lambda each: each[1])
_ADDRESS: Final = ("address_line1", "address_city", "address_zip", "address_state")


@page_of(router, "GET", f"{ROOT}/start", "member", permission=CREATE_HOUSEHOLD)
async def new_household(visitor: Visitor) -> Response:
    """Ask who the employer is; for one's first household, the name is the account's."""
    is_first = await _is_first(visitor)
    first, _, last = visitor.signed_in.name.rpartition(" ")
    names = {"first_name": first or last, "last_name": last if first else ""}
    return await _of_new(visitor, {}, names if is_first else {}, is_first=is_first)


@page_of(router, "POST", f"{ROOT}/start", "member", permission=CREATE_HOUSEHOLD)
async def make_household(visitor: Visitor) -> Response:
    """Create the household, and ask who works there. Without an email address the first one gets the account's."""
    is_first = await _is_first(visitor)
    entries = Entries(visitor.form)
    values = _values(entries) | {"email": entries.text("email")}
    if values["email"] is None and is_first:
        values["email"] = visitor.signed_in.email
    if not visitor.signed_in.sandbox:
        missing(entries.problems, values, ("email",))
    new = entries.checked(NewEmployer, values)
    if new is None:
        return await _of_new(visitor, entries.problems, visitor.form, is_first=is_first)
    actor = visitor.actor()
    try:
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            made = await create_employer(session, actor, visitor.people_context.clock, new.to_command())
    except Refusal as error:
        return await _of_new(visitor, problems_in(error, visitor.form), visitor.form, is_first=is_first)
    return go(f"{ROOT}/{made.id}/setup" if visitor.form.get(LEAVE) else f"{ROOT}/{made.id}/setup/person")


@household_page(router, "GET", "/setup/household", permission=CHANGE_HOUSEHOLD)
async def household_again(at: HouseholdContext) -> Response:
    """Show the answer again, to correct it."""
    household, address = at.household, at.household.address
    held = {
        "first_name": household.first_name,
        "last_name": household.last_name,
        "address_state": household.state,
    }
    if address is not None:
        held |= {f"address_{name}": getattr(address, name) or "" for name in ("line1", "city", "zip")}
    return _of_existing(at, {}, held)


@household_page(router, "POST", "/setup/household", permission=CHANGE_HOUSEHOLD, fresh=True)
async def correct_household(at: HouseholdContext) -> Response:
    """Save the corrected name and address; an apartment that was entered elsewhere stays."""
    entries = Entries(at.form)
    values = _values(entries)
    address, before = values["address"], at.household.address
    if isinstance(address, dict) and before is not None and address.get("line1") == before.line1:
        values["address"] = address | {"line2": before.line2}
    changes = entries.checked(EmployerChanges, values)
    if changes is None:
        return _of_existing(at, entries.problems, at.form)
    try:
        async with at.transaction() as session:
            await update_employer(session, at.actor, at.clock, at.id, changes.to_command())
    except Refusal as error:
        return _of_existing(at, problems_in(error, at.form), at.form)
    return at.go("/setup" if at.form.get(LEAVE) else "/setup/person")


async def _is_first(visitor: Visitor) -> bool:
    """Return whether the organization has no household yet in this mode."""
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        return not await first_households(session, actor, 1)


def _values(entries: Entries) -> dict[str, object]:
    """Return the answer as in a request; what is missing becomes a problem of its field."""
    typed = {name: entries.text(name) for name in ("first_name", "last_name", *_ADDRESS)}
    missing(entries.problems, typed, tuple(typed))
    return {
        "first_name": typed["first_name"],
        "last_name": typed["last_name"],
        "state": typed["address_state"],
        "address": address_in(entries),
    }


async def _of_new(
    visitor: Visitor, problems: Mapping[str, str], form_values: Mapping[str, str], *, is_first: bool
) -> Response:
    facts = _facts("/households", problems, form_values) | {
        "is_first": is_first,
        "asks_email": not is_first,
    }
    if is_first:  # whose households may all be of the other mode
        facts |= await in_other_mode(
            visitor, kind="households", next_path="/home", households=count_households
        )
    return show(visitor, "setup/household.html", facts, status=400 if problems else 200, folder="household")


def _of_existing(
    at: HouseholdContext, problems: Mapping[str, str], form_values: Mapping[str, str]
) -> Response:
    facts = _facts(f"{at.root}/setup", problems, form_values) | {"is_first": True, "asks_email": False}
    return at.show("setup/household.html", facts, status=400 if problems else 200)


def _facts(back: str, problems: Mapping[str, str], form_values: Mapping[str, str]) -> dict[str, Any]:
    own = {name: problem for name, problem in problems.items() if name not in ("state", "address_state")}
    state = problems.get("address_state") or problems.get("state")
    said = own if state is None else own | {"address_state": state}
    return question_facts(HOUSEHOLD, back, said, form_values) | {"states": _STATES}
