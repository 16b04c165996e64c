"""The HTTP API of what a state's law requires."""

from typing import Annotated, Final

from fastapi import Depends, Query
from pydantic import WithJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_LAW, READ_RULES
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, answer
from hearthpay.http.errors import nothing_here
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.jurisdictions.requirements import jurisdiction_on, rules_of
from hearthpay.jurisdictions.schemas import Jurisdiction, Rules, RulesQuery
from hearthpay.taxes.jurisdictions import STATES

router: Final = api_router("Jurisdictions")


@router.get(
    "/jurisdictions/{state}",
    operation_id="getJurisdiction",
    summary="List what a state's law asks for",
    **describe(
        answer=Envelope[Jurisdiction],
        errors=("not_found", "unsupported_jurisdiction", "unsupported_tax_year"),
    ),
)
async def get_jurisdiction(
    request: Request,
    state: Annotated[str, WithJsonSchema({"type": "string", "description": "A state or DC: two letters."})],
    actor: Annotated[Actor, Depends(require(READ_LAW))],  # noqa: ARG001 - the guard
) -> Response:
    """The taxes of today, the entries of `state_withholding` with type and meaning, and the localities by name.

    `state` is one of the 50 states or DC, by its two letters. Any key of a plan with employees may ask.
    """
    if not state.isascii() or state.upper() not in STATES:
        raise nothing_here(request)
    return answer(request, jurisdiction_on(state.upper(), runtime_of(request).clock.today()))


@router.get(
    "/rules",
    operation_id="getRules",
    summary="Tell what is known of a year's law",
    **describe(
        answer=Envelope[Rules],
        query={"state": "CA", "year": 2027},
        errors=("unsupported_jurisdiction", "unsupported_tax_year"),
    ),
)
async def get_rules(
    request: Request,
    query: Annotated[RulesQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_RULES))],  # noqa: ARG001 - the guard
) -> Response:
    """Which figures of a year are published, carried on by the law, provisional or unknown, and what is awaited when.

    With `state` every line of it; without, the counts of all jurisdictions and the lines that are awaited. Any key may
    ask.
    """
    year = query.year if query.year is not None else runtime_of(request).clock.today().year
    return answer(request, rules_of(year, query.state))
