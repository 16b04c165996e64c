"""Thresholds and the year of a person with several records: both records' wages reach them, whichever is paid."""

from decimal import Decimal
from typing import Any

import httpx
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from tests.http.api import Account, data
from tests.payroll.test_run import exact
from tests.web.test_one_persons_year import Home, line
from tests.web.test_same_person import FIRST, SECOND
from tests.worlds.households import add_household

D = Decimal


@pytest.fixture
async def home(
    account: Account, client: httpx.AsyncClient, owner_database: Database, clock: FixedClock
) -> Home:
    """A household that pays what waits for a threshold once its wages have reached it."""
    home = Home(account, client, owner_database, clock)
    home.employer_id = await add_household(account.live, state="TX", threshold_basis="as_paid")
    return home


@pytest.fixture
async def assuming(
    account: Account, client: httpx.AsyncClient, owner_database: Database, clock: FixedClock
) -> Home:
    """A household that never chose: all is charged from the first dollar."""
    return Home(account, client, owner_database, clock)


def refund(home: Home, *employees: str) -> dict[str, Any]:
    return {
        "employer_id": home.employer_id,
        "pay_period_start": "2026-01-01",
        "pay_period_end": "2026-12-31",
        "pay_date": "2026-12-31",
        "pay_frequency": "weekly",
        "notes": "fica-refund",
        "employees": [{"employee_id": employee} for employee in employees],
    }


def both_shares(social_security: str, medicare: str) -> list[tuple[str, str]]:
    """What is open, by line, where it is the same for employee and household."""
    amounts = {"SS": social_security, "MED": medicare}
    return [(f"US-{tax}-{payer}", amount) for tax, amount in amounts.items() for payer in ("EE", "ER")]


async def repay(home: Home, *employees: str) -> dict[str, Any]:
    order = refund(home, *employees)
    preview = exact(await home.account.live.post("/payroll/preview", order))
    ran = exact(await home.account.live.post("/payroll/run", order))
    assert ran["employees"] == preview["employees"]
    return ran


async def test_the_wages_of_both_records_reach_the_threshold_together(home: Home) -> None:
    rosa, rosita = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    ana = await home.add("Ana", SECOND)
    assert line(await home.run((rosa, "1800"), (ana, "1800")), "US-SS-EE") == (0, 0)
    below = await home.run((rosita, "1199"))
    assert line(below, "US-SS-EE") == line(below, "US-MED-ER") == (0, 0)
    assert line(below, "US-FUTA") == (D("7.19"), D("17.99"))
    await home.assert_sound()
    crossing = await home.run((rosita, "301"), (ana, "500"))
    assert line(crossing, "US-SS-EE") == line(crossing, "US-SS-ER") == (D("204.60"), D("204.60"))
    assert line(crossing, "US-MED-EE") == (D("47.85"), D("47.85"))
    assert line(crossing, "US-SS-EE", 1) == (0, 0)  # of Ana's year 700 are still missing
    await home.assert_sound()
    await home.void(crossing)
    back = await home.run((rosa, "0.50"))
    assert line(back, "US-SS-EE") == (0, 0)
    await home.assert_sound()


async def test_one_payroll_of_both_records_charges_each_dollar_once(home: Home) -> None:
    rosa, rosita = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    await home.run((rosita, "500"))
    ran = await home.run((rosita, "1500"), (rosa, "1000"))
    assert line(ran, "US-SS-ER", 0) == (D("124.00"), D("124.00"))
    assert line(ran, "US-SS-ER", 1) == (D("62.00"), D("186.00"))
    assert line(ran, "US-FUTA", 1) == (D("6.00"), D("18.00"))
    await home.assert_sound()
    ran = await home.run((rosa, "3000"), (rosita, "3000"))
    assert [line(ran, "US-FUTA", each)[0] for each in (0, 1)] == [D("18.00"), D("6.00")]  # 7,000 are reached
    await home.assert_sound()


async def test_a_number_that_comes_late_reaches_the_threshold_and_one_that_was_wrong_undoes_it(
    home: Home,
) -> None:
    rosa, rosita = await home.add("Rosa", FIRST), await home.add("Rosita")
    await home.run((rosa, "2000"), (rosita, "1000"))
    await home.assert_sound()
    await home.enter(rosita, FIRST)
    await home.assert_sound(*both_shares("186.00", "43.50"))
    ran = await home.run((rosita, "300"))
    assert line(ran, "US-SS-EE") == line(ran, "US-SS-ER") == (D("204.60"), D("204.60"))
    await home.assert_sound()
    await home.enter(rosita, SECOND)
    await home.assert_sound(*both_shares("-204.60", "-47.85"))
    assert line(await home.run((rosita, "1")), "US-SS-EE") == (D("-204.60"), 0)
    await home.assert_sound()


async def test_what_a_person_was_withheld_by_both_records_is_repaid_and_due_again(assuming: Home) -> None:
    home = assuming
    rosa, rosita = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    await home.run((rosa, "1000"))
    late = await home.run((rosita, "1500"))
    ran = await repay(home, rosa, rosita)
    assert line(ran, "US-SS-EE", 0) == (D("-62.00"), D("93.00"))
    assert line(ran, "US-SS-EE", 1) == (D("-93.00"), 0)
    await home.assert_sound()
    below = await home.run((rosa, "499"))
    assert line(below, "US-SS-EE") == (0, 0)
    await home.assert_sound()
    reached = await home.run((rosita, "1000"))
    assert line(reached, "US-SS-ER") == (D("247.94"), D("247.94"))  # 6.2 % of 3,999
    await home.assert_sound()
    await home.void(late)
    await home.run((rosa, "1"))
    await home.assert_sound()


async def test_a_refund_by_one_record_leaves_the_other_to_be_given_back(assuming: Home) -> None:
    home = assuming
    rosa, rosita = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    await home.run((rosa, "1000"), (rosita, "1500"))
    repaid = await repay(home, rosa)
    await home.assert_sound(*both_shares("-93.00", "-21.75"))
    await home.void(repaid)
    assert line(await home.run((rosita, "100")), "US-SS-EE") == (D("6.20"), D("161.20"))
    await home.assert_sound()


async def test_a_year_is_not_over_while_another_record_of_the_person_works(assuming: Home) -> None:
    home = assuming
    rosa, rosita = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    await home.run((rosa, "1000"))
    data(await home.account.live.post(f"/employees/{rosa}/terminate", {"end_date": "2026-01-20"}))
    order = refund(home, rosa) | {"pay_date": "2026-11-20", "pay_period_end": "2026-11-19"}
    response = await home.account.live.post("/payroll/run", order)
    assert response.status_code == 400, response.text
    assert "is not over" in response.json()["error"]["message"]
    data(await home.account.live.post(f"/employees/{rosita}/terminate", {"end_date": "2026-01-20"}))
    assert line(exact(await home.account.live.post("/payroll/run", order)), "US-SS-EE") == (D("-62.00"), 0)
    await home.assert_sound()


async def test_after_a_refund_by_one_record_those_of_another_are_due_only_above_the_threshold_also_once_voided(
    assuming: Home,
) -> None:
    home = assuming
    rosa, rosita = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    await home.run((rosa, "1000"))
    await repay(home, rosa)
    below = await home.run((rosita, "500"))
    assert line(below, "US-SS-EE") == line(below, "US-MED-ER") == (0, 0)
    await home.assert_sound()
    reached = await home.run((rosita, "1500"))
    assert line(reached, "US-SS-EE") == line(reached, "US-SS-ER") == (D("186.00"), D("186.00"))
    await home.assert_sound()
    await home.void(reached)
    await home.assert_sound()  # the year stays repaid: nothing is owed for the 1,500 that are left
    assert line(await home.run((rosita, "100")), "US-SS-EE") == (0, 0)
    await home.assert_sound()
