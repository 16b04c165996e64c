"""Payrolls that an agent runs with a person's token: one for each key, within the grant, and all of it on record."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.plans import terms_of
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.agent_checks import agents_runs
from hearthpay.employees.commands import AddEmployee
from hearthpay.employees.service import create_employee
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.service import create_employer
from hearthpay.people.sessions import SignedIn
from tests.mcp.agents import week
from tests.oauth.dance import Dance


def _actor(maria: SignedIn, *, sandbox: bool = False) -> Any:
    return replace(
        replace(maria, sandbox=sandbox).actor("r", of_both_modes=True), terms=terms_of("professional", {})
    )


async def _employ(
    database: Database, clock: FixedClock, maria: SignedIn, household: UUID, *, sandbox: bool = False
) -> UUID:
    actor = _actor(maria)
    if sandbox:
        actor = replace(replace(maria, sandbox=True).actor("r"), terms=terms_of("professional", {}))
    new = AddEmployee(
        first_name="Rosa",
        last_name="Diaz",
        employer_id=household,
        email="rosa@example.com",
        pay_rate=Decimal("28.50"),
        pay_frequency="weekly",
        start_date=date(2026, 1, 5),
    )
    async with database.transaction(actor.tenant) as session:
        return (await create_employee(session, actor, clock, new)).employee.id


@pytest.fixture
async def asked(dance: Dance, database: Database, clock: FixedClock, maria: SignedIn) -> dict[str, Any]:
    """A week of the employee of the household that the agent is let into."""
    rosa = await _employ(database, clock, maria, dance.household_id)
    return week(str(dance.household_id), str(rosa), idempotency_key="once")


async def _ask(dance: Dance, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await dance.call(token, tool, **arguments)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()["result"]["structuredContent"]
    return told


def _runs(connection: psycopg.Connection) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT a.actor_id, a.employer_id, a.details->'confirmed', a.details->'as_previewed' FROM audit_log a "
        "WHERE a.action = 'payroll.run' AND a.actor_kind = 'mcp' ORDER BY a.id"
    ).fetchall()


async def test_twenty_runs_at_once_with_one_key_are_one_payroll(
    dance: Dance, asked: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    token = (await dance.tokens("payroll:run"))["access_token"]
    answers = await asyncio.gather(*(_ask(dance, token, "run_payroll", **asked) for _ in range(20)))
    assert len({answer["data"]["payroll_id"] for answer in answers}) == 1
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (1,)
    # Whoever comes with another token of the same person and the same key gets the same payroll, not another.
    other = (await dance.tokens("payroll:run"))["access_token"]
    again = await _ask(dance, other, "run_payroll", **asked)
    assert again["data"]["payroll_id"] == answers[0]["data"]["payroll_id"]
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (1,)


async def test_a_call_that_is_cut_and_made_again_finds_the_first(
    dance: Dance, asked: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    token = (await dance.tokens("payroll:run"))["access_token"]
    for patience in (0.005, 0.02, 0.05, 0.1):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_cut(dance, token, asked), patience)
    ran = await _ask(dance, token, "run_payroll", **asked)
    assert ran["data"]["status"] == "completed"
    rows = owner_connection.execute("SELECT id::text FROM payrolls").fetchall()
    assert rows == [(ran["data"]["payroll_id"],)]


async def _cut(dance: Dance, token: str, asked: dict[str, Any]) -> None:
    await dance.call(token, "run_payroll", **asked)
    await asyncio.sleep(1)


async def test_what_an_agent_confirmed_stands_with_its_grant(
    dance: Dance, asked: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    token = (await dance.tokens("payroll:run", demands_preview="on"))["access_token"]
    unseen = await _ask(dance, token, "run_payroll", **asked)
    assert unseen["validation_details"] == [{"field": "preview_token", "message": "is required"}]
    preview = {name: value for name, value in asked.items() if name != "idempotency_key"}
    shown = (await _ask(dance, token, "preview_payroll", **preview))["data"]["preview_token"]
    changed = await _ask(dance, token, "run_payroll", **asked | {"regular_hours": 41}, preview_token=shown)
    assert changed["code"] == "amounts_changed"
    ran = await _ask(dance, token, "run_payroll", **asked, preview_token=shown, confirm_large_payroll=True)
    assert ran["data"]["status"] == "completed"
    [(grant_id,)] = owner_connection.execute("SELECT id FROM agent_grants").fetchall()
    assert _runs(owner_connection) == [(grant_id, dance.household_id, ["confirm_large_payroll"], True)]
    page = (await dance.browser.look(f"/settings/agents/{grant_id}")).text
    assert "Ran a payroll" in page
    assert "The app said that you confirmed the large amount" in page
    assert "What was paid is what the preview showed" in page
    assert owner_connection.execute(agents_runs()).fetchall() == []


async def test_one_preview_is_no_word_for_four_payrolls(
    dance: Dance, asked: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    """Where runs must match a preview, each run needs one that a person has seen."""
    token = (await dance.tokens("payroll:run", demands_preview="on"))["access_token"]
    bonus = asked | {"regular_hours": 0, "bonus": 100}
    preview = {name: value for name, value in bonus.items() if name != "idempotency_key"}
    shown = (await _ask(dance, token, "preview_payroll", **preview))["data"]["preview_token"]
    answers = [
        await _ask(dance, token, "run_payroll", **bonus | {"idempotency_key": key}, preview_token=shown)
        for key in ("one", "two", "three", "four")
    ]
    assert [each.get("code") for each in answers] == [None, *["amounts_changed"] * 3]
    ran = answers[0]["data"]["payroll_id"]
    assert {each["details"]["payroll_id"] for each in answers[1:]} == {ran}
    assert "already run" in answers[1]["next_step"]
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (1,)
    other = (await dance.tokens("payroll:run", demands_preview="on"))["access_token"]
    again = await _ask(
        dance, other, "run_payroll", **bonus | {"idempotency_key": "five"}, preview_token=shown
    )
    assert again["details"]["payroll_id"] == ran
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (1,)


async def test_runs_that_must_not_be(
    dance: Dance,
    asked: dict[str, Any],
    owner_connection: psycopg.Connection,
    database: Database,
    clock: FixedClock,
    maria: SignedIn,
) -> None:
    """For a sibling household or its employee, from the other mode, without the tool, and after the employment."""
    actor = _actor(maria)
    async with database.transaction(actor.tenant) as session:
        new = CreateEmployer(first_name="Ana", last_name="Lopez", state="CA", email="a@example.com")
        sibling = (await create_employer(session, actor, clock, new)).id
    theirs = asked | {
        "employer_id": str(sibling),
        "employee_id": str(await _employ(database, clock, maria, sibling)),
    }
    live = (await dance.tokens("payroll:run"))["access_token"]
    looking = (await dance.tokens())["access_token"]
    test = (await dance.tokens("payroll:run", household=f"test:{dance.sandbox_id}"))["access_token"]
    crossed = asked | {"employee_id": theirs["employee_id"]}
    for token, arguments, code in (
        (live, theirs, "household_forbidden"),
        (live, crossed, "employee_not_in_household"),
        (looking, asked, "scope_required"),
        (test, asked, "household_forbidden"),
    ):
        refused = await _ask(dance, token, "run_payroll", **arguments)
        assert refused["code"] == code, refused
        assert refused["next_step"]
    owner_connection.execute("UPDATE employees SET status = 'terminated', end_date = '2026-11-01'")
    assert (await _ask(dance, live, "run_payroll", **asked))["code"] == "invalid_state"
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (0,)


async def test_a_run_under_a_test_clock_is_proved_in_real_time(
    dance: Dance, database: Database, owner_connection: psycopg.Connection, clock: FixedClock, maria: SignedIn
) -> None:
    """The grant is of real time, the payroll of its household's clock, which stands where the grant is long over."""
    rosa = await _employ(database, clock, maria, dance.sandbox_id, sandbox=True)
    owner_connection.execute(
        "INSERT INTO household_clocks (employer_id, organization_id, sandbox, created_at, stands_at, status, "
        "advanced_from, target, requested_at, finished_at) SELECT id, organization_id, true, at, later, 'ready', at, "
        "later, at, at FROM employers, (SELECT CAST(%s AS timestamptz) AS at, CAST(%s AS timestamptz) AS later) c "
        "WHERE id = %s",
        (clock.now(), clock.now() + timedelta(days=38), dance.sandbox_id),
    )
    token = (await dance.tokens("payroll:run", household=f"test:{dance.sandbox_id}"))["access_token"]
    ran = await _ask(
        dance, token, "run_payroll", **week(str(dance.sandbox_id), str(rosa), idempotency_key="once")
    )
    times = (
        "SELECT p.created_at, a.details->>'run_at' FROM payrolls p JOIN audit_log a ON a.subject_id = p.id"
    )
    [(created_at, run_at)] = owner_connection.execute(
        f"{times} WHERE a.action = 'payroll.run' AND p.id = %s", (ran["data"]["payroll_id"],)
    ).fetchall()
    assert created_at == clock.now() + timedelta(days=38)
    assert datetime.fromisoformat(run_at) == clock.now()
    assert owner_connection.execute(agents_runs()).fetchall() == []
    owner_connection.execute("UPDATE agent_grants SET created_at = created_at + interval '1 hour'")
    assert len(owner_connection.execute(agents_runs()).fetchall()) == 1


async def test_an_idempotency_key_of_a_grant_is_its_households(
    dance: Dance,
    asked: dict[str, Any],
    owner_connection: psycopg.Connection,
    database: Database,
    clock: FixedClock,
    maria: SignedIn,
) -> None:
    """An app for one household takes no key away from the apps of its siblings, and repeats none of their answers."""
    actor = _actor(maria)
    async with database.transaction(actor.tenant) as session:
        new = CreateEmployer(first_name="Ana", last_name="Lopez", state="CA", email="a@example.com")
        sibling = (await create_employer(session, actor, clock, new)).id
    theirs = asked | {
        "employer_id": str(sibling),
        "employee_id": str(await _employ(database, clock, maria, sibling)),
    }
    own = (await dance.tokens("payroll:run"))["access_token"]
    other = (await dance.tokens("payroll:run", household=f"live:{sibling}"))["access_token"]
    ran = [
        (await _ask(dance, token, "run_payroll", **arguments))["data"]["payroll_id"]
        for _ in range(2)
        for token, arguments in ((own, asked), (other, theirs))
    ]
    assert ran[:2] == ran[2:]
    assert owner_connection.execute("SELECT count(*) FROM payrolls").fetchone() == (2,)
    assert (await _ask(dance, other, "run_payroll", **asked))["code"] == "idempotency_conflict"
    fresh = asked | {"idempotency_key": "fresh"}
    assert (await _ask(dance, other, "run_payroll", **fresh))["code"] == "household_forbidden"


async def test_who_was_sent_away_runs_nothing_whatever_the_plan(
    dance: Dance, asked: dict[str, Any], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    tokens = await dance.tokens("payroll:run")
    [(grant_id,)] = owner_connection.execute("SELECT id FROM agent_grants").fetchall()
    with _on_plan(owner_connection, "free"):
        refused = await _ask(dance, tokens["access_token"], "run_payroll", **asked)
        assert refused["code"] == "subscription_required"
        page = f"/settings/agents/{grant_id}"
        assert "Disconnect" in (await dance.browser.look(page)).text
        assert (await dance.browser.send(f"{page}/disconnect", page=page)).status_code == 303
    assert (await dance.call(tokens["access_token"], "run_payroll", **asked)).status_code == 401
    clock.advance(timedelta(minutes=1))
    assert (await dance.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


@contextmanager
def _on_plan(connection: psycopg.Connection, plan: str) -> Iterator[None]:
    connection.execute("UPDATE organizations SET plan = %s", (plan,))
    yield
    connection.execute("UPDATE organizations SET plan = 'professional'")


async def test_a_refresh_asks_for_no_more_than_was_given_and_for_this_service(dance: Dance) -> None:
    tokens = await dance.tokens()
    for changes, error in (
        ({"scope": "payroll:read payroll:run"}, "invalid_scope"),
        ({"resource": "https://other.example.com/mcp"}, "invalid_target"),
        ({"client_id": "another"}, "invalid_grant"),
    ):
        assert (await dance.refresh(tokens["refresh_token"], **changes)).json()["error"] == error
    # None of it has used the token up, and an access token is none to refresh with, nor the other way round.
    assert (await dance.refresh(tokens["access_token"])).json()["error"] == "invalid_grant"
    assert (await dance.call(tokens["refresh_token"])).status_code == 401
    assert (await dance.refresh(tokens["refresh_token"])).status_code == 200


async def test_resources_are_given_with_the_tools_that_cover_them(
    dance: Dance, asked: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    token = (await dance.tokens("payroll:run"))["access_token"]
    ran = (await _ask(dance, token, "run_payroll", **asked))["data"]["payroll_id"]
    stub = f"hearthpay://payrolls/{ran}/pay-stubs/{asked['employee_id']}"
    calendar = f"hearthpay://households/{dance.household_id}/calendar/2026"
    foreign = f"hearthpay://households/{dance.sandbox_id}/calendar/2026"
    for address in (stub, f"hearthpay://payrolls/{ran}", calendar, "hearthpay://states/CA"):
        assert "result" in await dance.read(token, address), address
    assert "error" in await dance.read(token, foreign)
    owner_connection.execute("UPDATE agent_grants SET tools = array_remove(tools, 'get_payroll')")
    for address in (stub, f"hearthpay://payrolls/{ran}"):
        refused = (await dance.read(token, address))["error"]
        assert refused["data"]["code"] == "scope_required", refused
    assert "result" in await dance.read(token, calendar)
    listed = (await dance.send(token, "resources/templates/list", {})).json()["result"]["resourceTemplates"]
    assert [each["name"] for each in listed] == ["state_coverage", "tax_calendar"]
    (grant_id,) = owner_connection.execute("SELECT id FROM agent_grants").fetchone() or ()
    shown = (await dance.browser.look(f"/settings/agents/{grant_id}")).text
    assert "An app read data: pay_stub" in shown
    assert "scope_required" in shown
