"""Who repeats a request under its key: every operation answers only those who may do it now."""

from dataclasses import dataclass
from typing import Any, Final

import httpx
import psycopg
import pytest

from hearthpay.access.permissions import PERMISSIONS, SCOPES
from tests.boundary.worlds import World
from tests.cases import every_case
from tests.endpoints import ENDPOINTS, ONCE_EACH
from tests.endpoints.endpoint import Request, Step
from tests.http.api import Caller, NewKey, refusal

_ONBOARDING: Final = frozenset({"onboarding"})


@dataclass(frozen=True, slots=True)
class Repeated:
    """An operation as it is repeated; `also` are the scopes that its content needs beside the endpoint's."""

    name: str
    request: Request
    also: frozenset[str] = frozenset()


def _repeated(worlds: list[World], speaker: int) -> list[Repeated]:
    """Every operation that takes a key, once, and those whose rights depend on what they are asked for."""
    world = worlds[speaker]
    employee = f"/employees/{world.employee_id}"
    by_content = [
        Repeated(
            "inviteEmployee: bank_account",
            Request("POST", f"{employee}/invite", body={"type": "bank_account", "send_email": False}),
            _ONBOARDING,
        ),
        Repeated(
            "updateEmployee: email",
            Request("PATCH", employee, body={"email": "other@example.com"}),
            _ONBOARDING,
        ),
        Repeated(
            "updateEmployer: email",
            Request("PATCH", f"/employers/{world.employer_id}", body={"email": "other@example.com"}),
            _ONBOARDING,
        ),
    ]
    steps = [
        Step(name, speaker, household=speaker, thing=speaker, which=0, variant=1)
        for name in (*sorted(name for name, each in ENDPOINTS.items() if each.stateless), *ONCE_EACH)
        if ENDPOINTS[name].takes_idempotency_key and (world.sandbox or not ENDPOINTS[name].test_keys_only)
    ]
    return [
        *by_content,
        *(Repeated(each.action, ENDPOINTS[each.action].action(each, worlds)) for each in steps),
    ]


async def _send(caller: Caller, request: Request, key: str) -> httpx.Response:
    return await caller.client.request(
        request.method,
        f"/api/v1{request.path}",
        json=request.body,
        params=request.query,
        headers=caller.headers(key),
    )


def _needs(repeated: Repeated) -> set[str]:
    scope = ENDPOINTS[repeated.name.partition(":")[0]].scope
    return {*repeated.also, *([] if scope is None else [scope])}


@pytest.mark.completeness
async def test_a_replay_is_for_whoever_may_do_the_operation(
    worlds: list[World], new_key: NewKey, owner_connection: psycopg.Connection
) -> None:
    """Each operation by a key with all scopes, and again by keys that lack one each: they get nothing, or the same.

    What an operation needed stands with its answer, and is in these lists: a new inner check fails here.
    """
    speaker = 3
    owner_connection.execute(
        "UPDATE organizations SET lifted_limits = lifted_limits || '{\"keys\": 20}' WHERE name = 'Harrowgate'"
    )
    narrow = {
        lacked: await new_key(
            "Harrowgate", mode="test", scopes=tuple(each for each in SCOPES if each != lacked)
        )
        for lacked in SCOPES
    }
    with every_case() as case:
        for repeated in _repeated(worlds, speaker):
            with case(repeated.name):
                first = await _send(worlds[speaker].caller, repeated.request, repeated.name)
                assert first.is_success, first.content[:300]
                [(used,)] = owner_connection.execute(
                    "SELECT permissions FROM idempotency_keys WHERE key = %s", (repeated.name,)
                ).fetchall()
                scopes = {PERMISSIONS[each].scope for each in used} - {None}
                assert scopes - {ENDPOINTS[repeated.name.partition(":")[0]].scope} == repeated.also
                for lacked, caller in narrow.items():
                    await _repeat(caller, lacked, repeated, first)


async def _repeat(caller: Caller, lacked: str, repeated: Repeated, first: httpx.Response) -> None:
    again = await _send(caller, repeated.request, repeated.name)
    if lacked in _needs(repeated):
        error = refusal(again, 403, "scope_required")
        assert error["details"]["required_scope"] == lacked
    else:
        replayed = again.headers.get("Idempotent-Replayed")
        assert (replayed, again.status_code) == ("true", first.status_code), (lacked, again.content[:300])


async def test_a_live_bank_link_is_not_for_a_key_without_the_scope(
    worlds: list[World], new_key: NewKey, owner_connection: psycopg.Connection
) -> None:
    """Also what was stored before permissions were noted with it, when nobody knew what the link was for."""
    asked = Request(
        "POST",
        f"/employees/{worlds[3].employee_id}/invite",
        body={"type": "bank_account", "send_email": False},
    )
    first = await _send(worlds[3].caller, asked, "link")
    url = first.json()["data"]["portal_url"]
    narrow = await new_key("Harrowgate", mode="test", scopes=("employees",))
    for _ in range(2):
        refused = await _send(narrow, asked, "link")
        assert refusal(refused, 403, "scope_required")["details"]["required_scope"] == "onboarding"
        assert url not in refused.text
        assert (await _send(worlds[3].caller, asked, "link")).json()["data"]["portal_url"] == url
        owner_connection.execute("UPDATE idempotency_keys SET permissions = NULL WHERE key = 'link'")


async def test_a_permission_that_no_longer_exists_is_nobodys(
    worlds: list[World], owner_connection: psycopg.Connection
) -> None:
    asked: dict[str, Any] = worlds[0].person("Eva") | {"employer_id": worlds[0].employer_id}
    assert (await worlds[0].caller.post("/employees", asked, idempotency_key="k")).status_code == 201
    owner_connection.execute("UPDATE idempotency_keys SET permissions = '{retired}' WHERE key = 'k'")
    refusal(await worlds[0].caller.post("/employees", asked, idempotency_key="k"), 403, "scope_required")
