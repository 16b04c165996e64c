"""Why the lines of a payroll on record are what they are: the amounts are the recorded ones, whatever changed since."""

from typing import Any

import psycopg
import pytest

from tests.http.api import Account, data, fields, refusal
from tests.worlds.households import payroll_of


@pytest.fixture
async def household(employer_id: str) -> dict[str, Any]:
    return {"id": employer_id}


@pytest.fixture
async def rosa(employee_id: str) -> str:
    return employee_id


async def run(account: Account, household: dict[str, Any], rosa: str, **changes: Any) -> dict[str, Any]:
    ran: dict[str, Any] = data(
        await account.live.post("/payroll/run", payroll_of(household["id"], rosa) | changes)
    )
    return ran


async def explained(account: Account, payroll_id: str, **query: Any) -> dict[str, Any]:
    told: dict[str, Any] = data(await account.live.get(f"/payroll/{payroll_id}/explanation", **query))
    return told


async def test_payroll_on_record_is_explained_as_a_preview_of_it(
    account: Account, household: dict[str, Any], rosa: str
) -> None:
    asked = payroll_of(household["id"], rosa)
    previewed = data(await account.live.post("/payroll/explain", asked))["explanations"]
    ran = await run(account, household, rosa)
    told = await explained(account, ran["payroll_id"], employee_id=rosa)
    assert told["rulebook"]["version"] == ran["rulebook"]["version"] == told["rulebook"]["version_now"]
    assert told["rulebook"]["changed"] is False
    assert (told["status"], told["is_estimated"]) == ("completed", False)
    assert [{**line, "reproduced": True} for line in previewed] == told["explanations"]


async def test_later_payrolls_and_voids_leave_an_explanation_as_it_was(
    account: Account, household: dict[str, Any], rosa: str
) -> None:
    weeks = [("2026-10-26", "2026-11-01"), ("2026-11-02", "2026-11-08"), ("2026-11-09", "2026-11-15")]
    ran = [
        await run(
            account, household, rosa, pay_period_start=start, pay_period_end=end, pay_frequency="weekly"
        )
        for start, end in weeks
    ]
    before = [await explained(account, each["payroll_id"]) for each in ran]
    assert all(line["reproduced"] for each in before for line in each["explanations"])
    await account.live.post(f"/payroll/{ran[0]['payroll_id']}/void", {})
    again = await explained(account, ran[1]["payroll_id"])
    assert again["explanations"] == before[1]["explanations"]
    assert (await explained(account, ran[0]["payroll_id"]))["status"] == "voided"


async def test_recorded_amounts_stand_where_a_certificate_changed_since(
    account: Account, household: dict[str, Any], rosa: str, client: Any
) -> None:
    ran = await run(account, household, rosa)
    lines = {line["code"]: line["amount"] for line in ran["employees"][0]["lines"]}
    changed = await client.patch(
        f"/api/v1/employees/{rosa}",
        json={"federal_withholding": {"elected": True, "extra_withholding": 50}},
        headers=account.live.headers(),
    )
    assert changed.status_code == 200
    told = (await explained(account, ran["payroll_id"]))["explanations"]
    assert {line["code"]: line["amount"] for line in told} == lines
    reproduced = {line["code"]: line["reproduced"] for line in told}
    assert reproduced["US-SS-EE"] is True
    for line in told:
        assert line["sources"]
        if not line["reproduced"]:
            assert line["steps"][-1] == {"label": "tax", "value": line["amount"]}
            assert line["note"]
            assert line["confidence"] is None


async def test_changed_rules_are_told_with_the_recorded_fingerprint(
    account: Account, household: dict[str, Any], rosa: str, owner_connection: psycopg.Connection
) -> None:
    ran = await run(account, household, rosa)
    owner_connection.execute(
        "UPDATE payrolls SET rulebook_version = '2026.0-000000000000' WHERE id = %s", (ran["payroll_id"],)
    )
    told = await explained(account, ran["payroll_id"])
    assert told["rulebook"]["version"] == "2026.0-000000000000"
    assert told["rulebook"]["version_now"] == ran["rulebook"]["version"]
    assert told["rulebook"]["changed"] is True


async def test_one_line_of_one_employee_is_explained_and_others_are_named(
    account: Account, household: dict[str, Any], rosa: str
) -> None:
    ran = await run(account, household, rosa)
    path = f"/payroll/{ran['payroll_id']}/explanation"
    (line,) = (await explained(account, ran["payroll_id"], line_code="US-SS-EE"))["explanations"]
    assert (line["code"], line["employee_id"]) == ("US-SS-EE", rosa)
    unknown = refusal(await account.live.get(path, line_code="US-NONE"), 400, "validation_error")
    assert fields(unknown) == ["line_code"]
    other = refusal(await account.live.get(path, employee_id=household["id"]), 400, "validation_error")
    assert fields(other) == ["employee_id"]
    missing = f"/payroll/{household['id']}/explanation"
    refusal(await account.live.get(missing), 404, "not_found")
