"""Autopilot lived through: payrolls made ahead of time, sent on schedule, told of, and stopped in every way."""

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.banking.calendar import submission_day
from hearthpay.banking.return_handling import mark_returned
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from hearthpay.payroll.payday.firing import fire_due
from tests.autopilot.pilot import AGREED, WEEKLY, Pilot, outcomes
from tests.worlds.households import payroll_of
from tests.worlds.worker_audit import worker_rows


async def test_a_period_is_made_ahead_sent_on_schedule_and_paid(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    view = await pilot.enroll()
    assert str(view.next_pay_date) == "2026-12-01"
    shown = (await pilot.read())["schedule_preview"]
    assert (await pilot.generate()).decided == 0
    pilot.town.go_to("2026-11-20", 15)
    assert (await pilot.generate()).scheduled == 1
    assert (await pilot.generate()).decided == 0
    (made,) = [each for each in await pilot.payrolls() if each["status"] == "scheduled"]
    assert made["pay_period"]["start"] == shown[0]["period_start"]
    assert made["pay_period"]["pay_date"] == shown[0]["pay_date"]
    detail = (await pilot.family.caller.get(f"/payroll/{made['payroll_id']}")).json()["data"]
    assert detail["scheduled_send_at"] == shown[0]["send_at"] == "2026-11-23T20:00:00Z"
    assert worker_rows(owner_connection, "payroll.schedule") == [
        (made["payroll_id"], {"status": "scheduled", "pay_date": "2026-12-01"})
    ]
    await pilot.live_through("2026-11-21", "2026-12-02")
    assert outcomes(owner_connection) == [("2026-11-16", "paid"), ("2026-11-23", "fired")]
    assert await pilot.made() == [
        ("2026-11-16", "2026-12-01", "completed"),
        ("2026-11-23", "2026-12-08", "pending_funding"),
    ]
    assert await pilot.events() == ["enroll", "generate", "fire", "generate", "fire"]


async def mails(connection: psycopg.Connection) -> list[str]:
    rows = connection.execute("SELECT kind FROM mail_outbox ORDER BY id").fetchall()
    return [row[0].removeprefix("notice.autopilot_") for row in rows]


async def test_the_household_is_told_of_enrollment_debit_and_payment(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await pilot.live_through("2026-11-20", "2026-11-21")
    assert await mails(owner_connection) == ["enrolled"]
    await pilot.live_through("2026-11-22", "2026-11-22")  # a day before the debit, at 15:00
    assert await mails(owner_connection) == ["enrolled", "debit_tomorrow"]
    await pilot.live_through("2026-11-23", "2026-12-01")
    assert await mails(owner_connection) == ["enrolled", "debit_tomorrow", "debit_tomorrow", "paid"]


async def test_a_pause_stops_what_is_not_scheduled_and_nothing_is_paid_for_it_later(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await pilot.live_through("2026-11-20", "2026-11-20")
    paused = await pilot.ask("pause")
    (scheduled,) = paused["payrolls_still_paid"]
    assert (paused["changed"], paused["enrollment"]["status"]) == (True, "paused")
    again = await pilot.ask("pause")
    assert again == paused | {"changed": False}
    await pilot.live_through("2026-11-21", "2026-12-10")
    assert await pilot.made() == [("2026-11-16", "2026-12-01", "completed")]
    resumed = await pilot.ask("resume")
    assert (resumed["changed"], resumed["enrollment"]["status"]) == (True, "active")
    assert await pilot.ask("resume") == resumed | {"changed": False}
    # The week from 30 November was to be sent on 8 December.
    assert outcomes(owner_connection) == [
        ("2026-11-16", "paid"),
        ("2026-11-23", "paused"),
        ("2026-11-30", "paused"),
    ]
    await pilot.live_through("2026-12-11", "2026-12-22")
    assert [start for start, _, _ in await pilot.made()] == ["2026-11-16", "2026-12-07", "2026-12-14"]
    assert await pilot.events() == [
        *("enroll", "generate", "pause", "fire", "resume"),
        *("generate", "fire", "generate", "fire"),
    ]
    assert (await pilot.history())[1]["details"]["payroll_id"] == scheduled


async def test_skipping_a_scheduled_period_voids_its_payroll_and_says_so(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await pilot.live_through("2026-11-20", "2026-11-20")
    (made,) = [each["payroll_id"] for each in await pilot.payrolls() if each["status"] == "scheduled"]
    skipped = await pilot.ask("skip")
    assert (skipped["changed"], skipped["voided_payrolls"]) == (True, [made])
    again = await pilot.ask("skip")  # the same period: the next one is not skipped by a repetition
    assert (again["changed"], again["voided_payrolls"]) == (False, [])
    await pilot.live_through("2026-11-21", "2026-12-01")
    assert await pilot.made() == [
        ("2026-11-16", "2026-12-01", "voided"),
        ("2026-11-23", "2026-12-08", "pending_funding"),
    ]
    assert outcomes(owner_connection) == [("2026-11-16", "voided"), ("2026-11-23", "fired")]
    assert (await pilot.events())[:3] == ["enroll", "generate", "skip"]
    assert (await pilot.history())[2]["details"]["voided"] == [made]


async def test_periods_are_skipped_through_a_day(pilot: Pilot, owner_connection: psycopg.Connection) -> None:
    await pilot.enroll()
    skipped = await pilot.ask("skip", through_date="2026-11-29")
    assert skipped["enrollment"]["skip_through"] == "2026-11-29"
    assert skipped["enrollment"]["next_pay_date"] == "2026-12-15"
    assert [each["period_start"] for each in (await pilot.read())["schedule_preview"]] == [
        *("2026-11-30", "2026-12-07", "2026-12-14"),
    ]
    await pilot.live_through("2026-11-20", "2026-12-08")
    assert outcomes(owner_connection) == [
        ("2026-11-16", "skipped"),
        ("2026-11-23", "skipped"),
        ("2026-11-30", "fired"),
    ]


async def test_the_next_period_is_skipped_once_however_often_it_is_asked(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    assert [(await pilot.ask("skip"))["changed"] for _ in range(3)] == [True, False, False]
    await pilot.live_through("2026-11-20", "2026-11-21")  # noted as skipped, and its money not yet to be sent
    assert (await pilot.ask("skip"))["changed"] is False
    await pilot.live_through("2026-11-22", "2026-11-24")
    assert (await pilot.ask("skip"))["changed"] is True
    await pilot.live_through("2026-11-25", "2026-12-08")
    assert outcomes(owner_connection)[:3] == [
        ("2026-11-16", "skipped"),
        ("2026-11-23", "skipped"),
        ("2026-11-30", "fired"),
    ]


async def test_ending_it_voids_what_is_scheduled_and_leaves_what_was_run_by_hand(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    by_hand = await pilot.family.caller.post(
        "/payroll/run",
        pilot.family.order("2026-12-15", pay_period_start="2026-10-05", pay_period_end="2026-10-11"),
    )
    assert by_hand.json()["data"]["status"] == "scheduled"
    await pilot.live_through("2026-11-20", "2026-11-20")
    ended = await pilot.ask("disable")
    assert len(ended["voided_payrolls"]) == 1
    assert (ended["enrollment"]["status"], ended["enrollment"]["next_pay_date"]) == ("disabled", None)
    assert await pilot.ask("disable") == ended | {"changed": False, "voided_payrolls": []}
    still = (await pilot.family.caller.get(f"/payroll/{by_hand.json()['data']['payroll_id']}")).json()["data"]
    assert still["status"] == "scheduled"
    assert owner_connection.execute(
        "SELECT count(*) FROM autopilot_authorizations WHERE ended_at IS NULL"
    ).fetchone() == (0,)
    await pilot.live_through("2026-11-21", "2026-12-05")
    assert outcomes(owner_connection) == [("2026-11-16", "voided")]
    refused = await pilot.family.caller.post("/autopilot/pause", pilot.whose)
    assert refused.status_code == 404
    pilot.town.go_to("2026-12-05")
    await pilot.enroll(replace(WEEKLY, anchor=datetime.date(2026, 12, 7)))
    assert (await pilot.read())["enrollment"]["status"] == "active"


async def test_what_was_fired_before_the_end_is_still_paid(pilot: Pilot) -> None:
    await pilot.enroll()
    await pilot.live_through("2026-11-20", "2026-11-22")
    pilot.town.go_to("2026-11-23", 15)
    assert (await fire_due(pilot.town.worker, pilot.town.clock)).fired == 1
    ended = await pilot.ask("disable")
    assert ended["voided_payrolls"] == []
    await pilot.live_through("2026-11-24", "2026-12-01")
    assert await pilot.made() == [("2026-11-16", "2026-12-01", "completed")]


async def run_by_hand(pilot: Pilot, start: str, end: str, **changes: Any) -> tuple[int, dict[str, Any]]:
    order = payroll_of(
        pilot.family.employer_id,
        pilot.family.employee_id,
        pay_period_start=start,
        pay_period_end=end,
        **{"pay_date": None, **changes},
    )
    response = await pilot.family.caller.post(
        "/payroll/run", {name: value for name, value in order.items() if value is not None}
    )
    return response.status_code, response.json()


async def test_autopilot_steps_over_a_period_that_was_run_by_hand(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    status, body = await run_by_hand(pilot, "2026-11-16", "2026-11-22")
    assert status == 200, body
    await pilot.live_through("2026-11-20", "2026-11-21")
    assert outcomes(owner_connection) == [("2026-11-16", "by_hand")]
    assert (await pilot.history())[-1]["details"]["stepped_over"] == [body["data"]["payroll_id"]]
    await pilot.live_through("2026-11-22", "2026-12-01")
    assert outcomes(owner_connection)[1] == ("2026-11-23", "fired")


async def test_hours_that_autopilot_pays_are_not_run_by_hand(pilot: Pilot) -> None:
    await pilot.enroll()
    status, body = await run_by_hand(pilot, "2026-11-23", "2026-11-29")
    assert (status, body["error"]["code"]) == (409, "period_ahead_of_anchor")
    assert body["error"]["details"]["next_run"] == {
        "start": "2026-11-16",
        "end": "2026-11-22",
        "pay_date": "2026-12-01",
    }
    await pilot.live_through("2026-11-20", "2026-11-20")
    status, body = await run_by_hand(pilot, "2026-11-16", "2026-11-22")
    assert (status, body["error"]["code"]) == (409, "autopilot_run_scheduled")
    assert body["error"]["details"]["pay_date"] == "2026-12-01"
    bonus = [{"employee_id": pilot.family.employee_id, "bonus": 100, "payment_method": "check"}]
    status, body = await run_by_hand(pilot, "2026-11-16", "2026-11-22", employees=bonus)
    assert status == 200, body
    await pilot.ask("skip")
    status, body = await run_by_hand(pilot, "2026-11-16", "2026-11-22")
    assert status == 200, body


async def test_a_payroll_out_of_the_ordinary_waits_for_the_household(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    raised = await pilot.family.caller.client.patch(
        f"/api/v1/employees/{pilot.family.employee_id}",
        json={"pay_rate": 38},
        headers=pilot.family.caller.headers(),
    )
    assert raised.status_code == 200
    await pilot.live_through("2026-11-20", "2026-11-23")
    (made,) = [each for each in await pilot.payrolls() if each["status"] == "scheduled"]
    assert "held" in await mails(owner_connection)
    detail = (await pilot.family.caller.get(f"/payroll/{made['payroll_id']}")).json()["data"]
    assert detail["failure"]["code"] == "confirmation_missing"
    await pilot.confirm(made["payroll_id"])
    await pilot.confirm(made["payroll_id"])
    await pilot.work()
    assert (await pilot.made())[0] == ("2026-11-16", "2026-12-01", "pending_funding")
    await pilot.live_through("2026-11-24", "2026-12-08")
    # What was confirmed is the enrolled net from then on: nobody is asked again.
    assert outcomes(owner_connection)[1:] == [("2026-11-23", "paid"), ("2026-11-30", "fired")]


async def test_large_pay_is_confirmed_once_on_enrollment(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    whose = f"/api/v1/employees/{pilot.family.employee_id}"
    caller = pilot.family.caller
    raised = await caller.client.patch(whose, json={"pay_rate": 200}, headers=caller.headers())
    assert raised.status_code == 200
    with pytest.raises(Refusal) as refused:
        await pilot.enroll()
    assert refused.value.code == "confirmation_required"
    await pilot.enroll(agreement=replace(AGREED, confirm_large_payroll=True))
    await pilot.live_through("2026-11-20", "2026-11-30")
    assert [each[2] for each in await pilot.made()] == ["processing", "scheduled"]
    held = "SELECT held FROM autopilot_periods ORDER BY period_start"
    assert [row[0] for row in owner_connection.execute(held)][:2] == [[], []]
    raised = await caller.client.patch(whose, json={"pay_rate": 300}, headers=caller.headers())
    assert raised.status_code == 200
    await pilot.live_through("2026-12-01", "2026-12-06")
    last = owner_connection.execute(held).fetchall()[-1][0]
    assert last == ["confirm_large_payroll", "above_enrolled_net"]


async def test_three_failures_in_a_row_pause_it_and_the_household_is_told(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    owner_connection.execute("UPDATE organizations SET plan = 'starter'")
    await pilot.live_through("2026-11-20", "2026-12-09")
    owner_connection.execute("UPDATE organizations SET plan = 'plus'")
    told = (await pilot.read())["enrollment"]
    assert (told["status"], told["failure_count"]) == ("paused", 3)
    assert outcomes(owner_connection) == [
        *(("2026-11-16", "ineligible"), ("2026-11-23", "ineligible"), ("2026-11-30", "ineligible")),
    ]
    assert await pilot.made() == []
    assert await mails(owner_connection) == [
        *("enrolled", "refused", "refused", "refused", "refused", "refused", "refused", "paused"),
    ]
    whose = f"/employees/{pilot.family.employee_id}"
    ended = await pilot.family.caller.post(f"{whose}/terminate", {"end_date": "2026-11-15"})
    assert ended.status_code == 200, ended.text
    refused = await pilot.family.caller.post("/autopilot/resume", pilot.whose)
    assert refused.json()["error"]["details"] == {"eligible": False, "reasons": ["employee_inactive"]}
    back = await pilot.family.caller.post(f"{whose}/reinstate", {})
    assert back.status_code == 200, back.text
    resumed = await pilot.ask("resume")
    assert (resumed["enrollment"]["status"], resumed["enrollment"]["failure_count"]) == ("active", 0)


async def test_what_is_put_right_in_time_is_paid(pilot: Pilot, owner_connection: psycopg.Connection) -> None:
    await pilot.enroll()
    await pilot.family.caller.post(
        f"/employees/{pilot.family.employee_id}/terminate", {"end_date": "2026-11-15"}
    )
    await pilot.live_through("2026-11-20", "2026-11-21")
    assert outcomes(owner_connection) == []
    await pilot.family.caller.post(f"/employees/{pilot.family.employee_id}/reinstate", {})
    await pilot.live_through("2026-11-22", "2026-11-23")
    assert outcomes(owner_connection) == [("2026-11-16", "fired")]
    assert (await pilot.read())["enrollment"]["failure_count"] == 0


async def test_another_account_needs_another_agreement(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await pilot.town.connect(pilot.family.caller, pilot.family.employer_id, account="5556667778")
    assert (await pilot.read())["eligibility"] == {"eligible": False, "reasons": ["authorization_missing"]}
    await pilot.renew_agreement()
    assert (await pilot.read())["eligibility"] == {"eligible": True, "reasons": []}
    await pilot.live_through("2026-11-20", "2026-12-01")
    assert outcomes(owner_connection)[0] == ("2026-11-16", "paid")


async def test_a_worker_that_comes_late_pays_as_soon_as_it_can(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    pilot.town.go_to("2026-11-27", 12)
    await pilot.work()
    assert await pilot.made() == [("2026-11-16", "2026-12-04", "scheduled")]
    await pilot.live_through("2026-11-27", "2026-12-08")
    assert outcomes(owner_connection) == [
        *(("2026-11-16", "paid"), ("2026-11-23", "paid"), ("2026-11-30", "fired")),
    ]


async def test_a_change_holds_from_its_period_on(pilot: Pilot, owner_connection: psycopg.Connection) -> None:
    await pilot.enroll()
    await pilot.live_through("2026-11-20", "2026-11-20")
    with pytest.raises(Refusal) as decided:
        await pilot.change("2026-11-16", hours=30)
    assert "2026-11-23" in decided.value.message
    await pilot.change("2026-11-30", hours=30)
    with pytest.raises(Refusal) as uneven:
        await pilot.change("2026-12-07", frequency="monthly")
    assert "2027-02-01" in uneven.value.message
    await pilot.live_through("2026-11-21", "2026-12-08")
    hours = owner_connection.execute(
        "SELECT lower(n.period)::text, n.regular_hours::int FROM payroll_entries n "
        "JOIN autopilot_periods g USING (payroll_id) ORDER BY 1"
    ).fetchall()
    assert hours == [("2026-11-16", 40), ("2026-11-23", 40), ("2026-11-30", 30)]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"standard_hours": Decimal(200)}, "validation_error"),
        ({"frequency": "monthly"}, "validation_error"),
        ({"pay_days_after": 20}, "validation_error"),
        ({"anchor": datetime.date(2024, 1, 1)}, "validation_error"),
    ],
)
async def test_what_cannot_be_enrolled_is_refused(pilot: Pilot, change: dict[str, Any], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        await pilot.enroll(replace(WEEKLY, **change))
    assert refused.value.code == code
    assert (await pilot.read())["enrollment"] is None


async def test_nobody_is_enrolled_twice_and_not_before_the_first_payroll(pilot: Pilot) -> None:
    (paid,) = await pilot.payrolls()
    await pilot.family.caller.post(f"/payroll/{paid['payroll_id']}/void", {})
    assert (await pilot.read())["eligibility"]["reasons"] == ["insufficient_history"]
    with pytest.raises(Refusal) as refused:
        await pilot.enroll()
    assert refused.value.details == {"eligible": False, "reasons": ["insufficient_history"]}
    assert (await run_by_hand(pilot, "2026-11-09", "2026-11-15"))[0] == 200
    await pilot.enroll()
    with pytest.raises(Refusal, match="enrolled in Autopilot already"):
        await pilot.enroll()


async def test_the_sandbox_lives_the_same(sandbox_pilot: Pilot, owner_connection: psycopg.Connection) -> None:
    await sandbox_pilot.enroll()
    await sandbox_pilot.live_through("2026-11-20", "2026-12-01")
    assert outcomes(owner_connection)[0] == ("2026-11-16", "paid")
    statuses = owner_connection.execute("SELECT DISTINCT status, reason FROM mail_outbox").fetchall()
    assert statuses == [("withheld", "sandbox")]


async def test_the_agreement_is_kept_as_it_was_given(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    kept = owner_connection.execute(
        "SELECT text_version, agreed_text LIKE '# Standing authorization%%', address, authorized_by_kind, request_id "
        "FROM autopilot_authorizations"
    ).fetchall()
    assert kept == [("2026-11-24", True, "192.0.2.7", "operator", "autopilot-test")]
    assert isinstance(pilot.employee, UUID)


async def test_an_objection_at_the_bank_ends_the_authorization_of_all_that_waits(
    pilot: Pilot, owner_connection: psycopg.Connection
) -> None:
    await pilot.enroll()
    await pilot.live_through("2026-11-20", "2026-11-28")
    assert outcomes(owner_connection) == [("2026-11-16", "fired"), ("2026-11-23", "scheduled")]
    sent = owner_connection.execute(
        "SELECT id FROM bank_entries WHERE kind = 'debit' AND status <> 'pending'"
    ).fetchone()
    assert sent is not None
    owner_connection.execute("UPDATE bank_entries SET status = 'sent' WHERE id = %s", sent)
    now = pilot.town.clock.now()
    async with pilot.town.worker.transaction(None) as session:
        returned = await mark_returned(session, now, {sent[0]: "R10"})
        await apply_returns(session, returned, submission_day(now), now)
    assert (await pilot.read())["eligibility"]["reasons"] == ["authorization_missing"]
    await pilot.live_through("2026-11-29", "2026-12-02")
    assert outcomes(owner_connection) == [("2026-11-16", "failed"), ("2026-11-23", "scheduled")]
    (waiting,) = [each["payroll_id"] for each in await pilot.payrolls() if each["status"] == "scheduled"]
    detail = (await pilot.family.caller.get(f"/payroll/{waiting}")).json()["data"]
    assert detail["failure"]["code"] == "authorization_missing"
    assert (await pilot.read())["enrollment"]["failure_count"] == 1
