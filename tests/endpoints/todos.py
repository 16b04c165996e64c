"""The endpoint of `hearthpay.todos`."""

from typing import Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of


def _list_to_dos(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    return Request("GET", "/to-dos", about, query={**household, "due_within": 7 + 50 * step.variant})


ENDPOINTS: Final = (
    Endpoint(
        id="listToDos",
        method="GET",
        path="/to-dos",
        scope="payroll",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"due_within": 31}),
        step=_list_to_dos,
    ),
)
