"""Payrolls through the API: preview equals run, the year to date grows, and nobody is paid twice."""

import asyncio
import json
from decimal import Decimal

import pytest

from tests.http.api import Account
from tests.worlds.households import add_employee, add_household, payroll_of


def exact(response):
    """The data of an answer with every number as a Decimal."""
    return json.loads(response.text, parse_float=Decimal)["data"]


async def test_preview_equals_run_and_creates_nothing(account: Account, employer_id, employee_id, counts):
    body = payroll_of(employer_id, employee_id)
    before = counts()
    preview = await account.live.post("/payroll/preview", body)
    assert preview.status_code == 200, preview.text
    assert counts() == before
    run = await account.live.post("/payroll/run", body)
    assert run.status_code == 200, run.text
    previewed, ran = exact(preview), exact(run)
    assert previewed.pop("preview") is True
    assert "/payroll/run" in previewed.pop("next_step")
    assert previewed.pop("preview_token")
    assert ran.pop("payroll_id") == ran.pop("id")
    assert ran.pop("status") == "completed"
    assert previewed == ran


async def test_run_answers_every_figure_of_the_contract(account: Account, employer_id, employee_id):
    body = payroll_of(employer_id, employee_id)
    body["employees"][0] |= {"overtime_hours": 2.5, "bonus": 50, "other_earnings": 10.25}
    data = exact(await account.live.post("/payroll/run", body))
    (paycheck,) = data["employees"]
    assert paycheck["earnings"] == {
        "regular_hours": 40,
        "regular_pay": Decimal("1140.00"),
        "overtime_hours": Decimal("2.5"),
        "overtime_pay": Decimal("106.88"),  # 42.75 x 2.5 = 106.875
        "bonus": 50,
        "other_earnings": Decimal("10.25"),
    }
    assert paycheck["gross_pay"] == Decimal("1307.13")
    lines = {line["code"]: line for line in paycheck["lines"]}
    assert lines["US-SS-EE"]["amount"] == Decimal("81.04")
    assert lines["CA-SDI-EE"]["amount"] == Decimal("16.99")
    assert paycheck["employee_taxes"]["total"] == sum(
        line["amount"] for line in paycheck["lines"] if line["payer"] == "employee"
    )
    assert paycheck["employer_taxes"]["total"] == sum(
        line["amount"] for line in paycheck["lines"] if line["payer"] == "employer"
    )
    assert paycheck["net_pay"] == paycheck["gross_pay"] - paycheck["employee_taxes"]["total"]
    assert paycheck["total_cost"] == paycheck["gross_pay"] + paycheck["employer_taxes"]["total"]
    assert data["totals"] == {
        "gross_pay": paycheck["gross_pay"],
        "total_deductions": paycheck["employee_taxes"]["total"],
        "total_net_pay": paycheck["net_pay"],
        "total_employer_taxes": paycheck["employer_taxes"]["total"],
        "total_cost": paycheck["total_cost"],
    }
    assert paycheck["voluntary_set_aside"] == {"amount": 0, "source": "none", "balance": 0}
    assert "scheduled_send_at" not in data
    assert "is_estimated" not in data


async def test_a_payroll_reads_back_as_it_was_run(account: Account, employer_id, employee_id):
    run = exact(
        await account.live.post("/payroll/run", payroll_of(employer_id, employee_id, notes="first week"))
    )
    read = exact(await account.live.get(f"/payroll/{run['payroll_id']}"))
    told = [each | {"status": "paid", "outcome": None} for each in run["employees"]]
    assert {key: read[key] for key in run} == run | {"employees": told}
    assert read["notes"] == "first week"
    assert [change["status"] for change in read["status_history"]] == ["completed"]
    assert [each["kind"] for each in read["documents"]] == ["paystub"] * len(run["employees"])


async def test_year_to_date_grows_and_the_futa_wage_base_ends(account: Account, employer_id, employee_id):
    gross = futa = Decimal(0)
    for week in range(8):
        start, end = (
            f"2026-{9 + week // 4:02}-{1 + 7 * (week % 4):02}",
            f"2026-{9 + week // 4:02}-{7 + 7 * (week % 4):02}",
        )
        body = payroll_of(employer_id, employee_id, pay_period_start=start, pay_period_end=end, pay_date=end)
        data = exact(await account.live.post("/payroll/run", body))
        (paycheck,) = data["employees"]
        gross += paycheck["gross_pay"]
        line = next(line for line in paycheck["lines"] if line["code"] == "US-FUTA")
        futa += line["amount"]
        assert paycheck["ytd"]["gross_pay"] == gross
        assert line["ytd_amount"] == futa
    assert gross == Decimal("9120.00")
    assert futa == Decimal("42.00")


async def test_a_new_year_starts_from_nothing(account: Account):
    employer_id = await add_household(account.live, state="TX")
    employee_id = await add_employee(account.live, employer_id, start_date="2025-01-06")
    await account.live.post("/payroll/run", payroll_of(employer_id, employee_id))
    body = payroll_of(
        employer_id,
        employee_id,
        pay_period_start="2025-12-15",
        pay_period_end="2025-12-21",
        pay_date="2025-12-24",
    )
    response = await account.live.post("/payroll/run", body)
    data = exact(response)
    assert data["rulebook"]["tax_year"] == 2025
    (paycheck,) = data["employees"]
    assert paycheck["ytd"]["gross_pay"] == paycheck["gross_pay"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-11-09", "2026-11-15"),
        ("2026-11-15", "2026-11-21"),
        ("2026-11-01", "2026-11-09"),
        ("2026-11-10", "2026-11-11"),
    ],
)
async def test_overlapping_pay_periods_are_refused(
    account: Account, employer_id, employee_id, start, end, counts
):
    first = exact(await account.live.post("/payroll/run", payroll_of(employer_id, employee_id)))
    before = counts()
    body = payroll_of(employer_id, employee_id, pay_period_start=start, pay_period_end=end)
    body["employees"][0]["regular_hours"] = 8
    for path in ("/payroll/preview", "/payroll/run"):
        response = await account.live.post(path, body)
        assert response.status_code == 409
        error = response.json()["error"]
        assert error["code"] == "payroll_overlap"
        assert error["details"]["payroll_id"] == first["payroll_id"]
    assert counts() == before


async def test_two_runs_at_the_same_moment_pay_once(account: Account, employer_id, employee_id):
    body = payroll_of(employer_id, employee_id)
    responses = await asyncio.gather(*(account.live.post("/payroll/run", body) for _ in range(10)))
    assert sorted(response.status_code for response in responses) == [200] + [409] * 9


async def test_runs_for_one_employee_follow_each_other(account: Account, employer_id, employee_id):
    """Each of many simultaneous payrolls sees the wages of those before it: the year's sums have no hole."""
    bodies = [
        payroll_of(
            employer_id,
            employee_id,
            pay_period_start=f"2026-10-{day:02}",
            pay_period_end=f"2026-10-{day:02}",
            pay_date="2026-10-30",
        )
        for day in range(1, 11)
    ]
    for body in bodies:
        body["employees"][0]["regular_hours"] = 8
    responses = await asyncio.gather(*(account.live.post("/payroll/run", body) for body in bodies))
    assert {response.status_code for response in responses} == {200}
    sums = sorted(exact(response)["employees"][0]["ytd"]["gross_pay"] for response in responses)
    assert sums == [Decimal(228) * count for count in range(1, 11)]


async def test_fifty_identical_posts_create_one_payroll(account: Account, employer_id, employee_id, counts):
    body = payroll_of(employer_id, employee_id)
    before = counts()["payrolls"]
    responses = await asyncio.gather(
        *(account.live.post("/payroll/run", body, idempotency_key="payday") for _ in range(50))
    )
    assert {response.status_code for response in responses} == {200}
    assert len({response.text for response in responses}) == 1
    assert sum(response.headers.get("Idempotent-Replayed") == "true" for response in responses) == 49
    assert counts()["payrolls"] == before + 1
    other = await account.live.post("/payroll/run", body | {"notes": "other"}, idempotency_key="payday")
    assert other.status_code == 409
    assert other.json()["error"]["code"] == "idempotency_conflict"


async def test_direct_deposit_answers_clearly(account: Account, employer_id, employee_id, counts):
    body = payroll_of(employer_id, employee_id)
    body["employees"][0]["payment_method"] = "direct_deposit"
    del body["pay_date"]
    before = counts()
    response = await account.live.post("/payroll/run", body)
    assert response.status_code == 412
    assert response.json()["error"]["code"] == "direct_deposit_unavailable"
    assert counts() == before


async def test_the_pay_date_defaults_to_today_or_the_period_end(account: Account, employer_id, employee_id):
    body = payroll_of(employer_id, employee_id, pay_date=None)
    data = exact(await account.live.post("/payroll/preview", body))
    assert data["pay_date_defaulted"] is True
    assert data["pay_period"]["pay_date"] == "2026-11-20"
    body |= {"pay_period_start": "2026-11-20", "pay_period_end": "2026-11-26"}
    data = exact(await account.live.post("/payroll/preview", body))
    assert data["pay_period"]["pay_date"] == "2026-11-26"


async def test_set_aside_comes_out_of_net_pay_and_touches_no_tax(account: Account, employer_id, employee_id):
    body = payroll_of(employer_id, employee_id)
    plain = exact(await account.live.post("/payroll/preview", body))["employees"][0]
    body["employees"][0]["voluntary_set_aside"] = {"amount": 100}
    kept = exact(await account.live.post("/payroll/run", body))["employees"][0]
    assert kept["lines"] == plain["lines"]
    assert kept["net_pay"] == plain["net_pay"] - 100
    assert kept["voluntary_set_aside"] == {"amount": 100, "source": "override", "balance": 100}
    body = payroll_of(employer_id, employee_id, pay_period_start="2026-11-16", pay_period_end="2026-11-20")
    body["employees"][0]["voluntary_set_aside"] = {"amount": 9999}
    limited = exact(await account.live.post("/payroll/preview", body))["employees"][0]
    assert limited["net_pay"] == 0
    assert any("set aside" in warning for warning in limited["warnings"])


async def test_who_may_be_paid(account: Account, employer_id, employee_id, counts):
    later = await add_employee(account.live, employer_id, first_name="Ines", start_date="2026-12-01")
    elsewhere = await add_household(account.live, first_name="Nora", state="NY")
    stranger = await add_employee(account.live, elsewhere, first_name="Lea")
    before = counts()
    twice = payroll_of(employer_id, employee_id)
    twice["employees"] *= 2
    for body, code in (
        (twice, "duplicate_employee"),
        (payroll_of(employer_id, stranger), "employee_not_in_household"),
        (payroll_of(employer_id, later), "employee_not_started"),
    ):
        response = await account.live.post("/payroll/run", body)
        assert response.status_code == 400, response.text
        error = response.json()["error"]
        assert error["code"] == code
        assert error["example"]["employees"]
        assert error["docs_url"]
    assert counts() == before


async def test_another_account_sees_nothing_of_it(account: Account, new_account, employer_id, employee_id):
    other = await new_account("Other family")
    run = exact(await account.live.post("/payroll/run", payroll_of(employer_id, employee_id)))
    assert (await other.live.get(f"/payroll/{run['payroll_id']}")).status_code == 404
    assert exact(await other.live.get("/payrolls")) == []
    assert (await account.test.get(f"/payroll/{run['payroll_id']}")).status_code == 404
    response = await other.live.post("/payroll/run", payroll_of(employer_id, employee_id))
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "household_forbidden"


async def test_payrolls_are_listed_newest_first_in_pages(account: Account, employer_id, employee_id):
    ids = []
    for day in range(1, 6):
        body = payroll_of(
            employer_id,
            employee_id,
            pay_period_start=f"2026-10-0{day}",
            pay_period_end=f"2026-10-0{day}",
            pay_date=f"2026-10-1{day}",
        )
        body["employees"][0]["regular_hours"] = 8
        ids.append(exact(await account.live.post("/payroll/run", body))["payroll_id"])
    first = (await account.live.get("/payrolls", limit=2)).json()
    second = (await account.live.get("/payrolls", limit=2, cursor=first["meta"]["next_cursor"])).json()
    third = (await account.live.get("/payrolls", limit=2, cursor=second["meta"]["next_cursor"])).json()
    listed = [item["payroll_id"] for page in (first, second, third) for item in page["data"]]
    assert listed == ids[::-1]
    assert third["meta"]["next_cursor"] is None
    window = (await account.live.get("/payrolls", **{"from": "2026-10-12", "to": "2026-10-13"})).json()[
        "data"
    ]
    assert [item["payroll_id"] for item in window] == [ids[2], ids[1]]
    assert window[0]["employee_count"] == 1
    assert (await account.live.get("/payrolls", employee_id=employer_id)).json()["data"] == []


async def test_a_state_without_rules_answers_clearly(account: Account):
    for state in ("PR", "ZZ"):
        response = await account.live.post("/calculate", {"state": state, "annual_wages": 35000})
        assert response.status_code == 400
        assert response.json()["error"]["details"][0]["field"] == "state"


BAD = [
    ("regular_hours", {"regular_hours": -1}),
    ("regular_hours", {"regular_hours": 1e308}),
    ("regular_hours", {"regular_hours": "40"}),
    ("regular_hours", {"regular_hours": -0.5}),
    ("regular_hours", {"regular_hours": 0}),
    ("regular_hours", {"regular_hours": 500}),
    ("regular_hours", {"regular_hours": True}),
    ("bonus", {"bonus": -0.01}),
    ("bonus", {"bonus": 1.234}),
    ("bonus", {"bonus": 10_000_000_000}),
    ("payment_method", {"payment_method": "bitcoin"}),
    ("employee_id", {"employee_id": "rosa"}),
    ("ssn", {"ssn": "123-45-6789"}),
    ("voluntary_set_aside.amount", {"voluntary_set_aside": {"amount": 10_000}}),
]


@pytest.mark.parametrize(("field", "change"), BAD)
async def test_bad_pay_is_refused_by_name(account: Account, employer_id, employee_id, counts, field, change):
    body = payroll_of(employer_id, employee_id)
    body["employees"][0] |= change
    before = counts()
    response = await account.live.post_raw("/payroll/run", json.dumps(body).encode())
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["code"] == "validation_error"
    assert error["details"][0]["field"] == f"employees[0].{field}"
    assert counts() == before


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("pay_period_start", {"pay_period_start": "2026-02-30"}),
        ("pay_period_start", {"pay_period_start": 20261101}),
        ("pay_period_end", {"pay_period_end": "2026-11-01"}),
        ("pay_period_end", {"pay_period_end": "2028-11-01"}),
        ("pay_date", {"pay_date": "2026-11-01"}),
        ("pay_date", {"pay_date": "yesterday"}),
        ("pay_frequency", {"pay_frequency": "daily"}),
        ("employees", {"employees": []}),
        ("employees", {"employees": "all"}),
        ("notes", {"notes": "x" * 501}),
        ("surprise", {"surprise": 1}),
        ("employer_id", {"employer_id": 5}),
    ],
)
async def test_bad_payrolls_are_refused_by_name(
    account: Account, employer_id, employee_id, counts, field, change
):
    before = counts()
    for path in ("/payroll/preview", "/payroll/run"):
        response = await account.live.post(path, payroll_of(employer_id, employee_id) | change)
        assert response.status_code == 400, response.text
        error = response.json()["error"]
        assert error["details"][0]["field"] == field
        assert error["example"]["pay_period_start"]
    assert counts() == before


async def test_a_year_without_rules_is_refused(account: Account, employer_id, employee_id):
    body = payroll_of(
        employer_id,
        employee_id,
        pay_period_start="2023-01-02",
        pay_period_end="2023-01-08",
        pay_date="2023-01-09",
    )
    employee = await add_employee(account.live, employer_id, first_name="Old", start_date="2020-01-01")
    body["employees"][0]["employee_id"] = employee
    response = await account.live.post("/payroll/run", body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "unsupported_tax_year"


async def test_an_odd_retired_field_is_ignored(account: Account, employer_id, employee_id):
    response = await account.live.post(
        "/payroll/preview", payroll_of(employer_id, employee_id, off_cycle=True)
    )
    assert response.status_code == 200


async def test_a_payroll_under_provisional_figures_is_paid_and_names_them(
    account: Account, employer_id, employee_id
):
    body = payroll_of(
        employer_id,
        employee_id,
        pay_period_start="2026-12-28",
        pay_period_end="2027-01-03",
        pay_date="2027-01-05",
    )
    preview = exact(await account.live.post("/payroll/preview", body))
    assert "is_estimated" not in preview
    assert "US-FIT" in preview["provisional"]
    assert "US-SS-EE" not in preview["provisional"]
    assert any("2027" in warning for warning in preview["employees"][0]["warnings"])
    ran = exact(await account.live.post("/payroll/run", body))
    assert ran["status"] == "completed"
    assert ran["provisional"] == preview["provisional"]
    assert ran["totals"] == preview["totals"]
    read = exact(await account.live.get(f"/payroll/{ran['payroll_id']}"))
    assert read["provisional"] == preview["provisional"]
