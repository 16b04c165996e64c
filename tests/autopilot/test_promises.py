"""What Autopilot promises in numbers: reasons by name, three failures, a question before what is large, a notice always."""

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.autopilot.eligibility import Reason
from hearthpay.banking.calendar import submission_day
from hearthpay.banking.return_handling import mark_returned
from hearthpay.database.session import Database
from hearthpay.payroll.payday.outcomes import undo_returned
from tests.autopilot.pilot import WEEKLY, Pilot, outcomes, together
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
        from hearthpay.autopilot.commands import Manage
        from hearthpay.autopilot.managing import manage

        whose = {"employer_id": pilot.employer, "employee_id": pilot.employee}
        await manage(session, pilot.actor, pilot.town.clock, Manage(action="pause", **whose), offered=True)
        with pytest.raises(Refusal) as refused:
            await manage(
                session, pilot.actor, pilot.town.clock, Manage(action="resume", **whose), offered=True
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


async def bring_back(pilot: Pilot, owner: psycopg.Connection) -> None:
    """Let the bank send back every debit that it has been sent."""
    now = pilot.town.clock.now()
    sent = owner.execute("SELECT id FROM bank_entries WHERE kind = 'debit' AND status = 'sent'").fetchall()
    async with pilot.town.worker.transaction(None) as session:
        returned = await mark_returned(session, now, {row[0]: "R01" for row in sent})
        await undo_returned(session, returned, submission_day(now), now)


async def test_three_returned_debits_in_a_row_pause_it_and_one_payment_forgets_them(
    pilot: Pilot, owner_pool: Database, owner_connection: psycopg.Connection
) -> None:
    async def failures() -> tuple[Any, Any]:
        told = (await pilot.read())["enrollment"]
        return told["status"], told["failure_count"]

    pilot.town.go_to("2026-11-20", 9)
    await pilot.enroll(replace(WEEKLY, anchor=datetime.date(2026, 11, 9)))
    counted = []
    for day in ("2026-11-24", "2026-12-01", "2026-12-08", "2026-12-15"):
        await pilot.live_through(str(pilot.town.clock.today()), day)
        if len(counted) != 1:
            await bring_back(pilot, owner_connection)
            await pilot.work()
        counted.append(await failures())
    assert counted[0] == ("active", 1)
    await proved(owner_pool, pilot.town.clock)
    print(counted, outcomes(owner_connection), await mails(owner_connection), await pilot.events())
    raise AssertionError
