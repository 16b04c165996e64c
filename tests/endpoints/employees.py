"""The endpoints of `hearthpay.employees`."""

from typing import Any, Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of, id_of

_NAMES: Final = ("Ana", "Eva", "Ida")


def _list_households(step: Step, worlds: list[World]) -> Request:
    orders: tuple[dict[str, Any], ...] = (
        {"search": worlds[step.thing].word},
        {"sort": "name", "search": worlds[step.thing].word},
        {"sort": "payday"},
    )
    return Request("GET", "/households", query={"limit": 1 + step.variant} | orders[step.variant])


def _list_employees(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    return Request("GET", "/employees", about, query={**household, "limit": 1 + step.variant})


def _create_employee(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    person = worlds[step.speaker].person(_NAMES[step.variant])
    return Request("POST", "/employees", about, body={**person, **household})


def _update_employee(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employees", step.thing)
    changes: tuple[dict[str, Any], ...] = ({"pay_rate": 1001.5}, {"first_name": "Ora"}, {"email": None})
    return Request(
        "PATCH", f"/employees/{identity}", frozenset({step.thing}), body=changes[step.variant % len(changes)]
    )


def _terminate_employee(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employees", step.thing)
    body = {"end_date": f"2026-11-{20 + step.variant}"}
    return Request("POST", f"/employees/{identity}/terminate", frozenset({step.thing}), body=body)


def _reinstate_employee(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employees", step.thing)
    body = {"start_date": "2026-12-07"} if step.variant == 2 else {}
    return Request("POST", f"/employees/{identity}/reinstate", frozenset({step.thing}), body=body)


def _invite_employee(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employees", step.thing)
    body = {"type": "tax_info", "send_email": step.variant == 2}
    return Request("POST", f"/employees/{identity}/invite", frozenset({step.thing}), body=body)


ENDPOINTS: Final = (
    Endpoint(
        id="listHouseholds",
        method="GET",
        path="/households",
        scope="employees",
        turn=Turn.READ,
        request=lambda world: Asked(query={"limit": 10}),
        step=_list_households,
    ),
    Endpoint(
        id="listEmployees",
        method="GET",
        path="/employees",
        scope="employees",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"limit": 10}),
        step=_list_employees,
    ),
    Endpoint(
        id="createEmployee",
        method="POST",
        path="/employees",
        scope="employees",
        household="body",
        turn=Turn.ADD,
        request=lambda world: Asked(world.person("Eva")),
        step=_create_employee,
    ),
    Endpoint(
        id="getEmployee",
        method="GET",
        path="/employees/{employee_id}",
        scope="employees",
        turn=Turn.READ,
        request=lambda world: Asked(),
    ),
    Endpoint(
        id="updateEmployee",
        method="PATCH",
        path="/employees/{employee_id}",
        scope="employees",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"pay_rate": 1001.5}),
        step=_update_employee,
    ),
    Endpoint(
        id="terminateEmployee",
        method="POST",
        path="/employees/{employee_id}/terminate",
        scope="employees",
        turn=Turn.END,
        request=lambda world: Asked({"end_date": "2026-11-20"}),
        step=_terminate_employee,
        finds_one=True,
    ),
    Endpoint(
        id="reinstateEmployee",
        method="POST",
        path="/employees/{employee_id}/reinstate",
        scope="employees",
        turn=Turn.CHANGE,
        request=lambda world: Asked({}),
        step=_reinstate_employee,
    ),
    Endpoint(
        id="inviteEmployee",
        method="POST",
        path="/employees/{employee_id}/invite",
        scope="employees",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"type": "tax_info", "send_email": False}),
        step=_invite_employee,
    ),
)
