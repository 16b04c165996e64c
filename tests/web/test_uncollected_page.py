"""The operator notes what a household paid for wages whose debit came back; nobody else sees the page or notes it."""

from __future__ import annotations

import re

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.people.operators import make_operator
from tests.lifecycle.forging import send_back
from tests.lifecycle.test_available_actions import at
from tests.people.visitors import at_the_command_line
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, people, people_context
from tests.web.test_payroll_money import _BOTH, _run, app, paid_by_bank, town
from tests.web.test_payroll_pages import _draft, maria, world
from tests.worlds.town import Town

__all__ = ["app", "maria", "paid_by_bank", "people", "people_context", "town", "world"]

PAGE = "/operator/wages"


@pytest.mark.usefixtures("paid_by_bank")
async def test_what_came_back_is_listed_until_it_is_paid(
    app: FastAPI,
    maria: Browser,
    world: World,
    town: Town,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    root = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, root, world.employee_id, method="direct_deposit", regular="40", pay_date="")
    payroll_id = (await _run(maria, draft, **_BOTH)).rpartition("/")[2]
    for day in ("2026-11-20", "2026-11-25", "2026-11-27"):
        await at(town, day)
    await at(town, "2026-12-01", 8)
    send_back(town, owner_connection, payroll_id, "debit", "R10")
    await at(town, "2026-12-02", 9)
    async with owner_database.transaction(None) as session:
        await make_operator(session, at_the_command_line(owner_database, clock), "viewer@example.com")

    operator = await _browser(app, "viewer", clock)
    owner = await _browser(app, "owner", clock)
    page = (await operator.look(PAGE)).text
    [(owed, received_on)] = owner_connection.execute(
        "SELECT sum(amount) FILTER (WHERE kind = 'credit'), max(updated_at)::date FROM bank_entries"
    ).fetchall()
    assert f"Maria Lopez&#39;s household owes ${owed / 100:,.2f}" in page
    assert re.search(
        r"The debit of \$[\d,.]+ was returned on [A-Z][a-z]{2}, [A-Z][a-z]{2}\xa0\d+: R10 ", page
    )
    home = (await operator.look("/operator")).text
    assert re.search(
        r"Maria Lopez&#39;s household: debit of \$[\d,.]+ was returned, R10 [a-z][^<]+, on ", home
    )
    assert f'href="{PAGE}#wages-{payroll_id}"' in home
    assert f'value="{owed / 100:,.2f}"' in page.replace('value="$', 'value="')
    assert (await owner.look(PAGE)).status_code == 404
    form = {"amount": "100.00", "received": str(received_on), "told_by": "check 118"}
    there = f"{PAGE}/{payroll_id}"
    assert (await owner.send(there, page="/settings/profile", **form)).status_code == 404
    for wrong, said in (
        ({"amount": "0"}, "at most what is still owed"),
        ({"amount": f"{owed / 100 + 1:.2f}"}, "at most what is still owed"),
        ({"amount": "1.005"}, "at most what is still owed"),
        ({"amount": "much"}, "at most what is still owed"),
        ({"received": "2099-01-01"}, "a day from the return"),
        ({"received": ""}, "a day from the return"),
        ({"told_by": " "}, "where the payment is seen"),
        ({"told_by": "x" * 201}, "where the payment is seen"),
    ):
        refused = await operator.send(there, page=PAGE, **form | wrong)
        assert refused.status_code == 400, wrong
        assert said in refused.text, wrong
    assert owner_connection.execute("SELECT count(*) FROM wage_settlements").fetchone() == (0,)

    part = await operator.send(there, page=PAGE, **form)
    assert part.headers["location"] == PAGE
    page = (await operator.look(PAGE)).text
    assert "Payments so far: $100.00 of $" in page
    assert "check 118" in page
    rest = await operator.send(there, page=PAGE, **form | {"amount": f"${owed / 100 - 100:,.2f}"})
    assert rest.headers["location"] == PAGE
    assert "No household owes wages" in (await operator.look(PAGE)).text
    again = await operator.send(there, page=PAGE, **form)
    assert again.status_code == 400
    assert "owes nothing more of this payroll" in again.text
    noted = owner_connection.execute(
        "SELECT a.actor_kind, p.email FROM audit_log a JOIN people p ON p.id = a.actor_id "
        "WHERE a.action = 'payroll.settle'"
    ).fetchall()
    assert noted == [("operator", "viewer@example.com")] * 2
    history = await owner.look("/settings/audit")
    assert "A payment outside the bank was recorded" in history.text
