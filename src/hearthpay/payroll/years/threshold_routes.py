"""HTTP routes for a household's settings on which its payroll taxes depend."""

from typing import Annotated, Final

from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CHANGE_HOUSEHOLD
from hearthpay.employers.schemas import EmployerChanges
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.payroll.years.threshold_choice import ChangedEmployer, change_employer
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import HouseholdIdentifier

router: Final = api_router("Employers")

_CHANGES: Final = {
    "threshold_basis": "as_paid",
    "address": {
        "line1": "350 5th Ave",
        "line2": "Apt 4",
        "city": "New York",
        "state": "NY",
        "zip": "10118",
    },
}


@router.patch(
    "/employers/{employer_id}",
    operation_id="updateEmployer",
    summary="Change a household's settings",
    **describe(
        answer=Envelope[ChangedEmployer],
        body=_CHANGES,
        errors=("not_found", "idempotency_conflict"),
    ),
)
async def update_employer(
    request: Request,
    employer_id: HouseholdIdentifier,
    body: EmployerChanges,
    actor: Annotated[Actor, Depends(require(CHANGE_HOUSEHOLD))],
) -> Response:
    """Changes only the fields you send.

    If another `threshold_basis` makes more or less due in mid-year, `warnings` say so. The next paychecks charge or
    refund it; if there are none, `hearthpay doctor` reports it.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        return Answer(await change_employer(session, actor, clock, employer_id, body.to_command()))

    return await idempotent(request, actor, operation)
