"""The operator sees how the installation goes, and nobody else learns that there is such a page."""

from __future__ import annotations

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.examination import CheckResult
from hearthpay.doctor.last_report import store_last_report
from hearthpay.people.operators import make_operator, unmake_operator
from hearthpay.people.sessions import SignedIn
from hearthpay.taxes.rulebook import rulebook_of
from tests.database.household import add_household, add_organization
from tests.people.visitors import at_the_command_line
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


async def test_only_who_was_named_sees_it_and_until_he_is_named_no_more(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    browser = await _browser(app, "viewer", clock)
    assert (await browser.look("/operator")).status_code == 404
    async with owner_database.transaction(None) as session:
        await make_operator(session, at_the_command_line(owner_database, clock), "viewer@example.com")
    page = await browser.look("/operator")
    assert page.status_code == 200
    assert "The books were never checked" in page.text
    assert "No worker is running" in page.text
    assert "<h1>2 things need you</h1>" in page.text
    assert "Rules for 2027: edition 2027.1" in page.text
    assert rulebook_of(2027).fingerprint in page.text
    other = await _browser(app, "owner", clock)
    assert (await other.look("/operator")).status_code == 404

    right, wrong = CheckResult("a", "b", 0, (), 0.1), CheckResult("c", "d", 3, (), 0.1)
    async with owner_database.transaction(None) as session:
        await store_last_report(session, clock.now(), [right], [])
    page = await browser.look("/operator")
    assert ": all figures are right" in page.text
    assert "<h1>One thing needs you</h1>" in page.text
    async with owner_database.transaction(None) as session:
        await store_last_report(session, clock.now(), [right, wrong], [])
    page = await browser.look("/operator")
    assert "3 figures in the books differ" in page.text
    assert ": 3 figures differ" in page.text

    async with owner_database.transaction(None) as session:
        await unmake_operator(session, at_the_command_line(owner_database, clock), "viewer@example.com")
    assert (await browser.look("/operator")).status_code == 404
    events = owner_connection.execute(
        "SELECT action FROM person_events WHERE action LIKE 'operator.%' ORDER BY id"
    )
    assert [action for (action,) in events] == ["operator.make", "operator.unmake"]


async def test_rules_that_are_not_final_stand_there_for_operators(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    organization = add_organization(owner_connection, "Miller")
    add_household(owner_connection, organization)
    owner_connection.execute("DELETE FROM payroll_entries")
    owner_connection.execute(
        "UPDATE autopilot_enrollments SET status = 'active', generate_at = now(), pause_reason = NULL, "
        "disabled_at = NULL, next_pay_date = '2027-03-01'"
    )
    async with owner_database.transaction(None) as session:
        await make_operator(session, at_the_command_line(owner_database, clock), "viewer@example.com")
    browser = await _browser(app, "viewer", clock)
    assert "Rules that are not final" not in (await browser.look("/operator")).text
    owner_connection.execute("UPDATE autopilot_enrollments SET next_pay_date = '2027-01-04'")
    page = (await browser.look("/operator")).text
    assert "1 enrollment and 0 scheduled payrolls have pay dates under rules that are not final." in page
    assert "provisional" in page
    assert "pip install --upgrade hearthpay" in page
    owner = await _browser(app, "owner", clock)
    assert (await owner.look("/operator")).status_code == 404


async def test_the_service_itself_names_nobody(database: Database, people: dict[str, SignedIn]) -> None:
    from sqlalchemy import text
    from sqlalchemy.exc import ProgrammingError

    for statement in (
        "UPDATE people SET operator_since = now()",
        "SELECT * FROM examinations",
    ):
        with pytest.raises(ProgrammingError):
            async with database.transaction(None) as session:
                await session.execute(text(statement))
