"""The household's own address, which is on its documents."""

from typing import Final

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_HOUSEHOLD
from hearthpay.access.refusal import Refusal
from hearthpay.employers.schemas import EmployerChanges
from hearthpay.payroll.years.threshold_choice import change_employer
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import field_errors, year_in
from hearthpay.web.refusal_words import problem_on_page
from hearthpay.wire.problems import problems_of as problems_found

router: Final = APIRouter(include_in_schema=False)

_FIELDS: Final = ("line1", "line2", "city", "state", "zip")


@household_page(router, "GET", "/taxes/papers/address", permission=CHANGE_HOUSEHOLD)
async def address_form(at: HouseholdContext) -> Response:
    """Show the form with the known address."""
    return _form(at)


@household_page(router, "POST", "/taxes/papers/address", permission=CHANGE_HOUSEHOLD)
async def save_address(at: HouseholdContext) -> Response:
    """Keeps the address."""
    typed = {name: at.form.get(name, "").strip() for name in _FIELDS}
    try:
        changes = EmployerChanges.model_validate(
            {"address": {name: text for name, text in typed.items() if text}}
        )
        async with at.transaction() as session:
            await change_employer(session, at.actor, at.clock, at.id, changes.to_command())
    except ValidationError as error:
        findings = problems_found(error.errors(include_url=False, include_input=False))
        return _form(at, {each.field: problem_on_page(each) for each in findings})
    except Refusal as error:
        return _form(at, problems_of(error))
    return at.go(f"/taxes/papers?year={_year(at)}")


def _year(at: HouseholdContext) -> int:
    """Return the year of the documents page that the visitor came from, to go back to it."""
    return year_in(at.visitor, at.clock.today())


def _form(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    known = at.household.address
    facts = {
        "year": _year(at),
        "states": tuple(STATES.items()),
        "address": {name: getattr(known, name, None) or "" for name in _FIELDS},
        "problems": field_errors(problems or {}, lambda field: field.removeprefix("address.")),
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("taxes/address.html", facts, status=400 if problems else 200)
