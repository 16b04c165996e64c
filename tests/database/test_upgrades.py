"""A landed migration stays as it is, and whoever stopped at any of them comes to today's schema and pays."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest
from alembic.script import ScriptDirectory
from sqlalchemy.engine import make_url

import hearthpay.database.migrations
from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.app import create_app
from hearthpay.clock import FixedClock
from hearthpay.database.catalog.inspection import inspect_schema
from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.installation import roles_of
from hearthpay.database.migrations import migrate, migrating, read, revisions
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.readiness import WrongSchemaError, require_ready
from hearthpay.database.startup import Addresses, OpenedDatabase, open_database
from hearthpay.doctor.examination import examine, open_for_reading
from hearthpay.payroll.payday.firing import fire_due
from tests.conftest import plain_url
from tests.database.earlier_schemas import REVISIONS, Past, build
from tests.database.landed_order import order_problems

LANDED = Path(__file__).parent / "landed_migrations.toml"
VERSIONS = Path(hearthpay.database.migrations.__file__).parent / "versions"
CLOCK = FixedClock(datetime(2026, 11, 20, 15, 0, tzinfo=UTC))
IN_THE_SUITE = ("0001", "0006-first", "0007")
"""The oldest schema, the one that a migration had to repair most, and the newest that programs wrote before it.

The way from each of the others is a part of theirs, with the same rows.
"""


@pytest.fixture
def database_url(server: EmbeddedServer, owner_connection: psycopg.Connection) -> Iterator[str]:
    """An empty database of its own name, so of its own roles."""
    name = f"upgrade_{uuid4().hex[:12]}"
    owner_connection.execute(f"CREATE DATABASE {name}")
    yield make_url(server.owner_url()).set(database=name).render_as_string(hide_password=False)
    owner_connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    for role in (roles_of(name).service, roles_of(name).worker):
        owner_connection.execute(f"DROP ROLE IF EXISTS {role}")


@pytest.mark.completeness
def test_no_landed_migration_has_been_changed() -> None:
    """A new one is added to the list when it lands; one that has landed is mended by another one after it."""
    landed = tomllib.loads(LANDED.read_text(encoding="utf-8"))["sha256"]
    present = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(VERSIONS.glob("[0-9]*.py"))
    }
    new = "\n".join(f'"{name}" = "{digest}"' for name, digest in present.items() if name not in landed)
    assert not new, f"landed_migrations.toml lacks what is to land:\n{new}"
    assert present == landed, "a landed migration was changed or is gone"


@pytest.mark.completeness
def test_a_new_migration_is_on_top_of_what_has_landed() -> None:
    """Or a database that has what is above it never runs it: it stops at a later one, or lacks what it makes."""
    landed = tomllib.loads(LANDED.read_text(encoding="utf-8"))
    assert order_problems(list(landed["sha256"]), landed["order"], _down_revisions()) == []


def test_one_below_what_has_landed_is_refused() -> None:
    landed = tomllib.loads(LANDED.read_text(encoding="utf-8"))
    names, order, chain = list(landed["sha256"]), landed["order"], _down_revisions()
    at = names.index("0096_turns.py")
    # Put between two that have landed, as happened on 25 November 2026.
    late = chain | {"0093_late.py": "0091", "0095_sign_in_links.py": "0093"}
    (below, *_) = order_problems(names, order, late)
    assert below.startswith(f"0093_late.py is below {names[-1]}, which has landed")
    # The same, with its line among those of what has landed.
    listed = [*names[: at - 1], "0093_late.py", *names[at - 1 :]]
    assert any("0096_turns.py did has changed" in each for each in order_problems(listed, order, late))
    # One that has a number on top, and stands below.
    (forked,) = order_problems(names, order, chain | {"9998_fork.py": "0095"})
    assert forked.startswith("9998_fork.py must stand on ")
    assert order_problems(names, order, chain | {"9998_next.py": names[-1].partition("_")[0]}) == []


def _down_revisions() -> dict[str, str | None]:
    scripts = ScriptDirectory(str(VERSIONS.parent))
    return {
        Path(script.path).name: None if script.down_revision is None else str(script.down_revision)
        for script in scripts.walk_revisions()
    }


PASSED_OVER = {
    "0075 without 0071 and 0073": ("0070", ("0075",)),
    "0078 without 0071, 0073 and 0076": ("0070", ("0075", "0078")),
    "0078 without 0071": ("0070", ("0073", "0075", "0076", "0078")),
    "0070 without 0065 to 0069": ("0064", ("0070",)),
    "0070 without 0066 and 0068": ("0064", ("0065", "0069", "0070")),
    "0056 without 0050, 0052 and 0054": ("0045", ("0055", "0056")),
    "0033 without 0031": ("0029", ("0032", "0033")),
    "0022 without 0017, 0019, 0020 and 0021": ("0016", ("0022",)),
    "0012 without 0011": ("0010", ("0012",)),
}
"""Databases as main made them when a migration was put below others: up to which it has all, and what it ran then."""

OF_NOVEMBER_25 = "0075 without 0071 and 0073"


@pytest.mark.parametrize(
    "state",
    [pytest.param(each, marks=() if each == OF_NOVEMBER_25 else pytest.mark.long) for each in PASSED_OVER],
)
async def test_a_database_that_was_passed_over_comes_to_todays_schema_and_pays(
    state: str, database_url: str
) -> None:
    """The one of 25 November 2026 stopped at 0076; the others went on without what they lacked."""
    complete, then = PASSED_OVER[state]
    past = build(database_url, "0007")
    migrate(database_url, revision=complete)
    for revision in then:
        _run_alone(database_url, revision)
    async with open_database(None, Addresses(database_url)) as opened:
        async with opened.database.transaction(None) as session:
            assert (await inspect_schema(session)).differences == ()
        await _pay(opened, past)


def _run_alone(url: str, revision: str) -> None:
    """Run this migration, whatever is missing below it."""
    below = revisions()[revisions().index(revision) - 1]
    with migrating(url) as migration:
        migration._stamp(below)
        migration._run_migrations(revision)


@pytest.mark.parametrize(
    "revision",
    [pytest.param(each, marks=() if each in IN_THE_SUITE else pytest.mark.long) for each in REVISIONS],
)
async def test_every_earlier_schema_comes_to_todays_and_pays(revision: str, database_url: str) -> None:
    past = build(database_url, revision)
    async with open_database(None, Addresses(database_url)) as opened:
        await require_ready(opened.database)
        await _pay(opened, past)
        if past.scheduled_id is not None:
            await _fire(opened, past)
        assert await _findings(database_url) == []


async def _pay(opened: OpenedDatabase, past: Past) -> None:
    """The next week's payroll goes on from what the year holds already."""
    async with opened.as_operator() as operator, operator.transaction(None) as session:
        organization = await accounts.find_organization(session, "Lopez")
        assert organization is not None
        key = await accounts.create_key(session, CLOCK, organization, mode="live", scopes=SCOPES)
    transport = httpx.ASGITransport(create_app(opened.database, CLOCK))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://test/api/v1", headers={"Authorization": f"Bearer {key.text}"}
    ) as client:
        answer = await client.post(
            "/payroll/run",
            json={
                "employer_id": str(past.employer_id),
                "pay_period_start": "2026-11-09",
                "pay_period_end": "2026-11-15",
                "pay_date": "2026-11-20",
                "pay_frequency": "weekly",
                "employees": [
                    {"employee_id": str(past.employee_id), "regular_hours": 40, "payment_method": "check"}
                ],
            },
        )
        assert answer.status_code == 200, answer.text
        (employee,) = answer.json()["data"]["employees"]
        assert employee["ytd"]["gross_pay"] == 2000
        security = next(line for line in employee["lines"] if line["code"] == "US-SS-EE")
        assert security["ytd_amount"] == 124
        old = await client.get(f"/payroll/{past.payroll_id}")
        assert old.json()["data"]["totals"]["total_net_pay"] == 923.5


async def _fire(opened: OpenedDatabase, past: Past) -> None:
    """What was approved under the earlier schema is paid: forty hours at the rate of then."""
    later = FixedClock(datetime(2026, 11, 23, 20, 1, tzinfo=UTC))
    async with opened.as_worker(1) as worker:
        report = await fire_due(worker, later)
    assert (report.fired, report.put_off, report.failed) == (1, (), ())
    async with opened.as_operator() as operator, operator.transaction(None) as session:
        connection = await session.connection()
        row = await connection.exec_driver_sql(
            f"SELECT gross_pay FROM payrolls WHERE id = '{past.scheduled_id}'"
        )
        assert row.scalar() == 100_000


async def _findings(url: str) -> list[str]:
    database = open_for_reading(url, OWNER_ROLE)
    try:
        async with database.transaction(None) as session:
            results = await examine(session, CLOCK.now(), lambda *_: None)
    finally:
        await database.dispose()
    return [f"{result.name}: {each}" for result in results for each in result.differences]


async def test_a_program_beside_another_schema_is_not_ready(database_url: str) -> None:
    """An old process leaves the rotation when a new one has migrated, and so does a new one that was rolled back."""
    async with open_database(None, Addresses(database_url)) as opened:
        await require_ready(opened.database)
        with psycopg.connect(plain_url(database_url), autocommit=True) as owner:
            owner.execute("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(WrongSchemaError, match="schema is at 9999"):
            await require_ready(opened.database)
        transport = httpx.ASGITransport(create_app(opened.database, CLOCK))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            answer = await client.get("/readyz")
        assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)


async def test_a_server_that_takes_no_writes_is_not_ready_and_says_so(database_url: str) -> None:
    """A demoted primary, or one set read-only by its operator: 503 with Retry-After, and never a 500."""
    async with open_database(None, Addresses(database_url)) as opened:
        async with opened.as_operator() as operator, operator.transaction(None) as session:
            organization = await accounts.create_organization(session, CLOCK, "Lopez")
            key = await accounts.create_key(session, CLOCK, organization, mode="live", scopes=SCOPES)
        name = make_url(database_url).database
        with psycopg.connect(plain_url(database_url), autocommit=True) as owner:
            owner.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        await opened.database.dispose()
        with pytest.raises(DatabaseUnavailable, match="takes no writes"):
            await require_ready(opened.database)
        transport = httpx.ASGITransport(create_app(opened.database, CLOCK))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://test", headers={"Authorization": f"Bearer {key.text}"}
        ) as client:
            ready = await client.get("/readyz")
            new = {"first_name": "Maria", "last_name": "Lopez", "email": "m@example.com", "state": "TX"}
            created = await client.post("/api/v1/employers", json=new)
        for answer in (ready, created):
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "service_unavailable")
            assert int(answer.headers["Retry-After"]) > 0


def test_a_copy_under_another_name_becomes_an_installation_of_its_own(
    server: EmbeddedServer, owner_connection: psycopg.Connection, database_url: str
) -> None:
    """The original's roles may do nothing in the copy any more, and its seal opens nothing there."""
    original = migrate(database_url)
    assert original is not None
    source = make_url(database_url).database
    copy = f"{source}_copy"
    owner_connection.execute(f"CREATE DATABASE {copy} TEMPLATE {source}")
    try:
        copy_url = make_url(database_url).set(database=copy).render_as_string(hide_password=False)
        copied = migrate(copy_url)
        assert copied is not None
        assert copied.roles == roles_of(copy)
        assert original.roles == roles_of(str(source))
        assert read(database_url).roles == original.roles
        with psycopg.connect(plain_url(copy_url), autocommit=True) as owner:
            left = owner.execute(
                "SELECT count(*) FROM pg_class c, aclexplode(relacl) a WHERE a.grantee = to_regrole(%s)",
                (original.roles.service,),
            ).fetchone()
            assert left == (0,)
            acting = owner.execute(
                "SELECT DISTINCT pg_get_userbyid(r) FROM pg_policy, unnest(polroles) r ORDER BY 1"
            ).fetchall()
            assert {name for (name,) in acting} == {OWNER_ROLE, copied.roles.service, copied.roles.worker}
            may = "SELECT has_database_privilege(%s, current_database(), 'CONNECT')"
            assert owner.execute(may, (original.roles.service,)).fetchone() == (False,)
            assert owner.execute(may, (copied.roles.service,)).fetchone() == (True,)
            secrets = "SELECT encode(tenant_secret, 'hex') FROM installation"
            with psycopg.connect(plain_url(database_url)) as before:
                assert owner.execute(secrets).fetchone() != before.execute(secrets).fetchone()
    finally:
        owner_connection.execute(f"DROP DATABASE {copy} WITH (FORCE)")
        for role in (roles_of(copy).service, roles_of(copy).worker):
            owner_connection.execute(f"DROP ROLE IF EXISTS {role}")


@pytest.mark.parametrize(
    "name", ["hearthpay", "payroll", "Payroll", "pay-roll", "1pay", "x" * 63, "x" * 62 + "y", "größe"]
)
def test_roles_are_named_after_their_database(name: str) -> None:
    roles = roles_of(name)
    for role in (roles.service, roles.worker):
        assert len(role) <= 63
        assert role == role.lower()
        assert role.replace("_", "a").isalnum()
        assert not role[0].isdigit()
    assert roles.service != roles.worker
    others = {"hearthpay", "payroll", "Payroll", "pay-roll", "1pay", "x" * 63, "x" * 62 + "y", "größe"} - {
        name
    }
    assert not {roles.service} & {roles_of(other).service for other in others}
