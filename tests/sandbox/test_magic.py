"""Test values: each leads to the state that it names, for test keys alone, and nothing else is ever taken."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from _pytest.mark import ParameterSet
from uuid_utils.compat import uuid7

from hearthpay.sandbox.magic import (
    EINS,
    EMPLOYEE_ACCOUNTS,
    HOUSEHOLD_ACCOUNTS,
    TAX_NUMBERS,
    ein_of,
    tax_number_of,
)
from tests.http.api import Account, NewAccount, data, fields, refusal
from tests.sandbox.households import Lab
from tests.worlds.households import add_employee, add_household

IN_THE_SUITE = {
    "debit_returned_r01",
    "debit_returned_r10",
    "credit_returned_r03",
    "corrected_c01",
    "corrected_c05",
}
"""Test values that `make test` goes through; `make test-long` goes through all of them."""


def of_kind(accounts: Iterable[str], kind: str) -> list[ParameterSet]:
    return [
        pytest.param(each, marks=() if each in IN_THE_SUITE else pytest.mark.long)
        for each in accounts
        if each.startswith(kind)
    ]


PRESENTED_AGAIN = ("r01", "r09")
REAL_NUMBERS = ("021000021", "123-45-6789", "12-3456789", "123456789", "VERIFIED", "", " verified")


async def status_of(lab: Lab, employer_id: str) -> dict[str, Any]:
    found: dict[str, Any] = data(await lab.caller.get(f"/employers/{employer_id}/dd-status"))
    return found


async def test_a_verified_account_makes_a_household_ready(lab: Lab) -> None:
    employer_id = await lab.household(account=None)
    assert [each["code"] for each in (await status_of(lab, employer_id))["blockers"]] == [
        "bank_account_missing"
    ]

    answered = await lab.set(f"/employers/{employer_id}/bank-account", "verified")

    assert answered == await status_of(lab, employer_id)
    assert answered["ready"]
    assert answered["bank_account"] == {"status": "active", "last_four": "1000", "bank_name": "Sandbox Bank"}
    assert answered["authorization"]["status"] == "none"


async def test_an_account_on_trial_is_ready_after_three_banking_days(lab: Lab) -> None:
    employer_id = await lab.household("verification_pending")
    before = await status_of(lab, employer_id)
    assert (before["bank_account"]["status"], before["ready"]) == ("verifying", False)

    await lab.advance(employer_id, "2026-11-30")

    assert (await status_of(lab, employer_id))["bank_account"]["status"] == "active"


async def test_an_account_that_fails_its_trial_says_why(lab: Lab) -> None:
    employer_id = await lab.household("verification_fails")
    await lab.advance(employer_id, "2026-11-30")
    found = await status_of(lab, employer_id)
    assert found["bank_account"]["status"] == "failed"
    assert [each["code"] for each in found["blockers"]] == ["bank_account_failed"]


async def test_a_disconnected_account_is_missing(lab: Lab) -> None:
    employer_id = await lab.household()
    assert (await lab.set(f"/employers/{employer_id}/bank-account", "disconnected"))["bank_account"] is None
    again = await lab.set(f"/employers/{employer_id}/bank-account", "disconnected")
    assert [each["code"] for each in again["blockers"]] == ["bank_account_missing"]


async def test_authorizations_reach_every_state(lab: Lab) -> None:
    employer_id = await lab.household("debit_returned_r10")
    await lab.caller.post(f"/employers/{employer_id}/debit-authorization", {"confirm_ach_debit": True})
    assert (await status_of(lab, employer_id))["authorization"]["status"] == "active"
    await lab.run(employer_id, await lab.employee(employer_id), "2026-11-16", "2026-11-22")

    await lab.advance(employer_id, "2026-12-01")
    assert (await status_of(lab, employer_id))["authorization"]["status"] == "revoked"

    await lab.set(f"/employers/{employer_id}/bank-account", "verified")
    await lab.caller.post(f"/employers/{employer_id}/debit-authorization", {"confirm_ach_debit": True})
    await lab.advance(employer_id, "2027-01-15")
    assert (await status_of(lab, employer_id))["authorization"]["status"] == "expired"


@pytest.mark.parametrize("magic", of_kind(HOUSEHOLD_ACCOUNTS, "debit_"))
async def test_a_debit_comes_back_for_its_reason(lab: Lab, magic: str) -> None:
    employer_id = await lab.household(magic)
    payroll_id = await lab.run(employer_id, await lab.employee(employer_id), "2026-11-16", "2026-11-22")
    await lab.advance(employer_id, "2026-12-16" if magic[-3:] in PRESENTED_AGAIN else "2026-12-03")
    found = await lab.payroll(payroll_id)
    assert found["status"] == "failed"
    assert magic[-3:].upper() in str(found)


@pytest.mark.parametrize("magic", of_kind(EMPLOYEE_ACCOUNTS, "credit_"))
async def test_a_deposit_comes_back_for_its_reason(
    lab: Lab, magic: str, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id, magic)
    await lab.run(employer_id, employee_id, "2026-11-16", "2026-11-22")
    await lab.advance(employer_id, "2026-12-04")
    rows = owner_connection.execute(
        "SELECT return_code FROM bank_entries WHERE kind = 'credit' AND employer_id = %s", (employer_id,)
    ).fetchall()
    assert rows == [(magic[-3:].upper(),)]
    employees = (await status_of(lab, employer_id))["employees"]
    assert [each["blockers"][0]["code"] for each in employees] == ["bank_account_failed"]


@pytest.mark.parametrize("magic", of_kind(HOUSEHOLD_ACCOUNTS, "corrected_"))
async def test_an_account_is_corrected(lab: Lab, magic: str, owner_connection: psycopg.Connection) -> None:
    employer_id = await lab.household(magic)
    employee_id = await lab.employee(employer_id, magic)
    payroll_id = await lab.run(employer_id, employee_id, "2026-11-16", "2026-11-22")
    await lab.advance(employer_id, "2026-12-04")
    assert (await lab.payroll(payroll_id))["status"] == "completed"
    reasons = owner_connection.execute(
        "SELECT reason FROM bank_accounts WHERE employer_id = %s AND status <> 'replaced'", (employer_id,)
    ).fetchall()
    assert all(magic[-3:].upper() in reason for (reason,) in reasons), reasons
    assert len(reasons) == 2


async def test_ein_goes_from_none_to_assigned(lab: Lab) -> None:
    employer_id = await lab.household()
    path = f"/employers/{employer_id}/ein"
    for magic in ("refused", "applied", "applied", "refused", "applied", "assigned", "assigned"):
        assert await lab.set(path, magic) == {"employer_id": employer_id, "ein_status": EINS[magic]}
    refusal(await lab.caller.post(f"/sandbox{path}", {"magic": "applied"}), 400, "invalid_state")
    assert ein_of(UUID(employer_id)).reveal().startswith("99")


async def test_invitations_are_opened_and_completed(lab: Lab) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id, account=None)

    async def onboarding() -> dict[str, str]:
        found: dict[str, str] = data(await lab.caller.get(f"/employees/{employee_id}"))["onboarding"]
        return found

    assert await onboarding() == {"bank_account": "missing", "tax_info": "missing"}
    for kind in ("bank_account", "tax_info"):
        data(await lab.caller.post(f"/employees/{employee_id}/invite", {"type": kind}))
    assert await onboarding() == {"bank_account": "invited", "tax_info": "invited"}

    entered = await lab.set(f"/employees/{employee_id}/tax-info", "ssn")
    assert entered["completed_invitation"]
    assert entered["onboarding"] == {"bank_account": "invited", "tax_info": "complete"}
    entered = await lab.set(f"/employees/{employee_id}/bank-account", "verified")
    assert entered["completed_invitation"]
    assert entered["onboarding"] == await onboarding() == {"bank_account": "complete", "tax_info": "complete"}
    assert not (await lab.set(f"/employees/{employee_id}/tax-info", "itin"))["completed_invitation"]


async def test_an_open_invitation_expires_by_the_households_clock(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id, account=None)
    data(await lab.caller.post(f"/employees/{employee_id}/invite", {"type": "tax_info"}))
    await lab.advance(employer_id, "2026-11-28")
    assert data(await lab.caller.get(f"/employees/{employee_id}"))["onboarding"]["tax_info"] == "missing"
    assert owner_connection.execute("SELECT status FROM invitations").fetchall() == [("expired",)]


async def test_employees_who_share_a_number_are_one_person(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    first = await lab.employee(employer_id)
    second = await lab.employee(employer_id, first_name="Rosalba", last_name="Ruiz")
    for each in (first, second):
        await lab.set(f"/employees/{each}/tax-info", "ssn")
    query = "SELECT count(DISTINCT coalesce(person_id, id)) FROM employees"
    assert owner_connection.execute(query).fetchone() == (2,)
    for each in (first, second):
        await lab.set(f"/employees/{each}/tax-info", "ssn_shared")
    assert owner_connection.execute(query).fetchone() == (1,)


async def test_papers_can_be_issued(lab: Lab) -> None:
    lab.clock.advance(timedelta(days=26))  # to 16 December: the household is led on from then
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    payroll_id = await lab.run(employer_id, employee_id, "2026-12-07", "2026-12-13")
    await lab.set(f"/employers/{employer_id}/ein", "assigned")
    await lab.set(f"/employees/{employee_id}/tax-info", "ssn")
    await lab.advance(employer_id, "2027-01-02")
    whose = {"employer_id": employer_id, "tax_year": 2026}
    for path, body in (
        ("paystub", {"employer_id": employer_id, "employee_id": employee_id, "payroll_id": payroll_id}),
        ("w2", whose | {"employee_id": employee_id}),
        ("schedule-h", whose),
    ):
        issued = await lab.caller.post(f"/documents/{path}", body)
        assert issued.status_code == 200, issued.text
        assert issued.content.startswith(b"%PDF")


@pytest.mark.parametrize("sent", REAL_NUMBERS)
async def test_anything_but_a_listed_value_is_refused_and_not_repeated(lab: Lab, sent: str) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    for path, values in _paths(employer_id, employee_id):
        refused = await lab.caller.post(path, {"magic": sent})
        error = refusal(refused, 400, "validation_error")
        assert fields(error) == ["magic"]
        assert all(value in error["details"][0]["message"] for value in values)
        assert (
            not sent.strip() or sent in values or sent.lower().strip() in values or sent not in refused.text
        )


async def test_live_keys_are_refused_before_anything_is_read(
    account: Account, lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await add_household(account.live)
    employee_id = await add_employee(account.live, employer_id)
    of_sandbox = await lab.household()
    before = _rows(owner_connection)
    for whose, who in ((employer_id, employee_id), (of_sandbox, employee_id)):
        for path, _ in _paths(whose, who):
            for body in ({"magic": "verified"}, {"magic": "123456789"}, {}):
                error = refusal(await account.live.post(path, body), 403, "key_mode_mismatch")
                assert error["details"]["required_mode"] == "test"
        for body in ({"to": "2027-01-01"}, {}):
            refusal(
                await account.live.post(f"/sandbox/employers/{whose}/advance", body), 403, "key_mode_mismatch"
            )
        refusal(await account.live.get(f"/sandbox/employers/{whose}/clock"), 403, "key_mode_mismatch")
    assert _rows(owner_connection) == before


async def test_a_test_key_reaches_no_real_household_and_nobody_elses(
    account: Account, lab: Lab, new_account: NewAccount, owner_connection: psycopg.Connection
) -> None:
    real = await add_household(account.live)
    worker = await add_employee(account.live, real)
    stranger = (await new_account("Strangers")).test
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    before = _rows(owner_connection)
    for path, values in _paths(real, worker):
        expected = (403, "key_mode_mismatch") if "/employers/" in path else (404, "not_found")
        refusal(await lab.caller.post(path, {"magic": values[0]}), *expected)
    for path, values in _paths(employer_id, employee_id):
        refusal(await stranger.post(path, {"magic": values[0]}), 404, "not_found")
    refusal(
        await stranger.post(f"/sandbox/employers/{employer_id}/advance", {"to": "2027-01-01"}),
        404,
        "not_found",
    )
    refusal(await stranger.get(f"/sandbox/employers/{employer_id}/clock"), 404, "not_found")
    assert _rows(owner_connection) == before


def test_test_numbers_are_well_formed_whatever_the_record() -> None:
    for _ in range(2000):
        household, employee = uuid7(), uuid7()
        ein_of(household)
        for magic in TAX_NUMBERS:
            number = tax_number_of(magic, household, employee)
            if number.kind == "ssn":
                assert 734 <= int(number.reveal()[:3]) <= 749


def _paths(employer_id: str, employee_id: str) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (f"/sandbox/employers/{employer_id}/bank-account", tuple(HOUSEHOLD_ACCOUNTS)),
        (f"/sandbox/employers/{employer_id}/ein", tuple(EINS)),
        (f"/sandbox/employees/{employee_id}/tax-info", TAX_NUMBERS),
        (f"/sandbox/employees/{employee_id}/bank-account", tuple(EMPLOYEE_ACCOUNTS)),
    ]


def _rows(connection: psycopg.Connection) -> list[Any]:
    tables = (
        "bank_accounts",
        "vault",
        "employers",
        "employees",
        "household_clocks",
        "audit_log",
        "invitations",
    )
    return [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]
