"""The endpoints of `hearthpay.employers`."""

from typing import Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, id_of


def _list_employers(step: Step, worlds: list[World]) -> Request:
    orders = ({}, {"sort": "name"}, {"sort": "payday", "search": worlds[step.thing].word})
    return Request("GET", "/employers", query={"limit": 1 + step.variant} | orders[step.variant])


def _update_employer(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employers", step.thing)
    word = worlds[step.speaker].word
    home = {"line1": f"1 {word} St", "city": word, "state": "CA", "zip": "94110"}
    changes = (
        {"state": "NV", "threshold_basis": "as_paid"},
        {"address": home},
        {"email": f"home@{word.lower()}.example"},
    )
    return Request("PATCH", f"/employers/{identity}", frozenset({step.thing}), body=changes[step.variant])


def _delete_employer(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employers", step.thing)
    query = {"reset": "true"} if step.variant else None
    return Request("DELETE", f"/employers/{identity}", frozenset({step.thing}), query=query)


ENDPOINTS: Final = (
    Endpoint(
        id="listEmployers",
        method="GET",
        path="/employers",
        scope="multi_employer",
        turn=Turn.READ,
        request=lambda world: Asked(),
        step=_list_employers,
    ),
    Endpoint(
        id="createEmployer",
        method="POST",
        path="/employers",
        scope="multi_employer",
        turn=Turn.ADD_HOUSEHOLD,
        request=lambda world: Asked(world.household()),
        finds_one=True,
    ),
    Endpoint(
        id="getEmployer",
        method="GET",
        path="/employers/{employer_id}",
        scope="employees",
        turn=Turn.READ,
        request=lambda world: Asked(),
    ),
    Endpoint(
        id="updateEmployer",
        method="PATCH",
        path="/employers/{employer_id}",
        scope="employees",
        turn=Turn.CHANGE,
        request=lambda world: Asked(
            {"email": f"home@{world.word.lower()}.example", "threshold_basis": "as_paid"}
        ),
        step=_update_employer,
    ),
    Endpoint(
        id="deleteEmployer",
        method="DELETE",
        path="/employers/{employer_id}",
        scope="multi_employer",
        turn=Turn.DELETE,
        request=lambda world: Asked(query={"reset": "true"}),
        step=_delete_employer,
        test_keys_only=True,
        finds_one=True,
    ),
)
