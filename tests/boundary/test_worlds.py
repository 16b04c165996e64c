"""The guards that the other tests of this package rely on see what they are there to see."""

from decimal import Decimal
from typing import Any

import httpx
import orjson
import psycopg
import pytest

from tests.boundary.worlds import Leak, World, fingerprint, ids_in, refuse_changes, refuse_leaks
from tests.http.api import data


def _answer(body: Any, *, sent: Any = None, headers: dict[str, str] | None = None) -> httpx.Response:
    request = httpx.Request("POST", "http://pay.example.com/api/v1/anything", json=sent)
    return httpx.Response(
        200,
        content=orjson.dumps(body),
        headers={"Content-Type": "application/json", **(headers or {})},
        request=request,
    )


async def test_every_world_tells_itself_apart(worlds: list[World]) -> None:
    for world in worlds:
        assert {"employers", "employees", "payrolls", "paychecks", "audit_log", "vault"} <= world.ids.keys()
        assert len(world.amounts) >= 8
        assert world.amounts >= {world.pay_rate, world.sui_rate, world.pay_rate * 40}
        for other in worlds:
            assert other is world or not (world.amounts & other.amounts or world.every_id & other.every_id)


async def test_own_answers_pass_and_every_kind_of_leak_is_seen(worlds: list[World]) -> None:
    own, *others = worlds
    listed = await own.caller.get("/employees", employer_id=own.employer_id)
    assert ids_in(listed.text) & own.every_id
    refuse_leaks(listed, own, worlds)
    for other in others:
        with pytest.raises(Leak):
            refuse_leaks(listed, other, worlds)
        for shown in (
            {"name": f"Ana {other.word}"},
            {"email": f"x@{other.word.lower()}.example"},
            {"id": other.employer_id},
            {"id": other.employee_id.upper()},
            {"message": f"the payroll {other.payroll_id} exists"},
            {"pay_rate": float(other.pay_rate)},
            {"rate": float(other.sui_rate)},
            {"totals": [{"gross_pay": float(other.pay_rate * 40)}]},
        ):
            with pytest.raises(Leak):
                refuse_leaks(_answer(shown), own, worlds)
        with pytest.raises(Leak):
            refuse_leaks(_answer({}, headers={"Location": f"/{other.employer_id}"}), own, worlds)
        refuse_leaks(_answer({"id": other.employer_id}, sent={"id": other.employer_id}), own, worlds)
    with pytest.raises(Leak):
        refuse_leaks(_answer({"organization_id": str(others[1].organization_id)}), own, worlds)
    refuse_leaks(_answer({"organization_id": str(own.organization_id), "n": 40}), own, worlds)


async def test_a_change_anywhere_is_seen(worlds: list[World], owner_connection: psycopg.Connection) -> None:
    before = fingerprint(owner_connection)
    refuse_changes(before, fingerprint(owner_connection), except_of=None)
    own, other = worlds[0], worlds[2]
    data(await own.caller.client.patch(
        f"/api/v1/employees/{own.employee_id}", json={"pay_rate": 1001}, headers=own.caller.headers()
    ))  # fmt: skip
    after = fingerprint(owner_connection)
    refuse_changes(before, after, except_of=own)
    for wrong in (None, *worlds[1:]):
        with pytest.raises(Leak, match=r"audit_log|security_alerts"):
            refuse_changes(before, after, except_of=wrong)
    owner_connection.execute(
        "UPDATE paychecks SET line_amounts[1] = line_amounts[1] + 1 WHERE employee_id = %s",
        (other.employee_id,),
    )
    with pytest.raises(Leak, match="paychecks"):
        refuse_changes(after, fingerprint(owner_connection), except_of=own)
    assert Decimal("1117.31") in own.amounts
