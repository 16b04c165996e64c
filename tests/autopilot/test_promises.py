"""What Autopilot promises in numbers: reasons by name, three failures, a question before what is large, each notice."""

import datetime
from typing import Final

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.commands import Manage
from hearthpay.autopilot.eligibility import Reason
from hearthpay.autopilot.managing import manage
from hearthpay.banking.calendar import submission_day
from hearthpay.banking.return_handling import mark_returned
from hearthpay.database.session import Database
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from tests.autopilot.pilot import Pilot, outcomes, together
from tests.autopilot.proving import proved
from tests.autopilot.test_life import mails

SPOILT: Final[dict[Reason, str]] = {
    "not_plus": "UPDATE organizations SET plan = 'free'",
    "employee_incomplete": "UPDATE employees SET pay_rate_cents = NULL, overtime_rate_cents = NULL",
    "employee_not_started": "UPDATE employees SET start_date = '2026-12-25'",
    "direct_deposit_unavailable": "UPDATE bank_accounts SET status = 'replaced' WHERE employee_id IS NOT NULL",
    "authorization_missing": "UPDATE autopilot_authorizations SET ended_at = authorized_at",
}


@pytest.mark.parametrize("reason", SPOILT)
async def test_each_reason_is_told_on_resumption_and_before_each_generation(
    pilot: Pilot, owner_connection: psycopg.Connection, reason: Reason
) -> None:
    await pilot.enroll()
    owner_connection.execute(SPOILT[reason])
    pilot.town.go_to("2026-11-20", 15)
    assert (await pilot.generate()).refused == 1
    told = owner_connection.execute(
        "SELECT details -> 'reasons' FROM autopilot_errands WHERE kind = 'refused'"
    ).fetchall()
    assert told == [([reason],)]
    assert outcomes(owner_connection) == []  # it is looked at again until the money has to be sent
    pilot.town.go_to("2026-11-23", 15)
    assert (await pilot.generate()).refused == 1
    assert outcomes(owner_connection) == [("2026-11-16", "ineligible")]
    async with pilot.town.database.transaction(pilot.actor.tenant) as session:
        whose = {"employer_id": pilot.employer, "employee_id": pilot.employee}
        await manage(
            session,
            pilot.actor,
            pilot.town.clock,
            Manage(action="pause", **whose),
            direct_deposit_enabled=True,
        )
        with pytest.raises(Refusal) as refused:
            await manage(
                session,
                pilot.actor,
                pilot.town.clock,
                Manage(action="resume", **whose),
                direct_deposit_enabled=True,
            )
    assert refused.value.details == {"eligible": False, "reasons": [reason]}


async def test_of_two_enrollments_at_once_one_is_made(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    answers = await together(*(pilot.enroll() for _ in range(3)))
    refused = [each for each in answers if isinstance(each, Refusal)]
    assert [each.code for each in refused] == ["invalid_state"] * 2
    ((live, versions, agreed),) = owner_connection.execute(
        "SELECT (SELECT count(*) FROM autopilot_enrollments), (SELECT count(*) FROM autopilot_versions), "
        "(SELECT count(*) FROM autopilot_authorizations)"
    ).fetchall()
    assert (live, versions, agreed) == (1, 1, 1)


async def bring_back(pilot: Pilot, owner: psycopg.Connection, through: str) -> None:
    """Let the bank send back every debit for the periods that begin by the day, however often it is presented."""
    now = pilot.town.clock.now()
    sent = owner.execute(
        "SELECT b.id FROM bank_entries b JOIN autopilot_periods g ON g.payroll_id = b.payroll_id "
        "WHERE b.kind = 'debit' AND b.status = 'sent' AND g.period_start <= %s",
        (through,),
    ).fetchall()
    async with pilot.town.worker.transaction(None) as session:
        returned = await mark_returned(session, now, {row[0]: "R01" for row in sent})
        await apply_returns(session, returned, submission_day(now), now)


@pytest.mark.parametrize(
    ("through", "ends", "told", "stands"),
    [
        ("2026-11-30", ["failed"] * 3, 1, ("paused", 3)),
        ("2026-11-23", ["failed", "failed", "paid"], 0, ("active", 0)),
    ],
)
async def test_three_debits_that_fail_in_a_row_pause_it_and_one_payment_forgets_two(
    pilot: Pilot,
    owner_pool: Database,
    owner_connection: psycopg.Connection,
    through: str,
    ends: list[str],
    told: int,
    stands: tuple[str, int],
) -> None:
    await pilot.enroll()
    pilot.town.go_to("2026-11-20", 15)
    while pilot.town.clock.today() < datetime.date(2026, 12, 16):
        pilot.town.clock.advance(datetime.timedelta(days=1))
        await pilot.work()
        await bring_back(pilot, owner_connection, through)
    await pilot.work()
    assert [outcome for _, outcome in outcomes(owner_connection)][:3] == ends
    assert (await mails(owner_connection)).count("paused") == told
    enrollment = (await pilot.read())["enrollment"]
    assert (enrollment["status"], enrollment["failure_count"]) == stands
    await proved(owner_pool, pilot.town.clock)


@pytest.mark.parametrize(
    ("rate", "held"), [(34, []), (36, ["above_enrolled_net"]), (160, ["confirm_large_payroll"])]
)
async def test_what_is_above_a_fifth_or_large_is_held(
    pilot: Pilot, owner_connection: psycopg.Connection, rate: int, held: list[str]
) -> None:
    """At $28.50 an hour is enrolled; 40 hours at $160 pay more than $3,000 net."""
    await pilot.enroll()
    changed = await pilot.family.caller.client.patch(
        f"/api/v1/employees/{pilot.family.employee_id}",
        json={"pay_rate": rate},
        headers=pilot.family.caller.headers(),
    )
    assert changed.status_code == 200
    pilot.town.go_to("2026-11-20", 15)
    await pilot.work()
    ((found,),) = owner_connection.execute("SELECT held FROM autopilot_periods").fetchall()
    assert set(held) <= set(found)
    assert bool(found) == bool(held)
    pilot.town.go_to("2026-11-23", 15)
    await pilot.work()
    assert outcomes(owner_connection)[0] == ("2026-11-16", "scheduled" if held else "fired")


@pytest.mark.parametrize("back", ["2026-11-22", "2026-11-23"])
async def test_the_household_is_told_of_a_debit_also_by_a_worker_that_was_away(
    pilot: Pilot, owner_pool: Database, owner_connection: psycopg.Connection, back: str
) -> None:
    await pilot.enroll()
    pilot.town.go_to("2026-11-20", 15)
    await pilot.work()
    pilot.town.go_to(back, 15)
    await pilot.work()
    assert await mails(owner_connection) == ["enrolled", "debit_tomorrow"]
    pilot.town.go_to("2026-11-23", 16)
    await pilot.work()
    assert await mails(owner_connection) == ["enrolled", "debit_tomorrow"]
    await proved(owner_pool, pilot.town.clock)
