"""The contract, "Envelope, errors, conventions": `null` for an optional field means left out, in every operation."""

import copy
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from fastapi import FastAPI
from pydantic import BaseModel

from hearthpay.http.routing import Endpoint
from tests.http.api import ROSA, Account, Caller, data, fields, refusal
from tests.worlds.households import payroll_of

Place = tuple[str | int, ...]


async def test_every_optional_field_of_every_body(app: FastAPI, account: Account) -> None:
    """`null` for an optional field means left out: in each body of the OpenAPI document, at any depth."""
    document = app.openapi()
    models = _models(app)
    tried = 0
    for path, method, operation in _with_bodies(document):
        model = models[method, path]
        content = operation["requestBody"]["content"]["application/json"]
        caller = account.test if "/sandbox/" in path else account.live
        for place in _optional(document, content["schema"], content["example"]):
            with_null = _changed(content["example"], place, None)
            without = _changed(content["example"], place, _LEFT_OUT)
            if method == "PATCH" and _takes_out(document, content["schema"], place):
                continue
            where = f"{method} {path} {'.'.join(map(str, place))}"
            one, other = model.model_validate(with_null), model.model_validate(without)
            assert _read(one) == _read(other), where
            # What is not there is the one thing wrong: nothing is changed, and null passes.
            response = await _send(caller, method, path, with_null | {"no_such_field": 1})
            assert fields(refusal(response, 400, "validation_error")) == ["no_such_field"], where
            tried += 1
    assert tried > 100


async def test_nothing_but_null(account: Account, household: Any) -> None:
    """`null` for an optional field means left out: what is made with all of them is what is made without."""
    entries = {"state_withholding": {"allowances": None}}
    nothing = dict.fromkeys(
        ("pay_rate", "salary", "overtime_rate", "city", "address", "birth_year", "federal_withholding"), None
    )
    rosa = {**ROSA, "employer_id": household["id"], "pay_rate": 28.5}
    plain = data(await account.live.post("/employees", rosa | {"state_withholding": {}}), 201)
    same = {**nothing, **rosa, **entries, "first_name": "Ana", "email": None, "lives_in": None}
    nulls = data(await account.live.post("/employees", same), 201)
    own = ("id", "employee_id", "person_id", "first_name", "name", "email", "created_at")
    assert _without(nulls, *own) == _without(plain, *own)
    body = payroll_of(household["id"], plain["id"])
    void = data(await account.live.post("/payroll/run", body))["payroll_id"]
    assert data(await account.live.post(f"/payroll/{void}/void", {"reason": None}))["status"] == "voided"
    stub = await account.live.post(
        "/documents/paystub", {"payroll_id": void, "employee_id": None, "copy": None, "note": None}
    )
    assert stub.status_code == 200, stub.text


_LEFT_OUT = object()


def _models(app: FastAPI) -> dict[tuple[str, str], type[BaseModel]]:
    """The body's model of each route."""
    found: dict[tuple[str, str], type[BaseModel]] = {}
    for route in app.routes:
        if isinstance(route, Endpoint) and route.dependant.body_params:
            model = route.dependant.body_params[0].field_info.annotation
            assert isinstance(model, type)
            assert issubclass(model, BaseModel)
            found |= {(method, route.path): model for method in route.methods}
    return found


def _with_bodies(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if "application/json" in operation.get("requestBody", {}).get("content", {}):
                yield path, method.upper(), operation


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, of what may be null the schema of what it is else."""
    while "$ref" in schema or "anyOf" in schema:
        if "anyOf" in schema:
            schema = next(each for each in schema["anyOf"] if each.get("type") != "null")
        else:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _optional(document: dict[str, Any], schema: dict[str, Any], value: object) -> Iterator[Place]:
    """Each place of an optional field: of the body, and of the objects that the example has in it."""
    schema = _resolved(document, schema)
    if isinstance(value, list):
        for number, each in enumerate(value[:1]):
            yield from ((number, *rest) for rest in _optional(document, schema.get("items", {}), each))
    if not isinstance(value, dict):
        return
    for name, known in schema.get("properties", {}).items():
        if name not in schema.get("required", ()):
            yield (name,)
        inner = _resolved(document, known)
        example = value.get(name, {} if "properties" in inner and not inner.get("required") else None)
        yield from ((name, *rest) for rest in _optional(document, known, example))


def _takes_out(document: dict[str, Any], schema: dict[str, Any], place: Place) -> bool:
    """Whether null is a value of its own: in a change it takes out what is on record."""
    for step in place[:-1]:
        known = _resolved(document, schema)
        schema = known["items"] if isinstance(step, int) else known["properties"][step]
    last = _resolved(document, schema)["properties"][place[-1]]
    return any(each.get("type") == "null" for each in last.get("anyOf", ()))


def _changed(body: Any, place: Place, value: object) -> Any:
    """The body with another value at a place, or without it."""
    whole = copy.deepcopy(body)
    at = whole
    for step in place[:-1]:
        at = at[step] if isinstance(step, int) else at.setdefault(step, {})
    if value is _LEFT_OUT:
        at.pop(place[-1], None)
    else:
        at[place[-1]] = value
    return whole


def _read(model: BaseModel) -> object:
    """What a route reads of a body: its values, and in a change which of them were sent."""
    sent = model.model_fields_set if type(model).__name__.endswith("Changes") else None
    return model.model_dump(), sent


def _without(told: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in names}


async def _send(caller: Caller, method: str, path: str, body: object) -> Any:
    path = re.sub(r"{\w+_id}", lambda _: str(uuid4()), path)
    path = path.replace("{action}", "pause")
    return await caller.client.request(method, path, json=body, headers=caller.headers())
