"""The endpoints of `hearthpay.autopilot`."""

from typing import Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of, id_of


def _get_autopilot(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    employee = {"employee_id": id_of(step, worlds, "employees", step.thing)} if step.variant else {}
    about |= frozenset({step.thing}) if step.variant else frozenset()
    return Request("GET", "/autopilot", about, query={**household, **employee})


def _list_autopilot_history(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    return Request("GET", "/autopilot/history", about, query={**household, "limit": 1 + step.variant})


def _manage_autopilot(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    action = ("pause", "skip", "disable")[step.variant]
    body = {**household, "employee_id": id_of(step, worlds, "employees", step.thing)}
    return Request("POST", f"/autopilot/{action}", about | {step.thing}, body=body)


ENDPOINTS: Final = (
    Endpoint(
        id="getAutopilot",
        method="GET",
        path="/autopilot",
        scope="ach",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"employee_id": world.employee_id}),
        step=_get_autopilot,
    ),
    Endpoint(
        id="listAutopilotHistory",
        method="GET",
        path="/autopilot/history",
        scope="ach",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"employee_id": world.employee_id}),
        step=_list_autopilot_history,
    ),
    Endpoint(
        id="enrollInAutopilot",
        method="POST",
        path="/autopilot/enroll",
        scope=None,
        turn=Turn.READ,
        request=lambda world: Asked(),
        stateless=True,
        retired="autopilot_enroll_in_app",
    ),
    Endpoint(
        id="manageAutopilot",
        method="POST",
        path="/autopilot/{action}",
        scope="ach",
        household="body",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"employee_id": world.employee_id}, path={"action": "pause"}),
        step=_manage_autopilot,
        lacks="not_found",
    ),
)
