"""The to-dos of a household over the API: each thing once, with what is open, until it is done."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg

from hearthpay.clock import FixedClock
from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.next_payday import LATE_FOR, NextPayday
from hearthpay.payroll.next_payroll import LastPay, next_payroll
from hearthpay.taxes.agencies import agencies
from hearthpay.todos.payday_rows import to_dos_of_paydays
from hearthpay.todos.wording import agency_text, contracted
from tests.database.damage import without_triggers
from tests.http.api import Account, data
from tests.worlds.households import add_employee, payroll_of

Household = dict[str, Any]


async def to_dos(account: Account, household: Household, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data(
        await account.live.get("/to-dos", employer_id=household["id"], **query)
    )
    return found


def by_kind(found: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        kinds.setdefault(each["kind"], []).append(each)
    return kinds


async def test_a_household_without_anybody_is_all_clear(account: Account, household: Household) -> None:
    assert await to_dos(account, household, due_within=150) == []


async def test_an_open_payment_is_listed_until_it_is_recorded_as_paid(
    account: Account, household: Household, clock: FixedClock
) -> None:
    rosa = await add_employee(account.live, household["id"])
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    items = data(await account.live.get("/tax-calendar", employer_id=household["id"]))["items"]
    estimated = next(
        each for each in items if each["amount"] and each["agency"] == "Internal Revenue Service"
    )
    found = {each["id"]: each for each in await to_dos(account, household, due_within=150)}
    row = next(each for each in found.values() if each["subject"]["object_id"] == estimated["key"])
    assert row["kind"] == "pay_taxes"
    assert row["amount"] == estimated["open"]
    assert row["due_on"] == estimated["due_date"]
    title = f"Pay the IRS ${estimated['open']:,.2f}: September–December 2026, due January 15, 2027"
    assert row["title"].startswith(title)
    assert row["link"].endswith(f"/app/{household['id']}/calendar/{row['id']}")
    data(
        await account.live.post(
            "/tax-payments",
            {
                "employer_id": household["id"],
                "agency": "IRS",
                "account_type": "estimated-tax",
                "period": estimated["period"],
                "amount": estimated["open"],
                "paid_on": str(clock.today()),
                "method": "bank_account",
            },
        ),
        201,
    )
    assert row["id"] not in {each["id"] for each in await to_dos(account, household, due_within=150)}


async def test_a_number_that_several_accounts_share_is_one_to_do(
    account: Account, household: Household
) -> None:
    rosa = await add_employee(account.live, household["id"])
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    (edd,) = by_kind(await to_dos(account, household))["register"]
    assert edd["title"] == "Register with the EDD"
    assert edd["due_on"] is None
    rows = data(await account.live.get("/state-registrations", employer_id=household["id"]))["items"]
    assert len([row for row in rows if row["status"] == "required"]) > 1


async def test_no_payment_is_listed_twice(account: Account, household: Household) -> None:
    rosa = await add_employee(account.live, household["id"])
    data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))
    found = await to_dos(account, household, due_within=150)
    assert len({each["id"] for each in found}) == len(found)
    items = [
        each["subject"]["object_id"] for each in found if each["subject"]["object_type"] == "calendar_item"
    ]
    assert len(set(items)) == len(items)
    assert len(items) > 3


async def test_an_unemployment_rate_is_asked_for_once_the_last_one_is_of_a_past_year(
    account: Account, household: Household, owner_connection: psycopg.Connection
) -> None:
    await add_employee(account.live, household["id"])
    assign = (
        "INSERT INTO assigned_rates SELECT organization_id, id, sandbox, %s, 'CA', 0.021 FROM employers "
        "WHERE id = %s"
    )

    async def rates() -> list[dict[str, Any]]:
        return by_kind(await to_dos(account, household)).get("enter_rate", [])

    assert await rates() == []
    owner_connection.execute(assign, (2025, household["id"]))
    [row] = await rates()
    assert row["title"] == "Enter your 2026 unemployment rate for California"
    assert row["link"].endswith(f"/app/{household['id']}/state-accounts/CA/rate")
    owner_connection.execute(assign, (2026, household["id"]))
    assert await rates() == []


async def test_a_rate_is_missing_once_an_employer_with_an_account_has_paid_for_three_years(
    account: Account, household: Household, owner_connection: psycopg.Connection
) -> None:
    rosa = await add_employee(account.live, household["id"])
    ran = data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))["payroll_id"]

    async def rates() -> list[dict[str, Any]]:
        return by_kind(await to_dos(account, household)).get("enter_rate", [])

    def first_paid(day: str) -> None:
        with without_triggers(owner_connection):
            owner_connection.execute("UPDATE payrolls SET pay_date = %s WHERE id = %s", (day, ran))

    first_paid("2023-12-22")
    assert await rates() == []
    registered = uuid4()
    owner_connection.execute(
        "INSERT INTO state_registrations (id, organization_id, employer_id, sandbox, state, number_id, created_at, "
        "updated_at) SELECT %s, organization_id, id, sandbox, 'CA', 'edd', now(), now() FROM employers WHERE id = %s",
        (registered, household["id"]),
    )
    owner_connection.execute(
        "INSERT INTO vault (id, organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, nonce, "
        "key_id, last_four) SELECT new_id(), organization_id, id, sandbox, 'registration', %s, 'state_account', %s, "
        "%s, 'k', '5678' FROM employers WHERE id = %s",
        (registered, b"x" * 30, b"\x00" * 12, household["id"]),
    )
    assert len(await rates()) == 1
    first_paid("2024-01-05")
    assert await rates() == []


async def test_an_api_key_in_use_is_to_be_replaced_before_and_after_it_expires_until_it_is_revoked(
    account: Account, household: Household, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    def change(key: UUID, **columns: Any) -> None:
        for name, value in columns.items():
            owner_connection.execute(f"UPDATE api_keys SET {name} = %s WHERE id = %s", (value, key))

    async def keys() -> list[dict[str, Any]]:
        return by_kind(await to_dos(account, household, due_within=150)).get("replace_key", [])

    [[key]] = owner_connection.execute("SELECT id FROM api_keys WHERE mode = 'test'").fetchall()
    now = clock.now()
    with without_triggers(owner_connection):
        change(key, created_at=now - timedelta(days=90), employer_id=household["id"], last_used_at=now)
        change(key, expires_at=now + timedelta(days=20))
        assert await keys() == []
        change(key, expires_at=now + timedelta(days=10))
        [row] = await keys()
        assert row["title"].startswith("Replace the API key ending in ")
        assert row["title"].endswith(", expires November 30, 2026")
        assert row["link"].endswith("/settings/keys")
        assert "/app/" not in row["link"]
        assert row["subject"] == {"object_type": "api_key", "object_id": str(key)}
        assert not row["overdue"]
        change(key, last_used_at=now - timedelta(days=31))
        assert await keys() == []
        change(key, last_used_at=now - timedelta(days=3), expires_at=now - timedelta(days=2))
        [row] = await keys()
        assert row["overdue"]
        change(key, created_at=now - timedelta(days=12))  # it was to last for a few days
        assert await keys() == []
        change(key, created_at=now - timedelta(days=90), revoked_at=now)
        assert await keys() == []


def test_a_late_payroll_is_expected_as_long_on_the_list_of_to_dos_as_on_the_list_of_households() -> None:
    household, rosa, today = uuid4(), uuid4(), date(2026, 11, 30)
    pays = {rosa: LastPay(rosa, "weekly", "check", Decimal(0), Decimal(0), "hourly")}
    listed = []
    for days in (LATE_FOR.days, LATE_FOR.days + 1):
        day = today - timedelta(days=days)
        due = NextPayday(day - timedelta(days=6), day, "weekly", day, (rosa,), ("Rosa Diaz",))
        to_do = list(to_dos_of_paydays(household, [due], today, today))
        assert all(each.overdue for each in to_do)
        listed.append((bool(to_do), next_payroll(household, [due], pays, today) is not None))
    assert listed == [(True, True), (False, False)]


async def test_a_check_that_was_handed_over_is_no_to_do_any_more(
    account: Account, household: Household, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    rosa = await add_employee(account.live, household["id"])
    dates = {"pay_period_start": "2026-11-16", "pay_period_end": "2026-11-22", "pay_date": "2026-11-27"}
    ran = data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa, **dates)))
    [row] = by_kind(await to_dos(account, household, due_within=31))["check_to_hand_over"]
    assert row["subject"]["object_id"] == ran["payroll_id"]
    first = data(await account.live.post(f"/payroll/{ran['payroll_id']}/hand-over", {"note": "In person."}))
    assert first["handed_over_at"] == clock.now().isoformat().replace("+00:00", "Z")
    assert (first["status"], first["pay_date"]) == ("completed", "2026-11-27")
    clock.advance(timedelta(hours=1))
    assert data(await account.live.post(f"/payroll/{ran['payroll_id']}/hand-over", {})) == first
    assert "check_to_hand_over" not in by_kind(await to_dos(account, household, due_within=31))
    assert owner_connection.execute(
        "SELECT actor_kind, details FROM audit_log WHERE action = 'payroll.hand_over'"
    ).fetchall() == [
        (
            "key",
            {
                "pay_date": "2026-11-27",
                "handed_over_at": first["handed_over_at"].replace("Z", "+00:00"),
                "note": "In person.",
            },
        )
    ]


async def test_a_payroll_that_was_voided_cannot_be_handed_over(
    account: Account, household: Household
) -> None:
    rosa = await add_employee(account.live, household["id"])
    ran = data(await account.live.post("/payroll/run", payroll_of(household["id"], rosa)))["payroll_id"]
    data(await account.live.post(f"/payroll/{ran}/void", {}))
    refused = await account.live.post(f"/payroll/{ran}/hand-over", {})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "invalid_state"


def test_an_abbreviation_has_its_article_in_a_sentence() -> None:
    for language, agency, told in (
        ("en", "EDD", "Pay the EDD"),
        ("es", "EDD", "Pague al EDD"),
        ("es", "TWC", "Pague a la TWC"),
        ("es", "City of Akron", "Pague a City of Akron"),
    ):
        said = say_in(language)("Pay {agency}", agency=agency_text(agency, language))
        assert contracted(said, language) == told


def test_the_agencies_that_are_feminine_in_spanish_are_known() -> None:
    feminine = ("Commission", "Agency", "Office", "Division")
    for agency in agencies().values():
        if agency.name.isupper() and agency.name.isalpha():
            article = agency_text(agency.name, "es").split()[0]
            assert (article == "la") == any(word in agency.full_name for word in feminine), agency.full_name
