"""Employees on pages: what is typed is what the books hold, and what is wrong stands beside its field."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.employers.commands import PostalAddress
from tests.web.one_household import signed_in_once, world
from tests.web.people_browser import Browser, typed_in
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import app, people, people_context
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context", "world"]

NEW = {
    "first_name": "Ana",
    "last_name": "Ruiz",
    "email": "ana@example.com",
    "start_date": "2026-11-02",
    "pay_rate": "$1,028.50",
    "pay_frequency": "biweekly",
    "relationship": "none",
    "work_state": "NY",
    "payment_method": "check",
    "language": "es",
    "address_line1": "1 Elm Street",
    "address_city": "Yonkers",
    "address_state": "NY",
    "address_zip": "10701",
}


@pytest.fixture
async def browser(app: FastAPI, world: World, clock: FixedClock, made_once: MadeOnce) -> Browser:
    return await signed_in_once(app, "admin", clock, made_once, "household, browser of an admin")


async def send(browser: Browser, path: str, **form: str) -> Any:
    if path.endswith("/rate") and "shown" not in form:
        page = await browser.look(path)
        form["shown"] = typed_in(page)["shown"] if page.status_code == 200 else ""
    return await browser.send(path, page="/settings/profile", **form)


def row(world: World, name: str = "Rosa") -> dict[str, Any]:
    cursor = world.connection.cursor(row_factory=psycopg.rows.dict_row)
    found = cursor.execute("SELECT * FROM employees WHERE first_name = %s", (name,)).fetchone()
    assert found is not None
    return found


async def test_an_employee_is_added_as_typed(browser: Browser, world: World) -> None:
    path = f"/app/{world.household_id}/employees/new"
    answer = await send(browser, path, **NEW)
    assert answer.status_code == 303
    added = row(world, "Ana")
    assert answer.headers["location"] == f"/app/{world.household_id}/employees/{added['id']}"
    assert (added["pay_rate_cents"], added["work_state"], added["language"]) == (102850, "NY", "es")
    assert added["address"]["zip"] == "10701"
    page = await browser.look(answer.headers["location"])
    assert "$1,028.50" in page.text
    assert "Every two weeks" in page.text


WRONG = [
    ("pay_rate", "much", "Enter an amount, like 28.50."),
    ("pay_rate", "28.505", "Use at most 2 decimals."),
    ("pay_rate", "-3", "Enter a number from 0.01 to 9,999.99."),
    ("first_name", "", "Fill in this field."),
    ("email", "ana", "Enter an email address, like ana@example.com."),
    ("start_date", "soon", "Enter a date, like 11/20/2026."),
    ("address_zip", "1", "Enter a ZIP code, like 94110."),
    ("birth_year", "19x8", "Enter a whole number."),
    ("work_state", "ZZ", "Enter a two-letter state code, like CA."),
]


async def test_what_is_wrong_stands_beside_its_field_and_the_rest_stays(
    browser: Browser, world: World, subtests: pytest.Subtests
) -> None:
    for field, typed, told in WRONG:
        with subtests.test(f"{field}={typed}"):
            page = await send(browser, f"/app/{world.household_id}/employees/new", **NEW | {field: typed})
            assert page.status_code == 400
            assert re.search(rf'id="{field}-problem">{re.escape(told)}<', page.text), page.text
            inputs = {each.get("name"): each.get("value") for each in parsed(page).iter("input")}
            assert inputs["last_name"] == "Ruiz"
            assert inputs["address_city"] == "Yonkers"
    assert world.connection.execute("SELECT count(*) FROM employees").fetchone() == (1,)


async def test_somebody_who_is_there_already_is_told_of(browser: Browser, world: World) -> None:
    same = NEW | {"first_name": "Rosa", "last_name": "Diaz", "email": "rosa@example.com"}
    page = await send(browser, f"/app/{world.household_id}/employees/new", **same)
    assert page.status_code == 400
    assert 'role="alert"' in page.text


async def test_changing_keeps_what_was_not_asked_and_takes_out_what_was_emptied(
    browser: Browser, world: World
) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}"
    before = row(world)
    form = {
        "first_name": "Rosa",
        "last_name": "Díaz Peña",
        "email": "",
        "start_date": "2026-01-05",
        "pay_frequency": "weekly",
        "relationship": "none",
        "work_state": "CA",
        "language": "en",
    }
    form["shown"] = typed_in(await browser.look(f"{here}/change"))["shown"]
    assert (await send(browser, f"{here}/change", **form)).status_code == 303
    after = row(world)
    assert (after["last_name"], after["email"]) == ("Díaz Peña", None)
    assert after["pay_rate_cents"] == before["pay_rate_cents"]


async def test_a_rate_is_changed_and_its_history_told_with_the_day(browser: Browser, world: World) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}/rate"
    assert (await send(browser, here, pay_rate="31.25")).status_code == 303
    assert row(world)["pay_rate_cents"] == 3125
    assert row(world)["overtime_rate_cents"] == 4688
    page = await browser.look(here)
    assert "$28.50" in page.text
    assert "$31.25" in page.text
    assert (await send(browser, here, pay_rate="")).status_code == 400


async def test_a_form_from_before_the_employee_entered_her_address_is_shown_anew(
    browser: Browser, world: World
) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}/change"
    opened = typed_in(await browser.look(here))
    address = PostalAddress(line1="7 Oak Street", line2=None, city="Oakland", state="CA", zip="94601")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        changes = ChangeEmployee(address=address, language="es")
        await update_employee(session, world.actor, world.people_context.clock, world.employee_id, changes)
    before = row(world)
    stale = await send(browser, here, **opened | {"last_name": "Peña"})
    assert stale.status_code == 409
    assert "Someone changed this after you opened the page." in stale.text
    assert row(world) == before
    again = typed_in(stale)
    assert (again["address_line1"], again["last_name"]) == ("7 Oak Street", "Diaz")
    assert (await send(browser, here, **again | {"last_name": "Peña"})).status_code == 303
    assert (row(world)["last_name"], row(world)["address"]) == ("Peña", before["address"])


async def test_a_rate_for_overtime_of_its_own_is_shown_and_follows_where_it_is_emptied(
    browser: Browser, world: World
) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}/rate"
    assert typed_in(await browser.look(here))["overtime_rate"] == ""
    assert (await send(browser, here, pay_rate="30", overtime_rate="50")).status_code == 303
    shown = typed_in(await browser.look(here))
    assert shown["overtime_rate"] == "50.00"
    assert (await send(browser, here, **shown | {"pay_rate": "32"})).status_code == 303
    assert row(world)["overtime_rate_cents"] == 5000
    stale = await send(browser, here, **shown | {"pay_rate": "60", "overtime_rate": ""})
    assert stale.status_code == 409, "the rate was changed in another window"
    assert row(world)["overtime_rate_cents"] == 5000
    form = typed_in(stale) | {"pay_rate": "60", "overtime_rate": ""}
    assert (await send(browser, here, **form)).status_code == 303
    assert row(world)["overtime_rate_cents"] == 9000


async def test_withholding_is_kept_by_the_states_own_form(browser: Browser, world: World) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}/withholding"
    page = await browser.look(here)
    assert "California: DE 4" in page.text
    assert 'name="state_reciprocity_certificate_on_file"' not in page.text
    form = {
        "federal_elected": "yes",
        "federal_filing_status": "head_of_household",
        "federal_dependents_credit": "2,000",
        "state_regular_allowances": "2",
        "state_additional_withholding": "12.50",
        "state_filing_status": "head_of_household",
        "residence_state": "CA",
    }
    assert (await send(browser, here, **typed_in(page) | form)).status_code == 303
    kept = row(world)
    assert kept["federal_withholding"]["filing_status"] == "head_of_household"
    assert kept["federal_withholding"]["dependents_credit"] == "2000.00"
    assert kept["state_withholding"]["regular_allowances"] == 2
    assert kept["state_withholding"]["additional_withholding"] == "12.50"
    assert "elected" not in kept["state_withholding"]  # untold, it goes with the federal one
    form |= {"shown": typed_in(await browser.look(here))["shown"], "state_regular_allowances": "two"}
    refused = await send(browser, here, **form)
    assert 'id="state_regular_allowances-problem"' in refused.text


async def test_a_place_is_chosen_by_name(browser: Browser, world: World) -> None:
    await send(browser, f"/app/{world.household_id}/employees/new", **NEW)
    here = f"/app/{world.household_id}/employees/{row(world, 'Ana')['id']}/withholding"
    assert "New York City (" in (await browser.look(here)).text
    form = typed_in(await browser.look(here))
    assert (await send(browser, here, **form | {"locality": "NYC"})).status_code == 303
    assert re.search(r'<option value="NYC" selected>', (await browser.look(here)).text)
    form = typed_in(await browser.look(here))
    assert (await send(browser, here, **form | {"locality": ""})).status_code == 303
    assert row(world, "Ana")["localities"] == []


async def test_leaving_and_coming_back(browser: Browser, world: World) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}"
    early = await send(browser, f"{here}/leave", end_date="2025-01-01")
    assert early.status_code == 400
    assert 'id="end_date-problem"' in early.text
    assert (await send(browser, f"{here}/leave", end_date="2026-11-13")).status_code == 303
    assert row(world)["status"] == "terminated"
    assert "Former employees" in (await browser.look(f"/app/{world.household_id}/employees")).text
    assert (await send(browser, f"{here}/return", how="anew", start_date="2026-11-10")).status_code == 400
    assert (await send(browser, f"{here}/return", how="anew", start_date="2026-11-16")).status_code == 303
    assert (row(world)["status"], str(row(world)["start_date"])) == ("active", "2026-11-16")


async def test_an_invitation_is_sent_shown_once_and_withdrawn(
    app: FastAPI, browser: Browser, world: World
) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}/invitations"
    page = await send(browser, here, type="tax_info", send_email="")
    found = re.search(r'class="secret">https://[^<]*/portal/(\w{43})<', page.text)
    assert found is not None, page.text
    assert found[1] not in (await browser.look(here)).text
    assert (await browser.client.get(f"/portal/{found[1]}")).status_code == 200
    waits = "Wait for Rosa Diaz&#39;s Social Security number"
    assert waits in (await browser.look(f"/app/{world.household_id}")).text
    assert (await send(browser, f"{here}/tax_info/withdraw")).status_code == 303
    assert (await browser.client.get(f"/portal/{found[1]}")).status_code != 200
    assert waits not in (await browser.look(f"/app/{world.household_id}")).text
    assert "Withdrawn" in (await browser.look(here)).text
    actions = world.connection.execute(
        "SELECT action, actor_kind FROM audit_log WHERE action LIKE 'invitation.%' ORDER BY at, id"
    )
    assert actions.fetchall() == [("invitation.create", "user"), ("invitation.withdraw", "user")]


async def test_money_is_set_aside_by_a_share_an_amount_or_not_at_all(browser: Browser, world: World) -> None:
    here = f"/app/{world.household_id}/employees/{world.employee_id}/set-aside"
    rule = "SELECT rule_rate, rule_amount FROM escrow_accounts"

    async def save(**form: str) -> Any:
        return await send(browser, here, **typed_in(await browser.look(here)) | form)

    opened = typed_in(await browser.look(here))
    assert (await save(rule="rate", percent="7.5")).status_code == 303
    assert [str(each) for each in world.connection.execute(rule).fetchone() or ()] == ["0.075", "None"]
    assert (await save(rule="amount", dollars="25")).status_code == 303
    assert world.connection.execute(rule).fetchone() == (None, 2500)
    for wrong in ({"percent": "101"}, {"percent": "0"}, {"percent": ""}):
        page = await save(rule="rate", **wrong)
        assert 'id="percent-problem"' in page.text
    assert world.connection.execute(rule).fetchone() == (None, 2500)
    stale = await send(browser, here, **opened | {"rule": "rate", "percent": "9"})
    assert stale.status_code == 409
    assert (typed_in(stale)["rule"], typed_in(stale)["dollars"]) == ("amount", "25.00")
    assert world.connection.execute(rule).fetchone() == (None, 2500)
    assert (await save(rule="none")).status_code == 303
    assert world.connection.execute(rule).fetchone() == (None, None)


async def test_an_employee_of_another_household_is_not_there(
    browser: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    second = await World.make(
        world.people_context, owner_connection, world.owner, first_name="Ana", last_name="Ng"
    )
    for part in ("", "/change", "/rate", "/withholding", "/invitations", "/set-aside", "/prior-wages"):
        path = f"/app/{second.household_id}/employees/{world.employee_id}{part}"
        assert (await browser.look(path)).status_code == 404, part
    answer = await send(
        browser, f"/app/{second.household_id}/employees/{world.employee_id}/rate", pay_rate="99"
    )
    assert answer.status_code == 404
    assert row(world)["pay_rate_cents"] == 2850


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "Social Security (employee): $10.00 was charged. 6.2% of taxable wages is $62.00."),
        (
            "es",
            "Seguro Social (Social Security): se cobraron $10.00. El 6.2% del salario gravable es $62.00.",
        ),
    ],
)
async def test_where_earlier_pay_differs_from_the_law_is_said_in_the_readers_language(
    browser: Browser, world: World, language: str, expected: str
) -> None:
    await browser.send("/settings/profile", name="Ann", language=language)
    line = {f"line_US-SS-EE_{part}": "1000" for part in ("subject_wages", "taxable_wages")}
    answer = await browser.send(
        f"/app/{world.household_id}/employees/{world.employee_id}/prior-wages",
        page="/settings/profile",
        source="Before",
        as_of="2026-06-30",
        gross_pay="1000",
        **line,
        **{"line_US-SS-EE_amount": "10"},
    )
    notices = ["".join(each.itertext()) for each in parsed(answer).iter("p") if each.get("class") == "notice"]
    assert expected in notices
    assert not any("US-" in each for each in notices)


async def test_a_salary_is_entered_shown_and_changed_in_both_languages(
    browser: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/employees"
    salaried = {name: value for name, value in NEW.items() if name != "pay_rate"} | {"pay_type": "salary"}
    wrong = await send(browser, f"{at}/new", **salaried, pay_rate="20")
    assert wrong.status_code == 400
    assert typed_in(wrong)["pay_rate"] == "20"
    made = await send(
        browser, f"{at}/new", **salaried, salary="$52,000", salary_per="year", usual_weekly_hours="45"
    )
    assert made.status_code == 303, made.text
    ana = row(world, "Ana")
    stored = (
        ana["pay_type"],
        ana["salary_cents"],
        ana["salary_per"],
        ana["usual_weekly_hours"],
        ana["pay_rate_cents"],
    )
    assert stored == ("salary", 5_200_000, "year", 45, None)
    assert "$52,000.00 a year" in (await browser.look(f"{at}/{ana['id']}")).text
    assert "$52,000.00 a year" in (await browser.look(at)).text
    rate = await send(
        browser, f"{at}/{ana['id']}/rate", pay_type="salary", salary="2100", salary_per="period"
    )
    assert rate.status_code == 303, rate.text
    page = (await browser.look(f"{at}/{ana['id']}/rate")).text
    assert "$52,000.00 a year" in page
    assert "$2,100.00 each pay period" in page
    assert row(world, "Ana")["usual_weekly_hours"] is None


_PARTS = ("subject_wages", "taxable_wages", "amount")


async def test_three_answers_are_enough_for_earlier_pay(
    browser: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/employees/{world.employee_id}/prior-wages"
    page = await browser.look(at)
    fields = [each.get("name") for each in parsed(page).iter("input") if each.get("required") is not None]
    assert fields == ["payer", "payer", "gross_pay", "as_of"]
    assert "we use the law&#39;s figures" in page.text
    answer = await send(browser, at, payer="household", as_of="2026-06-30", gross_pay="10000")
    assert answer.status_code == 200, answer.text
    notices = ["".join(each.itertext()) for each in parsed(answer).iter("p") if each.get("class") == "notice"]
    assert [each for each in notices if each.startswith("You left some taxes blank")] != []
    assert len(notices) == 2, "saved, and what was filled in: nothing differs from the law"
    [(source, lines)] = owner_connection.execute("SELECT source, lines FROM prior_wages").fetchall()
    assert source == "Paid by the household"
    by_code = {each["code"]: tuple(each[part] for part in _PARTS) for each in lines}
    assert by_code["US-SS-EE"] == by_code["US-SS-ER"] == (1_000_000, 1_000_000, 62_000)
    assert by_code["US-FUTA"] == (1_000_000, 700_000, 4_200)
    assert "US-FIT" not in by_code
    assert {code[:2] for code in by_code} == {"US", row(world)["work_state"]}
    again = await browser.look(at)
    assert '<td role="cell" class="c">You</td>' in again.text


async def test_earlier_pay_keeps_what_was_entered_of_a_tax(
    browser: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/employees/{world.employee_id}/prior-wages"
    entered = {"line_US-FIT_amount": "350.25", "line_US-FUTA_amount": "0"}
    answer = await send(
        browser, at, payer="service", source="Acme", as_of="2026-06-30", gross_pay="5000", **entered
    )
    assert answer.status_code == 200, answer.text
    [(source, lines)] = owner_connection.execute("SELECT source, lines FROM prior_wages").fetchall()
    assert source == "Acme"
    by_code = {each["code"]: tuple(each[part] for part in _PARTS) for each in lines}
    assert by_code["US-FIT"] == (500_000, 500_000, 35_025)
    assert by_code["US-FUTA"] == (500_000, 500_000, 0)
    assert "0.6% of taxable wages is $30.00" in answer.text


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"as_of": "2026-06-30"}, "gross_pay"),
        ({"as_of": "2026-06-30", "gross_pay": "-1"}, "gross_pay"),
        ({"as_of": "2026-06-30", "gross_pay": "1.001"}, "gross_pay"),
        ({"gross_pay": "100"}, "as_of"),
        ({"gross_pay": "100", "as_of": "1999-06-30"}, "as_of"),
        ({"gross_pay": "100", "as_of": "2026-06-30", "payer": "service"}, "source"),
        (
            {"gross_pay": "100", "as_of": "2026-06-30", "line_US-FIT_taxable_wages": "100"},
            "line_US-FIT_amount",
        ),
    ],
)
async def test_what_is_missing_of_earlier_pay_is_said_beside_its_field(
    browser: Browser, world: World, form: dict[str, str], problem: str
) -> None:
    at = f"/app/{world.household_id}/employees/{world.employee_id}/prior-wages"
    answer = await send(browser, at, **{"payer": "household"} | form)
    assert answer.status_code == 400
    told = [each.get("id") for each in parsed(answer).iter("p") if each.get("class") == "problem"]
    assert told == [f"{problem}-problem"]
    folded = next(each for each in parsed(answer).iter("details") if each.find(".//fieldset") is not None)
    assert (folded.get("open") is not None) == problem.startswith("line_")


async def test_pages_are_in_the_readers_language_whatever_the_employees_is(
    browser: Browser, world: World
) -> None:
    await browser.send("/settings/profile", page="/settings/profile", name="Admin", language="es")
    at = f"/app/{world.household_id}/employees/{world.employee_id}"
    assert row(world)["language"] == "en"
    page = await browser.look(f"{at}/papers")
    assert '<html lang="es"' in page.text
    assert re.search(r"(Venció|Vence) el \w+, \d+\sde\s\w+ ·", page.text), "the date of the report"
    page = await browser.look(f"{at}/prior-wages")
    assert "Sí, le pagué yo" in page.text
    assert "Yes," not in page.text
