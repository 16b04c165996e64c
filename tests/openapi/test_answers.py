"""Answers of real calls, in their variety, and of every kind of refusal, held against the document.

What the right request of each operation is answered is held against it in `tests/boundary/test_every_route.py`.
"""

from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.database.session import Tenant
from hearthpay.employers.ein import keep_ein
from hearthpay.employers.models import Employer
from tests.boundary.worlds import enroll, hold_deposits
from tests.http.api import MARIA, ROSA, Account, NewKey, refusal
from tests.openapi.document import Document
from tests.worlds.rule_editions import edition, unpublished_program

NOBODY = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"


@pytest.fixture
def answers(client: httpx.AsyncClient) -> list[httpx.Response]:
    """Every answer that the client gets in this test."""
    seen: list[httpx.Response] = []

    async def keep(response: httpx.Response) -> None:
        await response.aread()
        seen.append(response)

    client.event_hooks["response"].append(keep)
    return seen


def _payroll(employee_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "pay_period_start": "2026-11-02",
        "pay_period_end": "2026-11-15",
        "pay_date": "2026-11-20",
        "pay_frequency": "biweekly",
        "employees": [
            {
                "employee_id": employee_id,
                "regular_hours": 80,
                "overtime_hours": 2.5,
                "bonus": 25,
                "payment_method": "check",
            }
        ],
    } | changes


def _kept(document: Document, answers: list[httpx.Response]) -> None:
    problems = [
        f"{answer.request.method} {answer.request.url.path}: {problem}"
        for answer in answers
        for problem in document.problems(answer)
    ]
    assert problems == []


async def _issue_papers(
    client: httpx.AsyncClient, account: Account, owner_connection: psycopg.Connection
) -> None:
    """Every paper of a year, of a household with addresses and an EIN; and a package that waits for the worker."""
    caller = account.live
    home = {"line1": "2201 Mission St", "city": "San Francisco", "state": "CA", "zip": "94110"}
    employer = (await caller.post("/employers", MARIA | {"address": home})).json()["data"]["id"]
    new = {**ROSA, "employer_id": employer, "address": home}
    rosa = (await caller.post("/employees", new)).json()["data"]["id"]
    entry = {"employee_id": rosa, "regular_hours": 40, "payment_method": "check"}
    body = {"employer_id": employer, **_payroll(rosa, employees=[entry])}
    payroll = (await caller.post("/payroll/run", body)).json()["data"]["payroll_id"]
    runtime = client._transport.app.state.runtime  # type: ignore[attr-defined]
    tenant = Tenant(account.organization_id, False, UUID(employer))
    async with runtime.database.transaction(tenant) as session:
        household = await session.get_one(Employer, UUID(employer))
        operator = Actor.operator(account.organization_id, sandbox=False, request_id="req_papers")
        await keep_ein(session, runtime.ring, operator, household, "12-3456789")
    year = {"employer_id": employer, "tax_year": 2026}
    submitter = {"user_id": "AB12CD34", "phone": "415-555-0134"}
    for paper, requested in {
        "paystub": {"employer_id": employer, "payroll_id": payroll},
        "w2": {**year, "employee_id": rosa},
        "w3": year,
        "schedule-h": year,
        "efw2": {**year, "submitter": submitter},
        "year-package": {**year, "submitter": submitter},
    }.items():
        await caller.post(f"/documents/{paper}", requested)
    row = owner_connection.execute(
        "INSERT INTO document_packages (id, organization_id, employer_id, sandbox, tax_year, status, papers, "
        "requested_at) VALUES (new_id(), %s, %s, false, 2026, 'waiting', 93, now()) RETURNING id",
        (account.organization_id, employer),
    ).fetchone()
    assert row is not None
    await caller.get(f"/documents/packages/{row[0]}")
    listed = await caller.get("/documents", employer_id=employer, limit=2)
    await caller.get(f"/documents/{listed.json()['data'][0]['id']}")
    await caller.get("/reports/estimated-tax", employer_id=employer, year=2026)


async def test_every_success_is_documented_to_the_last_field(
    account: Account,
    client: httpx.AsyncClient,
    document: Document,
    answers: list[httpx.Response],
    owner_connection: psycopg.Connection,
) -> None:
    caller = account.live
    employer_id = (await caller.post("/employers", MARIA)).json()["data"]["id"]
    new = {**ROSA, "employer_id": employer_id, "federal_withholding": {"elected": True}}
    neighbour = {**new, "first_name": "Ana", "work_state": "VA", "residence_state": "MD"}
    rosa, ana = [(await caller.post("/employees", body)).json()["data"]["id"] for body in (new, neighbour)]
    both = _payroll(rosa)
    both["employees"].append(
        {"employee_id": ana, "regular_hours": 8.25, "voluntary_set_aside": {"amount": 5}}
    )
    await caller.get("/households")
    await caller.post("/payroll/explain", both)
    await caller.post("/payroll/explain", both | {"line_code": "US-FIT"})
    await caller.post("/payroll/preview", both)
    await caller.post("/payroll/preview", both | {"pay_date": "2027-01-08"})
    run = await caller.post("/payroll/run", {**both, "notes": "first"}, idempotency_key="a")
    again = await caller.post("/payroll/run", {**both, "notes": "first"}, idempotency_key="a")
    assert again.content == run.content
    await caller.get(f"/payroll/{run.json()['data']['payroll_id']}")
    await caller.get(f"/payroll/{run.json()['data']['payroll_id']}/explanation", employee_id=rosa)
    await caller.get("/payrolls", limit=1)
    payroll_id = run.json()["data"]["payroll_id"]
    hold_deposits(owner_connection, employer_id, payroll_id)
    await caller.post(f"/employers/{employer_id}/debit-authorization", {"confirm_ach_debit": True})
    remedy = {"action": "wait_for_account", "until": "2026-12-04"}
    await caller.post(f"/payroll/{payroll_id}/paychecks/{rosa}/remedy", remedy)
    await caller.get(f"/payroll/{payroll_id}")
    await caller.post(f"/payroll/{payroll_id}/void", {"reason": "a slip"})
    await caller.get(f"/employers/{employer_id}/dd-status")
    await caller.get("/employers", limit=1)
    await caller.get(f"/employers/{employer_id}")
    home = {"line1": "2201 Mission St", "city": "San Francisco", "state": "CA", "zip": "94110"}
    await client.patch(
        f"/api/v1/employers/{employer_id}",
        json={"address": home, "threshold_basis": "as_paid"},
        headers=caller.headers(),
    )
    await caller.get(f"/employees/{rosa}")
    await caller.get("/jurisdictions/IN")
    await caller.get("/rules", state="ny", year=2027)
    await caller.get("/rules")
    for reveal in ("false", "true"):
        await caller.get("/state-registrations", employer_id=employer_id, reveal=reveal)
    await caller.get("/reports/state-wages", employer_id=employer_id, state="CA", year=2026, quarter=4)
    span = {"from": "2026-01-01", "to": "2026-12-31"}
    await caller.get("/reports/tax-liability", employer_id=employer_id, **span)
    await caller.get(
        "/tax-calendar", **{"employer_id": employer_id, "from": "2026-01-01", "to": "2027-12-31"}
    )
    enroll(owner_connection, rosa)
    await caller.post("/autopilot/pause", {"employer_id": employer_id, "employee_id": rosa})
    await caller.post("/autopilot/enroll", {})
    for autopilot in ({"employee_id": ana}, {"employee_id": rosa}, {}):
        await caller.get("/autopilot", employer_id=employer_id, **autopilot)
    await caller.get("/autopilot/history", employer_id=employer_id)
    for _ in range(2):
        await caller.get("/employees", employer_id=employer_id, limit=1)
    for body in (
        {"state": "CA", "annual_wages": 35000},
        {"state": "va", "annual_wages": 0, "residence_state": "MD", "reciprocity_certificate_on_file": True},
        {"state": "NY", "annual_wages": 999_999, "pay_frequency": "weekly", "filing_status": "married"},
    ):
        await caller.post("/calculate", body)
    employee = f"/api/v1/employees/{rosa}"
    await client.patch(employee, json={"pay_rate": 30.25}, headers=caller.headers())
    await caller.post(f"/employees/{rosa}/invite", {"type": "tax_info"})
    line = {"code": "US-SS-EE", "subject_wages": 1000, "taxable_wages": 1000, "amount": 62}
    prior = {
        "tax_year": 2026,
        "source": "Another payroll",
        "as_of": "2026-06-30",
        "gross_pay": 1000,
        "lines": [line],
    }
    await caller.post(f"/employees/{rosa}/prior-wages", prior)
    await caller.get(f"/employees/{rosa}/prior-wages")
    await caller.post(f"/employees/{rosa}/terminate", {"end_date": "2026-11-20"})
    await caller.post(f"/employees/{rosa}/reinstate", {})
    sandbox = (await account.test.post("/employers", MARIA)).json()["data"]["id"]
    employed = (await account.test.post("/employees", {**ROSA, "employer_id": sandbox})).json()["data"]["id"]
    for path, magic in (
        (f"employers/{sandbox}/bank-account", "verified"),
        (f"employers/{sandbox}/ein", "assigned"),
        (f"employees/{employed}/tax-info", "ssn"),
        (f"employees/{employed}/bank-account", "verified"),
    ):
        await account.test.post(f"/sandbox/{path}", {"magic": magic})
    await account.test.get(f"/sandbox/employers/{sandbox}/clock")
    other = (await account.test.post("/employers", MARIA)).json()["data"]["id"]
    await account.test.post(f"/sandbox/employers/{other}/advance", {"to": "2027-01-15"})
    await account.test.get(f"/sandbox/employers/{other}/clock")
    for query in ({"reset": "true"}, {}):
        await client.delete(f"/api/v1/employers/{sandbox}", params=query, headers=account.test.headers())
    await caller.get("/threshold", state="NY", annual_wages=2900)
    await caller.get("/threshold", state="TX", annual_wages=2900.5, tax_year=2024)

    await caller.post("/ach/transfer", {"amount": 100})
    await _issue_papers(client, account, owner_connection)

    _kept(document, answers)
    by_design = ("gone", "autopilot_enroll_in_app")  # always
    refused = [
        answer.text
        for answer in answers
        if not answer.is_success and answer.json()["error"]["code"] not in by_design
    ]
    assert refused == []


async def test_every_refusal_is_documented_with_its_code(
    account: Account, new_key: NewKey, document: Document, answers: list[httpx.Response], tmp_path: Path
) -> None:
    caller = account.live
    narrow = await new_key("Lopez family", scopes=("documents",))
    employer_id = (await caller.post("/employers", MARIA)).json()["data"]["id"]
    rosa = (await caller.post("/employees", ROSA)).json()["data"]["id"]
    unpaid = {"first_name": "Ana", "last_name": "Diaz", "start_date": "2026-01-05"}
    rateless = (await caller.post("/employees", unpaid)).json()["data"]["id"]
    good = _payroll(rosa)
    await caller.post("/payroll/run", good, idempotency_key="a")
    bodies: dict[str, Any] = {
        "/calculate": {"state": "CA", "annual_wages": 1},
        "/employers": MARIA,
        "/employees": ROSA,
        "/payroll/preview": good,
        "/payroll/run": good,
    }
    for path, body in bodies.items():
        await caller.client.post(f"/api/v1{path}", json=body)
        await caller.client.post(f"/api/v1{path}", json=body, headers=narrow.headers())
        await caller.post_raw(path, b"{")
        await caller.post_raw(path, b" " * 1_000_001)
        await caller.post(path, {**body, "unknown": 1})
        await caller.post(path, body, idempotency_key="a")
    for path in ("/threshold", "/payrolls", "/employers", "/employees", f"/payroll/{NOBODY}"):
        await caller.client.get(f"/api/v1{path}")
        await caller.client.get(f"/api/v1{path}", headers=narrow.headers())
        await caller.get(path, unknown=1)
    for method, path in (
        ("GET", f"/employees/{rosa}"),
        ("GET", f"/employees/{NOBODY}"),
        ("GET", f"/employers/{employer_id}"),
        ("PATCH", f"/employers/{employer_id}"),
        ("PATCH", f"/employers/{NOBODY}"),
        ("GET", "/jurisdictions/XX"),
        ("POST", "/ach/transfer"),
        ("PATCH", f"/employees/{rosa}"),
        ("PATCH", f"/employees/{NOBODY}"),
        ("POST", f"/employees/{rosa}/terminate"),
        ("POST", f"/employees/{NOBODY}/terminate"),
        ("POST", f"/employees/{NOBODY}/reinstate"),
        ("POST", f"/employees/{rosa}/prior-wages"),
        ("POST", f"/employees/{NOBODY}/prior-wages"),
        ("GET", f"/employees/{NOBODY}/prior-wages"),
        ("POST", f"/employees/{rosa}/invite"),
        ("POST", f"/employees/{NOBODY}/invite"),
        ("POST", f"/payroll/{NOBODY}/void"),
        ("GET", f"/employers/{employer_id}/dd-status"),
        ("GET", f"/employers/{NOBODY}/dd-status"),
        ("PATCH", f"/employers/{employer_id}"),
        ("PATCH", f"/employers/{NOBODY}"),
        ("DELETE", f"/employers/{employer_id}"),
        ("DELETE", f"/employers/{NOBODY}"),
    ):
        for headers in ({}, narrow.headers(), caller.headers("a"), caller.headers(), account.test.headers()):
            for content in (b"{", b" " * 1_000_001, b'{"unknown": 1}', b'{"end_date": "1999-01-01"}', b"{}"):
                asked = {"reset": "maybe"} if content == b"{" else {}
                if not (method == "POST" and content == b"{}"):  # which would end the employment
                    await caller.client.request(
                        method, f"/api/v1{path}", content=content, params=asked, headers=headers
                    )
    for employee_id in (rosa, NOBODY):
        await caller.post(f"/employees/{employee_id}/invite", {"type": "bank_account"})
    await caller.get("/threshold", state="CA", annual_wages=1, tax_year=1900)
    for path in ("/payroll/preview", "/payroll/run"):
        for wrong in (
            {"employer_id": NOBODY},
            {"pay_date": "1990-01-05", "pay_period_start": "1990-01-01", "pay_period_end": "1990-01-02"},
            {"employees": good["employees"] * 2},
            {"employees": [{"employee_id": NOBODY, "regular_hours": 1}]},
            {"pay_period_start": "2025-11-02", "pay_period_end": "2025-11-15"},
            {
                "employees": [{"employee_id": rosa, "regular_hours": 1, "payment_method": "direct_deposit"}],
                "pay_date": None,
            },
            {"employees": [{"employee_id": rosa}]},
            {"employees": [{"employee_id": rateless, "regular_hours": 1, "payment_method": "check"}]},
            {
                "pay_date": "2027-01-08",
                "pay_period_start": "2026-12-28",
                "pay_period_end": "2027-01-08",
            },
        ):
            await caller.post(path, {**good, **wrong})
        await account.test.post(path, {**good, "employer_id": employer_id})
    await caller.post("/payroll/run", good)
    with edition(tmp_path, ("2027/us.toml", unpublished_program("US-NEW-EE", "us-irs", "2027-01-01"))):
        dates = {"pay_period_start": "2027-01-11", "pay_period_end": "2027-01-22", "pay_date": "2027-01-22"}
        await caller.post("/payroll/preview", {**good, **dates})
    await account.test.post("/employees", {**ROSA, "employer_id": employer_id})
    for _ in range(4):
        await account.test.post("/employers", MARIA)
    for path in ("/employees", "/payrolls"):
        await account.test.get(path, employer_id=employer_id)
        await caller.get(path, employer_id=NOBODY)

    _kept(document, answers)
    refused = {answer.json()["error"]["code"] for answer in answers if not answer.is_success}
    assert refused >= {
        "validation_error",
        "authentication_required",
        "scope_required",
        "household_forbidden",
        "key_mode_mismatch",
        "plan_limit_reached",
        "not_found",
        "payroll_overlap",
        "idempotency_conflict",
        "direct_deposit_unavailable",
        "duplicate_employee",
        "employee_not_in_household",
        "employee_not_started",
        "employee_incomplete",
        "unsupported_tax_year",
        "tax_year_not_final",
    }
    assert not any(answer.is_server_error for answer in answers)


async def test_a_method_is_allowed_only_where_it_is_documented(
    account: Account, document: Document, client: httpx.AsyncClient
) -> None:
    """An address that looks like another's parameter is still only itself."""
    for path, item in document.openapi["paths"].items():
        address = path.replace("{payroll_id}", NOBODY)
        if "{" in address:
            continue
        response = await client.request("OPTIONS", address, headers=account.live.headers())
        refusal(response, 405, "method_not_allowed")
        assert response.headers["Allow"] == ", ".join(sorted(_allowed(item))), path


def _allowed(item: dict[str, Any]) -> set[str]:
    """The methods of an address; where it answers GET, it answers HEAD."""
    methods = {method.upper() for method in item}
    return methods | {"HEAD"} if "GET" in methods else methods


async def test_an_address_of_its_own_is_nobodys_parameter(account: Account) -> None:
    for path in ("/payroll/preview", "/payroll/run"):
        response = await account.live.get(path)
        refusal(response, 405, "method_not_allowed")
        assert response.headers["Allow"] == "POST"
    refusal(await account.live.get("/payroll/anything"), 404, "not_found")


@pytest.mark.parametrize("state", ["ﬂ", "ıl", "ſc"])
async def test_a_state_is_written_in_the_letters_of_the_document(account: Account, state: str) -> None:
    """Upper case turns each of these into a state's two letters; none of them is that state."""
    response = await account.live.post("/calculate", {"state": state, "annual_wages": 1})
    refusal(response, 400, "validation_error")
