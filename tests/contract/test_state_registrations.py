"""The contract, "State registrations": each test's first line is a sentence of it."""

from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.models import Employer
from hearthpay.registrations.service import keep_number
from hearthpay.security.key_ring import KeyRing
from tests.http.api import MARIA, Account, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, add_household, payroll_of

ITEM = {
    *("state_code", "account_type", "label", "agency", "registration_url", "account_number_last_four"),
    *("status", "required", "required_from", "obligations", "assessment"),
}
PLANTED = "987-6543-2"


@pytest.fixture
async def registered(
    account: Account, household: Any, owner_database: Database, ring: KeyRing, clock: FixedClock
) -> Any:
    """A household with a nanny in California and a number with EDD."""
    await add_employee(account.live, household["id"])
    async with owner_database.transaction(None) as session:
        employer = await session.get_one(Employer, UUID(household["id"]))
        actor = Actor.operator(employer.organization_id, sandbox=False, request_id="req_planted")
        place = {"state": "CA", "account_id": "sui"}
        await keep_number(session, ring, actor, clock, employer, number=PLANTED, **place)  # type: ignore[arg-type]
    return household


def readings(owner: psycopg.Connection) -> int:
    return owner.execute("SELECT FROM audit_log WHERE action = 'vault.read'").rowcount


async def test_every_item_has_the_fields_of_the_contract(account: Account, household: Any) -> None:
    """`data {items: [..]}`; `employer_id` optional; `as_of` in `meta`; URL null on `not_required`."""
    await add_employee(account.live, household["id"], state_withholding={"elected": False})
    response = await account.live.get("/state-registrations")
    told = data(response)
    assert told["employer_id"] == household["id"]
    assert response.json()["meta"].keys() == {"requestId", "as_of"}
    assert all(item.keys() == ITEM for item in told["items"])
    by_type = {item["account_type"]: item for item in told["items"]}
    assert {name: (item["status"], item["required"]) for name, item in by_type.items()} == {
        "sui": ("required", True),
        "withholding": ("not_required", False),
        "sdi": ("required", True),
    }
    assert all((item["registration_url"] is None) == (not item["required"]) for item in told["items"])


async def test_an_item_tells_the_obligations_of_its_account(account: Account, household: Any) -> None:
    """Items may carry `obligations [{key, what, frequency, next_due_on}]` and `assessment {status, why}`."""
    rosa = await add_employee(account.live, household["id"], pay_rate=40)
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    items = data(await account.live.get("/state-registrations"))["items"]
    by_type = {item["account_type"]: item for item in items}
    calendar = data(await account.live.get("/tax-calendar"))["items"]
    due = {item["key"].rpartition("/")[0]: item["due_date"] for item in reversed(calendar)}
    for item in items:
        for obligation in item["obligations"]:
            assert obligation["key"].startswith(f"{item['state_code']}/")
            assert obligation["next_due_on"] == due[obligation["key"]]
    # One return of the EDD has the lines of all three accounts; the report of a hire hangs on none.
    wages = {
        "key": "CA/wages-quarterly",
        "what": "File the quarterly payroll tax return and pay",
        "frequency": "quarterly",
        "next_due_on": "2027-02-01",
    }
    for name in ("sui", "sdi", "withholding"):
        assert wages in by_type[name]["obligations"], by_type[name]["obligations"]
    assert "CA/new-hire" not in {each["key"] for item in items for each in item["obligations"]}
    assert by_type["sui"]["assessment"] == {
        "status": "needed",
        "why": "An employee works in this state.",
        "why_codes": [{"code": "account_works_there", "params": {}}],
    }
    revealed = data(await account.live.get("/state-registrations", reveal=True))["items"]
    assert [each["obligations"] for each in revealed] == [each["obligations"] for each in items]


async def test_an_all_family_household_still_needs_unemployment_insurance(
    account: Account, household: Any
) -> None:
    """`sui` reports required: true even for an all-family household; `withholding` is household-aware."""
    nobody = {"elected": False}
    await add_employee(
        account.live,
        household["id"],
        relationship="spouse",
        federal_withholding=nobody,
        state_withholding=nobody,
    )
    items = data(await account.live.get("/state-registrations"))["items"]
    assert {item["account_type"]: item["required"] for item in items} == {
        "sui": True,
        "withholding": False,
        "sdi": False,
    }


async def test_required_is_for_what_is_still_to_be_done(
    account: Account, household: Any, registered: Any
) -> None:
    """`required` is true exactly for `required` and `pending` rows: false once on file, or not owed."""
    items = data(await account.live.get("/state-registrations"))["items"]
    assert {(item["status"], item["required"], item["required_from"] is None) for item in items} == {
        ("registered", False, True)
    }


async def test_below_a_threshold_a_row_tells_from_when_it_is_required(account: Account) -> None:
    """Beside it `required_from` {quarterly_wages, paid} below a wage threshold: of the state's own rule."""
    employer_id = await add_household(account.live, state="TX")
    rosa = await add_employee(account.live, employer_id, work_state="TX", residence_state="TX")

    async def unemployment_insurance() -> Any:
        (item,) = data(await account.live.get("/state-registrations", employer_id=employer_id))["items"]
        assert (item["status"], item["required"]) == ("required", True)
        return item["required_from"]

    assert await unemployment_insurance() == {"quarterly_wages": 1000, "paid": 0}
    data(await account.live.post("/payroll/run", bonus(employer_id, rosa, 999.99)))
    assert await unemployment_insurance() == {"quarterly_wages": 1000, "paid": 999.99}
    data(await account.live.post("/payroll/run", bonus(employer_id, rosa, 0.01)))
    assert await unemployment_insurance() is None


def bonus(employer_id: str, employee_id: str, amount: float) -> dict[str, Any]:
    entry = {"employee_id": employee_id, "bonus": amount, "payment_method": "check"}
    return payroll_of(employer_id, employee_id, employees=[entry])


async def test_voluntary_withholding_is_listed_when_asked_for(account: Account) -> None:
    """No withholding row for AL, AZ, AR, OK, SC; `include=voluntary` adds it while tax is withheld; AZ never."""
    for state in ("AL", "AR", "OK", "SC", "AZ"):
        employer_id = await add_household(account.live, state=state)
        rosa = await add_employee(account.live, employer_id, work_state=state, residence_state=state)

        async def types(**query: str) -> list[str]:
            answered = await account.live.get("/state-registrations", employer_id=employer_id, **query)  # noqa: B023
            return [item["account_type"] for item in data(answered)["items"]]

        assert await types() == ["sui"]
        by_agreement = ["sui"] if state == "AZ" else ["sui", "withholding"]
        assert await types(include="voluntary") == by_agreement
        off = {"federal_withholding": {"elected": False}, "state_withholding": {"elected": False}}
        changed = await account.live.client.patch(
            f"/api/v1/employees/{rosa}", json=off, headers=account.live.headers()
        )
        data(changed)
        assert await types(include="voluntary") == ["sui"]


async def test_local_accounts_and_policies_are_listed_when_asked_for(account: Account) -> None:
    """`include=voluntary,local,insurance` adds: localities whose tax is withheld, policies that a state asks for."""
    employer_id = await add_household(account.live, state="PA")
    place = {"work_state": "PA", "residence_state": "PA", "locality": "PHILADELPHIA"}
    await add_employee(account.live, employer_id, **place)

    async def labels(**query: str) -> dict[str, str]:
        told = data(await account.live.get("/state-registrations", employer_id=employer_id, **query))
        assert all(item.keys() == ITEM for item in told["items"])
        return {item["label"]: item["account_type"] for item in told["items"]}

    plain = await labels()
    assert set(plain.values()) == {"sui", "withholding"}
    assert await labels(include="local") == plain | {"Philadelphia wage tax": "local"}
    insured = await labels(include="insurance,local,voluntary")
    assert insured.items() > (plain | {"Philadelphia wage tax": "local"}).items()


@pytest.mark.parametrize("include", ["local,everything", "local,", "", "everything"])
async def test_what_cannot_be_included_is_refused(account: Account, household: Any, include: str) -> None:
    """`include` takes the values that there are rows for; others are a 400 that names the field."""
    error = refusal(await account.live.get("/state-registrations", include=include), 400, "validation_error")
    assert fields(error) == ["include"]


async def test_hiring_leaving_and_coming_back_changes_the_rows(account: Account, household: Any) -> None:
    """It changes by itself when the household hires, terminates, reinstates."""

    async def required() -> set[str]:
        items = data(await account.live.get("/state-registrations"))["items"]
        return {item["account_type"] for item in items if item["required"]}

    assert await required() == set()
    rosa = await add_employee(account.live, household["id"])
    assert await required() == {"sui", "withholding", "sdi"}
    data(await account.live.post(f"/employees/{rosa}/terminate", {}))
    assert await required() == set()
    data(await account.live.post(f"/employees/{rosa}/reinstate", {}))
    assert await required() == {"sui", "withholding", "sdi"}


async def test_wages_of_another_payroll_keep_the_household_liable(account: Account, household: Any) -> None:
    """Prior wages above the threshold count as wages paid here: who has left stays to be reported."""
    rosa = await add_employee(account.live, household["id"], start_date="2026-01-05")
    data(await account.live.post(f"/employees/{rosa}/terminate", {}))

    async def unemployment_insurance() -> str:
        items = data(await account.live.get("/state-registrations"))["items"]
        return next(item["status"] for item in items if item["account_type"] == "sui")

    assert await unemployment_insurance() == "not_required"
    prior = {
        "tax_year": 2026,
        "source": "Former payroll",
        "as_of": "2026-03-31",
        "gross_pay": 1000,
        "lines": [{"code": "CA-SUI-ER", "subject_wages": 1000, "taxable_wages": 1000, "amount": 34}],
    }
    data(await account.live.post(f"/employees/{rosa}/prior-wages", {**prior, "gross_pay": 999}), 201)
    assert await unemployment_insurance() == "not_required"
    data(await account.live.post(f"/employees/{rosa}/prior-wages", prior), 201)
    assert await unemployment_insurance() == "required"


async def test_a_number_is_masked_unless_it_is_revealed_on_record(
    account: Account, registered: Any, owner_connection: psycopg.Connection
) -> None:
    """`reveal=true` gives full numbers, one audit row per number read."""
    masked = await account.live.get("/state-registrations")
    assert PLANTED not in masked.text
    assert {item["account_number_last_four"] for item in data(masked)["items"]} == {"5432"}
    assert readings(owner_connection) == 0
    revealed = data(await account.live.get("/state-registrations", reveal="true"))["items"]
    assert all(item.keys() == ITEM | {"account_number"} for item in revealed)
    assert {item["account_number"] for item in revealed} == {PLANTED}
    assert readings(owner_connection) == 1


async def test_nobody_else_reveals_it(
    account: Account, registered: Any, new_key: NewKey, owner_connection: psycopg.Connection
) -> None:
    """Without the scope, with another's household, with a wrong-mode key: 403 and no audit row."""
    query = {"employer_id": registered["id"], "reveal": "true"}
    narrow = await new_key("Lopez family", scopes=("payroll", "employees"))
    others = await new_key("Chen family")
    for caller, code in (
        (narrow, "scope_required"),
        (others, "household_forbidden"),
        (account.test, "key_mode_mismatch"),
    ):
        response = await caller.get("/state-registrations", **query)
        refusal(response, 403, code)
        assert PLANTED not in response.text
    assert readings(owner_connection) == 0


async def test_plans_and_unknown_queries(account: Account, household: Any, new_key: NewKey) -> None:
    """Free has the calculator only; unknown fields are refused; `POST` does not exist."""
    free = await new_key("Small", plan="free")
    refusal(await free.get("/state-registrations"), 403, "subscription_required")
    wrong = refusal(await account.live.get("/state-registrations", reveel="true"), 400, "validation_error")
    assert fields(wrong) == ["reveel"]
    written = refusal(await account.live.post("/state-registrations", MARIA), 405, "method_not_allowed")
    assert "hearthpay households register" in written["message"]
