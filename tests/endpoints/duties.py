"""The endpoints of `hearthpay.duties`."""

from typing import Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of


def _get_tax_calendar(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    first = f"202{6 + step.variant}-01-01"
    return Request("GET", "/tax-calendar", about, query={**household, "from": first})


ENDPOINTS: Final = (
    Endpoint(
        id="getTaxCalendar",
        method="GET",
        path="/tax-calendar",
        scope="state_registrations",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"from": "2026-01-01"}),
        step=_get_tax_calendar,
    ),
)
