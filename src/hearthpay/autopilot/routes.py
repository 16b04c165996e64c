"""Autopilot's HTTP routes: reads, the four actions on an enrollment, and where to enroll."""

from typing import Annotated, Final

from fastapi import Depends, Path, Query
from pydantic import AfterValidator
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import LEARN_OF_THE_APP, MANAGE_AUTOPILOT, READ_AUTOPILOT
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.autopilot.commands import ACTIONS
from hearthpay.autopilot.managing import manage
from hearthpay.autopilot.reading import list_autopilot, read_autopilot, read_history
from hearthpay.autopilot.schemas import (
    AutopilotHistoryItem,
    AutopilotHistoryQuery,
    AutopilotOfEmployee,
    AutopilotOfHousehold,
    AutopilotQuery,
    AutopilotRequest,
    ManagedAutopilot,
    autopilot_of_employee,
    enrollment_item,
    history_item,
    managed_autopilot,
)
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, ErrorEnvelope, ListEnvelope, answer, listing
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import address_of, runtime_of
from hearthpay.wire.answer import Answer

router: Final = api_router("Autopilot")

ENROLL_PAGE: Final = "/app/autopilot"
"""The page of the app where a person enrolls."""

_WHOSE: Final = {
    "employer_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10",
    "employee_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11",
}
_OWNERSHIP: Final = ("household_forbidden", "key_mode_mismatch", "employee_not_in_household")


@router.get(
    "/autopilot",
    operation_id="getAutopilot",
    summary="Tell where an employee or a household stands with Autopilot",
    **describe(answer=Envelope[AutopilotOfEmployee | AutopilotOfHousehold], query=_WHOSE, errors=_OWNERSHIP),
)
async def get_autopilot(
    request: Request,
    query: Annotated[AutopilotQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_AUTOPILOT))],
) -> Response:
    """Of one employee: the enrollment, what speaks against paying, and the next three periods. Else the enrollments
    that are active or paused. An enrollment that was ended is null; `GET /autopilot/history` tells of it.

    `reasons` are codes: `not_plus`, `employee_inactive`, `employment_ended_in_period` (paid by the hour: run the last
    payroll with the hours worked), `employee_not_started`, `employee_incomplete`, `insufficient_history` (no payroll
    has been completed yet), `direct_deposit_unavailable`, `authorization_missing`, `tax_year_not_final` and others.
    """
    runtime = runtime_of(request)
    async with runtime.database.transaction(actor.tenant) as session:
        if query.employee_id is None:
            if query.employer_id is None:
                raise invalid("employer_id", "is required where no employee is named")
            views = await list_autopilot(session, actor, runtime.clock, query.employer_id)
            return answer(
                request, AutopilotOfHousehold(query.employer_id, [enrollment_item(view) for view in views])
            )
        view = await read_autopilot(
            session,
            actor,
            runtime.clock,
            query.employer_id,
            query.employee_id,
            direct_deposit_enabled=runtime.direct_deposit,
        )
    return answer(request, autopilot_of_employee(view))


@router.get(
    "/autopilot/history",
    operation_id="listAutopilotHistory",
    summary="List what happened to enrollments",
    **describe(answer=ListEnvelope[AutopilotHistoryItem], query={**_WHOSE, "limit": 25}, errors=_OWNERSHIP),
)
async def list_autopilot_history(
    request: Request,
    query: Annotated[AutopilotHistoryQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_AUTOPILOT))],
) -> Response:
    """Newest first: each payment and each gap has its line, with who caused it and by which way."""
    if query.employer_id is None and query.employee_id is None:
        raise invalid("employer_id", "is required where no employee is named")
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        events, next_cursor = await read_history(session, actor, query.to_command())
    return listing(request, [history_item(event) for event in events], next_cursor)


@router.post(
    "/autopilot/enroll",
    operation_id="enrollInAutopilot",
    summary="Enroll an employee: only in the app",
    **describe(answer=ErrorEnvelope, status=403, errors=("autopilot_enroll_in_app",)),
)
async def enroll_in_autopilot(
    request: Request,
    actor: Annotated[Actor, Depends(require(LEARN_OF_THE_APP))],  # noqa: ARG001 - the guard
) -> Response:
    """Always answers `autopilot_enroll_in_app`: a person agrees to the standing debits, on a page of the app."""
    page = f"{address_of(request)}{ENROLL_PAGE}"
    raise Refusal(
        "autopilot_enroll_in_app",
        f"A person enrolls an employee, since it takes an agreement to the debits: {page}",
        details={"url": page},
    )


def _no_address(action: str) -> str:
    """Refuse a name that has its own route: there the method is wrong, and not the name of the action."""
    if action == "history":
        raise ValueError("is no action")
    return action


@router.post(
    "/autopilot/{action}",
    operation_id="manageAutopilot",
    summary="Pause, resume or end an enrollment, or skip a period of it",
    **describe(
        answer=Envelope[ManagedAutopilot],
        body=_WHOSE,
        errors=(*_OWNERSHIP, "not_found", "invalid_state", "idempotency_conflict"),
    ),
)
async def manage_autopilot(
    request: Request,
    action: Annotated[
        str,
        AfterValidator(_no_address),
        Path(description="What to do with the enrollment.", json_schema_extra={"enum": list(ACTIONS)}),
    ],
    body: AutopilotRequest,
    actor: Annotated[Actor, Depends(require(MANAGE_AUTOPILOT))],
) -> Response:
    """`pause`: nothing more is scheduled; payrolls that are scheduled are still paid. `resume`: continues with the
    first period that can still be sent, and never pays for those in between. Eligibility is checked again.

    `skip`: the next period is not paid, or every one that begins by `through_date`; a payroll that is scheduled for one
    is voided. `disable`: ends the enrollment for good, voids what it had scheduled and ends the authorization of its
    debits. The same again changes nothing.
    """
    runtime = runtime_of(request)
    known = next((each for each in ACTIONS if each == action), None)
    if known is None:
        raise invalid("action", f"must be one of {', '.join(ACTIONS)}")
    requested = body.to_command(known)

    async def operation(session: AsyncSession) -> Answer:
        managed = await manage(
            session, actor, runtime.clock, requested, direct_deposit_enabled=runtime.direct_deposit
        )
        return Answer(managed_autopilot(requested, managed))

    return await idempotent(request, actor, operation)
