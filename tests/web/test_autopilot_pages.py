"""Autopilot on its pages: enrolled, held, skipped, paused, ended; and the books as they must be after each."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.app import AppSettings, create_app
from hearthpay.autopilot.eligibility import REASONS as CODES
from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.autopilot.proposals import usual_schedule
from hearthpay.autopilot.records import STANDING_TEXT_VERSION, standing_text
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.service import update_employee
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.web.household.autopilot.words import AUTHORIZATION, REASONS
from tests.autopilot.proving import proved
from tests.web.one_household import signed_in_once, world
from tests.web.people_browser import HOME, Browser
from tests.web.rows.autopilot import connect_accounts, things
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, people, people_context
from tests.worlds.originator import ORIGINATOR
from tests.worlds.snapshots import MadeOnce
from tests.worlds.town import Town

__all__ = ["people", "people_context", "world"]

Things = dict[str, str]

TERMS = {
    "standard_hours": "40",
    "frequency": "weekly",
    "anchor_period_start": "2026-11-16",
    "pay_days_after": "9",
}
AGREED = {"agree": "on", "text_version": STANDING_TEXT_VERSION}


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """Of an installation that has a bank."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    app = create_app(
        database, clock, AppSettings(public_url=HOME, ring=ring, mailer=mailer, direct_deposit=True)
    )
    app.state.people_context = PeopleContext(
        database, clock, ring, app.state.people_context.throttle, sends_mail=True, no_sooner_than=0
    )
    return app


@pytest.fixture
async def enrolled(world: World, made_once: MadeOnce) -> Things:
    """An enrollment of somebody in the household, and a payroll of it that is held."""
    return {**await made_once.get("household, autopilot", lambda: things(world))}


@pytest.fixture
async def maria(app: FastAPI, enrolled: Things, clock: FixedClock, made_once: MadeOnce) -> Browser:
    """The owner's browser, of before the clock advances."""
    return await signed_in_once(app, "owner", clock, made_once, "household, autopilot, browser of its owner")


def words_of(page) -> str:  # type: ignore[no-untyped-def]
    return " ".join("".join(parsed(page).itertext()).split())


def periods(connection: psycopg.Connection) -> list[tuple[str, str]]:
    return connection.execute(
        "SELECT period_start::text, outcome FROM autopilot_periods ORDER BY 1"
    ).fetchall()


async def test_the_whole_way_of_an_enrollment(
    app: FastAPI,
    world: World,
    owner_connection: psycopg.Connection,
    owner_database: Database,
    worker_database: Database,
    clock: FixedClock,
    ring: KeyRing,
    tmp_path: Path,
) -> None:
    town = Town(
        world.people_context.database,
        worker_database,
        clock,
        ring,
        Bank(ORIGINATOR, folder_gateway(tmp_path)),
        tmp_path,
    )

    async def work() -> None:
        await generate_due(worker_database, clock, direct_deposit_enabled=True)
        await town.work()
        await run_outbox_tasks(worker_database, ring, clock, NotificationSettings(sends=True))

    root = f"/app/{world.household_id}/autopilot"
    enroll = f"{root}/enroll/{world.employee_id}"
    browser = await _browser(app, "owner", clock)

    # Not paid yet, no bank accounts: the page says so, the way out stands beside it, and nothing is enrolled.
    early = await browser.look(enroll + "?" + "&".join(f"{k}={v}" for k, v in TERMS.items()))
    assert early.status_code == 200
    assert "Run one payroll for this employee first." in early.text
    assert f"/app/{world.household_id}/bank" in early.text
    assert "I have read this" not in early.text
    refused = await browser.send(enroll, page="/settings/profile", **TERMS, **AGREED)
    assert refused.status_code == 400
    await world.pay()
    await connect_accounts(world, world.employee_id)

    # Three paydays and the cost before the tick; without the tick, or with another text, nothing.
    ahead = await browser.look(enroll + "?" + "&".join(f"{k}={v}" for k, v in TERMS.items()))
    for day in ("Tue, Dec\N{NO-BREAK SPACE}1", "Tue, Dec\N{NO-BREAK SPACE}8", "Tue, Dec\N{NO-BREAK SPACE}15"):
        assert day in ahead.text
    assert all(sentence in words_of(ahead) for sentence in AUTHORIZATION)
    for wrong in ({}, {"agree": "on", "text_version": "2020-01-01"}):
        refused = await browser.send(enroll, page="/settings/profile", **TERMS, **wrong)
        assert refused.status_code == 400
        assert 'id="agree-problem"' in refused.text
    assert owner_connection.execute("SELECT count(*) FROM autopilot_enrollments").fetchone() == (0,)
    done = await browser.send(enroll, page="/settings/profile", **TERMS, **AGREED)
    assert done.status_code == 303
    one = done.headers["location"]
    assert owner_connection.execute(
        "SELECT authorized_by_kind, authorized_by, address, text_version, agreed_text, authorized_at "
        "FROM autopilot_authorizations"
    ).fetchall() == [
        ("user", world.owner.person_id, "192.0.2.7", STANDING_TEXT_VERSION, standing_text(), clock.now())
    ]
    source = owner_connection.execute("SELECT event, source, actor_kind FROM autopilot_events")
    assert source.fetchall() == [("enroll", "app", "user")]
    assert "Tue, Dec\N{NO-BREAK SPACE}1" in (await browser.look(one)).text

    # A raise of a third: the payroll is held, shown with what it is measured against, and approved.
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await update_employee(
            session, world.actor, clock, world.employee_id, ChangeEmployee(pay_rate=Decimal("38.00"))
        )
    town.go_to("2026-11-20", 15)
    await work()
    browser = await _browser(app, "owner", clock)
    [held] = re.findall(rf"{root}/held/[0-9a-f-]+", (await browser.look(root)).text)
    enrolled, net = owner_connection.execute(
        "SELECT v.expected_net, g.net_pay FROM autopilot_versions v, autopilot_periods g"
    ).fetchone() or (0, 0)
    asked = words_of(await browser.look(held))
    for cents in (enrolled, net, enrolled * 120 // 100, 300_000, 500_000):
        assert f"${cents // 100:,}.{cents % 100:02d}" in asked
    approved = await browser.send(held, page="/settings/profile", decision="approve")
    assert approved.headers["location"] == one
    assert "It waits no more." in (await browser.look(held)).text
    town.go_to("2026-11-23", 15)
    await work()
    assert periods(owner_connection) == [("2026-11-16", "fired")]

    # The next payroll is scheduled; skipping it voids it, and the page says so before.
    town.go_to("2026-11-28", 15)
    await work()
    browser = await _browser(app, "owner", clock)
    assert "is scheduled. If you skip it, we void it." in words_of(await browser.look(f"{one}/skip"))
    nothing = await browser.send(f"{one}/skip", page="/settings/profile", what="through")
    assert (nothing.status_code, 'id="through_date-problem"' in nothing.text) == (400, True)
    assert (await skip_next(browser, one, "2026-11-23")).status_code == 303
    assert periods(owner_connection)[1:] == [("2026-11-23", "voided")]

    # Paused, nothing is made; resumed, what passed is not paid.
    assert (await browser.send(f"{one}/pause", page="/settings/profile")).status_code == 303
    assert "Paused" in (await browser.look(one)).text
    town.go_to("2026-12-09", 12)
    await work()
    browser = await _browser(app, "owner", clock)
    assert (await browser.send(f"{one}/resume", page="/settings/profile")).status_code == 303
    assert periods(owner_connection)[2:] == [("2026-11-30", "paused")]
    changed = {
        "from_period": "2026-12-14",
        "standard_hours": "38",
        "frequency": "monthly",
        "pay_days_after": "9",
    }
    unfit = await browser.send(f"{one}/change", page="/settings/profile", **changed)
    assert (unfit.status_code, "Nothing was saved" in unfit.text) == (400, True)
    changed["frequency"] = "weekly"
    assert (await browser.send(f"{one}/change", page="/settings/profile", **changed)).status_code == 303
    [(before, after)] = owner_connection.execute(
        "SELECT details->'before', details->'after' FROM audit_log WHERE action = 'autopilot.change'"
    ).fetchall()
    assert after["standard_hours"] == "38"
    assert before.keys() == after.keys()
    said = words_of(await browser.look("/settings/audit"))
    assert f"hours of a period from {before['standard_hours']} hours to 38 hours" in said

    # Ended: the authorization with it, and nothing more is made; the way on is to enroll anew.
    assert "your debit authorization ends" in words_of(await browser.look(f"{one}/stop"))
    assert (await browser.send(f"{one}/stop", page="/settings/profile")).status_code == 303
    assert owner_connection.execute(
        "SELECT count(*) FILTER (WHERE ended_at IS NULL) FROM autopilot_authorizations"
    ).fetchone() == (0,)
    town.go_to("2026-12-16", 15)
    await work()
    assert periods(owner_connection)[3:] == []
    assert "Enroll again" in (await (await _browser(app, "owner", clock)).look(one)).text
    await proved(owner_database, clock)

    browser = await _browser(app, "owner", clock)
    told = words_of(await browser.look(f"{root}/history"))
    lines = (
        "Ended, with the authorization",
        "Changed from Dec 14, 2026 on: 38 hours, every week.",
        "Periods in between that are not paid: 1.",
        "Paused.",
        "Scheduled payrolls that were voided: 1.",
        "Sent the payroll of Nov 16, 2026 to Nov 22, 2026",
        "Approved a payroll that was held.",
        "It needs your approval.",
        "Enrolled: 40 hours, every week. The first period is Nov 16, 2026",
    )
    places = [told.index(line) for line in lines]
    assert places == sorted(places)


async def test_a_viewer_sees_no_buttons_and_strange_ids_lead_nowhere(
    app: FastAPI,
    world: World,
    enrolled: Things,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    root = f"/app/{world.household_id}/autopilot"
    viewer = await _browser(app, "viewer", clock)
    for page in (root, f"{root}/{enrolled['enrollment_id']}"):
        main = next(parsed(await viewer.look(page)).iter("main"))
        assert not list(main.iter("form"))
        ways = {each.get("href") for each in main.iter("a")}
        assert not [way for way in ways if way and re.search(r"/(skip|stop|change|agree|held|enroll)", way)]
    # Another household of the same organization: its pages know neither the enrollment, the payroll nor the employee.
    other = await World.make(
        world.people_context, owner_connection, world.owner, first_name="Ana", last_name="Ng", state="NY"
    )
    owner = await _browser(app, "owner", clock)
    there = f"/app/{other.household_id}/autopilot"
    before = owner_connection.execute("SELECT count(*) FROM autopilot_events").fetchone()
    for path in (
        f"/{enrolled['enrollment_id']}",
        f"/{enrolled['enrollment_id']}/skip",
        f"/{enrolled['enrollment_id']}/stop",
        f"/{enrolled['enrollment_id']}/change",
        f"/{enrolled['enrollment_id']}/agree",
        f"/held/{enrolled['held_id']}",
        f"/enroll/{world.employee_id}",
        "/not-an-id",
    ):
        assert (await owner.look(there + path)).status_code == 404, path
    for path, form in (
        (f"/{enrolled['enrollment_id']}/pause", {}),
        (f"/{enrolled['enrollment_id']}/skip", {"what": "next", "next_start": "2026-11-23"}),
        (f"/{enrolled['enrollment_id']}/stop", {}),
        (f"/held/{enrolled['held_id']}", {"decision": "let_go"}),
        (f"/enroll/{world.employee_id}", TERMS | AGREED),
    ):
        answer = await owner.send(there + path, page="/settings/profile", **form)
        assert answer.status_code == 404, path
    assert owner_connection.execute("SELECT count(*) FROM autopilot_events").fetchone() == before
    # Let go, the held payroll is voided, and the history says so.
    held = f"{root}/held/{enrolled['held_id']}"
    assert (await owner.send(held, page="/settings/profile", decision="let_go")).status_code == 303
    assert periods(owner_connection) == [("2026-11-16", "voided")]
    assert "was voided" in words_of(await owner.look(f"{root}/history"))


@pytest.fixture
def town(world: World, worker_database: Database, clock: FixedClock, ring: KeyRing, tmp_path: Path) -> Town:
    bank = Bank(ORIGINATOR, folder_gateway(tmp_path))
    return Town(world.people_context.database, worker_database, clock, ring, bank, tmp_path)


def approvals(connection: psycopg.Connection) -> list[tuple[str, bool, str]]:
    """Outcome of each period, whether it was approved, and the status of its payroll."""
    return connection.execute(
        "SELECT g.outcome, g.confirmed_at IS NOT NULL, p.status FROM autopilot_periods g "
        "JOIN payrolls p ON p.id = g.payroll_id ORDER BY g.period_start"
    ).fetchall()


async def named_next(browser: Browser, one: str) -> str:
    """The first day of the period that the page names as the next."""
    [start] = re.findall(r'name="next_start" value="([0-9-]+)"', (await browser.look(f"{one}/skip")).text)
    return str(start)


async def skip_next(browser: Browser, one: str, start: str) -> httpx.Response:
    return await browser.send(f"{one}/skip", page="/settings/profile", what="next", next_start=start)


async def test_a_skip_takes_the_period_that_was_shown_and_no_other(
    app: FastAPI,
    world: World,
    enrolled: Things,
    maria: Browser,
    town: Town,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    root = f"/app/{world.household_id}/autopilot"
    one = f"{root}/{enrolled['enrollment_id']}"
    assert await named_next(maria, one) == "2026-11-16"
    approved = await maria.send(
        f"{root}/held/{enrolled['held_id']}", page="/settings/profile", decision="approve"
    )
    assert approved.status_code == 303
    # Sent in between, it cannot be skipped any more: the form says so, and the following period is paid.
    town.go_to("2026-11-23", 15)
    await town.work()
    maria = await _browser(app, "owner", clock)
    for form in ({"next_start": "2026-11-16"}, {"next_start": "2026-11-24"}, {"next_start": "soon"}, {}):
        late = await maria.send(f"{one}/skip", page="/settings/profile", what="next", **form)
        assert (late.status_code, 'id="what-problem"' in late.text) == (400, True), form
        assert 'name="next_start" value="2026-11-23"' in late.text
        assert "The next pay period has changed" in late.text
    skipped = "SELECT skip_through::text FROM autopilot_enrollments"
    assert owner_connection.execute(skipped).fetchone() == (None,)
    # The one that is shown now is skipped, once, however often the form is sent; then comes the one after it.
    for _ in range(2):
        assert (await skip_next(maria, one, "2026-11-23")).headers["location"] == one
        assert owner_connection.execute(skipped).fetchone() == ("2026-11-29",)
    assert await named_next(maria, one) == "2026-11-30"
    events = "SELECT count(*) FROM autopilot_events WHERE event = 'skip'"
    assert owner_connection.execute(events).fetchone() == (1,)


async def test_a_scheduled_period_is_skipped_once_and_then_the_one_after_it(
    app: FastAPI,
    world: World,
    enrolled: Things,
    maria: Browser,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    """Also while the money of the one before would not have been sent yet, and while Autopilot is paused."""
    one = f"/app/{world.household_id}/autopilot/{enrolled['enrollment_id']}"
    for _ in range(2):
        assert (await skip_next(maria, one, "2026-11-16")).status_code == 303
        assert approvals(owner_connection) == [("voided", False, "voided")]
    assert await named_next(maria, one) == "2026-11-23"
    assert (await maria.send(f"{one}/pause", page="/settings/profile")).status_code == 303
    clock.advance(timedelta(days=14))
    maria = await _browser(app, "owner", clock)
    shown = await named_next(maria, one)
    assert shown > "2026-11-23"
    assert (await skip_next(maria, one, shown)).status_code == 303
    assert await named_next(maria, one) > shown


@pytest.mark.parametrize("fired", [False, True])
async def test_what_somebody_approved_is_not_let_go_by_a_page_of_before(
    fired: bool,
    app: FastAPI,
    world: World,
    enrolled: Things,
    maria: Browser,
    town: Town,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    held = f"/app/{world.household_id}/autopilot/held/{enrolled['held_id']}"
    assert "Void payroll" in (await maria.look(held)).text
    admin = await _browser(app, "admin", clock)
    assert (await admin.send(held, page="/settings/profile", decision="approve")).status_code == 303
    if fired:
        town.go_to("2026-11-23", 15)
        await town.work()
        maria = await _browser(app, "owner", clock)
    stands = approvals(owner_connection)
    assert stands == [("fired", True, "pending_funding") if fired else ("scheduled", True, "scheduled")]
    late = await maria.send(held, page="/settings/profile", decision="let_go")
    assert (late.status_code, "Someone else changed this first" in late.text) == (400, True)
    said = "Its money is on its way." if fired else "It was approved, and is sent when it is due."
    assert said in words_of(late)
    assert approvals(owner_connection) == stands
    # Approved once more, nothing changes; and what is let go stays so as well.
    assert (await maria.send(held, page="/settings/profile", decision="approve")).status_code == 303
    assert approvals(owner_connection) == stands


async def test_what_was_let_go_stays_so(
    app: FastAPI,
    world: World,
    enrolled: Things,
    maria: Browser,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    held = f"/app/{world.household_id}/autopilot/held/{enrolled['held_id']}"
    admin = await _browser(app, "admin", clock)
    for _ in range(2):
        assert (await maria.send(held, page="/settings/profile", decision="let_go")).status_code == 303
    late = await admin.send(held, page="/settings/profile", decision="approve")
    assert late.status_code == 400
    assert "Someone else changed this first. Nothing was saved." in words_of(late)
    assert "It was voided: Autopilot does not pay this period." in words_of(late)
    assert approvals(owner_connection) == [("voided", False, "voided")]
    voided = owner_connection.execute("SELECT count(*) FROM audit_log WHERE action = 'payroll.void'")
    assert voided.fetchone() == (1,)


async def test_of_two_who_decide_at_once_one_is_first(
    app: FastAPI,
    world: World,
    enrolled: Things,
    maria: Browser,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    held = f"/app/{world.household_id}/autopilot/held/{enrolled['held_id']}"
    admin = await _browser(app, "admin", clock)
    let_go, approved = await asyncio.gather(
        maria.send(held, page="/settings/profile", decision="let_go"),
        admin.send(held, page="/settings/profile", decision="approve"),
    )
    assert sorted((let_go.status_code, approved.status_code)) == [303, 400]
    first = ("scheduled", True, "scheduled") if approved.status_code == 303 else ("voided", False, "voided")
    assert approvals(owner_connection) == [first]


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"standard_hours": ""}, "standard_hours"),
        ({"standard_hours": "-1"}, "standard_hours"),
        ({"standard_hours": "169"}, "standard_hours"),
        ({"standard_hours": "40.0001"}, "standard_hours"),
        ({"standard_hours": "10000"}, "standard_hours"),
        ({"frequency": "daily"}, "frequency"),
        ({"frequency": "monthly"}, "anchor_period_start"),
        ({"frequency": "semimonthly", "anchor_period_start": "2026-11-15"}, "anchor_period_start"),
        ({"anchor_period_start": "2029-01-01"}, "anchor_period_start"),
        ({"anchor_period_start": "soon"}, "anchor_period_start"),
        ({"pay_days_after": "15"}, "pay_days_after"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(typed: dict[str, str], field: str, clock: FixedClock) -> None:
    from hearthpay.web.household.autopilot.terms_form import read_terms
    from hearthpay.web.household.form_parsing import Entries

    entries = Entries(TERMS | typed)
    assert read_terms(entries, clock) is None
    assert list(entries.problems) == [field]
    assert read_terms(Entries(TERMS), clock) is not None


@pytest.mark.parametrize(
    "hours", ["1e30", "9e999999", "-1e30", "1e-30", "NaN", "sNaN", "Infinity", "1e9", "9" * 20]
)
async def test_hours_that_are_no_hours_are_told_of_on_every_way(
    hours: str,
    app: FastAPI,
    world: World,
    enrolled: Things,
    maria: Browser,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    root = f"/app/{world.household_id}/autopilot"
    enroll, terms = f"{root}/enroll/{world.employee_id}", TERMS | {"standard_hours": hours}
    changed = {"from_period": "2026-12-07", **{k: v for k, v in terms.items() if k != "anchor_period_start"}}
    for answer in (
        await maria.client.get(enroll, params=terms),
        await maria.send(enroll, page="/settings/profile", **terms, **AGREED),
        await maria.send(f"{root}/{enrolled['enrollment_id']}/change", page="/settings/profile", **changed),
    ):
        assert (answer.status_code, 'id="standard_hours-problem"' in answer.text) == (400, True)
    assert owner_connection.execute("SELECT count(*) FROM autopilot_versions").fetchone() == (1,)


async def test_other_terms_begin_where_a_period_of_what_holds_then_begins(
    app: FastAPI, world: World, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    """Twice a month now, weekly from the middle of December on: no week after it begins where a half month does."""
    await world.pay()
    await connect_accounts(world, world.employee_id)
    browser = await _browser(app, "owner", clock)
    enroll = f"/app/{world.household_id}/autopilot/enroll/{world.employee_id}"
    terms = {"standard_hours": "40", "pay_days_after": "0"}
    halves = terms | {"frequency": "semimonthly", "anchor_period_start": "2026-12-01"}
    done = await browser.send(enroll, page="/settings/profile", **halves, **AGREED)
    assert done.status_code == 303, done.text
    change = f"{done.headers['location']}/change"

    async def ask(frequency: str, start: str) -> httpx.Response:
        return await browser.send(
            change, page="/settings/profile", frequency=frequency, from_period=start, **terms
        )

    assert (await ask("weekly", "2026-12-16")).status_code == 303
    assert 'value="2026-12-23"' in (await browser.look(change)).text
    unfit = await ask("semimonthly", "2026-12-23")
    assert (unfit.status_code, 'id="from_period-problem"' in unfit.text) == (400, True)
    assert "Jun 16, 2027" in words_of(unfit)
    for frequency in ("weekly", "biweekly", "semimonthly", "monthly"):
        for start in ("9999-12-01", "9999-12-31", "2035-01-01", "0001-01-01", "2026-12-02"):
            unfit = await ask(frequency, start)
            assert (unfit.status_code, 'id="from_period-problem"' in unfit.text) == (400, True), start
    assert (await ask("weekly", "2026-12-23")).status_code == 303
    versions = "SELECT from_period::text, frequency FROM autopilot_versions ORDER BY number"
    assert owner_connection.execute(versions).fetchall() == [
        ("2026-12-01", "semimonthly"),
        ("2026-12-16", "weekly"),
        ("2026-12-23", "weekly"),
    ]


async def test_the_form_starts_from_the_schedule_that_the_api_proposes(
    app: FastAPI, world: World, clock: FixedClock
) -> None:
    await world.pay()
    await connect_accounts(world, world.employee_id)
    browser = await _browser(app, "owner", clock)
    form = await browser.look(f"/app/{world.household_id}/autopilot/enroll/{world.employee_id}")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        employee = await session.get_one(Employee, world.employee_id)
        usual = await usual_schedule(session, employee, clock.today())
    assert f'value="{usual.anchor}"' in form.text
    assert f'<option value="{usual.pay_days_after}" selected' in form.text


def test_every_reason_has_its_words_and_the_translated_text_is_the_recorded_one() -> None:
    assert REASONS.keys() == set(CODES)
    recorded = " ".join(standing_text().split())
    assert all(f"{place}. {each}" in recorded for place, each in enumerate(AUTHORIZATION, 1))
    assert recorded.endswith(AUTHORIZATION[-1])
