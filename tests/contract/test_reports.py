"""Reports as they are promised: each test's first line is a sentence of it."""

import csv
import io
from typing import Any

import psycopg
import pytest

from tests.http.api import Account, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, payroll_of

QUARTER = {"state": "ca", "year": "2026", "quarter": "4"}
YEAR = {"from": "2026-01-01", "to": "2026-12-31"}


@pytest.fixture
async def paid(account: Account, household: Any) -> str:
    rosa = await add_employee(account.live, household["id"], first_name="=cmd|' /C calc'!A0")
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    return rosa


async def test_state_wages_have_every_amount_of_the_report(account: Account, paid: str) -> None:
    """Per employee gross, subject, excess and taxable wages, contributions by line; masked numbers only."""
    response = await account.live.get("/reports/state-wages", **QUARTER)
    told = data(response)
    assert response.json()["meta"].keys() == {"requestId", "as_of"}
    [rosa] = told["employees"]
    assert rosa["employee_id"] == paid
    assert rosa["taxpayer_number_last_four"] is None
    wages = ("gross_wages", "subject_wages", "excess_wages", "taxable_wages")
    assert [rosa[name] for name in wages] == [1140, 1140, 0, 1140]
    amounts = {line["code"]: line["amount"] for line in rosa["lines"]}
    assert (amounts["CA-SUI-ER"], amounts["CA-ETT-ER"]) == (38.76, 1.14)
    assert all(code.startswith("CA-") for code in amounts)
    assert told["totals"]["lines"] == rosa["lines"]
    assert told["remarks"] == []
    assert data(await account.live.get("/reports/state-wages", **QUARTER | {"quarter": 3}))["employees"] == []


async def test_csv_by_query_or_header(account: Account, paid: str) -> None:
    """CSV by `format=csv` or `Accept: text/csv`; `format` wins; a speaking file name; no formula."""
    by_query = await account.live.get("/reports/state-wages", **QUARTER, format="csv")
    by_header = await account.live.client.get(
        "/api/v1/reports/state-wages", params=QUARTER, headers=account.live.headers() | {"Accept": "text/csv"}
    )
    assert by_query.content == by_header.content
    assert by_query.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    assert by_query.headers["content-disposition"] == 'attachment; filename="state-wages-CA-2026-Q4.csv"'
    heads, row = csv.reader(io.StringIO(by_query.text, newline=""))
    told = dict(zip(heads, row, strict=True))
    assert told["first_name"] == "'=cmd|' /C calc'!A0"
    assert (told["gross_wages"], told["excess_wages"], told["CA-SUI-ER amount"]) == (
        "1140.00",
        "0.00",
        "38.76",
    )
    json = await account.live.client.get(
        "/api/v1/reports/state-wages",
        params={**QUARTER, "format": "json"},
        headers=account.live.headers() | {"Accept": "text/csv"},
    )
    assert data(json)["state"] == "CA"
    liability = await account.live.get("/reports/tax-liability", **YEAR, format="csv")
    name = "tax-liability-2026-01-01-to-2026-12-31.csv"
    assert liability.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert liability.text.startswith("agency,code,name,payer,category,2026-01,")


async def test_tax_liability_equals_the_lines_of_the_payrolls(account: Account, household: Any) -> None:
    """Per agency and line, by month, with totals; every cent from the ledger."""
    rosa = await add_employee(account.live, household["id"])
    ran = data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    told = data(await account.live.get("/reports/tax-liability", **YEAR))
    lines = {line["code"]: line["total"] for agency in told["agencies"] for line in agency["lines"]}
    expected = {line["code"]: line["amount"] for line in ran["employees"][0]["lines"] if line["amount"]}
    assert lines == expected
    assert told["agencies"][0]["agency"] == "IRS"
    assert [each["month"] for each in told["totals"]["months"] if each["amount"]] == ["2026-11"]
    assert told["totals"]["employer_taxes"] == ran["totals"]["total_employer_taxes"]
    data(await account.live.post(f"/payroll/{ran['payroll_id']}/void", {}))
    assert data(await account.live.get("/reports/tax-liability", **YEAR))["agencies"] == []


@pytest.mark.parametrize("path", ["state-wages", "tax-liability"])
async def test_whose_it_is(account: Account, household: Any, new_key: NewKey, path: str) -> None:
    """Employer default is the key's household; mode and ownership are refused."""
    query = QUARTER if path == "state-wages" else YEAR
    assert data(await account.live.get(f"/reports/{path}", **query))["employer_id"] == household["id"]
    named = {**query, "employer_id": household["id"]}
    narrow = await new_key("Lopez family", scopes=("employees", "state_registrations"))
    others = await new_key("Chen family")
    refusal(await narrow.get(f"/reports/{path}", **named), 403, "scope_required")
    refusal(await others.get(f"/reports/{path}", **named), 403, "household_forbidden")
    refusal(await account.test.get(f"/reports/{path}", **named), 403, "key_mode_mismatch")
    refusal(await account.live.post(f"/reports/{path}", {}), 405, "method_not_allowed")


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("state-wages", {"year": "2026"}, "state"),
        ("state-wages", QUARTER | {"state": "XX"}, "state"),
        ("state-wages", QUARTER | {"quarter": "5"}, "quarter"),
        ("state-wages", QUARTER | {"quarter": ""}, "quarter"),
        ("state-wages", QUARTER | {"format": "xml"}, "format"),
        ("tax-liability", {"from": "2026-01-01"}, "to"),
        ("tax-liability", {"from": "2026-02-01", "to": "2026-01-31"}, "to"),
        ("tax-liability", {"from": "2023-01-31", "to": "2026-01-01"}, "to"),
        ("tax-liability", {"from": "today", "to": "2026-01-01"}, "from"),
    ],
)
async def test_bad_questions(
    account: Account, household: Any, path: str, query: dict[str, str], field: str
) -> None:
    """Bad input gets a clear 400 naming the field."""
    wrong = refusal(await account.live.get(f"/reports/{path}", **query), 400, "validation_error")
    assert fields(wrong) == [field]


async def test_a_year_without_rules(account: Account, household: Any) -> None:
    """A year without rules is refused by the code that every endpoint has for it."""
    unknown = refusal(
        await account.live.get("/reports/state-wages", **QUARTER | {"year": "2019"}),
        400,
        "unsupported_tax_year",
    )
    assert "2019" in unknown["message"]


async def test_only_the_end_of_a_number_is_shown(
    account: Account, paid: str, owner_connection: psycopg.Connection
) -> None:
    """Masked identifiers only, never a Social Security number; bank accounts are no identifiers."""
    for kind, ending in (("ssn", "6789"), ("bank_account", "4321")):
        owner_connection.execute(
            "INSERT INTO vault (id, organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, "
            "nonce, key_id, last_four) SELECT gen_random_uuid(), organization_id, employer_id, sandbox, 'employee', "
            "id, %s, sha256('a'), '\\x000000000000000000000000', 'k1', %s FROM employees WHERE id = %s",
            (kind, ending, paid),
        )
    [rosa] = data(await account.live.get("/reports/state-wages", **QUARTER))["employees"]
    assert rosa["taxpayer_number_last_four"] == "6789"
