"""The HTTP API of households."""

from typing import Annotated, Final

from fastapi import Depends, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CREATE_HOUSEHOLD, DELETE_HOUSEHOLD, LIST_HOUSEHOLDS, READ_HOUSEHOLD
from hearthpay.employers import sandbox, service
from hearthpay.employers.list_schemas import HouseholdQuery
from hearthpay.employers.schemas import (
    CreatedEmployer,
    DeletedEmployer,
    DeletionQuery,
    EmployerDetail,
    EmployerItem,
    NewEmployer,
    ResetEmployer,
    created,
    detail_of,
    item_of,
)
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, ListEnvelope, answer, listing
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import HouseholdIdentifier

router: Final = api_router("Employers")

_NEW_EMPLOYER: Final = {
    "first_name": "Maria",
    "last_name": "Lopez",
    "email": "maria.lopez@example.com",
    "state": "CA",
    "address": {"line1": "2201 Mission St", "city": "San Francisco", "state": "CA", "zip": "94110"},
}


@router.get(
    "/employers",
    operation_id="listEmployers",
    summary="List the households this key reaches",
    **describe(answer=ListEnvelope[EmployerItem], query={"limit": 25}),
)
async def list_employers(
    request: Request,
    query: Annotated[HouseholdQuery, Query()],
    actor: Annotated[Actor, Depends(require(LIST_HOUSEHOLDS))],
) -> Response:
    """Newest first, or as `sort` asks. A live key lists real households, a test key sandbox ones.

    `search` finds households by how their names, their employees' names or their state begin, without accents.
    `metadata[key]=value` finds those with this value of the key.
    Pass a cursor with the `search`, `sort` and `metadata` that it came from. By payday, a page can have fewer items
    than `limit`, even none, before the list ends: continue until `next_cursor` is null.
    """
    runtime = runtime_of(request)
    async with runtime.database.transaction(actor.tenant) as session:
        employers, next_cursor = await service.list_employers(
            session, actor, runtime.clock, query.to_command()
        )
    return listing(request, [item_of(employer) for employer in employers], next_cursor)


@router.post(
    "/employers",
    operation_id="createEmployer",
    summary="Create a household",
    **describe(
        answer=Envelope[CreatedEmployer],
        body=_NEW_EMPLOYER,
        status=201,
        links={"getEmployer": {"employer_id": "id"}},
        errors=("plan_limit_reached", "household_forbidden", "idempotency_conflict"),
    ),
)
async def create_employer(
    request: Request,
    body: NewEmployer,
    actor: Annotated[Actor, Depends(require(CREATE_HOUSEHOLD))],
) -> Response:
    """A live key creates a real household, a test key a sandbox one. The first one is the account's primary.

    A smaller plan's one household is made in the app, or by the operator (`hearthpay households create`).
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        return Answer(created(await service.create_employer(session, actor, clock, body.to_command())), 201)

    return await idempotent(request, actor, operation)


@router.get(
    "/employers/{employer_id}",
    operation_id="getEmployer",
    summary="Read a household",
    **describe(answer=Envelope[EmployerDetail], errors=("not_found",)),
)
async def get_employer(
    request: Request,
    employer_id: HouseholdIdentifier,
    actor: Annotated[Actor, Depends(require(READ_HOUSEHOLD))],
) -> Response:
    """A household that the key reaches, with its mailing address."""
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        employer = await service.find_employer(session, actor, employer_id)
    return answer(request, detail_of(employer))


@router.delete(
    "/employers/{employer_id}",
    operation_id="deleteEmployer",
    summary="Delete or reset a sandbox household",
    **describe(
        answer=Envelope[DeletedEmployer | ResetEmployer],
        query={"reset": False},
        errors=("key_mode_mismatch", "not_found"),
    ),
)
async def delete_employer(
    request: Request,
    employer_id: HouseholdIdentifier,
    query: Annotated[DeletionQuery, Query()],
    actor: Annotated[Actor, Depends(require(DELETE_HOUSEHOLD))],
) -> Response:
    """With a test key only; a real household is never deleted. Its employees and payrolls go with it for ever.

    With `reset=true` they go and the household stays. Keys that remembered a deleted household forget it;
    if it was the primary one, the oldest sandbox household left takes its place.
    """
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        if query.reset:
            cleared = await sandbox.reset_sandbox(session, actor, employer_id)
            result: DeletedEmployer | ResetEmployer = ResetEmployer(
                employer_id, cleared.employees_removed, cleared.payrolls_removed
            )
        else:
            await sandbox.delete_sandbox(session, actor, employer_id)
            result = DeletedEmployer(employer_id)
    return answer(request, result)
