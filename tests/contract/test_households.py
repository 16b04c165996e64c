"""The contract, "Employers, employees": each test's first line is a sentence of it."""

from typing import Any

import httpx
import pytest

from tests.http.api import MARIA, ROSA, Account, Caller, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, payroll_of
from tests.worlds.town import Family

HOME = {
    "line1": "2201 Mission St",
    "line2": None,
    "city": "San Francisco",
    "state": "CA",
    "zip": "94110",
}
ITEM = {
    *("id", "first_name", "last_name", "email", "state", "is_primary", "ein_status", "sandbox", "created_at"),
    *("threshold_basis", "employer_id", "metadata"),
}


async def patch(caller: Caller, path: str, body: dict[str, Any]) -> httpx.Response:
    return await caller.client.patch(f"/api/v1{path}", json=body, headers=caller.headers())


@pytest.mark.parametrize("plan", ["starter", "plus"])
async def test_listing_and_creating_households_is_for_professional(plan: str, new_key: NewKey) -> None:
    """`GET /employers` and `POST /employers`: Professional plan and scope `multi_employer`."""
    small = await new_key("Small", plan=plan)
    for response in (await small.get("/employers"), await small.post("/employers", MARIA)):
        error = refusal(response, 403, "subscription_required")
        assert error["details"]["required_plan"] == "professional"
    narrow = await new_key("Large", scopes=("payroll", "employees"))
    refusal(await narrow.get("/employers"), 403, "scope_required")
    refusal(await narrow.post("/employers", MARIA), 403, "scope_required")


async def test_a_household_is_created_listed_read_and_changed(account: Account) -> None:
    """The fields of an item; 201 adds `organization_id`; `GET /employers/{id}` and `PATCH`, with the address."""
    created = data(await account.live.post("/employers", MARIA | {"address": HOME}), 201)
    assert created.keys() == ITEM | {"organization_id", "address", "phone", "time_zone"}
    (listed,) = data(await account.live.get("/employers"))
    assert listed.keys() == ITEM
    path = f"/employers/{created['id']}"
    read = data(await account.live.get(path))
    assert read.keys() == ITEM | {"address", "phone", "time_zone"}
    assert read["address"] == HOME
    moved = data(await patch(account.live, path, {"address": HOME | {"zip": "94110-1234"}}))
    assert moved["address"]["zip"] == "94110-1234"
    assert moved.pop("warnings") == []
    assert moved.pop("warning_codes") == []
    assert data(await account.live.get(path)) == moved


async def test_reading_a_household_needs_the_scope_employees(
    account: Account, household: Any, new_key: NewKey
) -> None:
    """For a household in reach, scope `employees`."""
    path = f"/employers/{household['id']}"
    narrow = await new_key("Lopez family", scopes=("employees",))
    data(await narrow.get(path))
    data(await patch(narrow, path, {"state": "NV"}))
    refusal(await (await new_key("Lopez family", scopes=("payroll",))).get(path), 403, "scope_required")


async def test_an_id_has_both_its_names(account: Account) -> None:
    """`employer_id` stands beside `id` in `/employers`, and the reverse in `/households`; payrolls and people, too."""
    created = data(await account.live.post("/employers", MARIA), 201)
    employer_id = created["id"]
    path = f"/employers/{employer_id}"
    rosa = await add_employee(account.live, employer_id)
    ran = data(await account.live.post("/payroll/run", payroll_of(employer_id, rosa)))
    named = {
        "employer_id": [
            created,
            data(await account.live.get(path)),
            data(await patch(account.live, path, {"phone": "415-555-0134"})),
            *data(await account.live.get("/employers")),
            *(households := data(await account.live.get("/households"))),
        ],
        "employee_id": [
            *households[0]["employees"],
            *data(await account.live.get("/employees", employer_id=employer_id)),
        ],
        "payroll_id": [
            ran,
            data(await account.live.get(f"/payroll/{ran['payroll_id']}")),
            *data(await account.live.get("/payrolls", employer_id=employer_id)),
        ],
    }
    expected = {"employer_id": employer_id, "employee_id": rosa, "payroll_id": ran["payroll_id"]}
    for name, objects in named.items():
        assert {(each["id"], each[name]) for each in objects} == {(expected[name], expected[name])}, name


async def test_the_email_is_optional_with_a_test_key(account: Account) -> None:
    """`email` is required, optional with a test key."""
    body = {name: value for name, value in MARIA.items() if name != "email"}
    assert data(await account.test.post("/employers", body), 201)["email"] is None
    assert fields(refusal(await account.live.post("/employers", body), 400, "validation_error")) == ["email"]


async def test_deleting_is_for_test_keys(account: Account, household: Any) -> None:
    """`DELETE /employers/{id}` with test keys only; `reset=true` empties it; a real household is 403."""
    sandbox = data(await account.test.post("/employers", MARIA), 201)["id"]
    await add_employee(account.test, sandbox)

    async def delete(caller: Caller, employer_id: str, **query: str) -> httpx.Response:
        path = f"/api/v1/employers/{employer_id}"
        return await caller.client.delete(path, params=query, headers=caller.headers())

    assert data(await delete(account.test, sandbox, reset="true")) == {
        "id": sandbox,
        "reset": True,
        "employees_removed": 1,
        "payrolls_removed": 0,
    }
    assert data(await delete(account.test, sandbox)) == {"id": sandbox, "deleted": True}
    for caller in (account.test, account.live):
        refusal(await delete(caller, household["id"]), 403, "key_mode_mismatch")


async def test_direct_deposit_status(family: Family) -> None:
    """`GET /employers/{id}/dd-status`: ready, account, authorization, blockers, and each employee."""
    status = data(await family.caller.get(f"/employers/{family.employer_id}/dd-status"))
    assert status.keys() == {"employer_id", "ready", "bank_account", "authorization", "blockers", "employees"}
    assert status["bank_account"].keys() == {"status", "last_four", "bank_name"}
    assert status["authorization"].keys() == {"status", "expires_at"}
    assert status["employees"] == [{"employee_id": family.employee_id, "ready": True, "blockers": []}]


async def test_a_list_of_employees_is_safe(account: Account, household: Any) -> None:
    """`GET /employees` needs `employer_id`; an item holds the fields named and nothing private."""
    assert fields(refusal(await account.live.get("/employees"), 400, "validation_error")) == ["employer_id"]
    await add_employee(account.live, household["id"], email="rosa@private.example", birth_year=1987)
    response = await account.live.get("/employees", employer_id=household["id"], limit=1)
    (item,) = data(response)
    assert item.keys() >= {
        *("id", "employee_id", "first_name", "last_name", "name", "status", "work_state", "residence_state"),
        *(
            "pay_rate",
            "pay_frequency",
            "start_date",
            "end_date",
            "payment_method",
            "onboarding",
            "created_at",
        ),
    }
    assert item["id"] == item["employee_id"]
    assert item["onboarding"].keys() == {"bank_account", "tax_info"}
    assert "rosa@private.example" not in response.text
    assert "1987" not in response.text


async def test_household_and_names_are_enough(account: Account, household: Any) -> None:
    """Household, names and email make an employee, `incomplete: ["pay_rate"]`, starting today, paid biweekly by check."""
    new = {
        "employer_id": household["id"],
        "first_name": "Rosa",
        "last_name": "Diaz",
        "email": "rosa@example.com",
    }
    rosa = data(await account.live.post("/employees", new), 201)
    assert rosa["incomplete"] == ["pay_rate"]
    assert rosa["pay_rate"] is None
    assert rosa["start_date"] == "2026-11-20"
    assert (rosa["pay_frequency"], rosa["payment_method"], rosa["work_state"]) == ("biweekly", "check", "CA")
    changed = data(await patch(account.live, f"/employees/{rosa['id']}", {"pay_rate": 20}))
    assert (changed["incomplete"], changed["overtime_rate"]) == ([], 30)


async def test_an_employee_is_read_back_whole(account: Account, household: Any) -> None:
    """`GET /employees/{id}` returns all of it again, and never a number of the vault."""
    new = ROSA | {
        "email": "rosa@example.com",
        "overtime_rate": 50,
        "work_state": "NY",
        "residence_state": "NJ",
        "city": "Hoboken",
        "locality": "New York City",
        "relationship": "child_18_to_20",
        "birth_year": 2007,
        "lives_in": True,
        "federal_withholding": {
            "elected": True,
            "filing_status": "married",
            "multiple_jobs": True,
            "dependents_credit": 2000,
            "other_income": 1,
            "deductions": 2,
            "extra_withholding": 3.5,
        },
        "state_withholding": {"filing_status": "married", "allowances": 2},
    }
    created = data(await account.live.post("/employees", new), 201)
    read = data(await account.live.get(f"/employees/{created['id']}"))
    assert read == created
    for name in (
        "email",
        "overtime_rate",
        "city",
        "relationship",
        "birth_year",
        "lives_in",
        "state_withholding",
    ):
        assert read[name] == new[name]
    assert read["federal_withholding"].items() >= new["federal_withholding"].items()
    assert read["localities"] == ["NYC"]
    for relationship in ("none", "spouse", "parent", "child_under_21"):
        changed = await patch(account.live, f"/employees/{created['id']}", {"relationship": relationship})
        assert data(changed)["relationship"] == relationship


async def test_someone_leaves_and_comes_back(account: Account, household: Any) -> None:
    """`POST /employees/{id}/terminate` and `/reinstate`: the same person goes on."""
    rosa = await add_employee(account.live, household["id"])
    left = data(await account.live.post(f"/employees/{rosa}/terminate", {"end_date": "2026-11-13"}))
    assert (left["status"], left["end_date"]) == ("terminated", "2026-11-13")
    back = data(await account.live.post(f"/employees/{rosa}/reinstate", {"start_date": "2026-11-16"}))
    assert (back["id"], back["status"], back["start_date"]) == (rosa, "active", "2026-11-16")


@pytest.mark.parametrize("field", ["ssn", "social_security_number", "account_number", "routing_number"])
async def test_numbers_are_for_the_portal(account: Account, household: Any, field: str) -> None:
    """Any field that looks like a Social Security number or bank account is a 400 that tells to use the portal."""
    response = await account.live.post("/employees", ROSA | {field: "078-05-1120"})
    (problem,) = refusal(response, 400, "validation_error")["details"]
    assert problem["field"] == field
    assert "portal" in problem["message"]


async def test_an_invitation(family: Family) -> None:
    """`POST /employees/{id}/invite`: a new one cancels the pending; a bank account once in 24 hours, but for `send_email: false`."""
    path = f"/employees/{family.employee_id}/invite"
    invited = data(await family.caller.post(path, {"type": "bank_account"}))
    assert invited.keys() >= {"portal_url", "email_sent", "expires_at", "employer_id"}
    too_soon = await family.caller.post(path, {"type": "bank_account"})
    error = refusal(too_soon, 412, "invitation_too_soon")
    assert error["details"] == {"retry_at": "2026-11-21T15:00:00Z"}
    assert too_soon.headers["Retry-After"] == "86400"
    data(await family.caller.post(path, {"type": "bank_account", "send_email": False}))
    first = invited["portal_url"].removeprefix("http://pay.example.com")
    assert (await family.caller.client.get(first)).status_code == 410
    await family.caller.post(f"/employees/{family.employee_id}/terminate", {})
    data(await family.caller.post(path, {"type": "tax_info"}))


async def test_a_bank_account_is_asked_for_where_there_is_direct_deposit(
    account: Account, household: Any
) -> None:
    """A `bank_account` invitation needs direct deposit to be available."""
    rosa = await add_employee(account.live, household["id"])
    response = await account.live.post(f"/employees/{rosa}/invite", {"type": "bank_account"})
    refusal(response, 412, "direct_deposit_unavailable")


async def test_a_jurisdiction_tells_what_employees_may_say(account: Account, household: Any) -> None:
    """Certificate fields with type and meaning, and localities with their names, by state; places go by name or code."""
    indiana = data(await account.live.get("/jurisdictions/in"))
    assert (indiana["state"], indiana["name"]) == ("IN", "Indiana")
    assert "IN-SUI-ER" in {tax["code"] for tax in indiana["taxes"]}
    entries = {entry["name"]: entry for entry in indiana["certificate"]["entries"]}
    county = entries["county_of_residence_jan1"]
    assert (county["type"], bool(county["meaning"])) == ("choice", True)
    assert all(entry["meaning"] for entry in entries.values())
    marion = next(value for value in county["values"] if value["value"] == "49")
    assert "MARION COUNTY" in marion["also_known_as"]
    place = next(each for each in indiana["localities"] if each["code"] == "MARION-COUNTY")
    assert place["name"] == "Marion County"
    paid = []
    for chosen in (
        {"state_withholding": {"county_of_residence_jan1": "49"}},
        {"state_withholding": {"county_of_residence_jan1": "Marion"}},
        {"state_withholding": {"county_of_residence_jan1": "marion county"}},
        {"locality": "MARION-COUNTY"},
        {"locality": place["name"]},
    ):
        employee = await add_employee(
            account.live, household["id"], first_name=f"R{'a' * len(paid)}", work_state="IN", **chosen
        )
        body = {
            "employer_id": household["id"],
            "pay_period_start": "2026-11-09",
            "pay_period_end": "2026-11-15",
            "pay_frequency": "weekly",
            "employees": [{"employee_id": employee, "regular_hours": 40}],
        }
        preview = data(await account.live.post("/payroll/preview", body))
        paid.append([line for line in preview["employees"][0]["lines"] if line["code"] == "IN-49-LIT"])
    assert paid[0]
    assert paid == [paid[0]] * 5
    texas = data(await account.live.get("/jurisdictions/TX"))
    assert (texas["certificate"], texas["localities"]) == (None, [])
    for nowhere in ("XX", "PR", "california"):
        refusal(await account.live.get(f"/jurisdictions/{nowhere}"), 404, "not_found")


@pytest.mark.parametrize(
    ("state", "name", "code"),
    [
        ("PA", "Philadelphia", "PHILADELPHIA"),
        ("MO", "St. Louis", "ST-LOUIS"),
        ("MO", "kansas city", "KANSAS-CITY"),
    ],
)
async def test_a_city_is_taken_by_its_name(
    account: Account, household: Any, state: str, name: str, code: str
) -> None:
    """Counties and cities are taken by name or code."""
    created = data(await account.live.post("/employees", ROSA | {"work_state": state, "locality": name}), 201)
    assert created["localities"] == [code]
