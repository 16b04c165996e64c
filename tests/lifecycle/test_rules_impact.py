"""Which paychecks a new edition of the rules would change, and by how much."""

import asyncio
import json
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from typer.testing import CliRunner

from hearthpay.cli.main import app
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.session import Database
from hearthpay.employers.assigned_rates import assign_sui_rate
from hearthpay.payroll.years.impact import (
    HouseholdImpact,
    concerned_households,
    household_impact,
    sums_by_line,
)
from hearthpay.payroll.years.rule_changes import settle_rule_changes
from hearthpay.taxes.money import to_cents
from tests.http.api import Account, data
from tests.lifecycle.test_provisional_law import household, line, week
from tests.payroll.test_run import exact
from tests.worlds.households import add_employee
from tests.worlds.rule_editions import edition, published
from tests.worlds.town import Town
from tests.worlds.worker_audit import worker_rows

LOWER = published("CA-SDI-EE", rate="0.011")


async def impacts(owner: Database, tax_year: int = 2027) -> list[HouseholdImpact]:
    """Of all households that were paid by other rules than those in force."""
    async with owner.transaction(None) as session:
        concerned = await concerned_households(session, tax_year)
        return [await household_impact(session, each, tax_year) for each in concerned]


async def only(owner: Database) -> HouseholdImpact:
    [found] = await impacts(owner)
    return found


async def impact_command(server: EmbeddedServer, *options: str) -> str:
    command = ["rules", "impact", "--year", "2027", *options]
    result = await asyncio.to_thread(
        CliRunner().invoke, app, command, env={"DATABASE_URL": server.owner_url()}
    )
    assert result.exit_code == 0, result.stderr
    return result.stdout


async def run(account: Account, town: Town, body: dict[str, Any]) -> dict[str, Any]:
    town.go_to(body["pay_date"], 12)
    return exact(await account.live.post("/payroll/run", body))


def remark(name: str) -> tuple[str, Any]:
    """Change a rule file and no figure of it."""
    return name, lambda text: text + "\n# Read once more.\n"


async def test_paychecks_are_listed_with_the_difference_and_income_tax_is_not(
    account: Account,
    town: Town,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    tmp_path: Path,
):
    employer_id, rosa = await household(account, "CA")
    paid = [await run(account, town, week(employer_id, rosa, day)) for day in ("2027-01-05", "2027-01-12")]
    assert await impacts(owner_database) == []
    gross = paid[0]["employees"][0]["gross_pay"]
    before = line(paid[0], "CA-SDI-EE")["amount"]
    right = (gross * Decimal("0.011")).quantize(Decimal("0.01"), ROUND_HALF_UP)
    with edition(tmp_path, LOWER):
        found = await only(owner_database)
        assert [str(each.payroll_id) for each in found.changed] == [each["payroll_id"] for each in paid]
        for paycheck in found.changed:
            [changed] = paycheck.lines
            assert (changed.code, changed.settled) == ("CA-SDI-EE", "next_paycheck")
            assert (changed.charged, changed.by_rules_in_force) == (
                to_cents(before, "charged"),
                to_cents(right, "right"),
            )
        [total] = sums_by_line(found.changed)
        assert (total.paychecks, total.difference) == (2, -2 * to_cents(before - right, "difference"))
        # The paycheck that settles it is by the rules in force, and the earlier ones are what they were.
        await settle_rule_changes(town.worker)
        [(subject, details)] = worker_rows(owner_connection, "employee.year_settled")
        assert (subject, details["tax_year"]) == (rosa, 2027)
        assert details["owed"]["CA-SDI-EE"] == total.difference
        await run(account, town, week(employer_id, rosa, "2027-01-19"))
        assert (await only(owner_database)).changed == found.changed
    # By the shipped rules, only that last one is by others; what it settled is no part of what it charged.
    [last] = (await only(owner_database)).changed
    assert [(each.code, each.charged, each.by_rules_in_force) for each in last.lines] == [
        ("CA-SDI-EE", to_cents(right, "right"), to_cents(before, "before"))
    ]


async def test_one_edition_after_another_leaves_the_settled_correction_out(
    account: Account, town: Town, owner_database: Database, tmp_path: Path
):
    employer_id, rosa = await household(account, "CA")
    first = await run(account, town, week(employer_id, rosa, "2027-01-05"))
    gross = first["employees"][0]["gross_pay"]
    with edition(tmp_path / "first", LOWER):
        await settle_rule_changes(town.worker)
        await run(account, town, week(employer_id, rosa, "2027-01-12"))
    with edition(tmp_path / "second", published("CA-SDI-EE", rate="0.012")):
        by_rate = [
            to_cents((gross * Decimal(rate)).quantize(Decimal("0.01"), ROUND_HALF_UP), "tax")
            for rate in ("0.013", "0.011", "0.012")
        ]
        changed = [each.lines[0] for each in (await only(owner_database)).changed]
        assert [each.charged for each in changed] == by_rate[:2]
        assert [each.by_rules_in_force for each in changed] == [by_rate[2]] * 2


@pytest.mark.parametrize("state", ["CA", "WA", "NJ", "NY", "MA"])
async def test_unchanged_figures_change_nothing_also_after_a_void_and_above_a_cap(
    account: Account, town: Town, owner_database: Database, tmp_path: Path, state: str
):
    employer_id, rosa = await household(account, state)
    other = await add_employee(account.live, employer_id, work_state=state, first_name="Ines")
    async with owner_database.transaction(None) as session:
        notice = {"tax_year": 2027, "state": state, "rate": Decimal("0.0201")}
        await assign_sui_rate(session, UUID(employer_id), **notice)
    ran = []
    for day, bonus in (("2027-01-05", 6_500), ("2027-01-12", 40_000), ("2027-01-19", 90_000)):
        body = week(employer_id, rosa, day, bonus=bonus)
        body["employees"] += week(employer_id, other, day)["employees"]
        ran.append(await run(account, town, body))
    town.go_to("2027-01-20", 12)
    voided = data(await account.live.post(f"/payroll/{ran[0]['payroll_id']}/void", {"reason": "twice"}))
    assert voided["status"] == "voided"
    for day in ("2027-01-26", "2027-02-02"):
        await run(account, town, week(employer_id, rosa, day, bonus=30_000))
    with edition(tmp_path, remark(f"2027/states/{state}.toml"), remark("2027/us.toml")):
        found = await only(owner_database)
    assert (found.changed, found.not_calculated) == ([], [])
    assert found.unchanged == 6  # two each of the payrolls that stand, and the last two


@pytest.mark.parametrize("basis", ["as_paid", "assume_crossed"])
async def test_a_household_that_chose_how_its_thresholds_count_has_no_difference_either(
    account: Account, town: Town, owner_database: Database, tmp_path: Path, basis: str
):
    employer_id, rosa = await household(account, "CA")
    caller = account.live
    path = f"/api/v1/employers/{employer_id}"
    chosen = await caller.client.patch(path, json={"threshold_basis": basis}, headers=caller.headers())
    assert chosen.is_success, chosen.text
    for day in ("2027-01-05", "2027-01-12", "2027-01-19", "2027-04-06"):
        await run(account, town, week(employer_id, rosa, day))
    with edition(tmp_path, remark("2027/us.toml")):
        found = await only(owner_database)
    assert (found.changed, found.unchanged) == ([], 4)


async def test_another_cap_is_listed_with_the_paycheck_that_reaches_it(
    account: Account, town: Town, owner_database: Database, tmp_path: Path
):
    employer_id, rosa = await household(account, "NC")
    bodies = [
        week(employer_id, rosa, day, bonus=20_000) for day in ("2027-01-08", "2027-01-15", "2027-01-22")
    ]
    paid = [await run(account, town, body) for body in bodies]
    old = [
        line(each, "NC-SUI-ER")
        for each in paid
        if any(found["code"] == "NC-SUI-ER" for found in each["employees"][0]["lines"])
    ]
    base = sum(each["taxable_wages"] for each in old)
    with edition(tmp_path, published("NC-SUI-ER", rate=str(old[0]["rate"]), wage_base=str(int(base) + 300))):
        [changed] = (await only(owner_database)).changed
        assert str(changed.payroll_id) == paid[1]["payroll_id"]
        [found] = changed.lines
        assert found.difference == to_cents((300 * old[0]["rate"]).quantize(Decimal("0.01")), "tax")
        assert (found.code, found.settled) == ("NC-SUI-ER", "next_paycheck")


async def test_income_tax_is_not_taken_again_and_a_household_can_be_named(
    account: Account, town: Town, owner_database: Database, tmp_path: Path
):
    employer_id, rosa = await household(account, "PA")
    await run(account, town, week(employer_id, rosa, "2027-01-08"))
    elsewhere = await household(account, "TX")
    await run(account, town, week(*elsewhere, "2027-01-08"))

    def dearer(text: str) -> str:
        assert "0.0307" in text
        return text.replace("0.0307", "0.0317")

    with edition(tmp_path, ("2026/states/PA.toml", dearer), remark("2027/states/PA.toml")):
        found = {each.employer_id: each for each in await impacts(owner_database)}
        changed = {each.code: each.settled for each in found[UUID(employer_id)].changed[0].lines}
        assert changed == {"PA-SIT": "not_taken_again"}
        assert found[UUID(elsewhere[0])].changed == []
        async with owner_database.transaction(None) as session:
            assert await concerned_households(session, 2027, UUID(elsewhere[0])) == [UUID(elsewhere[0])]
            assert await concerned_households(session, 2026) == []


async def test_a_changed_rate_is_listed_apart_from_what_a_void_moved(
    account: Account, town: Town, owner_database: Database, tmp_path: Path
):
    employer_id, rosa = await household(account, "WA")
    ran = [
        await run(account, town, week(employer_id, rosa, day, bonus=30_000))
        for day in ("2027-01-05", "2027-01-12", "2027-01-19")
    ]
    town.go_to("2027-01-20", 12)
    data(await account.live.post(f"/payroll/{ran[0]['payroll_id']}/void", {"reason": "twice"}))
    last = await run(account, town, week(employer_id, rosa, "2027-01-26", bonus=10_000))
    charged = line(last, "WA-SUI-ER")
    assert charged["taxable_wages"] > last["employees"][0]["gross_pay"]  # it corrects what the void left
    new = Decimal("0.0123")
    with edition(tmp_path, published("WA-SUI-ER", rate=str(new))):
        found = await only(owner_database)
        assert {each.code for paycheck in found.changed for each in paycheck.lines} == {"WA-SUI-ER"}
        [total] = sums_by_line(found.changed)
        taxed = sum((line(each, "WA-SUI-ER")["taxable_wages"] for each in (*ran[1:], last)), start=Decimal(0))
        expected = to_cents(abs(taxed * (new - charged["rate"])).quantize(Decimal("0.01")), "tax")
        assert abs(abs(total.difference) - expected) <= 2
        assert (total.difference > 0) == (new > charged["rate"])


async def test_what_cannot_be_calculated_with_todays_facts_is_listed_and_counts_in_the_year_as_it_was_paid(
    account: Account,
    town: Town,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    tmp_path: Path,
    server: EmbeddedServer,
):
    employer_id, rosa = await household(account, "CA")
    ines = await add_employee(account.live, employer_id, work_state="CA", first_name="Ines")

    async def move(**to: str) -> None:
        caller = account.live
        path = f"/api/v1/employees/{rosa}"
        moved = await caller.client.patch(path, json=to, headers=caller.headers())
        assert moved.is_success, moved.text

    body = week(employer_id, rosa, "2027-01-05", bonus=5_600)
    body["employees"] += week(employer_id, ines, "2027-01-05")["employees"]
    in_california = await run(account, town, body)
    of_ines = await run(account, town, week(employer_id, ines, "2027-01-12"))
    await move(work_state="NY", locality="NYC")  # which is no locality of California
    in_new_york = await run(account, town, week(employer_id, rosa, "2027-01-19"))
    left = 7_000 - in_california["employees"][0]["gross_pay"]
    assert line(in_new_york, "US-FUTA")["taxable_wages"] == left > 0
    with edition(tmp_path, LOWER, published("US-FUTA", rate="0.008")):
        await move(work_state="CA")
        await run(account, town, week(employer_id, rosa, "2027-01-26"))  # by the rules in force: never listed
        await move(work_state="NY")
        found = await only(owner_database)
        shown = await impact_command(server)
    # A payroll is calculated as a whole, so hers is missing too.
    of_payroll = "SELECT id FROM paychecks WHERE payroll_id = %s ORDER BY position"
    paychecks = owner_connection.execute(of_payroll, (in_california["payroll_id"],)).fetchall()
    assert [(each.paycheck_id,) for each in found.not_calculated] == paychecks
    assert [str(each.employee_id) for each in found.not_calculated] == [rosa, ines]
    for missing in found.not_calculated:
        assert missing.field == "employees[0].localities[0]"
        assert "'NYC' is not a locality" in missing.message
        assert f"Not calculated: paycheck {missing.paycheck_id}: {missing.field} {missing.message}" in shown
    changed = {str(each.payroll_id): each.lines for each in found.changed}
    assert list(changed) == [of_ines["payroll_id"], in_new_york["payroll_id"]]
    [futa] = changed[in_new_york["payroll_id"]]
    # Only what the wages of California left of the base.
    right = to_cents((left * Decimal("0.008")).quantize(Decimal("0.01")), "right")
    assert (futa.code, futa.by_rules_in_force) == ("US-FUTA", right)


async def test_the_command_lists_paychecks_and_sums(
    account: Account, town: Town, owner_database: Database, tmp_path: Path, server: EmbeddedServer
):
    employer_id, rosa = await household(account, "CA")
    ran = await run(account, town, week(employer_id, rosa, "2027-01-05"))
    gross = ran["employees"][0]["gross_pay"]
    charged, right = (
        (gross * Decimal(rate)).quantize(Decimal("0.01"), ROUND_HALF_UP) for rate in ("0.013", "0.011")
    )

    assert "0 paychecks by earlier rules would change, 0 would not." in await impact_command(server)
    with edition(tmp_path, LOWER):
        shown = await impact_command(server, "--employer", employer_id)
        assert (
            f"charged {charged}, by the rules in force {right}: {right - charged:+}  next_paycheck" in shown
        )
        assert "1 paychecks by earlier rules would change, 0 would not." in shown
        listed = json.loads(await impact_command(server, "--json"))
        [paycheck] = listed["households"][0]["changed"]
        assert paycheck["payroll_id"] == ran["payroll_id"]
        assert listed["sums"] == [
            {
                "code": "CA-SDI-EE",
                "paychecks": 1,
                "charged": str(charged),
                "by_rules_in_force": str(right),
                "difference": str(right - charged),
                "settled": "next_paycheck",
            }
        ]
