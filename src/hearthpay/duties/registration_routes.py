"""HTTP routes for state registrations, with the obligations that hang on them."""

from typing import Annotated, Final

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_REGISTRATIONS
from hearthpay.access.refusal import Refusal
from hearthpay.duties.obligations import obligations_of_household
from hearthpay.http.auth import require
from hearthpay.http.envelope import DatedEnvelope, answer
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.insurance.service import HouseholdPolicy, policies_of_household
from hearthpay.registrations.derivation import EVERY_ACCOUNT
from hearthpay.registrations.schemas import (
    RegistrationsQuery,
    RevealedRegistrations,
    StateRegistrations,
    item_of,
    policy_item_of,
    revealed_item_of,
    revealed_policy_item_of,
)
from hearthpay.registrations.service import list_registrations, reveal_numbers

router: Final = api_router("State registrations")


@router.get(
    "/state-registrations",
    operation_id="listStateRegistrations",
    summary="Tell with which agencies a household must register",
    **describe(
        answer=DatedEnvelope[StateRegistrations | RevealedRegistrations],
        query={"reveal": False},
        errors=("household_forbidden", "key_mode_mismatch"),
        elsewhere="Numbers are entered by people: `hearthpay households register` at the command line.",
    ),
)
async def get_state_registrations(
    request: Request,
    query: Annotated[RegistrationsQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_REGISTRATIONS))],
) -> Response:
    """One item for every account of each state that concerns the household: its own, and those of its employees' work.

    `registered`: a number is on file. `pending`: needed, and the household said that it applied. `required`: needed.
    `required: true` appears with `required` and `pending` only; `required_from` tells below which wages of a quarter
    nothing is owed yet. `not_required`: not needed now; it has no `registration_url`. The status changes when the
    household hires, terminates or moves an employee, or turns withholding on or off. `meta.as_of` is the day that it
    was calculated for.

    `assessment` tells whether the account is needed, and why; `obligations` what is filed or paid under it by when.

    Numbers are shown by their last four characters; with `reveal=true` in full, and each read is recorded in the
    audit log. People enter them in the app, never through this API.
    """
    runtime = runtime_of(request)
    if query.reveal and runtime.ring is None:
        raise Refusal("service_unavailable", "This service has no key ring: it cannot read numbers.")
    data: StateRegistrations | RevealedRegistrations
    asked = query.include or frozenset()
    async with runtime.database.transaction(actor.tenant) as session:
        employer, rows = await list_registrations(
            session, actor, runtime.clock, query.employer_id, include=EVERY_ACCOUNT & asked
        )
        policies: tuple[HouseholdPolicy, ...] = ()
        if "insurance" in asked:
            policies = await policies_of_household(session, actor, runtime.clock, employer)
        today = runtime.clock.today()
        obligations = await obligations_of_household(session, employer, rows, today)
        if query.reveal and runtime.ring is not None:
            numbers = await reveal_numbers(session, runtime.ring, actor, employer, rows)
            revealed = [revealed_item_of(row, obligations, numbers) for row in rows]
            revealed += [revealed_policy_item_of(policy) for policy in policies]
            data = RevealedRegistrations(employer.id, revealed)
        else:
            items = [item_of(row, obligations) for row in rows] + [
                policy_item_of(policy) for policy in policies
            ]
            data = StateRegistrations(employer.id, items)
    return answer(request, data, as_of=today)
