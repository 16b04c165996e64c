"""Adding employees: what is taken, what is filled in, what is refused."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.employees.certificates import federal_certificate, state_entries
from hearthpay.taxes import FederalCertificate, Pre2020Certificate
from tests.http.api import MARIA, ROSA, Account, data, fields, refusal

NO_W_4 = {
    "elected": True,
    "filing_status": "single",
    "multiple_jobs": False,
    "dependents_credit": 0,
    "other_income": 0,
    "deductions": 0,
    "extra_withholding": 0,
    "exempt": False,
    "pre_2020": None,
    "nonresident_alien": False,
}
Counts = Callable[[], dict[str, int]]


async def test_an_employee_is_created_with_the_defaults_of_the_household(
    account: Account, household: dict[str, Any]
) -> None:
    created = data(await account.live.post("/employees", ROSA), 201)

    assert created["id"] == created["employee_id"] == created["person_id"]
    assert created | {"id": "", "employee_id": "", "person_id": ""} == {
        "id": "",
        "employee_id": "",
        "person_id": "",
        "earlier_employments": [],
        "warnings": [],
        "warning_codes": [],
        "metadata": {},
        "employer_id": household["id"],
        "first_name": "Rosa",
        "last_name": "Diaz",
        "name": "Rosa Diaz",
        "status": "active",
        "work_state": "CA",
        "residence_state": "CA",
        "pay_type": "hourly",
        "salary": None,
        "usual_weekly_hours": None,
        "working_days": ["monday", "tuesday", "wednesday", "thursday", "friday"],
        "pay_rate": 28.5,
        "overtime_rate": 42.75,
        "pay_frequency": "biweekly",
        "start_date": "2026-01-05",
        "end_date": None,
        "payment_method": "check",
        "onboarding": {"bank_account": "missing", "tax_info": "missing"},
        "created_at": "2026-11-20T15:00:00Z",
        "incomplete": [],
        "email": None,
        "relationship": "none",
        "birth_year": None,
        "lives_in": False,
        "city": None,
        "address": None,
        "language": "en",
        "localities": [],
        "federal_withholding": NO_W_4,
        "state_withholding": {},
    }


async def test_a_name_is_enough(account: Account, household: dict[str, Any], clock: FixedClock) -> None:
    created = data(await account.live.post("/employees", {"first_name": "Rosa", "last_name": "Diaz"}), 201)
    assert created["incomplete"] == ["pay_rate"]
    assert created["pay_rate"] is created["overtime_rate"] is None
    assert created["start_date"] == clock.today().isoformat()
    headers = account.live.headers()
    for change, rates in (
        ({"city": "Fresno"}, (None, None)),
        ({"overtime_rate": 50}, (None, 50)),
        ({"overtime_rate": None}, (None, None)),
        ({"pay_rate": 20}, (20, 30)),
        ({"pay_rate": 22}, (22, 33)),
    ):
        answer = await account.live.client.patch(
            f"/api/v1/employees/{created['id']}", json=change, headers=headers
        )
        now = data(answer)
        assert (now["pay_rate"], now["overtime_rate"]) == rates
        assert now["incomplete"] == ([] if rates[0] else ["pay_rate"])
        assert now["city"] == "Fresno"
        assert data(await account.live.get(f"/employees/{created['id']}")) == now


async def test_every_field_is_kept(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    body = {
        **ROSA,
        "employer_id": household["id"],
        "email": "rosa@example.com",
        "overtime_rate": 50,
        "pay_frequency": "weekly",
        "work_state": "ny",
        "residence_state": "NJ",
        "city": "Jersey City",
        "locality": "nyc",
        "payment_method": "cash",
        "relationship": "parent",
        "birth_year": 1961,
        "lives_in": True,
        "federal_withholding": {"filing_status": "married", "extra_withholding": 12.5, "multiple_jobs": True},
        "state_withholding": {"filing_status": "married", "allowances": 2, "additional_withholding": 7.25},
    }
    created = data(await account.live.post("/employees", body), 201)
    for name in (
        "pay_frequency",
        "residence_state",
        "payment_method",
        "email",
        "city",
        "relationship",
        "birth_year",
    ):
        assert created[name] == body[name]
    assert created["localities"] == ["NYC"]
    assert created["federal_withholding"] == NO_W_4 | body["federal_withholding"]
    assert created["state_withholding"] == body["state_withholding"]
    assert data(await account.live.get(f"/employees/{created['id']}")) == created
    assert (created["work_state"], created["overtime_rate"]) == ("NY", 50)
    row = owner_connection.execute(
        "SELECT email, localities, relationship, birth_year, lives_in, pay_rate_cents, "
        "federal_withholding->>'extra_withholding', federal_withholding->'elected', "
        "state_withholding FROM employees"
    ).fetchone()
    assert row == (
        "rosa@example.com",
        ["NYC"],
        "parent",
        1961,
        True,
        2850,
        "12.50",
        True,
        {"filing_status": "married", "allowances": 2, "additional_withholding": "7.25"},
    )


async def test_certificates_come_back_as_the_engine_takes_them(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    body = {
        **ROSA,
        "federal_withholding": {
            "deductions": 1000.5,
            "pre_2020": {"marital_status": "married", "allowances": 3},
        },
        "state_withholding": {"regular_allowances": 1, "additional_withholding": 5, "exempt": False},
    }
    data(await account.live.post("/employees", body), 201)
    row = owner_connection.execute("SELECT federal_withholding, state_withholding FROM employees").fetchone()
    assert row is not None
    assert federal_certificate(row[0]) == FederalCertificate(
        deductions=Decimal("1000.50"), pre_2020=Pre2020Certificate("married", 3)
    )
    assert state_entries(row[1]) == {"regular_allowances": 1, "additional_withholding": 5, "exempt": False}
    assert federal_certificate({}) == FederalCertificate()


@pytest.mark.parametrize(
    ("pay_rate", "overtime_rate"),
    [(20.01, 30.02), (0.01, 0.02), (33.33, 50.0), (19.99, 29.99), (9999.99, 14999.99)],
)
async def test_overtime_defaults_to_one_and_a_half_times_rounded_half_up(
    account: Account, household: dict[str, Any], pay_rate: float, overtime_rate: float
) -> None:
    created = data(await account.live.post("/employees", {**ROSA, "pay_rate": pay_rate}), 201)
    assert created["overtime_rate"] == overtime_rate


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"overtime_rate": 20}, "overtime_rate"),
        ({"pay_rate": 10_000}, "pay_rate"),
        ({"birth_year": 2027}, "birth_year"),
        ({"birth_year": 1850}, "birth_year"),
        ({"relationship": "friend"}, "relationship"),
        ({"locality": "Springfield"}, "locality"),
        ({"state_withholding": {"nonsense": 1}}, "state_withholding.nonsense"),
        ({"state_withholding": {"filing_status": "it's complicated"}}, "state_withholding.filing_status"),
        ({"state_withholding": {"regular_allowances": -1}}, "state_withholding.regular_allowances"),
        ({"state_withholding": {"regular_allowances": 1.5}}, "state_withholding.regular_allowances"),
        ({"state_withholding": {"exempt": "yes"}}, "state_withholding.exempt"),
        (
            {"work_state": "TX", "state_withholding": {"filing_status": "single"}},
            "state_withholding.filing_status",
        ),
        ({"federal_withholding": {"filing_status": "widowed"}}, "federal_withholding.filing_status"),
        (
            {"federal_withholding": {"pre_2020": {"allowances": -1}}},
            "federal_withholding.pre_2020.allowances",
        ),
    ],
)
async def test_what_the_tax_engine_could_not_pay_by_is_refused_naming_the_field(
    account: Account, household: dict[str, Any], counts: Counts, change: dict[str, Any], field: str
) -> None:
    before = counts()
    error = refusal(await account.live.post("/employees", {**ROSA, **change}), 400, "validation_error")
    assert fields(error) == [field]
    assert counts() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ssn", "078-05-1120"),
        ("social_security_number", "078051120"),
        ("itin", "900-70-0000"),
        ("account_number", "000123456789"),
        ("routing_number", "021000021"),
        ("bank_account", {"routing": "021000021"}),
        ("first_name", "Rosa 078-05-1120"),
        ("last_name", "078051120"),
        ("city", "021000021"),
        ("state_withholding", {"note": "078-05-1120"}),
        ("federal_withholding", {"ssn": "078-05-1120"}),
    ],
)
async def test_secret_numbers_are_sent_to_the_portal(
    account: Account, household: dict[str, Any], counts: Counts, field: str, value: object
) -> None:
    before = counts()
    error = refusal(await account.live.post("/employees", {**ROSA, field: value}), 400, "validation_error")
    (problem,) = error["details"]
    assert problem["field"].startswith(field)
    assert "portal" in problem["message"]
    assert counts() == before


async def test_a_second_active_employee_of_the_same_name_is_refused(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    first = data(await account.live.post("/employees", {**ROSA, "email": "rosa@example.com"}), 201)
    for change in (
        {},
        {"first_name": "ROSA", "last_name": " diaz "},
        {"email": "Rosa@Example.com"},
        {"pay_rate": 30},
    ):
        error = refusal(await account.live.post("/employees", {**ROSA, **change}), 400, "duplicate_employee")
        assert error["details"] == {"employee_id": first["id"]}
    data(await account.live.post("/employees", {**ROSA, "email": "other.rosa@example.com"}), 201)
    owner_connection.execute("UPDATE employees SET status = 'terminated'")
    data(await account.live.post("/employees", ROSA), 201)


async def test_the_same_name_in_another_household_is_another_person(account: Account) -> None:
    for _ in range(2):
        employer = data(await account.live.post("/employers", MARIA), 201)
        data(await account.live.post("/employees", {**ROSA, "employer_id": employer["id"]}), 201)


async def test_equal_requests_at_once_create_one(
    account: Account, household: dict[str, Any], counts: Counts
) -> None:
    answers = await asyncio.gather(*(account.live.post("/employees", ROSA) for _ in range(12)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 11
    assert counts()["employees"] == 1


async def test_creating_an_employee_leaves_a_trace(
    account: Account, household: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    response = await account.live.post("/employees", ROSA, idempotency_key="k")
    created = data(response, 201)
    await account.live.post("/employees", ROSA, idempotency_key="k")
    rows = owner_connection.execute(
        "SELECT actor_kind, actor_id, employer_id, sandbox, subject_id, request_id "
        "FROM audit_log WHERE action = 'employee.create'"
    ).fetchall()
    assert rows == [
        (
            "key",
            account.live.key_id,
            UUID(household["id"]),
            False,
            UUID(created["id"]),
            response.headers["X-Request-Id"],
        )
    ]


async def test_the_federal_tax_of_one_paycheck_is_no_setting_of_an_employee(
    account: Account, household, counts
):
    """Kept with the employee, it would take the place of the tax that every later payroll calculates."""
    body = ROSA | {
        "employer_id": household["id"],
        "work_state": "AL",
        "state_withholding": {"federal_income_tax_withheld_this_period": 35.19},
    }
    before = counts()
    refused = await account.live.post("/employees", body)
    assert refused.status_code == 400, refused.text
    problem = refused.json()["error"]["details"][0]
    assert problem["field"] == "state_withholding.federal_income_tax_withheld_this_period"
    assert counts() == before
