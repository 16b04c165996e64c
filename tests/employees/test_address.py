"The employee's mailing address: told at first, changed, taken out, and refused by the field at fault."

from typing import Any

import httpx
import psycopg
import pytest

from tests.http.api import ROSA, Account, data, fields, refusal

HOME = {"line1": "18 Valencia St", "line2": "Apt 4", "city": "San Francisco", "state": "CA", "zip": "94103"}


async def _changed(account: Account, employee_id: str, address: Any) -> httpx.Response:
    path = f"/api/v1/employees/{employee_id}"
    return await account.live.client.patch(path, json={"address": address}, headers=account.live.headers())


async def test_an_address_is_told_and_changed_as_a_whole(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    body = ROSA | {"employer_id": household["id"], "address": HOME}
    made = data(await account.live.post("/employees", body), 201)
    assert made["address"] == HOME
    moved = {"line1": "PO Box 9", "city": "Reno", "state": "nv", "zip": "89501-0009"}
    told = data(await _changed(account, made["id"], moved))
    assert told["address"] == moved | {"line2": None, "state": "NV"}
    assert told["residence_state"] == "CA", "an address chooses no tax"
    assert data(await _changed(account, made["id"], None))["address"] is None
    rows = owner_connection.execute(
        "SELECT details->'before'->'address'->>'city' FROM audit_log WHERE action = 'employee.update' ORDER BY id"
    ).fetchall()
    assert rows == [("San Francisco",), ("Reno",)]
    (listed,) = data(await account.live.get("/employees", employer_id=household["id"]))
    assert "address" not in listed


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"zip": "9410"}, "address.zip"),
        ({"zip": "94103-12"}, "address.zip"),
        ({"state": "PR"}, "address.state"),
        ({"line1": ""}, "address.line1"),
        ({"line2": "536-22-8145"}, "address.line2"),
        ({"city": 5}, "address.city"),
        ({"country": "US"}, "address.country"),
    ],
)
async def test_what_is_no_address_is_refused_by_its_field(
    changes: dict[str, Any], field: str, account: Account, household: dict[str, Any]
) -> None:
    body = ROSA | {"employer_id": household["id"], "address": HOME | changes}
    error = refusal(await account.live.post("/employees", body), 400, "validation_error")
    assert fields(error) == [field]
