"""Households are paid from November to March, by figures that stood in and were published in mid-January."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.autopilot.commands import EnrolledTerms
from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.banking.calendar import is_banking_day, send_at
from hearthpay.database.session import Database
from hearthpay.employees.commands import PayFrequency
from hearthpay.payroll.years.rule_changes import settle_rule_changes
from hearthpay.taxes.rulebook import RULES
from tests.autopilot.pilot import DESK, Pilot
from tests.http.api import Account
from tests.lifecycle.test_year_end import differences
from tests.payroll.test_run import exact
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.rule_editions import edition, published, without_finality
from tests.worlds.town import Family, Town, rows

DAY: Final = timedelta(days=1)
FIRST: Final = date(2026, 11, 23)
PUBLISHED: Final = date(2027, 1, 15)
LAST: Final = date(2027, 3, 31)
"""The last day that `make test-long` lives through."""

_SHORT: Final = date(2027, 2, 12)
"""The last day of the suite: by then every household of it was paid by the published figures."""

NEW_YEAR: Final = "2027-01-01"

Way = Literal["check", "deposit", "scheduled", "autopilot"]
_DAYS_AFTER: Final[dict[Way, int]] = {"check": 5, "deposit": 9, "scheduled": 12, "autopilot": 9}
_HOURS: Final[dict[PayFrequency, int]] = {"weekly": 40, "biweekly": 80, "semimonthly": 80, "monthly": 160}

CASES: Final[tuple[tuple[str, PayFrequency, Way, float], ...]] = (
    ("CA", "weekly", "autopilot", 28.5),
    ("NY", "weekly", "check", 60),
    ("NJ", "biweekly", "deposit", 45),
    ("WA", "biweekly", "autopilot", 30),
    ("NC", "monthly", "scheduled", 80),
    ("TX", "monthly", "check", 70),
    ("MD", "weekly", "deposit", 50),
    ("IN", "biweekly", "check", 30),
    ("OR", "semimonthly", "scheduled", 35),
    ("CO", "semimonthly", "autopilot", 32),
    ("PA", "monthly", "autopilot", 15),
    ("MA", "weekly", "scheduled", 33),
)
"""State, frequency, way of payment and pay by the hour."""

IN_THE_SUITE: Final = ("CA", "NY", "NC", "MD", "IN", "CO")
"""Every frequency, every way of payment, and each sort of figure; `make test-long` lives through all cases."""

FIGURES: Final[dict[str, tuple[str, int | None]]] = {
    "CA-SDI-EE": ("0.011", None),
    "CO-SUI-ER": ("0.0161", 31_000),
    "IN-SUI-ER": ("0.025", 9_500),
    "MA-PFML-EE": ("0.0044", 192_300),
    "MD-SUI-ER": ("0.023", 8_500),
    "NC-SUI-ER": ("0.01", 35_100),
    "NJ-FLI-EE": ("0.0031", 177_100),
    "NY-RSF-ER": ("0.00075", 18_000),
    "NY-SUI-ER": ("0.03825", 18_000),
    "OR-PFML-EE": ("0.005", 192_300),
    "PA-SUI-EE": ("0.0008", None),
    "TX-SUI-ER": ("0.0285", 9_000),
    "WA-SUI-ER": ("0.0123", 82_000),
}
"""Rate and wage base of 2027 in the edition of mid-January; Indiana's stood before."""

_CARRIED: Final = {"IN-SUI-ER"}


def tables_of_north_carolina(text: str) -> str:
    """Publish the withholding of 2027, at a rate of 3.59 %."""
    shipped = (RULES / "2026" / "states" / "NC.toml").read_text("utf-8")
    tables = re.split(r"(?m)^(?=\[)", shipped)
    version = "".join(
        each for each in tables if each.startswith(("[[income_tax.version", "[income_tax.version"))
    )
    version = re.sub(r"(?m)^effective_from = .*$", "effective_from = 2027-01-01", version)
    version, found = re.subn(r"(?m)^(rate|supplemental_rate) = 0\.0409$", r"\1 = 0.0359", version)
    assert found
    return without_finality(text + "\n" + version, "NC-SIT")


@dataclass(frozen=True)
class Period:
    """A period and the day on which it is to be paid."""

    start: date
    end: date
    pay_date: date


def month_end(day: date) -> date:
    return (day.replace(day=1) + 32 * DAY).replace(day=1) - DAY


def pay_periods(frequency: PayFrequency, days_after: int, last: date) -> Iterator[Period]:
    """Every period from mid-November on that is paid until the last day; where banks are closed, before."""
    start = date(2026, 11, 1) if frequency == "monthly" else date(2026, 11, 16)
    while True:
        match frequency:
            case "weekly":
                end = start + 6 * DAY
            case "biweekly":
                end = start + 13 * DAY
            case "semimonthly":
                end = start.replace(day=15) if start.day == 1 else month_end(start)
            case "monthly":
                end = month_end(start)
        pay_date = end + days_after * DAY
        while not is_banking_day(pay_date):
            pay_date -= DAY
        if pay_date > last:
            return
        yield Period(start, end, pay_date)
        start = end + DAY


@dataclass
class House:
    """One household with someone to pay."""

    state: str
    frequency: PayFrequency
    way: Way
    pilot: Pilot
    last: date
    periods: list[Period] = field(default_factory=list)

    @property
    def family(self) -> Family:
        return self.pilot.family

    def approved_on(self, period: Period) -> date | None:
        """The day on which a person runs the payroll; None where nobody has to."""
        if self.way == "check":
            return period.pay_date
        if self.way == "deposit":
            return send_at(period.pay_date).date()
        return period.end + DAY if self.way == "scheduled" else None

    async def run(self, period: Period) -> None:
        """Run it by hand: what was previewed is what is run."""
        body = payroll_of(
            self.family.employer_id,
            self.family.employee_id,
            pay_period_start=str(period.start),
            pay_period_end=str(period.end),
            pay_date=str(period.pay_date),
            pay_frequency=self.frequency,
            confirm_large_payroll=True,
        )
        body["employees"][0]["regular_hours"] = _HOURS[self.frequency]
        if self.way != "check":
            body["employees"][0]["payment_method"] = "direct_deposit"
            body["confirm_ach_debit"] = True
        preview = await self.family.caller.post("/payroll/preview", body)
        assert preview.status_code == 200, (self.state, period, preview.text)
        run = await self.family.caller.post("/payroll/run", body)
        assert run.status_code == 200, (self.state, period, run.text)
        previewed, ran = exact(preview), exact(run)
        assert ran["employees"] == previewed["employees"]
        assert ran.get("provisional") == previewed.get("provisional")
        expected = {"check": "completed", "deposit": "pending_funding", "scheduled": "scheduled"}
        assert ran["status"] == expected[self.way], (self.state, period)

    async def payrolls(self) -> list[dict[str, Any]]:
        """Every payroll from mid-November on that is to be paid by the last day, in the order of its periods."""
        listed = [
            each
            for each in await self.pilot.payrolls()
            if each["pay_period"]["end"] >= "2026-11-16" and each["pay_period"]["pay_date"] <= str(self.last)
        ]
        return [exact(await self.family.caller.get(f"/payroll/{each['payroll_id']}")) for each in listed]


async def move_in(
    town: Town, account: Account, last: date, state: str, frequency: PayFrequency, way: Way, rate: float
) -> House:
    caller = account.live
    employer_id = await add_household(caller, last_name=f"Family {state}", state=state)
    employee_id = await add_employee(
        caller, employer_id, work_state=state, pay_rate=rate, pay_frequency=frequency
    )
    if way != "check":
        await town.connect(caller, employer_id)
        await town.connect(caller, employer_id, employee_id, account="987654321")
    actor = Actor.operator(account.organization_id, sandbox=False, request_id="over-the-new-year")
    pilot = Pilot(town, Family(caller, employer_id, employee_id), actor)
    house = House(state, frequency, way, pilot, last, list(pay_periods(frequency, _DAYS_AFTER[way], last)))
    if way == "autopilot":
        start = date(2026, 10, 1) if frequency == "monthly" else date(2026, 11, 9)
        end = date(2026, 10, 31) if frequency == "monthly" else date(2026, 11, 15)
        period = {"pay_period_start": str(start), "pay_period_end": str(end), "pay_frequency": frequency}
        body = payroll_of(employer_id, employee_id, **period)
        body["employees"][0]["regular_hours"] = _HOURS[frequency]
        first = await caller.post("/payroll/run", body)
        assert first.status_code == 200, first.text
        terms = EnrolledTerms(
            standard_hours=Decimal(_HOURS[frequency]),
            frequency=frequency,
            anchor=house.periods[0].start,
            pay_days_after=_DAYS_AFTER[way],
        )
        await pilot.enroll(terms)
    return house


async def live_through(town: Town, houses: list[House], first: date, last: date) -> None:
    """Payrolls are approved in the morning; Autopilot makes its own at noon, and the worker works at the cut-off."""
    due: dict[date, list[tuple[House, Period]]] = defaultdict(list)
    for house in houses:
        for period in house.periods:
            day = house.approved_on(period)
            if day is not None:
                due[day].append((house, period))
    day = first
    while day <= last:
        if due[day]:
            town.go_to(str(day), 10)
        for house, period in due[day]:
            await house.run(period)
        if is_banking_day(day) or due[day]:
            town.go_to(str(day), 12)
            await generate_due(town.worker, town.clock, direct_deposit_enabled=True)
            town.go_to(str(day), 15)
            await town.work()
            await run_outbox_tasks(town.worker, town.ring, town.clock, DESK)
        day += DAY


def lines(payroll: dict[str, Any]) -> dict[str, dict[str, Any]]:
    [paycheck] = payroll["employees"]
    return {each["code"]: each for each in paycheck["lines"]}


def income_tax(payroll: dict[str, Any]) -> dict[str, Decimal]:
    return {code: each["amount"] for code, each in lines(payroll).items() if code.endswith(("-FIT", "-SIT"))}


def credits_of(connection: psycopg.Connection, employee_id: str) -> list[tuple[Any, ...]]:
    """The credits of an employee: state of each, and the day on which it arrives."""
    return rows(
        connection,
        "SELECT status, effective_date::text FROM bank_entries "
        "WHERE kind = 'credit' AND employee_id = %s ORDER BY effective_date, id",
        UUID(employee_id),
    )


def assert_paid_on_time(house: House, payrolls: list[dict[str, Any]], owner: psycopg.Connection) -> None:
    """Every period is paid once, on its day."""
    spans = [each["pay_period"] for each in payrolls]
    assert [(each["start"], each["end"], each["pay_date"]) for each in spans] == [
        (str(each.start), str(each.end), str(each.pay_date)) for each in house.periods
    ], house.state
    for each in payrolls:
        assert each["status"] == "completed", (house.state, each["pay_period"], each["status_history"])
        assert [paycheck["status"] for paycheck in each["employees"]] == ["paid"]
        [done] = [step for step in each["status_history"] if step["status"] == "completed"]
        assert done["at"][:10] == each["pay_period"]["pay_date"], house.state
    sent = credits_of(owner, house.family.employee_id)
    arrived = [(status, day) for status, day in sent if day <= str(house.last)]
    days = [] if house.way == "check" else [str(each.pay_date) for each in house.periods]
    assert arrived == [("settled", day) for day in days], house.state


def assert_the_year(
    house: House, payrolls: list[dict[str, Any]], figured_before: dict[str, dict[str, Any]]
) -> None:
    """The lines that were published equal rate times wages, up to the base; what was withheld before stands."""
    of_2027 = [each for each in payrolls if each["pay_period"]["pay_date"] >= NEW_YEAR]
    wages = sum(each["employees"][0]["gross_pay"] for each in of_2027)
    for code, (rate, base) in FIGURES.items():
        if not code.startswith(house.state):
            continue
        taxed = wages if base is None else min(wages, Decimal(base))
        charged = sum(lines(each)[code]["amount"] for each in of_2027)
        assert abs(charged - taxed * Decimal(rate)) <= Decimal("0.005") * len(of_2027), (code, charged, taxed)
        assert lines(of_2027[-1])[code]["ytd_amount"] == charged, code
        for each in of_2027:
            stood_in = each["payroll_id"] in figured_before and code not in _CARRIED
            assert (code in each.get("provisional", [])) == stood_in, (code, each["pay_period"])
    for each in payrolls:
        if each["payroll_id"] in figured_before:
            assert income_tax(each) == income_tax(figured_before[each["payroll_id"]])
            assert (
                each["employees"][0]["net_pay"]
                == (figured_before[each["payroll_id"]]["employees"][0]["net_pay"])
            )


@pytest.mark.parametrize(
    ("states", "middle", "last"),
    [
        pytest.param(IN_THE_SUITE, date(2027, 1, 31), _SHORT, id="some"),
        pytest.param(
            tuple(state for state, *_ in CASES), date(2027, 2, 15), LAST, id="all", marks=pytest.mark.long
        ),
    ],
)
@pytest.mark.timeout(600)
async def test_everybody_is_paid_over_the_new_year_and_the_year_comes_out_right(
    account: Account,
    town: Town,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    tmp_path: Path,
    states: tuple[str, ...],
    middle: date,
    last: date,
) -> None:
    houses = [await move_in(town, account, last, *case) for case in CASES if case[0] in states]
    await live_through(town, houses, FIRST, date(2026, 12, 31))
    assert await differences(town, owner_database) == []
    await live_through(town, houses, date(2027, 1, 1), PUBLISHED)
    assert await differences(town, owner_database) == []
    figured_before = {}
    for house in houses:
        for each in await house.payrolls():
            if each["status"] != "scheduled":
                figured_before[each["payroll_id"]] = each
    changes = [
        published(code, **({"rate": rate} | ({"wage_base": str(base)} if base else {})))
        for code, (rate, base) in FIGURES.items()
        if code not in _CARRIED
    ]
    with edition(tmp_path, *changes, ("2027/states/NC.toml", tables_of_north_carolina)):
        town.go_to(str(PUBLISHED), 17)
        assert await differences(town, owner_database) == ["year_editions"]
        while await settle_rule_changes(town.worker):
            pass
        assert await differences(town, owner_database) == []
        await live_through(town, houses, PUBLISHED + DAY, middle)
        assert await differences(town, owner_database) == []
        await live_through(town, houses, middle + DAY, last)
        assert await differences(town, owner_database) == []
        paid = {house.state: await house.payrolls() for house in houses}
        for house in houses:
            assert_paid_on_time(house, paid[house.state], owner_connection)
            assert_the_year(house, paid[house.state], figured_before)
        # North Carolina's new tables count from then on.
        for each in paid["NC"]:
            if each["pay_period"]["pay_date"] >= NEW_YEAR:
                assert ("NC-SIT" in each["provisional"]) == (each["payroll_id"] in figured_before)
