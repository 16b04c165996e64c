"""The household's employer identification number (EIN): typed here, and shown by its last four digits alone."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_EIN
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.employers.ein import ein_ending, keep_ein
from hearthpay.employers.ein_status import is_ein_status, note_ein_status
from hearthpay.employers.service import find_employer
from hearthpay.languages.catalogue import mark
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import field_errors

router: Final = APIRouter(include_in_schema=False)

_DIFFER: Final = mark("The numbers don't match. Enter both again.")


@household_page(router, "GET", "/state-accounts/ein", permission=KEEP_EIN, fresh=True)
async def ein_form(at: HouseholdContext) -> Response:
    """The form for the number."""
    return await _form(at)


@household_page(router, "POST", "/state-accounts/ein", permission=KEEP_EIN, fresh=True)
async def save_ein(at: HouseholdContext) -> Response:
    """Store the number in the vault, replacing an earlier one."""
    ring = at.visitor.people_context.keys()
    typed, again = (at.form.get(name, "").strip() for name in ("ein", "ein_again"))
    try:
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await keep_ein(session, ring, at.actor, employer, typed)
            if typed.replace("-", "") != again.replace("-", ""):
                raise invalid("ein_again", _DIFFER)
    except Refusal as error:
        return await _form(at, field_errors(problems_of(error)))
    return at.go("/state-accounts")


@household_page(router, "POST", "/state-accounts/ein/status", permission=KEEP_EIN)
async def save_ein_status(at: HouseholdContext) -> Response:
    """Record that the number is applied for, or that the IRS refused."""
    status = at.form.get("status", "")
    if not is_ein_status(status) or status == "approved":  # that one comes with the number
        raise Refusal("not_found", mark("Nothing found with this name."))
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        if employer.ein_status != status:
            await note_ein_status(session, at.actor, employer, status)
    return at.go("/state-accounts")


async def _form(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        ending = await ein_ending(session, await find_employer(session, at.actor, at.id))
    facts = {"ending": ending, "problems": problems or {}}
    return at.show("state_accounts/ein.html", facts, status=400 if problems else 200)
