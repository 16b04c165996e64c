"""Journeys of money that goes wrong: what is owed to whom at each step, what is told, and how each of them ends."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.banking.gateways.gateway import GatewayUnavailableError
from hearthpay.database.session import Database
from hearthpay.employees.models import Employee
from hearthpay.payroll.issues.available_actions import remedies_for
from hearthpay.payroll.payday.bank_day import Bank, advance
from hearthpay.payroll.set_asides import escrow
from tests.http.api import data, fields, refusal
from tests.lifecycle.accounts_by_hand import set_account
from tests.lifecycle.forging import money_of, open_kinds, possible, send_back
from tests.worlds.households import add_employee
from tests.worlds.town import Family, Town, rows, statuses

# Friday, 20 November 2026: the debit settles on Monday 23 and is safe on Wednesday 25; Thursday is Thanksgiving, the
# wages leave on Friday 27 and arrive on Monday 30.
YEAR = "SELECT employee_id::text, gross_pay FROM year_balances"
NOTHING: Counter[str] = Counter()


async def run(family: Family, **changes: Any) -> str:
    return data(await family.caller.post("/payroll/run", family.order(**changes)))["payroll_id"]


async def read(family: Family, payroll_id: str) -> dict[str, Any]:
    return data(await family.caller.get(f"/payroll/{payroll_id}"))


async def authorize(family: Family) -> None:
    path = f"/employers/{family.employer_id}/debit-authorization"
    answer = data(await family.caller.post(path, {"confirm_ach_debit": True}))
    assert answer["authorization"]["status"] == "active"


async def remedy(
    family: Family, payroll_id: str, employee_id: str, action: str, until: str | None = None, **more: Any
):
    body = {"action": action} | ({} if until is None else {"until": until})
    return await family.caller.post(f"/payroll/{payroll_id}/paychecks/{employee_id}/remedy", body, **more)


def entry_for(employee_id: str, **more: Any) -> dict[str, Any]:
    return {"employee_id": employee_id, "regular_hours": 40, "payment_method": "direct_deposit"} | more


async def at(town: Town, day: str, hour: int = 15, minute: int = 0) -> None:
    town.go_to(day, hour, minute)
    await town.work()


EARLIER = {"pay_period_start": "2026-11-09", "pay_period_end": "2026-11-15"}


async def two_paid(family: Family, town: Town) -> tuple[str, str]:
    """A payroll of two whose debit has left; return it and the second employee."""
    second = await add_employee(family.caller, family.employer_id, first_name="Ines")
    await town.connect(family.caller, family.employer_id, second, account="777788889999")
    payroll_id = await run(family, employees=[entry_for(family.employee_id), entry_for(second)])
    await at(town, "2026-11-20")
    return payroll_id, second


async def held(family: Family, town: Town, owner: psycopg.Connection) -> tuple[str, str]:
    """The same on payday: the first employee is paid, the deposit of the second could not leave."""
    payroll_id, second = await two_paid(family, town)
    await at(town, "2026-11-25")
    set_account(owner, second, "failed")
    await at(town, "2026-11-27")
    await at(town, "2026-11-30", 8)
    return payroll_id, second


# Authorizations bind every debit.


async def test_a_revoked_authorization_stops_what_is_scheduled_until_it_is_given_anew(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    scheduled = data(
        await family.caller.post(
            "/payroll/run",
            family.order("2026-12-04", pay_period_start="2026-11-09", pay_period_end="2026-11-15"),
        )
    )["payroll_id"]
    revoked = await run(family)
    await at(town, "2026-11-20")
    send_back(town, owner_connection, revoked, "debit", "R10")
    await at(town, "2026-11-24", 8)
    assert (await read(family, revoked))["status"] == "failed"
    detail = await read(family, scheduled)
    assert possible(detail) == ["authorize_debit", "void"]
    await at(town, "2026-11-27")
    detail = await read(family, scheduled)
    assert (detail["status"], detail["failure"]["code"]) == ("scheduled", "authorization_missing")
    assert money_of(owner_connection, scheduled) == []
    await authorize(family)
    await at(town, "2026-11-27", 15, 1)
    detail = await read(family, scheduled)
    assert statuses(detail) == ["scheduled", "firing", "pending_funding"]
    assert "failure" not in detail
    await town.live_through("2026-11-28", "2026-12-04")
    assert (await read(family, scheduled))["status"] == "completed"
    assert await open_kinds(owner_database, town) == NOTHING


async def test_without_an_authorization_a_scheduled_payroll_expires(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    scheduled = data(await family.caller.post("/payroll/run", family.order("2026-12-04", **EARLIER)))
    scheduled = scheduled["payroll_id"]
    revoked = await run(family)
    await at(town, "2026-11-20")
    send_back(town, owner_connection, revoked, "debit", "R10")
    await at(town, "2026-11-24", 8)
    day, seen = "2026-11-27", set()
    for day in (
        "2026-11-27",
        "2026-11-28",
        "2026-11-29",
        "2026-11-30",
        "2026-12-01",
        "2026-12-02",
        "2026-12-03",
    ):
        for hour in range(0, 24, 4):
            await at(town, day, hour, 30)
            seen.add((await read(family, scheduled))["status"])
    assert seen == {"scheduled"}
    await town.live_through("2026-12-04", "2026-12-09")
    detail = await read(family, scheduled)
    assert (detail["status"], detail["failure"]["code"]) == ("failed", "authorization_missing")
    assert money_of(owner_connection, scheduled) == []
    assert rows(owner_connection, "SELECT DISTINCT live FROM payroll_entries") == [(False,)]
    assert await open_kinds(owner_database, town) == NOTHING


@pytest.mark.parametrize("ending", ["authorize", "void", "expire"])
async def test_a_debit_that_waits_for_the_file_is_not_sent_once_the_household_objects(
    ending: str,
    family: Family,
    town: Town,
    owner_connection: psycopg.Connection,
    owner_database: Database,
):
    first = await run(family)
    await at(town, "2026-11-20")
    week = {"pay_period_start": "2026-11-09", "pay_period_end": "2026-11-15"}
    town.go_to("2026-11-24", 7)
    second = await run(family, confirm_ach_debit=False, **week)
    send_back(town, owner_connection, first, "debit", "R07")
    await at(town, "2026-11-24")
    assert money_of(owner_connection, first) == ["debit returned"]
    detail = await read(family, second)
    assert (detail["status"], money_of(owner_connection, second)) == ("pending_funding", ["debit pending"])
    assert possible(detail) == ["authorize_debit", "void"]
    assert await open_kinds(owner_database, town) == {"debit_waits": 1}
    if ending == "authorize":
        await authorize(family)
        await town.live_through("2026-11-25", "2026-12-03")
        assert (await read(family, second))["status"] == "completed"
    elif ending == "void":
        voided = data(await family.caller.post(f"/payroll/{second}/void", {}))
        assert statuses(voided) == ["pending_funding", "voided"]
        assert money_of(owner_connection, second) == ["debit cancelled"]
        assert rows(owner_connection, YEAR) == [(family.employee_id, 0)]
    else:
        await town.live_through("2026-11-25", "2026-12-01")
        assert (await read(family, second))["status"] == "pending_funding"
        await at(town, "2026-12-02")  # five banking days after the 24th, the pay date
        detail = await read(family, second)
        assert (detail["status"], detail["failure"]["code"]) == ("failed", "debit_expired")
        assert money_of(owner_connection, second) == ["debit cancelled"]
        assert rows(owner_connection, YEAR) == [(family.employee_id, 0)]
        by_check = {"employees": [{"employee_id": family.employee_id, "regular_hours": 40}]}
        await run(family, **week, **by_check)  # the period is free
    assert await open_kinds(owner_database, town) == NOTHING


async def test_another_account_is_not_debited_for_what_was_approved_under_the_one_before(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id = await run(family)
    await town.connect(family.caller, family.employer_id, account="444455556666")
    await at(town, "2026-11-20")
    assert money_of(owner_connection, payroll_id) == ["debit pending"]
    assert await open_kinds(owner_database, town) == {"debit_waits": 1}
    await authorize(family)
    await at(town, "2026-11-23")
    assert money_of(owner_connection, payroll_id) == ["debit sent"]
    assert await open_kinds(owner_database, town) == NOTHING


async def test_a_debit_for_want_of_money_is_presented_again_only_with_an_authorization(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id = await run(family)
    revoked = await run(family, **EARLIER)
    await at(town, "2026-11-20")
    send_back(town, owner_connection, payroll_id, "debit", "R01")
    send_back(town, owner_connection, revoked, "debit", "R10")
    await at(town, "2026-11-24")
    assert money_of(owner_connection, payroll_id) == ["debit returned", "debit pending"]
    assert possible(await read(family, payroll_id)) == ["authorize_debit", "void"]
    assert await open_kinds(owner_database, town) == {"debit_waits": 1}
    data(await family.caller.post(f"/payroll/{payroll_id}/void", {}))
    assert await open_kinds(owner_database, town) == NOTHING


# The last morning.


async def test_want_of_money_on_the_last_morning_is_presented_again_and_paid(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id = await run(family)
    await at(town, "2026-11-20")
    await at(town, "2026-11-25", 0, 5)
    assert (await read(family, payroll_id))["status"] == "pending_funding"
    send_back(town, owner_connection, payroll_id, "debit", "R01")
    await at(town, "2026-11-25", 8, 30)
    assert (await read(family, payroll_id))["status"] == "pending_funding"
    assert money_of(owner_connection, payroll_id) == ["debit returned", "debit pending"]
    assert await open_kinds(owner_database, town) == NOTHING
    await town.live_through("2026-11-25", "2026-12-04")
    detail = await read(family, payroll_id)
    assert statuses(detail) == ["pending_funding", "processing", "completed"]
    assert money_of(owner_connection, payroll_id) == ["debit returned", "debit settled", "credit settled"]
    assert await open_kinds(owner_database, town) == NOTHING


async def test_nothing_counts_as_collected_while_the_bank_cannot_be_heard(family: Family, town: Town):
    payroll_id = await run(family)
    await at(town, "2026-11-20")

    class Deaf:
        async def pick_up(self) -> tuple[()]:
            raise GatewayUnavailableError("no route")

        async def acknowledge(self, name: str, content: bytes) -> None:
            raise AssertionError

        async def deliver(self, name: str, content: bytes) -> None:
            raise GatewayUnavailableError("no route")

    town.go_to("2026-11-25", 15)
    for bank in (Bank(town.bank.originator, Deaf()), None):
        await advance(town.worker, town.ring, bank, town.clock)
        assert (await read(family, payroll_id))["status"] == "pending_funding"
    await town.work()
    assert (await read(family, payroll_id))["status"] == "processing"


# A deposit that cannot leave.


async def test_a_deposit_that_cannot_leave_is_paid_by_check_and_keeps_its_year(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id, second = await held(family, town, owner_connection)
    detail = await read(family, payroll_id)
    assert (detail["status"], detail["actions"]) == ("processing", [])
    assert possible(detail) == ["pay_by_check", "refund", "wait_for_account"]
    assert await open_kinds(owner_database, town) == {"deposit_waits": 1}
    refusal(await family.caller.post(f"/payroll/{payroll_id}/void", {}), 400, "invalid_state")
    first = await remedy(family, payroll_id, second, "pay_by_check", idempotency_key="by check")
    settled = data(first)
    assert statuses(settled)[-2:] == ["processing", "completed"]
    assert settled["employees"][1]["remedy"]["action"] == "pay_by_check"
    assert data(await remedy(family, payroll_id, second, "pay_by_check")) == settled  # the same again
    replayed = await remedy(family, payroll_id, second, "pay_by_check", idempotency_key="by check")
    assert (data(replayed), replayed.headers["Idempotent-Replayed"]) == (settled, "true")
    refusal(await remedy(family, payroll_id, second, "refund"), 400, "invalid_state")
    await town.live_through("2026-11-30", "2026-12-02")
    assert Counter(money_of(owner_connection, payroll_id)) == {
        "debit settled": 1,
        "credit settled": 1,
        "credit cancelled": 1,
        "refund settled": 1,
    }
    assert dict(rows(owner_connection, YEAR)) == {family.employee_id: 114_000, second: 114_000}
    assert await open_kinds(owner_database, town) == NOTHING
    trail = rows(
        owner_connection, "SELECT actor_kind, details FROM audit_log WHERE action = 'payroll.remedy'"
    )
    assert [(kind, details["action"], details["employee_id"]) for kind, details in trail] == [
        ("key", "pay_by_check", second)
    ]


async def test_it_waits_for_another_account_and_is_sent_there(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id, second = await held(family, town, owner_connection)
    for until, message in ((None, "is needed"), ("2026-11-30", "after today"), ("2026-12-31", "2026-12-30")):
        error = refusal(
            await remedy(family, payroll_id, second, "wait_for_account", until), 400, "validation_error"
        )
        assert fields(error) == ["until"]
        assert message in error["details"][0]["message"]
    waiting = data(await remedy(family, payroll_id, second, "wait_for_account", "2026-12-04"))
    assert waiting["employees"][1]["remedy"]["until"] == "2026-12-04"
    assert possible(waiting) == ["pay_by_check", "refund", "wait_for_account"]  # it may be decided otherwise
    assert await open_kinds(owner_database, town) == {"deposit_waits": 1}
    await town.live_through("2026-12-01", "2026-12-02")
    await town.connect(family.caller, family.employer_id, second, account="222233334444")
    await town.live_through("2026-12-03", "2026-12-04")
    detail = await read(family, payroll_id)
    assert detail["status"] == "completed"
    assert Counter(money_of(owner_connection, payroll_id)) == {"debit settled": 1, "credit settled": 2}
    assert await open_kinds(owner_database, town) == NOTHING


async def test_what_no_account_comes_for_goes_back_to_the_household(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id, second = await held(family, town, owner_connection)
    data(await remedy(family, payroll_id, second, "wait_for_account", "2026-12-02"))
    await town.live_through("2026-12-01", "2026-12-02")
    assert (await read(family, payroll_id))["status"] == "processing"
    await at(town, "2026-12-03", 8)
    detail = await read(family, payroll_id)
    assert statuses(detail)[-1] == "failed"
    assert (detail["failure"]["code"], detail["failure"]["employees"]) == ("deposit_refunded", [second])
    assert detail["employees"][1]["remedy"]["decided_by"] == "system"
    cause = "no account came in time"
    trail = rows(
        owner_connection,
        "SELECT actor_kind, subject_id::text, details FROM audit_log WHERE action = 'payroll.remedy' "
        "ORDER BY at, id",
    )
    assert trail[-1] == (
        "system",
        payroll_id,
        {"employee_id": second, "action": "refund", "cause": cause},
    )
    await town.live_through("2026-12-03", "2026-12-04")
    assert money_of(owner_connection, payroll_id)[-1] == "refund settled"
    assert dict(rows(owner_connection, YEAR)) == {family.employee_id: 114_000, second: 0}
    assert await open_kinds(owner_database, town) == NOTHING
    again = await run(family, employees=[{"employee_id": second, "regular_hours": 40}])  # the period is free
    assert (await read(family, again))["employees"][0]["ytd"]["gross_pay"] == 1140


async def test_a_refund_that_comes_back_stays_visible_and_is_sent_again(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id, second = await held(family, town, owner_connection)
    refunded = data(await remedy(family, payroll_id, second, "refund"))
    assert (refunded["status"], refunded["failure"]["employees"]) == ("failed", [second])
    await at(town, "2026-11-30")
    send_back(town, owner_connection, payroll_id, "refund", "R02")
    await town.live_through("2026-12-02", "2026-12-04")
    assert money_of(owner_connection, payroll_id)[-2:] == ["refund returned", "refund pending"]
    assert await open_kinds(owner_database, town) == {"refund_waits": 1}
    await town.connect(family.caller, family.employer_id, account="121212121212")
    await town.live_through("2026-12-07", "2026-12-08")
    assert money_of(owner_connection, payroll_id)[-2:] == ["refund returned", "refund settled"]
    assert await open_kinds(owner_database, town) == NOTHING


async def test_what_cannot_be_remedied_is_refused_with_the_reason(
    family: Family, town: Town, owner_connection: psycopg.Connection, new_account: Any, counts: Any
):
    payroll_id, second = await two_paid(family, town)
    before = counts()
    for status in ("pending_funding", "processing"):
        error = refusal(
            await remedy(family, payroll_id, second, "wait_for_account", "2026-12-01"), 400, "invalid_state"
        )
        assert error["details"]["status"] == status
        await at(town, "2026-11-25")
    stranger = await new_account("Others")
    for caller in (stranger.live, stranger.test):
        path = f"/payroll/{payroll_id}/paychecks/{second}/remedy"
        refusal(await caller.post(path, {"action": "refund"}), 404, "not_found")
    refusal(await remedy(family, payroll_id, family.employer_id, "refund"), 404, "not_found")
    assert fields(
        refusal(await remedy(family, payroll_id, second, "refund", "2026-12-01"), 400, "validation_error")
    ) == ["until"]
    assert fields(refusal(await remedy(family, payroll_id, second, "burn"), 400, "validation_error")) == [
        "action"
    ]
    assert counts()["paychecks"] == before["paychecks"]
    await at(town, "2026-11-27")
    refusal(await remedy(family, payroll_id, second, "refund"), 400, "invalid_state")  # it has left
    assert rows(owner_connection, "SELECT count(*) FROM paycheck_remedies") == [(0,)]


# What is left of a failed payroll.


async def test_the_part_of_a_failed_payroll_that_was_paid_by_check_can_be_voided(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    second = await add_employee(family.caller, family.employer_id, first_name="Ines")
    entries = [entry_for(family.employee_id), entry_for(second, payment_method="check")]
    payroll_id = await run(family, employees=entries)
    await at(town, "2026-11-20")
    send_back(town, owner_connection, payroll_id, "debit", "R03")
    await at(town, "2026-11-24", 8)
    detail = await read(family, payroll_id)
    assert (detail["status"], possible(detail)) == ("failed", ["void"])
    assert dict(rows(owner_connection, YEAR)) == {family.employee_id: 0, second: 114_000}
    voided = data(await family.caller.post(f"/payroll/{payroll_id}/void", {}))
    assert (statuses(voided)[-2:], possible(voided)) == (["failed", "voided"], [])
    assert dict(rows(owner_connection, YEAR)) == {family.employee_id: 0, second: 0}
    assert rows(owner_connection, "SELECT DISTINCT live FROM payroll_entries") == [(False,)]
    refusal(await family.caller.post(f"/payroll/{payroll_id}/void", {}), 400, "invalid_state")
    assert await open_kinds(owner_database, town) == NOTHING


async def test_a_payroll_paid_by_check_in_the_end_is_voided_like_one(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    aside = {"employees": [entry_for(family.employee_id, voluntary_set_aside={"amount": 50})]}
    payroll_id = await run(family, **aside)
    await at(town, "2026-11-20")
    await at(town, "2026-11-25")
    set_account(owner_connection, family.employee_id, "failed")
    done = data(await remedy(family, payroll_id, family.employee_id, "pay_by_check"))
    assert (done["status"], possible(done)) == ("completed", ["void"])
    assert rows(owner_connection, "SELECT balance, held FROM escrow_accounts") == [(5_000, 5_000)]
    await town.live_through("2026-11-27", "2026-12-01")
    assert await open_kinds(owner_database, town) == NOTHING
    data(await family.caller.post(f"/payroll/{payroll_id}/void", {}))
    await town.live_through("2026-12-02", "2026-12-04")
    back = rows(owner_connection, "SELECT amount FROM bank_entries WHERE kind = 'refund' ORDER BY attempt")
    net = Decimal(str(done["totals"]["total_net_pay"])).scaleb(2)
    assert back == [(net,), (5_000,)]
    assert rows(owner_connection, "SELECT balance, held FROM escrow_accounts") == [(0, 0)]
    assert await open_kinds(owner_database, town) == NOTHING


async def test_a_debit_that_comes_back_late_stops_what_has_not_left(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id, second = await held(family, town, owner_connection)
    send_back(town, owner_connection, payroll_id, "debit", "R10")
    await at(town, "2026-12-01", 8)
    detail = await read(family, payroll_id)
    assert (detail["status"], detail["failure"]["code"]) == ("failed", "R10")
    assert detail["failure"]["employees"] == [second]
    assert Counter(money_of(owner_connection, payroll_id)) == {
        "debit returned": 1,
        "credit settled": 1,
        "credit cancelled": 1,
    }
    assert dict(rows(owner_connection, YEAR)) == {family.employee_id: 114_000, second: 0}
    assert await open_kinds(owner_database, town) == {"wages_not_collected": 1}
    await town.connect(family.caller, family.employer_id, second, account="222233334444")
    await town.live_through("2026-12-02", "2026-12-04")
    assert await open_kinds(owner_database, town) == {"wages_not_collected": 1}  # nothing more went out


async def test_a_refund_is_not_sent_once_the_household_has_its_debit_back(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    payroll_id = await run(family)
    await at(town, "2026-11-20")
    await at(town, "2026-11-25")
    data(await family.caller.post(f"/payroll/{payroll_id}/void", {}))
    send_back(town, owner_connection, payroll_id, "debit", "R10")
    await at(town, "2026-11-27", 8)
    assert money_of(owner_connection, payroll_id) == [
        "debit returned",
        "credit cancelled",
        "refund cancelled",
    ]
    assert await open_kinds(owner_database, town) == NOTHING


async def test_set_asides_paid_out_before_the_debit_came_back_stand_in_the_register(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_database: Database
):
    aside = {"employees": [entry_for(family.employee_id, voluntary_set_aside={"amount": 50})]}
    payroll_id = await run(family, **aside)
    await at(town, "2026-11-20")
    await at(town, "2026-11-25")
    async with owner_database.transaction(None) as session:
        employee = await session.get_one(Employee, family.employee_id)
        operator = Actor("operator", None, employee.organization_id, "live", frozenset(), "r")
        await escrow.payout(
            session, operator, town.clock, employee, amount=Decimal(50), method="direct_deposit"
        )
    send_back(town, owner_connection, payroll_id, "debit", "R10")
    await at(town, "2026-11-27", 8)
    assert (await read(family, payroll_id))["status"] == "failed"
    assert await open_kinds(owner_database, town) == {"set_aside_overdrawn": 1}
    # What is set aside next makes up for it.
    week = {"pay_period_start": "2026-11-23", "pay_period_end": "2026-11-29"}
    await run(family, **week, **aside)
    assert await open_kinds(owner_database, town) == NOTHING


@pytest.mark.parametrize(
    ("status", "credit", "account", "today", "possible_then"),
    [
        (
            "processing",
            "pending",
            "failed",
            date(2026, 12, 30),
            ("pay_by_check", "wait_for_account", "refund"),
        ),
        ("processing", "pending", None, date(2026, 12, 31), ("pay_by_check", "refund")),
        ("processing", "pending", "failed", date(2027, 1, 2), ("refund",)),  # a check would be wages of 2027
        ("failed", "pending", "verifying", date(2026, 12, 1), ("pay_by_check", "refund")),
        ("processing", "sent", "failed", date(2026, 12, 1), ()),
        ("failed", "returned", "failed", date(2026, 12, 1), ()),
        ("completed", "cancelled", "failed", date(2026, 12, 1), ()),
        ("pending_funding", None, "failed", date(2026, 12, 1), ()),
    ],
)
def test_what_can_be_done_about_a_deposit(
    status: str, credit: str | None, account: str | None, today: date, possible_then: tuple[str, ...]
):
    found = remedies_for(status=status, credit=credit, account=account, tax_year=2026, today=today)
    assert found == possible_then
