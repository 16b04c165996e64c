"""The calendar of a household that really pays somebody: by the API, from records and ledger, to the cent."""

from collections.abc import Awaitable, Callable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.service import choose_filing, mark_duty, note_closing
from hearthpay.employers.models import Employer
from tests.http.api import MARIA, Account, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, payroll_of

Say = Callable[..., Awaitable[None]]
ALL_OF_IT = {"from": "2026-01-01", "to": "2027-12-31"}
FEDERAL_LINES = ("US-FIT", "US-SS-EE", "US-SS-ER", "US-MED-EE", "US-MED-ER", "US-FUTA", "US-FUTA-CR")
CALIFORNIAN_LINES = ("CA-SIT", "CA-SDI-EE", "CA-SUI-ER", "CA-ETT-ER")


@pytest.fixture
def say(owner_database: Database, clock: FixedClock, household: dict[str, Any]) -> Say:
    """Says something of the household's duties, as the operator."""

    async def said(deed: Callable[..., Awaitable[None]], **what: Any) -> None:
        async with owner_database.transaction(None) as session:
            employer = await session.get_one(Employer, UUID(household["id"]))
            actor = Actor.operator(employer.organization_id, sandbox=False, request_id="req_calendar")
            await deed(session, actor, clock, employer, **what)

    return said


async def tax_items(account: Account) -> list[dict[str, Any]]:
    """What is due but for the notice of pay and the policy, which no threshold of wages lets off."""
    of_work = ("CA/wage-notice/", "CA/workers-compensation/")
    return [item for item in await items(account) if not item["key"].startswith(of_work)]


async def items(account: Account, **query: Any) -> list[dict[str, Any]]:
    return data(await account.live.get("/tax-calendar", **(ALL_OF_IT | query)))["items"]


async def by_key(account: Account, **query: Any) -> dict[str, dict[str, Any]]:
    return {item["key"]: item for item in await items(account, **query)}


async def pay(account: Account, household: dict[str, Any], employee: str, monday: int, month: int) -> str:
    week = {
        "pay_period_start": f"2026-{month:02}-{monday:02}",
        "pay_period_end": f"2026-{month:02}-{monday + 6:02}",
        "pay_date": f"2026-{month:02}-{monday + 11:02}",
    }
    run = data(await account.live.post("/payroll/run", payroll_of(household["id"], employee, **week)))
    assert run["status"] == "completed"
    return run["payroll_id"]


def paid(owner: psycopg.Connection, lines: tuple[str, ...], first: str, last: str) -> Decimal:
    """What stands of these lines in payrolls that were completed, without a look at what was taken back."""
    row = owner.execute(
        "SELECT coalesce(sum(l.amount), 0) FROM payrolls p JOIN paychecks c ON c.payroll_id = p.id "
        "JOIN paycheck_lines l ON l.paycheck_id = c.id WHERE p.status = 'completed' AND l.code = ANY(%s) "
        "AND p.pay_date BETWEEN %s AND %s",
        (list(lines), first, last),
    ).fetchone()
    assert row is not None
    return Decimal(row[0]).scaleb(-2)


async def test_amounts_are_what_the_paychecks_that_stand_come_to(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    rosa = await add_employee(account.live, household["id"])
    for month, monday in ((8, 3), (9, 7), (9, 14), (10, 5)):
        await pay(account, household, rosa, monday, month)
    wrong = await pay(account, household, rosa, 2, 11)
    data(await account.live.post(f"/payroll/{wrong}/void", {"reason": "a slip"}))
    told = {key: item["amount"] for key, item in (await by_key(account)).items() if item["amount"]}
    by_period = {
        "US/estimated-tax/2026-I3": (FEDERAL_LINES, "2026-06-01", "2026-08-31"),
        "US/estimated-tax/2026-I4": (FEDERAL_LINES, "2026-09-01", "2026-12-31"),
        "CA/wages-quarterly/2026-Q3": (CALIFORNIAN_LINES, "2026-07-01", "2026-09-30"),
        "CA/wages-quarterly/2026-Q4": (CALIFORNIAN_LINES, "2026-10-01", "2026-12-31"),
    }
    due = {key: float(paid(owner_connection, *period)) for key, period in by_period.items()}
    assert all(due.values())
    # What the instalments pay is not owed again with the year's return.
    year = float(paid(owner_connection, FEDERAL_LINES, "2026-01-01", "2026-12-31"))
    schedule_h = (await by_key(account))["US/schedule-h/2026"]
    assert (schedule_h["amount"], schedule_h["paid_with_other_items"]) == (0, year)
    assert told == due
    whole = owner_connection.execute("SELECT sum(amount) FROM paycheck_lines").fetchone()
    assert whole == (round(100 * (year + due["CA/wages-quarterly/2026-Q3"]
                                  + due["CA/wages-quarterly/2026-Q4"])),)  # fmt: skip


async def test_the_calendar_of_a_household_in_two_states(account: Account, household: dict[str, Any]) -> None:
    rosa = await add_employee(account.live, household["id"])
    john = await add_employee(
        account.live,
        household["id"],
        first_name="John",
        work_state="NY",
        residence_state="NY",
        start_date="2026-11-02",
    )
    await pay(account, household, rosa, 2, 11)
    await pay(account, household, john, 2, 11)
    people = {rosa: "rosa", john: "john"}
    told = await items(account, **{"from": "2026-11-02", "to": "2027-02-28"})
    assert [
        (
            item["due_date"],
            item["key"].replace(item["employee_id"] or "-", people.get(item["employee_id"], "-")),
        )
        for item in told
    ] == [
        ("2026-11-02", "CA/wages-quarterly/2026-Q3"),
        ("2026-11-02", "NY/start-notice/hire-1/john"),
        ("2026-11-02", "US/w4/hire-1/john"),
        ("2026-11-05", "US/i9/hire-1/john"),
        ("2026-11-22", "NY/new-hire/hire-1/john"),
        ("2026-12-31", "CA/elect-annual/2026"),
        ("2027-01-15", "US/estimated-tax/2026-I4"),
        ("2027-02-01", "CA/wages-quarterly/2026-Q4"),
        ("2027-02-01", "NY/wages-quarterly/2026-Q4"),
        ("2027-02-01", "US/w2-employee/2026/rosa"),
        ("2027-02-01", "US/w2-employee/2026/john"),
        ("2027-02-01", "US/w2-ssa/2026"),
    ]
    assert all(
        (item["statutory_date"] == item["due_date"]) == (item["due_date"] not in ("2026-11-02", "2027-02-01"))
        or item["key"].startswith(("NY/start-notice", "US/w4"))
        for item in told
    )


async def patch(account: Account, path: str, body: dict[str, Any]) -> None:
    data(await account.live.client.patch(f"/api/v1{path}", json=body, headers=account.live.headers()))


@pytest.mark.parametrize(
    "change",
    ["leaves", "withholding off", "works elsewhere", "is paid and it is undone", "basis", "relationship"],
)
async def test_what_changes_and_changes_back_leaves_the_same_items(
    account: Account, household: dict[str, Any], change: str
) -> None:
    rosa = await add_employee(account.live, household["id"])
    if change not in ("withholding off", "relationship"):
        await pay(account, household, rosa, 7, 9)
    before = await items(account)
    employee, employer = f"/employees/{rosa}", f"/employers/{household['id']}"
    match change:
        case "leaves":
            data(await account.live.post(f"{employee}/terminate", {"end_date": "2026-11-18"}))
            assert await items(account) != before
            data(await account.live.post(f"{employee}/reinstate", {}))
        case "withholding off":
            off = {"federal_withholding": {"elected": False}, "state_withholding": {"elected": False}}
            await patch(account, employee, off)
            await patch(account, employer, {"threshold_basis": "as_paid"})
            assert await items(account) != before
            on = {"federal_withholding": {"elected": True}, "state_withholding": {"elected": True}}
            await patch(account, employee, on)
            await patch(account, employer, {"threshold_basis": "assume_crossed"})
        case "works elsewhere":
            await patch(account, employee, {"work_state": "NY"})
            assert any(item["jurisdiction"] == "NY" for item in await items(account))
            await patch(account, employee, {"work_state": "CA"})
        case "is paid and it is undone":
            payroll = await pay(account, household, rosa, 5, 10)
            assert await items(account) != before
            data(await account.live.post(f"/payroll/{payroll}/void", {}))
        case "basis":
            await patch(account, employer, {"threshold_basis": "as_paid"})
            await patch(account, employer, {"threshold_basis": "assume_crossed"})
        case "relationship":
            await patch(account, employee, {"relationship": "spouse"})
            await patch(account, employee, {"relationship": "none"})
    assert await items(account) == before


async def test_below_every_threshold_no_tax_is_due(account: Account, household: dict[str, Any]) -> None:
    await patch(account, f"/employers/{household['id']}", {"threshold_basis": "as_paid"})
    off = {"elected": False}
    rosa = await add_employee(
        account.live, household["id"], federal_withholding=off, state_withholding=off, pay_rate=10
    )
    await pay(account, household, rosa, 7, 9)
    assert await tax_items(account) == []
    await patch(account, f"/employees/{rosa}", {"pay_rate": 28.5})
    await pay(account, household, rosa, 5, 10)
    told = await by_key(account)
    # 750 dollars of a quarter make a household liable in California, 1,000 for FUTA; 3,000 of a year for FICA.
    assert {"US/schedule-h/2026", "CA/wages-quarterly/2026-Q4", "CA/wages-quarterly/2026-Q3"} <= told.keys()
    assert "US/w2-ssa/2026" not in told


async def test_wages_of_another_payroll_count_for_thresholds_and_not_for_amounts(
    account: Account, household: dict[str, Any]
) -> None:
    await patch(account, f"/employers/{household['id']}", {"threshold_basis": "as_paid"})
    off = {"elected": False}
    rosa = await add_employee(account.live, household["id"], federal_withholding=off, state_withholding=off)
    assert await tax_items(account) == []
    prior = {
        "tax_year": 2026, "source": "another payroll", "as_of": "2026-06-30", "gross_pay": 5000,
        "lines": [{"code": "US-SS-EE", "subject_wages": 5000, "taxable_wages": 5000, "amount": 310}],
    }  # fmt: skip
    data(await account.live.post(f"/employees/{rosa}/prior-wages", prior), 201)
    told = await by_key(account)
    assert told["US/schedule-h/2026"]["amount"] == 0
    assert {"US/w2-ssa/2026", "CA/wages-quarterly/2026-Q2"} <= told.keys()


async def test_several_records_of_one_person_are_one(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    first = await add_employee(account.live, household["id"])
    second = await add_employee(account.live, household["id"], first_name="Rosita", start_date="2026-09-07")
    await pay(account, household, first, 3, 8)
    await pay(account, household, second, 7, 9)
    apart = [key for key in await by_key(account) if key.startswith("US/w2-employee/2026")]
    assert apart == [f"US/w2-employee/2026/{first}", f"US/w2-employee/2026/{second}"]
    owner_connection.execute("UPDATE employees SET person_id = %s", (first,))
    together = await by_key(account)
    assert [key for key in together if key.startswith("US/w2-employee/2026")] == apart[:1]


async def test_what_is_done_is_told_until_it_is_taken_back(
    account: Account, household: dict[str, Any], say: Say, owner_connection: psycopg.Connection
) -> None:
    await add_employee(account.live, household["id"])
    key = "CA/wages-quarterly/2026-Q3"
    assert (await by_key(account))[key]["done"] is False
    await say(mark_duty, key=key, done_on=date(2026, 10, 30))
    marked = (await by_key(account))[key]
    assert (marked["done"], marked["done_on"]) == (True, "2026-10-30")
    await say(mark_duty, key=key, done_on=None)
    assert (await by_key(account))[key]["done_on"] is None
    noted = owner_connection.execute("SELECT details FROM audit_log WHERE action = 'duty.mark' ORDER BY id")
    assert [row[0] for row in noted] == [
        {"key": key, "before": None, "after": "2026-10-30"},
        {"key": key, "before": "2026-10-30", "after": None},
    ]


@pytest.mark.parametrize(
    ("deed", "what", "field"),
    [
        (mark_duty, {"key": "CA/wages-quarterly/2026-Q9", "done_on": date(2026, 11, 1)}, "key"),
        (mark_duty, {"key": "'; DROP TABLE", "done_on": date(2026, 11, 1)}, "key"),
        (mark_duty, {"key": "CA/wages-quarterly/2026-Q3", "done_on": date(2026, 11, 21)}, "done_on"),
        (mark_duty, {"key": "CA/wages-quarterly/2026-Q3", "done_on": None}, "key"),
        (
            choose_filing,
            {"jurisdiction": "CA", "account": "sui", "since_year": 2026, "frequency": "daily"},
            "frequency",
        ),
        (
            choose_filing,
            {"jurisdiction": "CA", "account": "sdi", "since_year": 2026, "frequency": "annual"},
            "account",
        ),
        (
            choose_filing,
            {"jurisdiction": "XX", "account": "sui", "since_year": 2026, "frequency": "annual"},
            "jurisdiction",
        ),
        (
            choose_filing,
            {"jurisdiction": "CA", "account": "sui", "since_year": 99_999, "frequency": "annual"},
            "since_year",
        ),
        (note_closing, {"jurisdiction": "NY", "account": "sui", "closed_on": date(2026, 11, 1)}, "account"),
    ],
)
async def test_what_cannot_be_is_refused(
    account: Account,
    household: dict[str, Any],
    say: Say,
    owner_connection: psycopg.Connection,
    deed: Callable[..., Awaitable[None]],
    what: dict[str, Any],
    field: str,
) -> None:
    await add_employee(account.live, household["id"])
    with pytest.raises(Refusal) as refused:
        await say(deed, **what)
    assert (refused.value.code, refused.value.message.partition(":")[0]) == ("validation_error", field)
    assert owner_connection.execute("SELECT FROM audit_log WHERE action LIKE 'duty.%'").rowcount == 0


async def test_a_household_files_as_it_has_chosen(
    account: Account, household: dict[str, Any], say: Say
) -> None:
    await add_employee(account.live, household["id"])
    before = await by_key(account)
    account_of_california = {"jurisdiction": "CA", "account": "sui"}
    await say(choose_filing, **account_of_california, since_year=2027, frequency="annual")
    chosen = await by_key(account)
    assert {"CA/wages-quarterly/2027-Q1", "CA/wages-quarterly/2027-Q3"} <= before.keys() - chosen.keys()
    assert "CA/wages-quarterly/2026-Q4" in chosen
    await say(choose_filing, **account_of_california, since_year=2027, frequency=None)
    assert await by_key(account) == before
    own_withholding = {"jurisdiction": "US", "account": "estimated-tax", "frequency": "own_withholding"}
    await say(choose_filing, **own_withholding, since_year=2026)
    assert not [key for key in await by_key(account) if key.startswith("US/estimated-tax")]


async def test_an_account_that_was_closed_asks_for_nothing_later(
    account: Account, household: dict[str, Any], say: Say
) -> None:
    await add_employee(account.live, household["id"])
    before = await by_key(account)
    closed = {"jurisdiction": "CA", "account": "sui"}
    await say(note_closing, **closed, closed_on=date(2026, 12, 31))
    told = await by_key(account)
    assert "CA/wages-quarterly/2026-Q4" in told
    assert not [key for key in told if key.startswith("CA/wages-quarterly/2027")]
    await say(note_closing, **closed, closed_on=None)
    assert await by_key(account) == before


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "2026-02-30"}, "from"),
        ({"from": "2022-12-31"}, "from"),
        ({"from": "2029-01-01"}, "from"),
        ({"from": "9999-12-31"}, "from"),
        ({"from": "0001-01-01"}, "from"),
        ({"to": "9999-12-31"}, "to"),
        ({"to": "2026-11-19"}, "to"),
        ({"from": "2026-06-01", "to": "2026-05-31"}, "to"),
        ({"from": "2026-01-01", "to": "2028-01-03"}, "to"),
        ({"since": "2026-01-01"}, "since"),
        ({"employer_id": "mine"}, "employer_id"),
    ],
)
async def test_days_that_no_calendar_has(
    account: Account, household: dict[str, Any], query: dict[str, str], field: str
) -> None:
    refused = refusal(await account.live.get("/tax-calendar", **query), 400, "validation_error")
    assert fields(refused) == [field]
    assert refused["example"]


async def test_left_out_it_is_a_year_from_today(account: Account, household: dict[str, Any]) -> None:
    response = await account.live.get("/tax-calendar")
    told = data(response)
    assert (told["employer_id"], told["from_date"], told["to_date"]) == (
        household["id"],
        "2026-11-20",
        "2027-11-20",
    )
    assert response.json()["meta"]["as_of"] == "2026-11-20"
    data(await account.live.get("/tax-calendar", **{"from": "2028-06-01"}))
    data(await account.live.get("/tax-calendar", **{"from": "2026-01-01", "to": "2028-01-02"}))


async def test_nobody_elses(account: Account, household: dict[str, Any], new_key: NewKey) -> None:
    await add_employee(account.live, household["id"])
    query = {"employer_id": household["id"]}
    narrow = await new_key("Lopez family", scopes=("payroll", "employees"))
    others = await new_key("Chen family")
    refusal(await narrow.get("/tax-calendar", **query), 403, "scope_required")
    refusal(await others.get("/tax-calendar", **query), 403, "household_forbidden")
    refusal(await account.test.get("/tax-calendar", **query), 403, "key_mode_mismatch")
    free = await new_key("Small", plan="free")
    refusal(await free.get("/tax-calendar"), 403, "subscription_required")
    refusal(await account.live.post("/tax-calendar", MARIA), 405, "method_not_allowed")
