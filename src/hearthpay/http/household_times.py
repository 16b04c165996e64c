"""Which household's time applies to a request: sandbox households may have a test clock.

Everything that a request does is done at one time, determined before its handler is called: that of the household
whose id, or whose employee's or payroll's, is in path, query or body; else of the key's default household.
"""

from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from pydantic import BaseModel
from starlette.requests import Request

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import HouseholdTime, current_household_time
from hearthpay.database.household_clocks import time_of_request
from hearthpay.http.runtime import runtime_of

_CHANGES_BY_ITSELF: Final = ("PATCH", "PUT")
"""Not DELETE: a sandbox household can be deleted at any time."""


async def household_time_of(
    request: Request, actor: Actor, values: Mapping[str, object]
) -> HouseholdTime | None:
    """Return the time of the household that the request is about; None for real time. `values` are its arguments."""
    named = {each for value in values.values() for each in _ids_in(value)}
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        return await time_of_request(session, named, actor.employer_id)


def refuse_while_advancing(method: str | None = None) -> None:
    """Refuse a change of a household whose clock is advancing; `method` says whether a request is a change in itself.

    For a POST `idempotent` calls this, so that earlier responses are still replayed. Raises `clock_advancing`.
    """
    stands = current_household_time()
    if stands is not None and stands.advancing and (method is None or method in _CHANGES_BY_ITSELF):
        raise Refusal(
            "clock_advancing",
            "The clock of this household is advancing. Wait until GET /sandbox/employers/{employer_id}/clock says "
            "'ready', and send the request again.",
        )


def _ids_in(value: object) -> Iterator[UUID]:
    if isinstance(value, UUID):
        yield value
    elif isinstance(value, BaseModel):
        for each in vars(value).values():
            yield from _ids_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _ids_in(each)
