"""The endpoints of `hearthpay.registrations`."""

from typing import Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of


def _list_state_registrations(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    reveal = "true" if step.variant else "false"
    return Request("GET", "/state-registrations", about, query={**household, "reveal": reveal})


ENDPOINTS: Final = (
    Endpoint(
        id="listStateRegistrations",
        method="GET",
        path="/state-registrations",
        scope="state_registrations",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(),
        step=_list_state_registrations,
    ),
)
