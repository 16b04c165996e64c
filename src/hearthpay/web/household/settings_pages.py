"""The household's own details: its name, address and email."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_HOUSEHOLD, DELETE_HOUSEHOLD
from hearthpay.access.refusal import Refusal
from hearthpay.employers.schemas import EmployerChanges
from hearthpay.employers.service import update_employer
from hearthpay.languages.catalogue import time_zone_in
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.time_zones import TIME_ZONES, state_times, time_zone_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.person_form import address_in
from hearthpay.web.household.form_parsing import Entries, problems_in

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/household", permission=CHANGE_HOUSEHOLD)
async def household_form(at: HouseholdContext) -> Response:
    """Show the household's details."""
    household, address = at.household, at.household.address
    held = {
        "first_name": household.first_name,
        "last_name": household.last_name,
        "email": household.email or "",
        "phone": household.phone or "",
        "state": household.state,
        "time_zone": household.time_zone,
        "address_state": household.state,
    }
    if address is not None:
        held |= {f"address_{name}": getattr(address, name) or "" for name in address.__slots__}
    return _form(at, {}, held)


@household_page(router, "POST", "/household", permission=CHANGE_HOUSEHOLD, fresh=True)
async def change_household(at: HouseholdContext) -> Response:
    """Save it."""
    entries = Entries(at.form)
    values = {
        "first_name": entries.text("first_name"),
        "last_name": entries.text("last_name"),
        "email": entries.text("email"),
        "phone": entries.text("phone"),
        "state": entries.text("state"),
        "time_zone": entries.text("time_zone"),
        "address": address_in(entries),
    }
    for name in ("first_name", "last_name", "state"):
        if values[name] is None:
            entries.problems[name] = "Fill in this field."
    changes = entries.checked(EmployerChanges, values)
    if changes is None:
        return _form(at, entries.problems, at.form)
    command = changes.to_command()
    if values["email"] is None:
        command = replace(command, email=None)
    if values["phone"] is None:
        command = replace(command, phone=None)
    if values["address"] is None:
        command = replace(command, address=None)
    if command.time_zone in (_usual_zone(at.household.state), _usual_zone(changes.state)):
        command = replace(command, time_zone=None)  # so that it follows the state
    try:
        async with at.transaction() as session:
            await update_employer(session, at.actor, at.clock, at.id, command)
    except Refusal as error:
        return _form(at, problems_in(error, at.form), at.form)
    return at.go()


def _usual_zone(state: str) -> str:
    return time_zone_of(state, None).key


def _form(at: HouseholdContext, problems: dict[str, str], form_values: Mapping[str, str]) -> Response:
    facts = {
        "problems": problems,
        "form_values": form_values,
        "states": tuple(STATES.items()),
        "time_zones": [(zone, time_zone_in(at.visitor.language, zone)) for zone in TIME_ZONES],
        "split": (there := state_times().get(at.household.state)) is not None and there.note is not None,
        "may_end": at.may(DELETE_HOUSEHOLD),
    }
    return at.show("household.html", facts, status=400 if problems else 200)
