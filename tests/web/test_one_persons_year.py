"""The year of a person with several records is one: caps, year to date, voids, late numbers and wrong ones."""

import asyncio
from decimal import Decimal
from typing import Any

import httpx
import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_taxes
from tests.http.api import Account, data
from tests.payroll.test_run import exact
from tests.web.test_same_person import FIRST, SECOND, enter
from tests.worlds.households import add_employee, add_household

D = Decimal


class Home:
    """A household in Texas, people to pay by check, and the books behind it."""

    def __init__(
        self, account: Account, client: httpx.AsyncClient, owner: Database, clock: FixedClock
    ) -> None:
        self.account, self.client, self.owner, self.clock = account, client, owner, clock
        self.employer_id = ""
        self.day = 0

    async def add(self, name: str, number: str | None = None) -> str:
        if not self.employer_id:
            self.employer_id = await add_household(self.account.live, state="TX")
        employee_id = await add_employee(
            self.account.live,
            self.employer_id,
            first_name=name,
            email=None,
            work_state="TX",
            start_date="2026-01-01",
            federal_withholding={"elected": False},
            state_withholding={},
        )
        if number is not None:
            await self.enter(employee_id, number)
        return employee_id

    async def enter(self, employee_id: str, number: str) -> None:
        await enter(self.client, self.account, {"id": employee_id}, number)

    def order(self, *paid: tuple[str, str]) -> dict[str, Any]:
        self.day += 1
        day = f"2026-{1 + self.day // 28:02d}-{1 + self.day % 28:02d}"
        return {
            "employer_id": self.employer_id,
            "pay_period_start": day,
            "pay_period_end": day,
            "pay_date": day,
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": each, "other_earnings": float(wages), "payment_method": "check"}
                for each, wages in paid
            ],
            "confirm_large_payroll": True,
        }

    async def run(self, *paid: tuple[str, str]) -> dict[str, Any]:
        """Run a payroll, which must be what its preview was."""
        order = self.order(*paid)
        preview = exact(await self.account.live.post("/payroll/preview", order))
        ran = exact(await self.account.live.post("/payroll/run", order))
        assert ran["employees"] == preview["employees"]
        return ran

    async def void(self, payroll: dict[str, Any]) -> None:
        data(await self.account.live.post(f"/payroll/{payroll['payroll_id']}/void", {}))

    async def assert_sound(self, *still_open: tuple[str, str]) -> None:
        """The doctor finds nothing, and open is what is named, by line and then by amount."""
        async with self.owner.transaction(None) as session:
            results = await examine(session, self.clock.now(), lambda *_: None)
            still = sorted((each.code, each.amount) for each in await open_taxes(session, self.clock.now()))
        assert [(each.name, each.differences) for each in results if each.found] == []
        assert still == sorted(still_open)


@pytest.fixture
def home(account: Account, client: httpx.AsyncClient, owner_database: Database, clock: FixedClock) -> Home:
    return Home(account, client, owner_database, clock)


def line(payroll: dict[str, Any], code: str, position: int = 0) -> tuple[Decimal, Decimal]:
    """The amount of a line, and its year to date."""
    for each in payroll["employees"][position]["lines"]:
        if each["code"] == code:
            return each["amount"], each["ytd_amount"]
    return D(0), D(0)


async def test_a_second_record_goes_on_with_the_year_of_the_first(home: Home) -> None:
    old = await home.add("Rosa", FIRST)
    await home.run((old, "8000"))
    data(await home.account.live.post(f"/employees/{old}/terminate", {"end_date": "2026-03-06"}))
    again = await home.add("Rosita", FIRST)
    ran = await home.run((again, "8000"))
    assert line(ran, "US-FUTA") == (0, D("42.00"))
    assert line(ran, "TX-SUI-ER") == (D("27.00"), D("243.00"))
    assert ran["employees"][0]["ytd"]["gross_pay"] == 16_000
    other = await home.add("Ana", SECOND)
    assert line(await home.run((other, "8000")), "US-FUTA") == (D("42.00"), D("42.00"))
    await home.assert_sound()


async def test_yearly_floors_and_thresholds_are_the_persons(home: Home) -> None:
    records = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    first = await home.run((records[0], "2000"))
    second = await home.run((records[1], "1500"))
    told = [
        [each for each in ran["employees"][0]["warning_codes"] if each["code"] == "fica_below_threshold"]
        for ran in (first, second)
    ]
    assert [len(each) for each in told] == [1, 0]
    await home.run((records[0], "180000"))
    ran = await home.run((records[1], "20000"))
    assert line(ran, "US-SS-EE") == (D("62.00"), D("11439.00"))  # 1,000 were left below 184,500
    assert line(ran, "US-ADDMED-EE") == (D("31.50"), D("31.50"))  # 3,500 above 200,000
    await home.assert_sound()


async def test_two_records_in_one_payroll_share_what_is_left_of_the_year(home: Home) -> None:
    records = [await home.add(name, FIRST) for name in ("Rosa", "Rosita", "Rosalia")]
    ran = await home.run((records[1], "5000"), (records[0], "5000"))
    assert [line(ran, "US-FUTA", each) for each in (0, 1)] == [
        (D("30.00"), D("30.00")),
        (D("12.00"), D("42.00")),
    ]
    assert [each["ytd"]["gross_pay"] for each in ran["employees"]] == [5_000, 10_000]
    await home.void(ran)
    await home.assert_sound()
    ran = await home.run((records[2], "6000"), (records[1], "6000"))
    assert [line(ran, "US-FUTA", each)[0] for each in (0, 1)] == [D("36.00"), D("6.00")]
    await home.assert_sound()


async def test_a_void_of_one_record_is_made_good_by_the_other(home: Home) -> None:
    records = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    first = await home.run((records[0], "8000"))
    await home.run((records[1], "8000"))
    await home.void(first)
    await home.assert_sound(("US-FUTA", "42.00"), ("TX-SUI-ER", "189.00"))
    assert line(await home.run((records[0], "100")), "US-FUTA") == (D("42.00"), D("42.00"))
    await home.assert_sound()


async def test_a_number_that_comes_late_gives_back_what_was_paid_twice(home: Home) -> None:
    first, second, third = [await home.add(name) for name in ("Rosa", "Rosita", "Ana")]
    for each in (first, second, third):
        await home.run((each, "8000"))
    await home.enter(first, FIRST)
    await home.enter(third, SECOND)
    await home.assert_sound()
    await home.enter(second, FIRST)
    await home.assert_sound(("US-FUTA", "-42.00"), ("TX-SUI-ER", "-189.00"))
    assert line(await home.run((first, "100")), "US-FUTA") == (D("-42.00"), D("42.00"))
    ran = await home.run((second, "100"))
    assert line(ran, "US-FUTA") == (0, D("42.00"))
    assert line(ran, "TX-SUI-ER") == (0, D("243.00"))
    assert ran["employees"][0]["ytd"]["gross_pay"] == 16_200
    await home.assert_sound()


async def test_a_number_that_was_wrong_parts_the_years_again(home: Home) -> None:
    first, second, third = [await home.add(name, FIRST) for name in ("Rosa", "Rosita", "Rosalia")]
    for each in (first, second, third):
        await home.run((each, "8000"))
    await home.enter(second, SECOND)
    await home.assert_sound(("US-FUTA", "42.00"), ("TX-SUI-ER", "189.00"), ("TX-SUI-ER", "27.00"))
    assert line(await home.run((second, "100")), "US-FUTA") == (D("42.00"), D("42.00"))
    assert line(await home.run((third, "100")), "US-FUTA") == (0, D("42.00"))
    await home.assert_sound()
    await home.enter(first, SECOND)  # now these two are one, and the third stands alone
    owed = ("US-FUTA", "42.00"), ("TX-SUI-ER", "191.70")
    await home.assert_sound(*owed, *((code, f"-{amount}") for code, amount in owed))
    ran = await home.run((third, "100"), (first, "100"))
    assert [line(ran, "US-FUTA", each) for each in (0, 1)] == [
        (D("42.00"), D("42.00")),
        (D("-42.00"), D("42.00")),
    ]
    assert [line(ran, "TX-SUI-ER", each)[1] for each in (0, 1)] == [D("221.40"), D("243.00")]
    await home.assert_sound()


async def test_wages_of_another_provider_count_for_the_person(home: Home) -> None:
    records = [await home.add(name, FIRST) for name in ("Rosa", "Rosita")]
    prior = {
        "tax_year": 2026,
        "source": "Another",
        "as_of": "2026-01-01",
        "gross_pay": 6000,
        "lines": [{"code": "US-FUTA", "subject_wages": 6000, "taxable_wages": 6000, "amount": 36}],
    }
    data(await home.account.live.post(f"/employees/{records[0]}/prior-wages", prior), 201)
    ran = await home.run((records[1], "5000"))
    assert line(ran, "US-FUTA") == (D("6.00"), D("42.00"))
    assert ran["employees"][0]["ytd"]["gross_pay"] == 11_000
    await home.run((records[0], "5000"))
    await home.assert_sound()
    later = prior | {"lines": [{"code": "US-FUTA", "subject_wages": 0, "taxable_wages": 0, "amount": 0}]}
    data(await home.account.live.post(f"/employees/{records[1]}/prior-wages", later | {"source": "B"}), 201)
    data(await home.account.live.post(f"/employees/{records[0]}/prior-wages", later), 201)
    await home.assert_sound(("US-FUTA", "36.00"))
    assert line(await home.run((records[0], "1")), "US-FUTA") == (D("36.00"), D("42.00"))
    await home.assert_sound()


async def test_payrolls_of_one_person_at_once_follow_each_other(
    home: Home, owner_connection: psycopg.Connection
) -> None:
    """Each waits for the person's first record: none is refused, none forgets another, while a number is entered."""
    records = [await home.add(name) for name in ("Rosa", "Rosita", "Rosalia")]
    await home.enter(records[0], FIRST)
    groups = [(0,), (1,), (2,), (2, 0), (1, 2), (0, 1), (2, 1, 0)]

    async def pay(group: tuple[int, ...]) -> None:
        order = home.order(*((records[each], "700") for each in group))
        data(await home.account.live.post("/payroll/run", order))

    for late in records[1:]:
        await asyncio.gather(home.enter(late, FIRST), *map(pay, groups))
    await home.run((records[1], "1000"))
    charged = "SELECT sum(amount) FROM paycheck_lines WHERE code = 'US-FUTA'"
    assert owner_connection.execute(charged).fetchone() == (4_200,)
    await home.assert_sound()
