"""Registrations against the real database: rows from records and ledger, numbers in the vault, all of it on record."""

from datetime import UTC, date, datetime

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.models import Employer
from hearthpay.payroll.ledger.quarters import QuarterPaid, read_quarters
from hearthpay.registrations.accounts import RegistrationType
from hearthpay.registrations.service import (
    keep_number,
    list_registrations,
    note_application,
    reveal_numbers,
)
from hearthpay.security.key_ring import KeyRing
from tests.database.household import Household

CLOCK = FixedClock(datetime(2026, 11, 22, 15, tzinfo=UTC))


def operator(household: Household) -> Actor:
    return Actor.operator(
        household.organization_id, sandbox=household.sandbox, request_id="req_registrations"
    )


async def statuses(database: Database, household: Household) -> dict[tuple[str, str], tuple[str, str | None]]:
    async with database.transaction(household.tenant) as session:
        _, rows = await list_registrations(session, operator(household), CLOCK, household.employer_id)
    return {(row.state, row.account_type): (row.status, row.last_four) for row in rows}


async def keep(
    database: Database,
    ring: KeyRing,
    household: Household,
    number: str,
    *,
    state: str = "CA",
    account_type: RegistrationType = "sui",
) -> str | None:
    async with database.transaction(household.tenant) as session:
        employer = await session.get_one(Employer, household.employer_id)
        return await keep_number(
            session,
            ring,
            operator(household),
            CLOCK,
            employer,
            state=state,
            account_id=account_type,
            number=number,
        )


async def test_a_number_counts_for_every_row_that_goes_by_it(
    database: Database, ring: KeyRing, owner: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    nothing_yet = {
        ("CA", "sui"): ("required", None),
        ("CA", "withholding"): ("required", None),
        ("CA", "sdi"): ("required", None),
    }
    assert await statuses(database, smiths) == nothing_yet
    assert await keep(database, ring, smiths, " 123-4567-8 ", account_type="withholding") is None
    assert await statuses(database, smiths) == dict.fromkeys(nothing_yet, ("registered", "5678"))
    assert await keep(database, ring, smiths, "123-4567-9") is None
    assert await statuses(database, smiths) == dict.fromkeys(nothing_yet, ("registered", "5679"))
    assert owner.execute("SELECT FROM vault").rowcount == 1
    assert await statuses(database, joneses) == nothing_yet


async def test_a_number_that_looks_odd_is_kept_with_a_warning(
    database: Database, ring: KeyRing, smiths: Household
) -> None:
    warning = await keep(database, ring, smiths, "12-345")
    assert warning is not None
    assert "###-####-#" in warning
    assert "12-345" not in warning
    assert (await statuses(database, smiths))["CA", "sui"] == ("registered", "45")


@pytest.mark.parametrize(
    ("state", "account_type", "number", "field"),
    [
        ("XX", "sui", "123-4567-8", "state"),
        ("CA", "pfml", "123-4567-8", "type"),
        ("TX", "withholding", "123-4567-8", "type"),
        ("CA", "sui", "--", "number"),
        ("CA", "sui", "1" * 41, "number"),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_not_repeated(
    database: Database,
    ring: KeyRing,
    owner: psycopg.Connection,
    smiths: Household,
    state: str,
    account_type: RegistrationType,
    number: str,
    field: str,
) -> None:
    with pytest.raises(Refusal) as refused:
        await keep(database, ring, smiths, number, state=state, account_type=account_type)
    assert refused.value.code == "validation_error"
    assert field in str(refused.value.details)
    assert number not in str(refused.value.details)
    assert owner.execute("SELECT FROM vault").rowcount == 0


async def test_each_number_revealed_is_on_record(
    database: Database, ring: KeyRing, owner: psycopg.Connection, smiths: Household
) -> None:
    await keep(database, ring, smiths, "123-4567-8")
    await keep(database, ring, smiths, "12-34567 8", state="NY")
    async with database.transaction(smiths.tenant) as session:
        employer, rows = await list_registrations(session, operator(smiths), CLOCK, smiths.employer_id)
        numbers = await reveal_numbers(session, ring, operator(smiths), employer, rows)
    assert numbers == {("CA", "edd"): "123-4567-8", ("NY", "sui"): "12-34567 8"}
    read = owner.execute("SELECT details FROM audit_log WHERE action = 'vault.read'").fetchall()
    expected = {"owner_kind": "registration", "kind": "state_account", "purpose": "registration.reveal"}
    assert [row[0] for row in read] == [expected, expected]


async def test_an_application_is_pending_until_it_is_taken_back(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    async def apply(applied_on: date | None) -> None:
        async with database.transaction(smiths.tenant) as session:
            employer = await session.get_one(Employer, smiths.employer_id)
            await note_application(
                session,
                operator(smiths),
                CLOCK,
                employer,
                state="CA",
                account_id="sdi",
                applied_on=applied_on,
            )

    await apply(date(2026, 11, 2))
    assert set((await statuses(database, smiths)).values()) == {("pending", None)}
    await apply(None)
    assert set((await statuses(database, smiths)).values()) == {("required", None)}
    noted = owner.execute("SELECT details FROM audit_log WHERE action = 'registration.apply' ORDER BY id")
    assert [row[0] for row in noted.fetchall()] == [
        {"before": None, "after": "2026-11-02"},
        {"before": "2026-11-02", "after": None},
    ]
    with pytest.raises(Refusal, match="applied_on"):
        await apply(date(2026, 11, 23))


async def test_wages_keep_unemployment_insurance_required_after_the_last_has_left(
    database: Database, owner: psycopg.Connection, smiths: Household
) -> None:
    owner.execute("UPDATE employees SET status = 'terminated', end_date = '2026-11-21'")
    async with database.transaction(smiths.tenant) as session:
        paid = await read_quarters(session, smiths.employer_id, first_year=2025, last_year=2026)
    assert paid == [QuarterPaid(smiths.employee_id, "CA", 2026, 4, 100_000)]
    assert await statuses(database, smiths) == {
        ("CA", "sui"): ("required", None),
        ("CA", "withholding"): ("not_required", None),
        ("CA", "sdi"): ("required", None),
    }


async def test_another_accounts_household_is_out_of_reach(
    database: Database, smiths: Household, joneses: Household
) -> None:
    async with database.transaction(joneses.tenant) as session:
        with pytest.raises(Refusal) as refused:
            await list_registrations(session, operator(joneses), CLOCK, smiths.employer_id)
    assert refused.value.code == "household_forbidden"
