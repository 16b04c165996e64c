"""Two records of one person, known by the number that is entered in the portal."""

from collections.abc import Mapping
from typing import Any

import httpx
import psycopg
import pytest

from hearthpay.security.key_ring import KeyRing
from tests.database.damage import without_triggers
from tests.http.api import MARIA, ROSA, Account, data
from tests.web.test_portal import link

FIRST, SECOND, THIRD = "536-22-8145", "219-44-8145", "536-22-8146"
ITIN = "912-70-1234"


async def enter(client: httpx.AsyncClient, account: Account, employee: dict[str, Any], number: str) -> None:
    response = await client.post(await link(account, employee), data={"tax_number": number})
    assert response.status_code == 303, response.text


async def new(account: Account, name: str, **more: Any) -> dict[str, Any]:
    added: dict[str, Any] = data(
        await account.live.post("/employees", ROSA | {"first_name": name} | more), 201
    )
    return added


async def people(account: Account, household: dict[str, Any]) -> Mapping[str, dict[str, Any]]:
    """The household's employees by first name."""
    listed = data(await account.live.get("/employees", employer_id=household["id"]))
    return {each["first_name"]: each for each in listed}


async def test_the_same_number_makes_two_records_one_person(
    account: Account,
    household: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
) -> None:
    old = await new(account, "Rosa")
    await enter(client, account, old, FIRST)
    data(await account.live.post(f"/employees/{old['id']}/terminate", {"end_date": "2026-03-06"}))
    again = await new(account, "Rosita")
    assert again["warnings"] == []  # another name: only the number can tell
    assert again["person_id"] == again["id"]
    await enter(client, account, again, FIRST)
    found = await people(account, household)
    assert found["Rosita"]["person_id"] == found["Rosa"]["person_id"] == old["id"]
    (told,) = found["Rosita"]["warnings"]
    assert old["id"] in told
    assert "The year is one" in told
    reads = owner_connection.execute(
        "SELECT actor_kind, actor_id::text, subject_id::text, details FROM audit_log WHERE action = 'vault.read'"
    ).fetchall()
    purpose = {"kind": "ssn", "purpose": "employee.same_person", "owner_kind": "employee"}
    assert reads == [("employee", again["id"], old["id"], purpose)]
    links = "SELECT subject_id::text, details->'after' FROM audit_log WHERE action = 'employee.same_person' ORDER BY 1"
    assert owner_connection.execute(links).fetchall() == [
        (each, {"person_id": old["id"]}) for each in sorted((old["id"], again["id"]))
    ]


async def test_a_payroll_of_either_record_pays_the_person(
    account: Account, household: dict[str, Any], client: httpx.AsyncClient
) -> None:
    ana, bea, cleo = [await new(account, name) for name in ("Ana", "Bea", "Cleo")]
    for each in (ana, bea):
        await enter(client, account, each, FIRST)
    entries = [{"employee_id": each["id"], "regular_hours": 8} for each in (ana, bea, cleo)]
    body = {
        "pay_period_start": "2026-11-09",
        "pay_period_end": "2026-11-15",
        "pay_date": "2026-11-20",
        "pay_frequency": "weekly",
        "employees": entries,
    }
    paid = data(await account.live.post("/payroll/run", body))["employees"]
    assert not any("same person" in each for paycheck in paid for each in paycheck["warnings"])
    assert [paycheck["ytd"]["gross_pay"] for paycheck in paid] == [228, 456, 228]


@pytest.mark.parametrize("number", [SECOND, THIRD, ITIN])
async def test_other_numbers_are_other_people(
    account: Account, household: dict[str, Any], client: httpx.AsyncClient, number: str
) -> None:
    rosa, ana = await new(account, "Rosa"), await new(account, "Ana")
    await enter(client, account, rosa, FIRST)
    await enter(client, account, ana, number)
    found = await people(account, household)
    assert all(each["person_id"] == each["id"] and not each["warnings"] for each in found.values())


async def test_only_numbers_with_the_same_last_digits_are_read(
    account: Account,
    household: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
) -> None:
    for name, number in (("Ana", SECOND), ("Bea", THIRD), ("Cleo", FIRST)):
        await enter(client, account, await new(account, name), number)
    reads = owner_connection.execute("SELECT count(*) FROM audit_log WHERE action = 'vault.read'").fetchone()
    assert reads == (1,)  # Cleo's number was compared with Ana's alone


async def test_another_household_learns_nothing(
    account: Account, household: dict[str, Any], client: httpx.AsyncClient
) -> None:
    rosa = await new(account, "Rosa", employer_id=household["id"])
    await enter(client, account, rosa, FIRST)
    other = data(await account.live.post("/employers", MARIA), 201)
    twin = await new(account, "Rosa", employer_id=other["id"])
    await enter(client, account, twin, FIRST)
    for home in (household, other):
        (only,) = (await people(account, home)).values()
        assert only["person_id"] == only["id"]


async def test_a_corrected_number_takes_the_link_back(
    account: Account, household: dict[str, Any], client: httpx.AsyncClient
) -> None:
    ana, bea, cleo = [await new(account, name) for name in ("Ana", "Bea", "Cleo")]
    for each in (ana, bea, cleo):
        await enter(client, account, each, FIRST)
    found = await people(account, household)
    assert {each["person_id"] for each in found.values()} == {ana["id"]}
    await enter(client, account, ana, THIRD)  # the first of the three was wrong
    found = await people(account, household)
    assert found["Ana"]["person_id"] == ana["id"]
    assert found["Bea"]["person_id"] == found["Cleo"]["person_id"] == bea["id"]
    assert not found["Ana"]["warnings"]
    await enter(client, account, cleo, THIRD)
    found = await people(account, household)
    assert found["Ana"]["person_id"] == found["Cleo"]["person_id"] == ana["id"]
    assert found["Bea"]["person_id"] == bea["id"]


async def test_an_itin_that_made_the_link_still_stands_when_a_number_follows(
    account: Account, household: dict[str, Any], client: httpx.AsyncClient
) -> None:
    ana, bea = await new(account, "Ana"), await new(account, "Bea")
    for each in (ana, bea):
        await enter(client, account, each, ITIN)
    await enter(client, account, bea, FIRST)
    found = await people(account, household)
    assert found["Bea"]["person_id"] == ana["id"]
    await enter(client, account, ana, FIRST)
    assert (await people(account, household))["Bea"]["person_id"] == ana["id"]


async def test_a_number_that_cannot_be_opened_keeps_nobody_from_entering_one(
    account: Account,
    household: dict[str, Any],
    client: httpx.AsyncClient,
    ring: KeyRing,
    owner_connection: psycopg.Connection,
) -> None:
    ana, bea = await new(account, "Ana"), await new(account, "Bea")
    await enter(client, account, ana, FIRST)
    with without_triggers(owner_connection):
        owner_connection.execute("UPDATE vault SET key_id = 'lost'")
    await enter(client, account, bea, FIRST)
    found = await people(account, household)
    assert found["Bea"]["onboarding"]["tax_info"] == "complete"
    assert found["Bea"]["person_id"] == bea["id"]
