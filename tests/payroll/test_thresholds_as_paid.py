"""Households that pay what waits for a threshold once the wages paid have reached it, and back to the first dollar."""

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_taxes
from hearthpay.employers.threshold_basis import current_basis
from hearthpay.payroll.years.household_year import lock_household
from hearthpay.payroll.years.threshold_choice import choose_threshold_basis
from tests.http.api import Account
from tests.payroll.test_run import exact
from tests.worlds.households import add_employee, add_household

D = Decimal


class Family:
    """A household that pays by check, and what its paychecks come to."""

    def __init__(self, account: Account, employer_id: str, state: str) -> None:
        self.account, self.employer_id, self.state = account, employer_id, state
        self.day = 0

    async def hire(self, name: str, **changes: Any) -> str:
        return await add_employee(
            self.account.live,
            self.employer_id,
            last_name=name,
            email=None,
            work_state=self.state,
            start_date="2025-01-01",
            federal_withholding={"elected": False},
            state_withholding={},
            **changes,
        )

    def order(self, pay_date: str, wages: dict[str, float], **changes: Any) -> dict[str, Any]:
        self.day += 1
        start = f"2025-0{1 + self.day // 28}-{1 + self.day % 28:02d}"
        return {
            "employer_id": self.employer_id,
            "pay_period_start": start,
            "pay_period_end": start,
            "pay_date": pay_date,
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": employee, "other_earnings": amount, "payment_method": "check"}
                for employee, amount in wages.items()
            ],
        } | changes

    async def run(self, pay_date: str, wages: dict[str, float], **changes: Any) -> dict[str, Any]:
        order = self.order(pay_date, wages, **changes)
        preview = exact(await self.account.live.post("/payroll/preview", order))
        ran = exact(await self.account.live.post("/payroll/run", order))
        assert ran["employees"] == preview["employees"]
        return ran

    async def void(self, payroll: dict[str, Any]) -> None:
        response = await self.account.live.post(f"/payroll/{payroll['payroll_id']}/void", {})
        assert response.status_code == 200, response.text

    async def choose(self, basis: str) -> dict[str, Any]:
        caller = self.account.live
        path = f"/api/v1/employers/{self.employer_id}"
        response = await caller.client.patch(path, json={"threshold_basis": basis}, headers=caller.headers())
        assert response.status_code == 200, response.text
        return response.json()["data"]


def lines_of(payroll: dict[str, Any], employee: int = 0) -> dict[str, Decimal]:
    return {line["code"]: line["amount"] for line in payroll["employees"][employee]["lines"]}


def year_of(payroll: dict[str, Any], employee: int = 0) -> dict[str, Decimal]:
    return {line["code"]: line["ytd_amount"] for line in payroll["employees"][employee]["lines"]}


async def family_in(account: Account, state: str, **changes: Any) -> Family:
    employer_id = await add_household(account.live, state=state, **{"threshold_basis": "as_paid"} | changes)
    return Family(account, employer_id, state)


@pytest.fixture
async def texans(account: Account) -> Family:
    return await family_in(account, "TX")


class Doctor:
    def __init__(self, database: Database, clock: FixedClock) -> None:
        self.database, self.clock = database, clock

    async def finds(self) -> dict[str, list[Any]]:
        async with self.database.transaction(None) as session:
            results = await examine(session, self.clock.now(), lambda *_: None)
        return {each.name: list(each.differences) for each in results if each.found}

    async def open(self) -> dict[tuple[str, str], Decimal]:
        async with self.database.transaction(None) as session:
            return {
                (str(each.employee_id), each.code): D(each.amount)
                for each in await open_taxes(session, self.clock.now())
            }


@pytest.fixture
def doctor(owner_database: Database, clock: FixedClock) -> Doctor:
    return Doctor(owner_database, clock)


async def test_nothing_is_charged_below_and_all_of_it_with_the_payroll_that_crosses(
    texans: Family, doctor: Doctor
):
    rosa = await texans.hire("Diaz")
    first = await texans.run("2026-01-30", {rosa: 600})
    assert {code: amount for code, amount in lines_of(first).items() if amount} == {}
    assert first["employees"][0]["net_pay"] == 600
    [told] = [each for each in first["employees"][0]["warnings"] if "Not charged" in each]
    for part in ("1,000.00 in a quarter", "3,000.00 in a year", "back to the first dollar"):
        assert part in told
    second = await texans.run("2026-04-01", {rosa: 900})  # another quarter
    assert lines_of(second)["US-FUTA"] == 0
    third = await texans.run("2026-06-30", {rosa: 100})
    assert lines_of(third)["US-FUTA"] == D("9.60")  # 0.6 % of 1,600: the year's first dollar
    assert lines_of(third)["TX-SUI-ER"] == D("43.20")
    assert lines_of(third)["US-SS-EE"] == 0
    fourth = await texans.run("2026-07-03", {rosa: 1400})  # the year reaches 3,000
    assert lines_of(fourth)["US-SS-EE"] == lines_of(fourth)["US-SS-ER"] == D("186.00")
    assert lines_of(fourth)["US-MED-EE"] == D("43.50")
    assert year_of(fourth)["US-FUTA"] == D("18.00")
    assert await doctor.finds() == {}


async def test_the_households_quarters_count_all_employees_and_the_others_owe_it_with_their_next_paycheck(
    texans: Family, doctor: Doctor
):
    rosa, lena = await texans.hire("Diaz"), await texans.hire("Kim")
    await texans.run("2026-02-02", {rosa: 700})
    crossing = await texans.run("2026-03-31", {lena: 300})
    assert lines_of(crossing)["US-FUTA"] == D("1.80")
    assert await doctor.open() == {(rosa, "US-FUTA"): D("4.20"), (rosa, "TX-SUI-ER"): D("18.90")}
    assert await doctor.finds() == {}
    paid = await texans.run("2026-05-01", {rosa: 100})
    assert lines_of(paid)["US-FUTA"] == D("4.80")
    assert await doctor.open() == {}
    together = await texans.run("2026-05-02", {rosa: 50, lena: 50})
    assert [lines_of(together, each)["US-FUTA"] for each in (0, 1)] == [D("0.30")] * 2
    assert await doctor.finds() == {}


async def test_one_payroll_of_both_crosses_for_both(texans: Family):
    rosa, lena = await texans.hire("Diaz"), await texans.hire("Kim")
    ran = await texans.run("2026-03-31", {rosa: 999.99, lena: 0.01})
    assert [lines_of(ran, each)["US-FUTA"] for each in (0, 1)] == [D("6.00"), D("0.00")]
    assert lines_of(ran)["TX-SUI-ER"] == D("27.00")


async def test_relatives_whom_futa_leaves_out_do_not_count_for_it(texans: Family):
    mother = await texans.hire("Diaz", relationship="parent")
    rosa = await texans.hire("Kim")
    ran = await texans.run("2026-03-31", {mother: 5000, rosa: 900})
    assert lines_of(ran, 1)["US-FUTA"] == 0
    assert lines_of(ran, 0)["US-SS-EE"] == 0  # Publication 926: nor is Social Security due on a parent


async def test_a_void_can_take_the_household_below_again(texans: Family, doctor: Doctor):
    rosa, lena = await texans.hire("Diaz"), await texans.hire("Kim")
    await texans.run("2026-02-02", {rosa: 2700})
    crossing = await texans.run("2026-05-01", {rosa: 300, lena: 900})
    assert year_of(crossing)["US-SS-EE"] == D("186.00")
    await texans.void(crossing)
    assert await doctor.finds() == {}
    assert await doctor.open() == {}
    kept = await texans.run("2026-05-02", {rosa: 200})
    assert year_of(kept)["US-SS-EE"] == year_of(kept)["US-MED-ER"] == 0
    assert year_of(kept)["US-FUTA"] == D("17.40")
    assert await doctor.finds() == {}


async def test_what_was_withheld_comes_back_and_household_lines_turn_negative(texans: Family, doctor: Doctor):
    rosa = await texans.hire("Diaz")
    first = await texans.run("2026-02-02", {rosa: 2900})
    await texans.run("2026-02-03", {rosa: 400})  # 3,300: all of it is due
    await texans.void(first)
    open_lines = await doctor.open()
    assert open_lines[rosa, "US-SS-EE"] == D("-204.60")
    assert open_lines[rosa, "US-FUTA"] == D("-2.40")
    assert await doctor.finds() == {}
    after = await texans.run("2026-04-01", {rosa: 100})
    assert {code: amount for code, amount in year_of(after).items() if amount} == {}
    assert after["employees"][0]["employer_taxes"]["total"] < 0
    assert after["employees"][0]["net_pay"] > 100
    assert await doctor.finds() == {}


async def test_net_pay_that_does_not_reach_leaves_the_rest_to_the_next(texans: Family, doctor: Doctor):
    rosa = await texans.hire("Diaz")
    await texans.run("2026-02-02", {rosa: 2990})
    crossing = await texans.run("2026-02-09", {rosa: 10})
    assert crossing["employees"][0]["net_pay"] == 0
    assert lines_of(crossing)["US-SS-ER"] == D("186.00")
    carried = {each["code"]: each["amount"] for each in crossing["employees"][0]["carried"]}
    assert sum(carried.values()) == D("229.51") - 10
    assert {code: amount for (_, code), amount in (await doctor.open()).items()} == carried
    assert await doctor.finds() == {}
    last = await texans.run("2026-02-16", {rosa: 1000})
    assert year_of(last)["US-SS-EE"] == D("248.00")
    assert await doctor.finds() == {}


async def test_last_years_quarters_make_liable_from_new_years_on(texans: Family, doctor: Doctor):
    rosa = await texans.hire("Diaz")
    await texans.run("2025-12-31", {rosa: 1000})
    this_year = await texans.run("2026-01-02", {rosa: 10})
    assert lines_of(this_year)["US-FUTA"] == D("0.06")
    assert lines_of(this_year)["US-SS-EE"] == 0  # which looks at this year alone
    assert await doctor.finds() == {}


async def test_a_late_payroll_of_last_year_makes_this_year_liable(texans: Family, doctor: Doctor):
    rosa = await texans.hire("Diaz")
    await texans.run("2026-01-02", {rosa: 500})
    late = await texans.run("2025-12-31", {rosa: 1000})
    assert await doctor.open() == {(rosa, "US-FUTA"): D("3.00"), (rosa, "TX-SUI-ER"): D("13.50")}
    await texans.void(late)
    assert await doctor.open() == {}
    assert await doctor.finds() == {}


async def test_new_york_begins_with_the_quarter_that_reaches_it(account: Account, doctor: Doctor):
    """Labor Law 560: liable from the first day of the quarter; what was paid before it is not taxed."""
    family = await family_in(account, "NY")
    rosa = await family.hire("Diaz")
    await family.run("2026-02-02", {rosa: 499})
    await family.run("2026-05-01", {rosa: 300})
    crossing = await family.run("2026-06-30", {rosa: 200})
    [line] = [each for each in crossing["employees"][0]["lines"] if each["code"] == "NY-SUI-ER"]
    assert line["taxable_wages"] == 500
    later = await family.run("2026-08-01", {rosa: 20})
    [line] = [each for each in later["employees"][0]["lines"] if each["code"] == "NY-SUI-ER"]
    assert line["taxable_wages"] == 20
    assert lines_of(later)["US-FUTA"] == 0
    late = await family.run("2026-02-03", {rosa: 10})  # reaches it in the first quarter already
    [line] = [each for each in late["employees"][0]["lines"] if each["code"] == "NY-SUI-ER"]
    assert line["taxable_wages"] == 499 + 10
    assert await doctor.finds() == {}


async def test_californias_disability_insurance_begins_below_its_unemployment_insurance(
    account: Account, doctor: Doctor
):
    family = await family_in(account, "CA")
    rosa = await family.hire("Diaz")
    first = await family.run("2026-02-02", {rosa: 730})
    assert not any(lines_of(first).values())
    second = await family.run("2026-02-03", {rosa: 20})
    [line] = [each for each in second["employees"][0]["lines"] if each["code"] == "CA-SDI-EE"]
    assert (line["taxable_wages"], lines_of(second)["CA-SUI-ER"]) == (D("750"), 0)
    third = await family.run("2026-02-04", {rosa: 250})
    assert year_of(third)["CA-SUI-ER"] == D("34.00")
    assert year_of(third)["CA-SDI-EE"] == D("13.00")
    assert await doctor.finds() == {}


async def test_wages_of_another_payroll_count_in_the_quarter_of_their_day(texans: Family, doctor: Doctor):
    rosa = await texans.hire("Diaz")
    await texans.run("2026-05-04", {rosa: 400})
    for source, as_of, gross in (
        ("before, winter", "2026-03-31", 900),
        ("before, spring", "2026-04-30", 500),
    ):
        line = {"code": "US-FUTA", "subject_wages": gross, "taxable_wages": 0, "amount": 0}
        prior = {"tax_year": 2026, "source": source, "as_of": as_of, "gross_pay": gross, "lines": [line]}
        response = await texans.account.live.post(f"/employees/{rosa}/prior-wages", prior)
        assert response.status_code == 201, response.text
    assert await doctor.open() == {}
    assert await doctor.finds() == {}
    ran = await texans.run("2026-06-01", {rosa: 100})
    assert lines_of(ran)["US-FUTA"] == D("3.00")  # on our 500; the other 1,400 stand as they were charged
    assert await doctor.finds() == {}


async def test_switching_in_mid_year_moves_what_was_charged(account: Account, doctor: Doctor):
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    rosa, lena = await family.hire("Diaz"), await family.hire("Kim")
    await family.run("2026-02-02", {rosa: 600, lena: 100})
    changed = await family.choose("as_paid")
    assert changed["threshold_basis"] == "as_paid"
    [told] = changed["warnings"]
    assert "Charged too much for wages of 2026 and given back" in told
    for part in ("US-FUTA 4.20", "US-SS-EE 43.40", "TX-SUI-ER 18.90"):
        assert part in told
    assert await doctor.finds() == {}
    paid = await family.run("2026-02-09", {rosa: 100})
    assert not any(year_of(paid).values())
    [told] = (await family.choose("as_paid"))["warnings"]  # what is left is that of the other employee
    assert "given back with the next paychecks: TX-SUI-ER 2.70, US-FUTA 0.60, US-MED-EE 1.45" in told
    [told] = (await family.choose("assume_crossed"))["warnings"]
    assert "Owed for wages of 2026 and charged with the next paychecks" in told
    assert await doctor.finds() == {}
    back = await family.run("2026-02-16", {rosa: 300})
    assert year_of(back)["US-FUTA"] == D("6.00")
    assert year_of(back)["US-SS-EE"] == D("62.00")
    assert await doctor.open() == {}
    assert await doctor.finds() == {}
    listed = (await account.live.get("/employers")).json()["data"]
    assert [each["threshold_basis"] for each in listed] == ["assume_crossed"]


async def test_years_that_were_paid_before_a_choice_stay_as_they_are(account: Account, doctor: Doctor):
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    rosa = await family.hire("Diaz")
    await family.run("2025-12-01", {rosa: 300})
    await family.run("2026-02-02", {rosa: 300})
    await family.choose("as_paid")
    assert {code for (_, code) in await doctor.open()} == {
        "TX-SUI-ER", "US-FUTA", "US-MED-EE", "US-MED-ER", "US-SS-EE", "US-SS-ER"
    }  # fmt: skip
    assert (await doctor.open())[rosa, "US-FUTA"] == D("-1.80")
    late = await family.run("2025-12-02", {rosa: 100})
    assert year_of(late)["US-FUTA"] == D("2.40")
    assert await doctor.finds() == {}


async def test_two_payrolls_at_once_cannot_both_stay_below(texans: Family, doctor: Doctor):
    rosa, lena = await texans.hire("Diaz"), await texans.hire("Kim")
    orders = [texans.order("2026-02-02", {each: 600}) for each in (rosa, lena)]
    ran = [
        exact(response)
        for response in await asyncio.gather(
            *(texans.account.live.post("/payroll/run", order) for order in orders)
        )
    ]
    assert sorted(lines_of(each)["US-FUTA"] for each in ran) == [0, D("3.60")]
    assert sum((await doctor.open()).values()) == D("3.60") + D("16.20")
    assert await doctor.finds() == {}


async def test_the_choice_leaves_its_traces(account: Account, owner_connection: psycopg.Connection):
    family = await family_in(account, "TX")
    await family.choose("as_paid")  # which changes nothing
    await family.choose("assume_crossed")
    rows = owner_connection.execute(
        "SELECT action, details FROM audit_log WHERE action LIKE 'employer.%' ORDER BY id"
    ).fetchall()
    assert rows == [
        ("employer.create", {"threshold_basis": "as_paid"}),
        (
            "employer.update",
            {"threshold_basis": {"before": "as_paid", "after": "assume_crossed", "since": 2000}},
        ),
    ]


async def test_another_basis_is_refused(account: Account):
    family = await family_in(account, "TX")
    caller = account.live
    for body in ({"threshold_basis": "never"}, {"threshold_basis": 1}):
        response = await caller.client.patch(
            f"/api/v1/employers/{family.employer_id}", json=body, headers=caller.headers()
        )
        assert response.status_code == 400, response.text
        assert "threshold_basis" in response.text


async def test_a_choice_between_payrolls_at_once_leaves_no_year_behind(account: Account, doctor: Doctor):
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    rosa, lena = await family.hire("Diaz"), await family.hire("Kim")
    for basis in ("as_paid", "assume_crossed"):
        orders = [family.order("2026-02-02", {each: 300}) for each in (rosa, lena)]
        answers = await asyncio.gather(
            account.live.post("/payroll/run", orders[0]),
            family.choose(basis),
            account.live.post("/payroll/run", orders[1]),
        )
        assert [each.status_code for each in (answers[0], answers[2])] == [200, 200]
        assert await doctor.finds() == {}


async def test_wages_that_another_payroll_did_not_charge_count_all_the_same(texans: Family, doctor: Doctor):
    """Its report names no FUTA, since it stayed below: its gross pay counts."""
    rosa = await texans.hire("Diaz")
    await texans.run("2026-05-04", {rosa: 100})
    line = {"code": "US-SS-EE", "subject_wages": 900, "taxable_wages": 900, "amount": 55.80}
    prior = {"tax_year": 2026, "source": "before", "as_of": "2026-04-30", "gross_pay": 900, "lines": [line]}
    response = await texans.account.live.post(f"/employees/{rosa}/prior-wages", prior)
    assert response.status_code == 201, response.text
    assert await doctor.open() == {(rosa, "US-FUTA"): D("0.60"), (rosa, "TX-SUI-ER"): D("2.70")}
    assert await doctor.finds() == {}


async def test_who_waits_for_a_choice_goes_by_what_was_chosen(
    account: Account, owner_database: Database, clock: FixedClock
):
    family = await family_in(account, "TX")
    rosa = await family.hire("Diaz")
    employer = UUID(family.employer_id)
    chosen, waiting = asyncio.Event(), asyncio.Event()

    async def choose() -> None:
        async with owner_database.transaction(None) as session:
            await choose_threshold_basis(session, clock, employer, "assume_crossed")
            chosen.set()
            await waiting.wait()
            await asyncio.sleep(0.2)

    async def work() -> Mapping[str, str]:
        await chosen.wait()
        async with owner_database.transaction(None) as session:
            waiting.set()
            return await lock_household(session, employer, [UUID(rosa)])

    _, bases = await asyncio.gather(choose(), work())
    assert current_basis(bases) == "assume_crossed"


async def test_a_choice_of_this_year_tells_nothing_of_the_last(
    account: Account, owner_connection: psycopg.Connection
):
    """What the year before still owes or gives back is no consequence of the choice, and no year before is measured."""
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    rosa, lena = await family.hire("Diaz"), await family.hire("Kim")
    await family.run("2025-12-30", {rosa: 500})
    await family.run("2026-02-02", {rosa: 600, lena: 40})
    years = "SELECT tax_year, employee_id, owed FROM year_balances WHERE employer_id = %s AND tax_year = 2025"
    before = owner_connection.execute(years, (family.employer_id,)).fetchall()
    changed = await family.choose("as_paid")
    [told] = changed["warnings"]
    assert told.startswith("Charged too much for wages of 2026 and given back with the next paychecks: ")
    assert "2025" not in told
    # 6.2 % and 1.45 % of 640 from each side: the sum of both employees, a line once.
    assert "US-SS-EE 39.68" in told
    assert "US-MED-EE 9.28" in told
    assert owner_connection.execute(years, (family.employer_id,)).fetchall() == before
    again = await family.choose("as_paid")
    assert again["warnings"] == changed["warnings"]
    audit = "SELECT details FROM audit_log WHERE employer_id = %s AND action = 'employer.update' ORDER BY at"
    rows = [row[0] for row in owner_connection.execute(audit, (family.employer_id,))]
    of_basis = [row["threshold_basis"] for row in rows if "threshold_basis" in row]
    assert of_basis == [{"before": "assume_crossed", "after": "as_paid", "since": 2026}]


async def test_what_an_earlier_year_still_owes_is_no_consequence_of_a_choice_of_this_year(
    texans: Family, doctor: Doctor
):
    rosa, lena = await texans.hire("Diaz"), await texans.hire("Kim")
    await texans.run("2025-02-03", {rosa: 700})
    await texans.run("2025-03-31", {lena: 300})  # crosses the threshold of 2025: Diaz owes for her 700
    await texans.run("2026-02-02", {lena: 500})
    assert (await doctor.open())[rosa, "US-FUTA"] == D("4.20")
    [told] = (await texans.choose("assume_crossed"))["warnings"]
    assert told.startswith("Owed for wages of 2026 and charged with the next paychecks: ")
    assert "US-SS-EE 31.00" in told


async def test_what_is_owed_is_told_before_what_is_given_back(texans: Family, doctor: Doctor):
    rosa, lena = await texans.hire("Diaz"), await texans.hire("Kim")
    mistaken = await texans.run("2026-02-02", {lena: 500})
    await texans.run("2026-02-03", {rosa: 900})  # crosses the quarter's threshold, until the void
    await texans.void(mistaken)
    # Of these wages no quarter reaches 1,000, and the year reaches 3,000.
    for as_of in ("2026-06-30", "2026-09-30", "2026-10-31"):
        line = {"code": "US-SS-EE", "subject_wages": 900, "taxable_wages": 900, "amount": 55.80}
        prior = {"tax_year": 2026, "source": as_of, "as_of": as_of, "gross_pay": 900, "lines": [line]}
        response = await texans.account.live.post(f"/employees/{rosa}/prior-wages", prior)
        assert response.status_code == 201, response.text
    assert await doctor.finds() == {}
    owed, given_back = (await texans.choose("as_paid"))["warnings"]
    assert owed.startswith("Owed for wages of 2026 and charged with the next paychecks: US-MED-EE 13.05, ")
    assert "US-SS-EE 55.80" in owed
    assert given_back.endswith("given back with the next paychecks: TX-SUI-ER 24.30, US-FUTA 5.40.")


async def test_the_operators_choice_is_told_like_the_households(
    account: Account, owner_connection: psycopg.Connection, owner_database: Database, clock: FixedClock
):
    family = await family_in(account, "TX", threshold_basis="assume_crossed")
    household = UUID(family.employer_id)
    for basis, since in (("as_paid", 2000), ("as_paid", 2000), ("assume_crossed", 2000)):
        async with owner_database.transaction(None) as session:
            choice = await choose_threshold_basis(session, clock, household, basis)
        assert (choice.after, choice.since, choice.open_taxes) == (basis, since, ())
    audit = (
        "SELECT actor_kind, organization_id, sandbox, subject_id, details FROM audit_log "
        "WHERE employer_id = %s AND action = 'employer.update' AND actor_kind = 'operator' ORDER BY at, id"
    )
    rows = owner_connection.execute(audit, (household,)).fetchall()
    assert [row[4]["threshold_basis"]["after"] for row in rows] == ["as_paid", "assume_crossed"]
    assert {(row[2], row[3]) for row in rows} == {(False, household)}
    [organization] = owner_connection.execute(
        "SELECT organization_id FROM employers WHERE id = %s", (household,)
    ).fetchall()
    assert {row[1] for row in rows} == {organization[0]}


async def test_the_open_taxes_of_another_household_are_not_told(
    account: Account, owner_database: Database, clock: FixedClock
):
    """Neither to the household nor to the operator, who sees the rows of all."""
    for wages, withheld in ((600, 3720), (200, 1240)):
        family = await family_in(account, "TX", threshold_basis="assume_crossed")
        await family.run("2026-02-02", {await family.hire("Diaz"): wages})
        [told] = (await family.choose("as_paid"))["warnings"]
        assert f"US-SS-EE {D(withheld) / 100}" in told
        async with owner_database.transaction(None) as session:
            choice = await choose_threshold_basis(session, clock, UUID(family.employer_id), "as_paid")
        [open_taxes] = choice.open_taxes
        assert dict(open_taxes.lines)["US-SS-EE"] == withheld


async def test_the_operator_cannot_choose_for_a_household_that_is_not_there(
    account: Account, owner_database: Database, clock: FixedClock
):
    household = UUID("019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11")
    async with owner_database.transaction(None) as session:
        with pytest.raises(Refusal) as refused:
            await choose_threshold_basis(session, clock, household, "as_paid")
    assert refused.value.code == "not_found"
    assert str(household) in refused.value.message
