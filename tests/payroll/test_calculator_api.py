"""`POST /calculate` and `GET /threshold` through the API."""

import json
from decimal import Decimal

import pytest

from tests.http.api import Account, NewKey


def exact(response):
    return json.loads(response.text, parse_float=Decimal)["data"]


async def test_calculate_adds_up(account: Account):
    response = await account.live.post("/calculate", {"state": "ca", "annual_wages": 35000})
    assert response.status_code == 200, response.text
    data = exact(response)
    assert data["state"] == "CA"
    assert data["state_name"] == "California"
    employer = data["employer_taxes"]
    assert employer["social_security"] == Decimal("2170.00")
    assert employer["medicare"] == Decimal("507.50")
    assert employer["futa"] == Decimal("42.00")
    assert employer["state_unemployment"] == Decimal("238.00")
    parts = ("social_security", "medicare", "futa", "state_unemployment", "other")
    assert employer["total"] == sum(employer[part] for part in parts)
    assert employer["effective_rate"] == (employer["total"] / 350).quantize(Decimal("0.01"))
    employee = data["employee_taxes_estimate"]
    parts = ("federal_income_tax", "state_income_tax", "social_security", "medicare", "other")
    assert employee["total"] == sum(employee[part] for part in parts)
    paycheck = data["per_paycheck"]
    assert paycheck["gross_pay"] == Decimal("1346.15")
    assert paycheck["net_pay"] == paycheck["gross_pay"] - paycheck["employee_taxes"]
    assert paycheck["total_cost"] == paycheck["gross_pay"] + paycheck["employer_taxes"]
    assert data["threshold"]["federal_status"] == "above"
    assert data["threshold"]["state_suta_threshold"] == 1000
    assert any("new-employer" in limitation for limitation in data["limitations"])
    assert data["rulebook"]["version"].startswith("2026.")
    assert "reciprocity" not in data


@pytest.mark.parametrize(
    ("wages", "fica", "futa"), [(2999.99, False, False), (3000, True, False), (4000, True, True)]
)
async def test_below_a_threshold_nothing_is_owed(account: Account, wages, fica, futa):
    data = exact(await account.live.post("/calculate", {"state": "TX", "annual_wages": wages}))
    assert bool(data["employer_taxes"]["social_security"]) is fica
    assert bool(data["employer_taxes"]["futa"]) is futa
    assert bool(data["employer_taxes"]["state_unemployment"]) is futa


async def test_reciprocity_moves_the_income_tax_home(account: Account):
    body = {"state": "NJ", "annual_wages": 40000, "residence_state": "PA"}
    without = exact(await account.live.post("/calculate", body))
    with_certificate = exact(
        await account.live.post("/calculate", body | {"reciprocity_certificate_on_file": True})
    )
    assert without["reciprocity"] == {"applied": False, "certificate": "NJ-165", "residence_state": "PA"}
    assert with_certificate["reciprocity"]["applied"] is True
    assert with_certificate["reciprocity"]["certificate"] == "NJ-165"
    codes = {line["code"] for line in with_certificate["lines"]}
    assert "PA-SIT" in codes
    assert "NJ-SIT" not in codes
    assert "NJ-SUI-ER" in codes


async def test_threshold_says_what_starts_where(account: Account):
    data = exact(await account.live.get("/threshold", state="ca", annual_wages="2500"))
    assert data["tax_year"] == 2026
    assert data["federal"]["fica_threshold"] == 3000
    assert data["federal"]["approaching_threshold"] == 2400
    assert data["federal"]["status"] == "approaching"
    assert data["federal"]["action_required"] is False
    assert data["state_threshold"]["threshold_quarterly"] == 750
    assert "1,000" in data["state_threshold"]["explanation"]
    assert data["futa"]["quarterly_threshold"] == 1000


@pytest.mark.parametrize(
    ("year", "threshold"), [(2024, Decimal(2700)), (2025, Decimal(2800)), (2026, Decimal(3000))]
)
@pytest.mark.parametrize(("offset", "status"), [(Decimal("-0.01"), "approaching"), (Decimal(0), "above")])
async def test_the_federal_threshold_by_year(account: Account, year, threshold, offset, status):
    data = exact(
        await account.live.get("/threshold", state="NY", annual_wages=str(threshold + offset), tax_year=year)
    )
    assert data["federal"]["fica_threshold"] == threshold
    assert data["federal"]["status"] == status
    assert data["state_threshold"]["threshold_quarterly"] == 500


CALCULATE = {"state": "CA", "annual_wages": 35000}


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("state", {"annual_wages": 1}),
        ("annual_wages", {"state": "CA"}),
        ("state", CALCULATE | {"state": "ZZ"}),
        ("state", CALCULATE | {"state": 5}),
        ("annual_wages", CALCULATE | {"annual_wages": -1}),
        ("annual_wages", CALCULATE | {"annual_wages": 1_000_000}),
        ("annual_wages", CALCULATE | {"annual_wages": "35000"}),
        ("annual_wages", CALCULATE | {"annual_wages": True}),
        ("annual_wages", CALCULATE | {"annual_wages": 1e308}),
        ("annual_wages", CALCULATE | {"annual_wages": 35000.001}),
        ("pay_frequency", CALCULATE | {"pay_frequency": "daily"}),
        ("filing_status", CALCULATE | {"filing_status": "widowed"}),
        ("residence_state", CALCULATE | {"residence_state": "Ontario"}),
        ("surprise", CALCULATE | {"surprise": 1}),
        ("body", []),
        ("body", None),
    ],
)
async def test_bad_calculations_are_refused_by_name(account: Account, field, body, counts):
    before = counts()
    response = await account.live.post("/calculate", body)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["code"] == "validation_error"
    assert error["details"][0]["field"] == field
    assert error["example"]["state"]
    assert error["docs_url"]
    assert counts() == before


@pytest.mark.parametrize(
    "raw",
    [
        b'{"state": "CA", "annual_wages": NaN}',
        b'{"state": "CA", "annual_wages": Infinity}',
        b'{"state": "\xff", "annual_wages": 1}',
        b"[" * 100 + b"]" * 100,
        b'{"state":' * 100 + b"1" + b"}" * 100,
        b"",
        b"{",
    ],
)
async def test_what_is_not_json_is_refused(account: Account, raw):
    response = await account.live.post_raw("/calculate", raw)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["details"][0]["field"] == "body"


async def test_a_huge_body_is_refused(account: Account):
    response = await account.live.post_raw("/calculate", b'{"state": "' + b"x" * 10_000_000 + b'"}')
    assert response.status_code == 413
    assert response.json()["error"]["details"][0]["field"] == "body"


@pytest.mark.parametrize(
    ("field", "query"),
    [
        ("state", {"annual_wages": 1}),
        ("annual_wages", {"state": "CA"}),
        ("annual_wages", {"state": "CA", "annual_wages": "many"}),
        ("annual_wages", {"state": "CA", "annual_wages": "-1"}),
        ("tax_year", {"state": "CA", "annual_wages": 1, "tax_year": "soon"}),
        ("surprise", {"state": "CA", "annual_wages": 1, "surprise": 1}),
    ],
)
async def test_bad_threshold_checks_are_refused_by_name(account: Account, field, query):
    response = await account.live.get("/threshold", **query)
    assert response.status_code == 400
    assert response.json()["error"]["details"][0]["field"] == field


async def test_a_year_without_thresholds_is_refused(account: Account):
    response = await account.live.get("/threshold", state="CA", annual_wages=1, tax_year=2019)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "unsupported_tax_year"


async def test_it_needs_a_key_with_the_scope(account: Account, new_key: NewKey, client):
    bare = await client.post("/api/v1/calculate", json=CALCULATE)
    assert bare.status_code == 401
    payroll_only = await new_key("Lopez family", scopes=("payroll",))
    response = await payroll_only.post("/calculate", CALCULATE)
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "scope_required"


async def test_an_idempotency_key_replays_a_calculation(account: Account):
    first = await account.live.post("/calculate", CALCULATE, idempotency_key="k")
    second = await account.live.post("/calculate", CALCULATE, idempotency_key="k")
    assert second.text == first.text
    assert second.headers["Idempotent-Replayed"] == "true"
    other = await account.live.post("/calculate", CALCULATE | {"annual_wages": 1}, idempotency_key="k")
    assert other.status_code == 409
