"""The contract, `pay_type` and salaries: each test's first line is a sentence of it.

It is Friday, 20 November 2026, 10:00 in New York.
"""

from typing import Any

import httpx
import pytest

from tests.http.api import Account, data, fields, refusal
from tests.worlds.households import add_employee, payroll_of

YEARLY = {"pay_type": "salary", "salary": {"amount": 52_000, "per": "year"}}


async def patch(account: Account, path: str, body: dict[str, Any]) -> httpx.Response:
    live = account.live
    return await live.client.patch(f"/api/v1{path}", json=body, headers=live.headers())


def period(employer_id: str, employee_id: str, *entry: Any, **changes: Any) -> dict[str, Any]:
    """A week by check, without hours."""
    body = payroll_of(employer_id, employee_id) | {
        "pay_period_start": "2026-11-09",
        "pay_period_end": "2026-11-15",
        "pay_date": "2026-11-20",
        "pay_frequency": "weekly",
    }
    extra = entry[0] if entry else {}
    return body | {"employees": [{"employee_id": employee_id, "payment_method": "check", **extra}]} | changes


@pytest.fixture
async def salaried(account: Account, household: dict[str, Any]) -> str:
    return await add_employee(account.live, household["id"], pay_rate=None, start_date="2026-01-05", **YEARLY)


async def test_pay_type_is_hourly_unless_it_is_said(account: Account, household: Any) -> None:
    """`pay_type` = hourly (hourly|salary; clients of this kind send it)."""
    body = {"employer_id": household["id"], "first_name": "Ana", "last_name": "Diaz", "pay_rate": 25}
    said = data(await account.live.post("/employees", body | {"pay_type": "hourly"}), 201)
    unsaid = data(await account.live.post("/employees", body | {"first_name": "Eva"}), 201)
    for made in (said, unsaid):
        assert (made["pay_type"], made["pay_rate"], made["salary"]) == ("hourly", 25.0, None)
    response = await account.live.post("/employees", body | {"pay_type": "piecework"})
    assert fields(refusal(response, 400, "validation_error")) == ["pay_type"]


async def test_a_salary_goes_with_its_pay_type(account: Account, household: Any) -> None:
    """`salary` {amount, per: year|period} goes with pay_type salary, `pay_rate` with hourly."""
    body = {"employer_id": household["id"], "first_name": "Ana", "last_name": "Diaz"}
    for wrong, field in (
        ({"salary": {"amount": 52_000, "per": "year"}}, "salary"),
        ({"pay_type": "hourly", "salary": {"amount": 52_000, "per": "year"}}, "salary"),
        (YEARLY | {"pay_rate": 25}, "pay_rate"),
        ({"pay_type": "salary", "salary": {"amount": 0, "per": "year"}}, "salary.amount"),
        ({"pay_type": "salary", "salary": {"amount": 52_000, "per": "decade"}}, "salary.per"),
        ({"pay_type": "salary", "salary": 52_000}, "salary"),
        (YEARLY | {"overtime_rate": 24.99}, "overtime_rate"),
        (YEARLY | {"usual_weekly_hours": 169}, "usual_weekly_hours"),
        (YEARLY | {"working_days": ["monday", "monday"]}, "working_days"),
        (YEARLY | {"working_days": []}, "working_days"),
        (YEARLY | {"working_days": ["montag"]}, "working_days[0]"),
    ):
        response = await account.live.post("/employees", body | wrong)
        assert fields(refusal(response, 400, "validation_error")) == [field], wrong
    made = data(await account.live.post("/employees", body | YEARLY), 201)
    assert made["salary"] == {"amount": 52_000.0, "per": "year"}
    assert (made["pay_rate"], made["usual_weekly_hours"], made["incomplete"]) == (None, None, [])
    assert made["overtime_rate"] == 37.5  # 52,000 by 52 weeks and 40 hours, one and a half times
    assert made["working_days"] == ["monday", "tuesday", "wednesday", "thursday", "friday"]
    assert any("exempt from overtime" in each and "778.113" in each for each in made["warnings"])


async def test_without_a_salary_the_employee_is_incomplete(account: Account, household: Any) -> None:
    """A salaried employee without a salary: `incomplete: ["salary"]`, and a payroll is `employee_incomplete`."""
    ana = await add_employee(account.live, household["id"], pay_rate=None, pay_type="salary")
    assert data(await account.live.get(f"/employees/{ana}"))["incomplete"] == ["salary"]
    for path in ("/payroll/preview", "/payroll/run"):
        response = await account.live.post(path, period(household["id"], ana))
        assert refusal(response, 400, "employee_incomplete")["details"]["missing"] == ["salary"]
    bonus = period(household["id"], ana, {"bonus": 100, "pay_salary": False})
    assert data(await account.live.post("/payroll/preview", bonus))["totals"]["gross_pay"] == 100


async def test_another_pay_type_takes_the_former_pay_out(account: Account, household: Any) -> None:
    """PATCH switches between an hourly rate and a salary; the one takes the other out."""
    ana = await add_employee(account.live, household["id"], pay_rate=25, pay_frequency="biweekly")
    path = f"/employees/{ana}"
    response = await patch(account, path, {"salary": {"amount": 2_000, "per": "period"}})
    assert fields(refusal(response, 400, "validation_error")) == ["salary"]
    requested = {"pay_type": "salary", "salary": {"amount": 2_000, "per": "period"}, "usual_weekly_hours": 32}
    changed = data(await patch(account, path, requested))
    assert (changed["pay_type"], changed["pay_rate"], changed["overtime_rate"]) == ("salary", None, 46.88)
    assert any("overtime" in each for each in changed["warnings"])
    raised = data(await patch(account, path, {"salary": {"amount": 2_400, "per": "period"}}))
    assert raised["overtime_rate"] == 56.25  # 2,400 * 26 / 52 / 32, one and a half times
    response = await patch(account, path, {"pay_frequency": "weekly"})
    assert fields(refusal(response, 400, "validation_error")) == ["pay_frequency"]
    response = await patch(account, path, {"pay_rate": 30})
    assert fields(refusal(response, 400, "validation_error")) == ["pay_rate"]
    back = data(await patch(account, path, {"pay_type": "hourly"}))
    assert (back["salary"], back["pay_rate"], back["overtime_rate"]) == (None, None, None)
    assert back["incomplete"] == ["pay_rate"]
    hourly = data(await patch(account, path, {"pay_rate": 30}))
    assert (hourly["pay_rate"], hourly["overtime_rate"], hourly["incomplete"]) == (30.0, 45.0, [])


@pytest.mark.parametrize(
    ("frequency", "start", "end", "share"),
    [
        ("weekly", "2026-11-09", "2026-11-15", 1_000.00),
        ("biweekly", "2026-11-02", "2026-11-15", 2_000.00),
        ("semimonthly", "2026-11-01", "2026-11-15", 2_166.67),
        ("monthly", "2026-10-01", "2026-10-31", 4_333.33),
    ],
)
async def test_a_run_without_hours_pays_the_share_of_the_period(
    account: Account, household: Any, salaried: str, frequency: str, start: str, end: str, share: float
) -> None:
    """A run without hours then pays the period's share: weekly 1/52, biweekly 1/26, semimonthly 1/24, monthly 1/12."""
    body = period(
        household["id"], salaried, pay_frequency=frequency, pay_period_start=start, pay_period_end=end
    )
    preview = data(await account.live.post("/payroll/preview", body))
    ran = data(await account.live.post("/payroll/run", body))
    for answer in (preview, ran, data(await account.live.get(f"/payroll/{ran['payroll_id']}"))):
        paycheck = answer["employees"][0]
        assert paycheck["gross_pay"] == pytest.approx(share, abs=0.011)
        earnings = paycheck["earnings"]
        assert (earnings["regular_pay"], earnings["regular_hours"]) == (paycheck["gross_pay"], 0)
        assert earnings["salary"]["full_period_pay"] == earnings["salary"]["pay"] == paycheck["gross_pay"]
        assert earnings["salary"]["prorated"] is False
        assert earnings["salary"]["regular_rate"] == 25.0
    assert ran["employees"][0]["net_pay"] == preview["employees"][0]["net_pay"]


async def test_a_salary_for_each_period_is_paid_as_it_is(account: Account, household: Any) -> None:
    """`per: period`: each full period pays the amount, and only at the employee's own frequency."""
    salary = {"pay_type": "salary", "salary": {"amount": 812.34, "per": "period"}}
    ana = await add_employee(
        account.live,
        household["id"],
        pay_rate=None,
        pay_frequency="weekly",
        start_date="2026-01-05",
        **salary,
    )
    preview = data(await account.live.post("/payroll/preview", period(household["id"], ana)))
    assert preview["totals"]["gross_pay"] == 812.34
    two_weeks = period(household["id"], ana, pay_frequency="biweekly", pay_period_start="2026-11-02")
    response = await account.live.post("/payroll/preview", two_weeks)
    assert fields(refusal(response, 400, "validation_error")) == ["pay_frequency"]


@pytest.mark.parametrize(
    ("start_date", "end_date", "unpaid", "paid_days", "pay"),
    [
        ("2026-11-11", None, 0, 3, 600.00),
        ("2026-01-05", "2026-11-10", 0, 2, 400.00),
        ("2026-01-05", None, 1, 4, 800.00),
        ("2026-01-05", None, 0.5, 4.5, 900.00),
        ("2026-11-10", "2026-11-12", 1, 2, 400.00),
    ],
)
async def test_a_period_is_prorated_by_working_days(
    account: Account,
    household: Any,
    start_date: str,
    end_date: str | None,
    unpaid: float,
    paid_days: float,
    pay: float,
) -> None:
    """A period with a start, an end or unpaid days inside is prorated by the working days, which the preview shows."""
    ana = await add_employee(
        account.live, household["id"], pay_rate=None, pay_frequency="weekly", start_date=start_date, **YEARLY
    )
    if end_date is not None:
        data(await account.live.post(f"/employees/{ana}/terminate", {"end_date": end_date}))
    body = period(household["id"], ana, {"unpaid_days": unpaid})
    preview = data(await account.live.post("/payroll/preview", body))
    ran = data(await account.live.post("/payroll/run", body))
    for answer in (preview, ran):
        paycheck = answer["employees"][0]
        assert paycheck["gross_pay"] == pay
        salary = paycheck["earnings"]["salary"]
        assert (salary["paid_days"], salary["working_days"], salary["unpaid_days"]) == (paid_days, 5, unpaid)
        assert salary["prorated"] is True
        assert any("prorated" in each for each in paycheck["warnings"])


async def test_unpaid_days_are_working_days_of_a_salary(
    account: Account, household: Any, salaried: str
) -> None:
    """`unpaid_days` are at most the period's working days, and go with a salary."""
    hourly = await add_employee(account.live, household["id"], first_name="Eva", pay_rate=20)
    for employee, entry, field in (
        (salaried, {"unpaid_days": 5.5}, "unpaid_days"),
        (salaried, {"unpaid_days": 5}, "unpaid_days"),
        (salaried, {"unpaid_days": 0.125}, "unpaid_days"),
        (salaried, {"unpaid_days": 1, "bonus": 50, "pay_salary": False}, "unpaid_days"),
        (hourly, {"regular_hours": 10, "unpaid_days": 1}, "unpaid_days"),
    ):
        response = await account.live.post("/payroll/preview", period(household["id"], employee, entry))
        assert fields(refusal(response, 400, "validation_error")) == [f"employees[0].{field}"]


async def test_a_salary_is_paid_once_for_its_period(account: Account, household: Any, salaried: str) -> None:
    """A period's salary is paid once; `pay_salary: false` pays a bonus beside it."""
    body = period(household["id"], salaried)
    paid = data(await account.live.post("/payroll/run", body))
    for entry in ({}, {"bonus": 100}, {"regular_hours": 5, "pay_salary": False}):
        response = await account.live.post("/payroll/run", period(household["id"], salaried, entry))
        refusal(response, 409, "payroll_overlap")
    bonus = period(household["id"], salaried, {"bonus": 100, "pay_salary": False})
    beside = data(await account.live.post("/payroll/run", bonus))["employees"][0]
    assert (beside["gross_pay"], "salary" in beside["earnings"]) == (100, False)
    assert any("the salary" in each for each in beside["warnings"])
    data(await account.live.post(f"/payroll/{paid['payroll_id']}/void", {}))
    data(await account.live.post("/payroll/run", body))


async def test_overtime_is_paid_on_top_of_a_salary(account: Account, household: Any, salaried: str) -> None:
    """Overtime hours are paid on top at the overtime rate; regular hours are compared with the law, and not paid."""
    worked = period(household["id"], salaried, {"regular_hours": 40, "overtime_hours": 4})
    paycheck = data(await account.live.post("/payroll/preview", worked))["employees"][0]
    assert (paycheck["earnings"]["regular_pay"], paycheck["earnings"]["overtime_pay"]) == (1_000.0, 150.0)
    assert paycheck["earnings"]["regular_hours"] == 40
    assert not any("exempt" in each for each in paycheck["warnings"])
    long = period(household["id"], salaried, {"regular_hours": 50})
    paycheck = data(await account.live.post("/payroll/preview", long))["employees"][0]
    assert paycheck["gross_pay"] == 1_000.0
    (told,) = [each for each in paycheck["warnings"] if "exempt from overtime" in each]
    assert "29 U.S.C. 207 (l)" in told


async def test_usual_weekly_hours_are_held_against_the_law(account: Account, household: Any) -> None:
    """The minimum wage and overtime go by the usual weekly hours; where none are set, 40 are assumed and told."""
    low = {"pay_type": "salary", "salary": {"amount": 20_000, "per": "year"}, "start_date": "2026-01-05"}
    ana = await add_employee(account.live, household["id"], pay_rate=None, **low)
    body = period(household["id"], ana)
    told = data(await account.live.post("/payroll/preview", body))["employees"][0]["warnings"]
    assert any("below the minimum wage" in each and "9.62" in each for each in told)
    assert any("40 hours a week are assumed" in each for each in told)
    data(await patch(account, f"/employees/{ana}", {"usual_weekly_hours": 15}))
    told = data(await account.live.post("/payroll/preview", body))["employees"][0]["warnings"]
    assert not any("minimum wage" in each for each in told)
    data(await patch(account, f"/employees/{ana}", {"usual_weekly_hours": 60}))
    told = data(await account.live.post("/payroll/preview", body))["employees"][0]["warnings"]
    assert any("exempt from overtime" in each for each in told)


async def test_lists_show_the_salary(account: Account, household: Any, salaried: str) -> None:
    """Wherever pay is listed, a salary stands beside the hourly rate."""
    (listed,) = data(await account.live.get("/employees", employer_id=household["id"]))
    (home,) = [
        each for each in data(await account.live.get("/households")) if each["employer_id"] == household["id"]
    ]
    for shown in (listed, home["employees"][0]):
        assert (shown["pay_type"], shown["pay_rate"]) == ("salary", None)
        assert shown["salary"] == {"amount": 52_000.0, "per": "year"}
