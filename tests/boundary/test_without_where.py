"""The service without its WHERE clauses: what keeps tenants apart then is the database, and it does.

Inside its own tenant such a service answers nonsense, and often fails; held against it is isolation alone.
"""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import psycopg
import pytest
from hypothesis import given, settings

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from tests.boundary.sequences import Conversation, conversations
from tests.boundary.test_cross_tenant import AT_RANDOM, fresh_worlds
from tests.boundary.where_less import ALL_IDS, TENANT_COLUMNS, Forgetting, forgetting_where
from tests.boundary.worlds import KeptWorlds, Leak, World, fingerprint, refuse_changes, refuse_leaks
from tests.endpoints import ACTIONS, ENDPOINTS, ONCE_EACH
from tests.endpoints.endpoint import Step
from tests.http.api import BASE_URL, NewAccount, data

WORSE = pytest.mark.parametrize("columns", [TENANT_COLUMNS, ALL_IDS], ids=["tenant columns", "all ids"])


@pytest.fixture
async def unguarded(
    owner_database: Database, clock: FixedClock, kept_worlds: KeptWorlds
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the same application over the owner's connections, whom no policy binds."""
    transport = httpx.ASGITransport(create_app(owner_database, clock, AppSettings(ring=kept_worlds.ring)))
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        yield client


async def _play_as_forgetful(
    steps: list[Step],
    columns: tuple[str, ...],
    database: Database,
    clock: FixedClock,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    owner: psycopg.Connection,
) -> None:
    async with fresh_worlds(database, clock, kept_worlds, new_account, owner) as worlds:
        with forgetting_where(database, columns) as forgetting:
            await Conversation(worlds[0].caller.client, worlds, owner, whole=False).play(steps)
    assert forgetting.left == []
    assert forgetting.broken == []


@WORSE
@settings(max_examples=3, **AT_RANDOM)
@given(steps=conversations(12))
async def test_the_database_alone_keeps_worlds_apart(
    steps: list[Step],
    columns: tuple[str, ...],
    database: Database,
    clock: FixedClock,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    owner_connection: psycopg.Connection,
) -> None:
    await _play_as_forgetful(steps, columns, database, clock, kept_worlds, new_account, owner_connection)


@pytest.mark.long
@pytest.mark.timeout(1800)
@WORSE
@settings(max_examples=300, **AT_RANDOM)
@given(steps=conversations(40))
async def test_the_database_alone_keeps_worlds_apart_for_long(
    steps: list[Step],
    columns: tuple[str, ...],
    database: Database,
    clock: FixedClock,
    kept_worlds: KeptWorlds,
    new_account: NewAccount,
    owner_connection: psycopg.Connection,
) -> None:
    await _play_as_forgetful(steps, columns, database, clock, kept_worlds, new_account, owner_connection)


@WORSE
async def test_the_conditions_are_really_gone(
    columns: tuple[str, ...],
    client: httpx.AsyncClient,
    database: Database,
    worlds: list[World],
    owner_connection: psycopg.Connection,
) -> None:
    """And the service still works, as far as one can who cannot tell its rows apart."""
    succeeded: dict[str, int] = {}
    with forgetting_where(database, columns) as forgetting:
        for speaker in (0, 3):  # the real world of one organization, the sandbox of the other
            steps = [Step(name, speaker, household=speaker, thing=speaker, variant=1) for name in ONCE_EACH]
            preview = ONCE_EACH.index("previewPayroll")
            steps[preview : preview + 1] = [replace(steps[preview], idempotency_key="monday")] * 2
            await Conversation(client, worlds, owner_connection, succeeded=succeeded).play(steps)
    assert forgetting.left == []
    assert forgetting.broken == []
    # A second employee, household or payroll is one too many for whoever asks for one of them and gets both.
    undone = {name for name in ACTIONS if ENDPOINTS[name].finds_one} if columns is ALL_IDS else set()
    failed = ACTIONS.keys() - undone - succeeded.keys()
    assert not failed, (
        f"{sorted(failed)} failed: say `finds_one` in the row of what must find one row among several"
    )

    written = "\n".join(forgetting.changed)
    tables = {"employees", "payrolls", "idempotency_keys"}
    if columns is ALL_IDS:
        tables |= {"employers", "assigned_rates", "paychecks"}
    for table in tables:
        assert f"FROM {table}" in written or f"JOIN {table}" in written, table
    for before, after in forgetting.changed.items():
        assert after.count("true") > before.count("true")
    forms = ("= %(", "ANY(", "IN (") if columns is ALL_IDS else ("= %(",)
    for form in forms:
        assert any(form in before for before in forgetting.changed), form


def test_only_conditions_are_rewritten() -> None:
    forgetting = Forgetting(ALL_IDS)
    for before, after in (
        (
            "UPDATE employees SET employer_id=%(e)s::UUID WHERE employees.id = %(i)s::UUID",
            "UPDATE employees SET employer_id=%(e)s::UUID WHERE true",
        ),
        (
            "SELECT employers.id FROM employers WHERE employers.id = %(i)s::UUID AND a = %(id)s FOR NO KEY UPDATE",
            "SELECT employers.id FROM employers WHERE true AND a = %(id)s FOR NO KEY UPDATE",
        ),
        (
            "SELECT x FROM t WHERE employee_id = ANY(%(ids)s) AND tax_year = %(y)s",
            "SELECT x FROM t WHERE true AND tax_year = %(y)s",
        ),
        (
            "SELECT x FROM t WHERE t.id IN (%(a)s::UUID, %(b)s::UUID) AND t.sandbox IS false ORDER BY t.id",
            "SELECT x FROM t WHERE true AND true ORDER BY t.id",
        ),
        (
            "SELECT x FROM t WHERE EXISTS (SELECT * FROM u WHERE u.payroll_id = t.id AND u.employee_id = %(e)s)",
            "SELECT x FROM t WHERE EXISTS (SELECT * FROM u WHERE true AND true)",
        ),
    ):
        assert forgetting.rewrite(before) == after
    for kept in (
        "INSERT INTO t (id) SELECT id FROM u WHERE id = %(i)s",
        "SELECT id FROM t WHERE t.id < %(cursor)s::UUID ORDER BY t.id",
        "SELECT x FROM t WHERE paid = %(id)s",
    ):
        assert forgetting.rewrite(kept) == kept
    assert forgetting.left == []
    odd = forgetting.rewrite("SELECT x FROM t WHERE t.id = lower(%(i)s)")
    assert forgetting.left == [odd]


@pytest.mark.parametrize(
    ("action", "variant"),
    # Payrolls without a filter by employee: one of another household than the named one is refused before.
    [("listEmployers", 2), ("listPayrolls", 0), ("listEmployees", 2), ("getPayroll", 2)],
)
async def test_without_the_policies_it_tells_everything(
    action: str,
    variant: int,
    unguarded: httpx.AsyncClient,
    owner_database: Database,
    worlds: list[World],
    owner_connection: psycopg.Connection,
) -> None:
    """So the tests above can fail: the same build and the same look at it, only without row-level security."""
    step = Step(action, speaker=0, household=0, thing=2, variant=variant)
    with forgetting_where(owner_database, TENANT_COLUMNS), pytest.raises(Leak):
        await Conversation(unguarded, worlds, owner_connection).play([step])


async def test_without_the_policies_it_changes_others(
    unguarded: httpx.AsyncClient,
    owner_database: Database,
    worlds: list[World],
    owner_connection: psycopg.Connection,
) -> None:
    step = Step("terminateEmployee", speaker=0, household=None, thing=2)
    with forgetting_where(owner_database, TENANT_COLUMNS), pytest.raises(Leak, match="employees"):
        await Conversation(unguarded, worlds, owner_connection).play([step])


async def test_it_is_the_forgetting_that_makes_the_difference(
    unguarded: httpx.AsyncClient,
    owner_database: Database,
    worlds: list[World],
    owner_connection: psycopg.Connection,
) -> None:
    """A list that the service does narrow down to its household: right with the condition, everybody's without."""
    own = worlds[0]

    async def listed() -> httpx.Response:
        return await unguarded.get(
            "/api/v1/employees", params={"employer_id": own.employer_id}, headers=own.caller.headers()
        )

    before = fingerprint(owner_connection)
    right = await listed()
    assert [item["id"] for item in data(right)] == [own.employee_id]
    refuse_leaks(right, own, worlds)
    with forgetting_where(owner_database, TENANT_COLUMNS):
        wrong = await listed()
    assert {item["id"] for item in data(wrong)} == {world.employee_id for world in worlds}
    with pytest.raises(Leak):
        refuse_leaks(wrong, own, worlds)
    refuse_changes(before, fingerprint(owner_connection), except_of=None)
    assert data(await listed()) == data(right)
