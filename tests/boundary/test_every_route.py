"""Every endpoint with every wrong kind of key: refused in the documented way, nothing changed, nothing told.

The endpoints come from the application, what to expect from where their OpenAPI puts the household; a right request
for each stands in its row of `tests/endpoints`, and is sent in the end, so that no refusal was for another reason.
"""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.permissions import SCOPES
from hearthpay.access.throttle import AttemptLimit
from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http import attempts
from hearthpay.http.routing import Endpoint
from hearthpay.security import api_keys
from tests.boundary.operations import Names, Operation, operations
from tests.boundary.worlds import (
    Fingerprint,
    KeptWorlds,
    World,
    fingerprint,
    ids_in,
    learn_ids,
    refuse_changes,
    refuse_leaks,
)
from tests.endpoints import ENDPOINTS
from tests.http.api import Caller, NewAccount, NewKey, data, fields, refusal
from tests.openapi.document import Document
from tests.worlds.snapshots import Snapshot

UNCHANGED: Final[Mapping[str, str]] = MappingProxyType({})
LEFT_OUT: Final[Mapping[str, str]] = MappingProxyType({"employer_id": ""})
NOBODY: Final = str(uuid4())
"""An id of nothing."""
MALFORMED: Final = ("1", "null", "'; --", "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b1", "%00", "\u202e")

_HOUSEHOLD_IN_REQUEST: Final = (Names.HOUSEHOLD_IN_BODY, Names.HOUSEHOLD_IN_QUERY)
_LEADS: Final = frozenset({"employee_id", "employees", "payroll_id"})
"""What a request names that leads to its household by itself."""

_NEEDS_A_TEST_KEY: Final = "hp_test_"
_NEEDS_A_LIVE_KEY: Final = "hp_live_"


@dataclass
class Neighbours:
    """Four worlds, two odd keys, and every endpoint to try them on."""

    worlds: list[World]
    owner: psycopg.Connection
    client: httpx.AsyncClient
    #: A live key of the first world, made while its organization's sandbox household was selected.
    under_sandbox: Caller
    #: A test key of the last world, made while its organization's real household was selected.
    test_under_real: Caller
    operations: dict[str, Operation]
    before: Fingerprint

    async def ask(
        self,
        operation: Operation,
        caller: Caller | str | None,
        about: World,
        replaced: Mapping[str, str] = UNCHANGED,
    ) -> httpx.Response:
        """Send the right request of the world `about`, some of its ids replaced; `employer_id` by "": left out."""
        asked = ENDPOINTS[operation.id].request(about)
        ids = {**about.objects, **asked.path, **replaced}
        path = operation.path
        for name, identity in ids.items():
            path = path.replace(f"{{{name}}}", quote(identity, safe=""))
        assert "{" not in path, f"World.objects has nothing for {path}"
        body, query = asked.body, dict(asked.query)
        if ids["employer_id"] and operation.names is Names.HOUSEHOLD_IN_BODY:
            body = {**(body or {}), "employer_id": ids["employer_id"]}
        if ids["employer_id"] and operation.names is Names.HOUSEHOLD_IN_QUERY:
            query["employer_id"] = ids["employer_id"]
        key = caller.key if isinstance(caller, Caller) else caller
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return await self.client.request(operation.method, path, json=body, params=query, headers=headers)

    async def refused(
        self,
        operation: Operation,
        caller: Caller | str | None,
        about: World,
        status: int,
        code: str,
        *,
        own: World | None,
        mentions: str = "",
        known: str = "",
        replaced: Mapping[str, str] = UNCHANGED,
    ) -> dict[str, Any]:
        """Hold the refusal of one request against what must be; returns its `error`.

        Whether anything was changed is seen by `refuse_changes`, after all requests to the operation.
        `own` is the world the caller belongs to; `known` an id of another's that it may be told even so.
        """
        try:
            response = await self.ask(operation, caller, about, replaced)
            error = refusal(response, status, code)
            assert mentions in error["message"], error
            refuse_leaks(response, own, self.worlds, known=[known])
        except AssertionError as failure:
            whose = "no world" if own is None else own.word
            failure.add_note(f"{operation.id} about {about.word}, {dict(replaced)}, with a key of {whose}")
            raise
        return error

    def refuse_changes(self, operation: Operation) -> None:
        """Raise where anything is not what it was before the requests to the operation."""
        try:
            refuse_changes(self.before, fingerprint(self.owner), except_of=None)
        except AssertionError as failure:
            failure.add_note(f"by a refused request to {operation.id}")
            raise

    def seen_by(self, client: httpx.AsyncClient) -> "Neighbours":
        """The same, for a test with a client of its own."""
        return replace(
            self,
            worlds=[world.seen_by(client) for world in self.worlds],
            client=client,
            under_sandbox=replace(self.under_sandbox, client=client),
            test_under_real=replace(self.test_under_real, client=client),
        )

    def remember(self) -> None:
        """Take the database as it is now for what refusals must leave."""
        learn_ids(self.worlds, self.owner)
        self.before = fingerprint(self.owner)

    @property
    def keys(self) -> Iterator[tuple[Caller, World]]:
        """Every key that is in force and carries all scopes, with the world it belongs to."""
        yield from ((world.caller, world) for world in self.worlds)
        yield self.under_sandbox, self.worlds[0]
        yield self.test_under_real, self.worlds[3]


@pytest.fixture(scope="module")
def kept() -> list[tuple[Neighbours, Snapshot]]:
    """What the first test is given, before it does anything: all others are given the same."""
    return []


@pytest.fixture
async def neighbours(
    app: FastAPI,
    client: httpx.AsyncClient,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    new_key: NewKey,
    owner_connection: psycopg.Connection,
    kept: list[tuple[Neighbours, Snapshot]],
) -> Neighbours:
    if not kept:
        worlds = await kept_worlds.open(client, new_account, owner_connection)
        made = Neighbours(
            worlds,
            owner_connection,
            client,
            under_sandbox=await new_key("Quillmoor", employer_id=UUID(worlds[1].employer_id)),
            test_under_real=await new_key("Harrowgate", mode="test", employer_id=UUID(worlds[2].employer_id)),
            operations={name: operation for name, operation in operations(app).items() if name in ENDPOINTS},
            before={},
        )
        made.remember()
        kept.append((made.seen_by(client), kept_worlds.snapshots.take()))
        return made
    made, snapshot = kept[0]
    snapshot.restore()
    return made.seen_by(client)


def test_every_address_of_the_api_is_an_endpoint(app: FastAPI) -> None:
    """What is no `Endpoint` would be in no table, and behind no key."""
    others = [
        route.path
        for route in app.routes
        if getattr(route, "path", "").startswith("/api") and not isinstance(route, Endpoint)
    ]
    assert others == []


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["in turn", "every"]
)
async def test_without_a_key_in_force_nobody_is_told_anything(
    every: bool,
    neighbours: Neighbours,
    owner_database: Database,
    clock: FixedClock,
    new_key: NewKey,
    subtests: pytest.Subtests,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """About every world with right and with malformed ids; or about the key's own, and in turn one of two others."""
    # The refusal itself is looked at, again and again: no attempt has to wait.
    unlimited = AttemptLimit(1_000_000, datetime.timedelta(seconds=1))
    monkeypatch.setattr(attempts, "_LIMIT", unlimited)
    revoked = await new_key("Quillmoor")
    async with owner_database.transaction(None) as session:
        await accounts.revoke_key(session, clock, revoked.key_id)
    neighbours.remember()
    first, _, _, fourth = neighbours.worlds  # the real one of the revoked key, and another's sandbox
    malformed = dict.fromkeys(first.objects, "1")
    others: tuple[tuple[World, Mapping[str, str]], ...] = ((first, malformed), (fourth, UNCHANGED))
    keys = (None, revoked, api_keys.generate("live").text, "hp_live_", "x")
    for number, operation in enumerate(neighbours.operations.values()):
        with subtests.test(operation.id):
            for turn, key in enumerate(keys, number):
                asked = ((first, UNCHANGED), others[turn % 2])
                if every:
                    asked = tuple(product(neighbours.worlds, (UNCHANGED, malformed)))
                errors = [
                    await neighbours.refused(
                        operation, key, about, 401, "authentication_required", own=None, replaced=replaced
                    )
                    for about, replaced in asked
                ]
                assert all(error == errors[0] for error in errors)
            neighbours.refuse_changes(operation)


async def test_without_the_scope_a_key_reaches_nothing(
    neighbours: Neighbours,
    new_key: NewKey,
    owner_database: Database,
    clock: FixedClock,
    subtests: pytest.Subtests,
) -> None:
    scopes = {operation.scope for operation in neighbours.operations.values()} - {None}
    assert scopes >= {"calculator", "payroll", "employees", "multi_employer"}
    for scope in sorted(scopes & set(SCOPES)):
        for world in neighbours.worlds[:2]:
            others = tuple(each for each in SCOPES if each != scope)
            mode = "test" if world.sandbox else "live"
            narrow = await new_key("Quillmoor", mode=mode, scopes=others)
            neighbours.remember()
            for operation in neighbours.operations.values():
                if operation.scope != scope:
                    continue
                with subtests.test(operation.id, mode=mode):
                    for about in neighbours.worlds:
                        error = await neighbours.refused(
                            operation, narrow, about, 403, "scope_required", own=world, mentions=f"'{scope}'"
                        )
                        assert error["details"] == {"required_scope": scope, "scopes": sorted(others)}
                    neighbours.refuse_changes(operation)
            async with owner_database.transaction(None) as session:  # an account has five keys at most
                await accounts.revoke_key(session, clock, narrow.key_id)


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["in turn", "every"]
)
async def test_a_key_reaches_no_world_but_its_own(
    every: bool, neighbours: Neighbours, subtests: pytest.Subtests
) -> None:
    """With every key; or each operation with three of the six, one in force in each mode and an odd one, in turn."""
    named = [each for each in neighbours.operations.values() if each.names is not Names.NOTHING]
    keys = [*neighbours.keys]
    for number, operation in enumerate(named):
        turn = number % 2
        asking = keys if every else [keys[2 * turn], keys[3 - 2 * turn], keys[4 + turn]]
        with subtests.test(operation.id):
            for caller, own in asking:
                unknown: dict[tuple[int, str, str], str] = {}
                for about in neighbours.worlds:
                    if about is not own:
                        await _out_of_reach(neighbours, operation, caller, own, about, unknown)
            neighbours.refuse_changes(operation)


async def _out_of_reach(
    neighbours: Neighbours,
    operation: Operation,
    caller: Caller,
    own: World,
    about: World,
    unknown: dict[tuple[int, str, str], str],
) -> None:
    """A right request, but of another world's key, is refused; another organization's as if nothing were there.

    `unknown` keeps what the same key is told where nothing is there.
    """
    test_keys_only = ENDPOINTS[operation.id].test_keys_only
    foreign = own.organization_id != about.organization_id
    needed = _NEEDS_A_TEST_KEY if about.sandbox or test_keys_only else _NEEDS_A_LIVE_KEY
    if test_keys_only and not own.sandbox:
        expected: tuple[int, str, str] = 403, "key_mode_mismatch", needed
    elif not foreign and (
        ENDPOINTS[operation.id].tells_mode or (test_keys_only and operation.names is not Names.OBJECT_IN_PATH)
    ):
        expected = 403, "key_mode_mismatch", needed
    elif operation.names in (Names.OBJECT_IN_PATH, Names.HOUSEHOLD_IN_PATH):
        expected = 404, "not_found", ""
    elif not foreign:
        expected = 403, "key_mode_mismatch", needed
    else:
        expected = 403, "household_forbidden", ""
    status, code, mentions = expected
    error = await neighbours.refused(operation, caller, about, status, code, own=own, mentions=mentions)
    if foreign or operation.names is Names.OBJECT_IN_PATH:
        if expected not in unknown:
            told = await neighbours.refused(
                operation, caller, about, status, code, own=own, replaced=dict.fromkeys(about.objects, NOBODY)
            )
            unknown[expected] = str(told)
        told_of_it = str(error)
        for identity in about.objects.values():
            told_of_it = told_of_it.replace(identity, NOBODY)
        assert told_of_it == unknown[expected], "an id of another's can be told from one of nobody's"


async def test_a_key_under_a_household_of_the_other_mode_must_name_one(
    neighbours: Neighbours, subtests: pytest.Subtests
) -> None:
    for operation in neighbours.operations.values():
        if operation.names not in _HOUSEHOLD_IN_REQUEST or _leads_to_its_household(
            operation, neighbours.worlds[0]
        ):
            continue
        for caller, own, mentions, remembered in (
            (neighbours.under_sandbox, neighbours.worlds[0], _NEEDS_A_TEST_KEY, neighbours.worlds[1]),
            (neighbours.test_under_real, neighbours.worlds[3], _NEEDS_A_LIVE_KEY, neighbours.worlds[2]),
        ):
            with subtests.test(operation.id, key=mentions):
                if operation.household_required:
                    error = await neighbours.refused(
                        operation, caller, own, 400, "validation_error", own=own, replaced=LEFT_OUT
                    )
                    assert fields(error) == ["employer_id"]
                else:
                    await neighbours.refused(
                        operation,
                        caller,
                        own,
                        403,
                        "key_mode_mismatch",
                        own=own,
                        mentions=mentions,
                        known=remembered.employer_id,  # the account's own household, and in the key's memory
                        replaced=LEFT_OUT,
                    )
                neighbours.refuse_changes(operation)


def _leads_to_its_household(operation: Operation, world: World) -> bool:
    """Whether a request names something of its household beside `employer_id`."""
    asked = ENDPOINTS[operation.id].request(world)
    return bool(_LEADS & {*(asked.body or {}), *asked.query})


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["in turn", "every"]
)
async def test_a_malformed_id_is_refused_by_its_name(
    every: bool, neighbours: Neighbours, subtests: pytest.Subtests
) -> None:
    """With the key of every world; or of one that is real and one that is a sandbox, another pair in turn."""
    named = [each for each in neighbours.operations.values() if each.names is not Names.NOTHING]
    first, second, third, fourth = neighbours.worlds
    for number, operation in enumerate(named):
        in_request = operation.names in _HOUSEHOLD_IN_REQUEST
        with subtests.test(operation.id):
            for own in neighbours.worlds if every else ((first, fourth), (third, second))[number % 2]:
                if ENDPOINTS[operation.id].refuses_live_keys_first and not own.sandbox:
                    continue
                for wrong in MALFORMED:
                    error = await neighbours.refused(
                        operation,
                        own.caller,
                        own,
                        400 if in_request else 404,
                        "validation_error" if in_request else "not_found",
                        own=own,
                        replaced=dict.fromkeys(own.objects, wrong),
                    )
                    assert not in_request or fields(error) == ["employer_id"]
            neighbours.refuse_changes(operation)


@pytest.mark.parametrize("operation_id", sorted(ENDPOINTS))
async def test_the_right_key_gets_its_own_world_and_no_other(
    neighbours: Neighbours, operation_id: str, document: Document
) -> None:
    """Also the odd key, once it names a household; and a key of one household that names none."""
    operation, endpoint = neighbours.operations[operation_id], ENDPOINTS[operation_id]
    first, second, third, fourth = neighbours.worlds
    may_leave_out = operation.names in _HOUSEHOLD_IN_REQUEST and not operation.household_required
    for caller, own, replaced in (
        (neighbours.under_sandbox, first, UNCHANGED),
        (second.caller, second, UNCHANGED),
        (third.caller, third, LEFT_OUT if may_leave_out else UNCHANGED),
        (fourth.caller, fourth, LEFT_OUT if may_leave_out else UNCHANGED),
    ):
        if endpoint.test_keys_only and not own.sandbox:
            continue
        response = await neighbours.ask(operation, caller, own, replaced)
        assert document.problems(response) == []
        if endpoint.retired:
            assert response.status_code in (403, 410)
            assert response.json()["error"]["code"] == endpoint.retired
        elif response.headers["Content-Type"].startswith("application/json"):
            data(response, response.status_code if response.status_code in (201, 202) else 200)
        else:
            assert response.status_code == 200, response.text
        before, after = neighbours.before, fingerprint(neighbours.owner)
        may_change = endpoint.changes or endpoint.leaves_audit_row
        refuse_changes(before, after, except_of=own if may_change else None)
        if after != before:
            neighbours.remember()
        refuse_leaks(response, own, neighbours.worlds)
        if operation.names is not Names.NOTHING:
            done = before[own.bucket] != after[own.bucket]
            assert done or ids_in(response.text) & own.every_id, "it neither shows nor changes its own world"
