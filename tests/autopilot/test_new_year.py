"""The turn of a year: what the household cannot mend holds a pay period open, and everyone is paid once."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.autopilot import generation
from hearthpay.autopilot.commands import EnrolledTerms
from hearthpay.banking.calendar import earliest_pay_date
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employees.commands import PayFrequency
from tests.autopilot.pilot import Pilot, outcomes
from tests.autopilot.proving import proved
from tests.http.api import Account
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.rule_editions import edition, unpublished_program
from tests.worlds.town import Family, Town

CA_AWAITS = ("2027/states/CA.toml", unpublished_program("CA-NEW-EE", "ca-edd", "2027-01-01"))
IN_DECEMBER = EnrolledTerms(
    standard_hours=Decimal(40), frequency="weekly", anchor=datetime.date(2026, 12, 21), pay_days_after=9
)
"""The first week, through December 27, is paid on January 5: the money goes on December 28."""


async def settle(town: Town, account: Account, state: str) -> Pilot:
    """A household of a state whose employee was paid once by check, with both accounts connected."""
    caller = account.live
    employer_id = await add_household(caller, last_name=f"Family {state}", state=state)
    employee_id = await add_employee(caller, employer_id, work_state=state)
    await town.connect(caller, employer_id)
    await town.connect(caller, employer_id, employee_id, account="987654321")
    run = await caller.post("/payroll/run", payroll_of(employer_id, employee_id))
    assert run.status_code == 200, run.text
    actor = Actor.operator(account.organization_id, sandbox=False, request_id="new-year")
    return Pilot(town, Family(caller, employer_id, employee_id), actor)


def mails(owner: psycopg.Connection, kind: str = "refused") -> int:
    row = owner.execute(
        "SELECT count(*) FROM mail_outbox WHERE kind = %s", (f"notice.autopilot_{kind}",)
    ).fetchone()
    assert row is not None
    return int(row[0])


def paid_on(owner: psycopg.Connection) -> list[tuple[str, str, str]]:
    """Start, pay date and outcome of each period that Autopilot has decided."""
    return owner.execute(
        "SELECT g.period_start::text, p.pay_date::text, g.outcome FROM autopilot_periods g "
        "LEFT JOIN payrolls p ON p.id = g.payroll_id ORDER BY 1"
    ).fetchall()  # type: ignore[return-value]


async def test_a_figure_that_nobody_knows_holds_a_period_open_until_it_is_published(
    pilot: Pilot, owner_connection: psycopg.Connection, owner_pool: Database, tmp_path: Path
) -> None:
    await pilot.enroll(IN_DECEMBER)
    with edition(tmp_path, CA_AWAITS):
        await pilot.live_through("2026-12-25", "2027-01-22", hours=(15,))
        read = await pilot.read()
        assert read["eligibility"] == {"eligible": False, "reasons": ["tax_year_not_final"]}
        assert (read["enrollment"]["status"], read["enrollment"]["failure_count"]) == ("active", 0)
        assert read["enrollment"]["next_pay_date"] == str(earliest_pay_date(pilot.town.clock.now()))
        assert outcomes(owner_connection) == []
        assert mails(owner_connection) == 1  # told once, of three paydays that passed
        assert await pilot.events() == ["enroll"]
        await proved(owner_pool, pilot.town.clock)
        paused = await pilot.ask("pause")
        assert paused["changed"]
        assert (await pilot.ask("resume"))["enrollment"]["status"] == "active"  # nothing of the household's
        await pilot.live_through("2027-01-23", "2027-01-30", hours=(15,))
        assert {outcome for _, outcome in outcomes(owner_connection)} == {"paused"}  # as after any pause
        await proved(owner_pool, pilot.town.clock)
    first = len(outcomes(owner_connection))
    await pilot.live_through("2027-01-31", "2027-02-19", hours=(15,))
    paid = paid_on(owner_connection)[first:]
    assert [outcome for *_, outcome in paid][:2] == ["paid", "paid"]
    await proved(owner_pool, pilot.town.clock)


async def test_what_was_held_is_paid_in_order_as_soon_as_it_can_be(
    pilot: Pilot, owner_connection: psycopg.Connection, owner_pool: Database, tmp_path: Path
) -> None:
    await pilot.enroll(IN_DECEMBER)
    with edition(tmp_path, CA_AWAITS):
        await pilot.live_through("2026-12-25", "2027-01-19", hours=(15,))
        assert outcomes(owner_connection) == []
    await pilot.live_through("2027-01-20", "2027-02-03")
    assert paid_on(owner_connection)[:5] == [
        ("2026-12-21", "2027-01-27", "paid"),
        ("2026-12-28", "2027-01-27", "paid"),
        ("2027-01-04", "2027-01-27", "paid"),
        ("2027-01-11", "2027-01-27", "paid"),
        ("2027-01-18", "2027-02-02", "paid"),
    ]
    assert mails(owner_connection) == 1
    await proved(owner_pool, pilot.town.clock)


async def test_an_error_on_our_side_is_tried_soon_and_never_counts(
    pilot: Pilot, owner_connection: psycopg.Connection, owner_pool: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pilot.enroll(IN_DECEMBER)
    pilot.town.go_to("2026-12-25", 15)

    async def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(generation, "hours_paid", broken)
        looked = []
        for _ in range(12):
            assert (await pilot.generate()).refused == 1
            (at,) = owner_connection.execute("SELECT generate_at FROM autopilot_enrollments").fetchone() or ()
            looked.append(int((at - pilot.town.clock.now()).total_seconds() // 60))
            pilot.town.clock.advance(at - pilot.town.clock.now())
        assert looked[:3] == [5, 5, 5]
        assert looked == sorted(looked)
        assert looked[-1] <= 60
        await pilot.live_through("2026-12-27", "2027-01-01")
        assert outcomes(owner_connection) == []
    await pilot.live_through("2027-01-02", "2027-01-13")
    assert paid_on(owner_connection)[0] == ("2026-12-21", "2027-01-11", "paid")
    assert (await pilot.read())["enrollment"]["failure_count"] == 0
    assert mails(owner_connection) == 1
    await proved(owner_pool, pilot.town.clock)


async def test_the_household_gets_three_days_for_its_part_once_the_law_is_known(
    pilot: Pilot, owner_connection: psycopg.Connection, tmp_path: Path
) -> None:
    await pilot.enroll(IN_DECEMBER)
    with edition(tmp_path, CA_AWAITS):
        await pilot.live_through("2026-12-25", "2027-01-10", hours=(15,))
        await pilot.town.connect(pilot.family.caller, pilot.family.employer_id, account="5556667778")
        await pilot.live_through("2027-01-11", "2027-01-15")
    await pilot.live_through("2027-01-16", "2027-01-17")
    assert outcomes(owner_connection) == []
    await pilot.renew_agreement()
    await pilot.live_through("2027-01-18", "2027-01-30")
    assert outcomes(owner_connection)[0] == ("2026-12-21", "paid")


async def test_a_scheduled_payroll_is_held_at_firing_and_sent_once_the_figure_is_known(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_pool: Database, tmp_path: Path
) -> None:
    town.go_to("2026-12-22", 10)
    order = family.order("2027-01-05", pay_period_start="2026-12-21", pay_period_end="2026-12-27")
    run = (await family.caller.post("/payroll/run", order)).json()["data"]
    assert run["status"] == "scheduled"
    with edition(tmp_path, CA_AWAITS):
        await town.live_through("2026-12-28", "2027-01-12")
        held = (await family.caller.get(f"/payroll/{run['payroll_id']}")).json()["data"]
        assert held["status"] == "scheduled"
        assert held["failure"]["code"] == "tax_year_not_final"
        assert held["failure"]["what_to_do"].startswith("No action needed.")
        assert held["failure"]["next_try"] is not None
        assert held["failure"]["until"] is None
    await town.live_through("2027-01-13", "2027-01-20")
    sent = (await family.caller.get(f"/payroll/{run['payroll_id']}")).json()["data"]
    assert sent["status"] == "completed"
    assert [step["status"] for step in sent["status_history"]].count("firing") == 1
    await proved(owner_pool, town.clock)


@pytest.mark.parametrize("clock", ["2027-12-01"], indirect=True)
async def test_a_year_without_rules_holds_both_ways_of_payment(
    family: Family, town: Town, account: Account, owner_connection: psycopg.Connection
) -> None:
    """A payroll that was to arrive on December 31, and a worker that was away."""
    order = family.order("2027-12-30", pay_period_start="2027-12-06", pay_period_end="2027-12-12")
    run = (await family.caller.post("/payroll/run", order)).json()["data"]
    assert run["status"] == "scheduled", run
    pilot = await settle(town, account, "TX")
    anchor = datetime.date(2027, 12, 6)
    await pilot.enroll(
        EnrolledTerms(standard_hours=Decimal(40), frequency="weekly", anchor=anchor, pay_days_after=12)
    )
    for day in range(28, 31):
        town.go_to(f"2027-12-{day}", 15)
        await pilot.work()
    held = (await family.caller.get(f"/payroll/{run['payroll_id']}")).json()["data"]
    assert (held["status"], held["failure"]["code"]) == ("scheduled", "tax_year_not_final")
    read = await pilot.read()
    assert read["enrollment"]["status"] == "active"
    assert "tax_year_not_final" in read["eligibility"]["reasons"]
    assert {outcome for _, outcome in outcomes(owner_connection)} <= {"scheduled"}


ENDS_IN_DECEMBER = EnrolledTerms(
    standard_hours=Decimal(40), frequency="weekly", anchor=datetime.date(2026, 12, 7), pay_days_after=0
)
MADE_ANEW = (
    "SELECT o.id, n.id, n.status, n.pay_date, n.tax_year, "
    "(SELECT count(*)::int FROM bank_entries e WHERE e.payroll_id = n.id AND e.kind = 'debit'), "
    "(SELECT count(DISTINCT m.notice_key)::int FROM mail_outbox m WHERE m.payroll_id = n.id "
    "AND m.kind = 'notice.autopilot_debit_tomorrow') "
    "FROM payrolls o JOIN payrolls n ON n.employer_id = o.employer_id AND n.period_start = o.period_start "
    "AND n.id <> o.id AND n.approved_at = o.created_at WHERE o.failure ->> 'code' = 'year_passed'"
)

AWAY: tuple[tuple[str, PayFrequency, str, int], ...] = (
    ("CA", "weekly", "2026-12-07", 5),
    ("NY", "biweekly", "2026-11-30", 7),
    ("WA", "semimonthly", "2026-12-01", 5),
    ("TX", "monthly", "2026-12-01", 3),
    ("NJ", "weekly", "2026-12-07", 0),
    ("NC", "semimonthly", "2026-12-16", 0),
)


async def test_a_worker_that_was_down_over_the_holidays_pays_everyone_once(
    town: Town, account: Account, owner_connection: psycopg.Connection, owner_pool: Database
) -> None:
    """Down from December 20 to January 5: Autopilot by every frequency, and payrolls that people had scheduled."""
    pilots, scheduled = [], []
    for state, frequency, anchor, days in AWAY:
        pilot = await settle(town, account, state)
        pilots.append(pilot)
        terms = EnrolledTerms(
            standard_hours=Decimal(40),
            frequency=frequency,
            anchor=datetime.date.fromisoformat(anchor),
            pay_days_after=days,
        )
        await pilot.enroll(terms)
    for state, day in (("CA", "2026-12-31"), ("NY", "2027-01-04"), ("WA", "2027-01-08")):
        pilot = await settle(town, account, state)
        run = await pilot.family.caller.post("/payroll/run", pilot.family.order(day))
        assert run.json()["data"]["status"] == "scheduled", run.text
        scheduled.append((pilot, run.json()["data"]["payroll_id"]))
    await _work_through(pilots[0], "2026-11-25", "2026-12-19")
    due = owner_connection.execute(
        "SELECT employee_id, next_start FROM autopilot_enrollments WHERE next_pay_date < '2027-01-10'"
    ).fetchall()
    assert len(due) >= 3
    town.go_to("2027-01-05", 12)
    soonest = earliest_pay_date(town.clock.now())
    await _work_through(pilots[0], "2027-01-05", "2027-01-22")
    for employee, start in due:
        (row,) = owner_connection.execute(
            "SELECT p.pay_date, p.status, p.tax_year FROM payroll_entries e JOIN payrolls p ON p.id = e.payroll_id "
            "WHERE e.employee_id = %s AND e.live AND lower(e.period) = %s",
            (employee, start),
        ).fetchall()
        assert row == (max(row[0], soonest), "completed", 2027)
        assert row[0] <= soonest + datetime.timedelta(days=7)
    twice = owner_connection.execute(
        "SELECT e.employee_id, lower(e.period), count(*) FROM payroll_entries e "
        "WHERE e.live AND e.regular_hours > 0 GROUP BY 1, 2 HAVING count(*) > 1"
    ).fetchall()
    assert twice == []
    for pilot, payroll_id in scheduled:
        paid = (await pilot.family.caller.get(f"/payroll/{payroll_id}")).json()["data"]
        assert paid["status"] == "completed", paid
    # A deposit that could not leave while the worker was down is paid by a payroll of the new year, under its law.
    failed = owner_connection.execute(
        "SELECT DISTINCT failure ->> 'code' FROM payrolls WHERE status = 'failed'"
    ).fetchall()
    assert failed == [("year_passed",)]
    anew = owner_connection.execute(MADE_ANEW).fetchall()
    assert len(anew) >= 2
    assert {row[2:] for row in anew} == {("completed", soonest, 2027, 1, 1)}  # collected once, told of once
    assert len({old for old, *_ in anew}) == len({new for _, new, *_ in anew}) == len(anew)
    (count,) = (
        owner_connection.execute(
            "SELECT count(*) FROM payrolls WHERE failure ->> 'code' = 'year_passed'"
        ).fetchone()
        or ()
    )
    assert count == len(anew)
    arrived = owner_connection.execute(
        "SELECT c.employee_id, p.period_start, count(*) FROM bank_entries e JOIN paychecks c ON c.id = e.paycheck_id "
        "JOIN payrolls p ON p.id = c.payroll_id WHERE e.kind = 'credit' AND e.status IN ('sent', 'settled') "
        "GROUP BY 1, 2 HAVING count(*) > 1"
    ).fetchall()
    assert arrived == []
    assert {outcome for _, outcome in outcomes(owner_connection)} <= {"paid", "fired", "scheduled", "failed"}
    unpaid = owner_connection.execute(
        "SELECT g.period_start, g.outcome FROM autopilot_periods g WHERE 1 <> (SELECT count(*) FROM payroll_entries e "
        "WHERE e.employee_id = g.employee_id AND e.live AND lower(e.period) = g.period_start)"
    ).fetchall()
    assert unpaid == []
    states = owner_connection.execute("SELECT DISTINCT status, failure_count FROM autopilot_enrollments")
    assert states.fetchall() == [("active", 0)]
    await proved(owner_pool, town.clock, whole=True)


@pytest.mark.parametrize("why", ["revoked", "above_enrolled_net", "another_account"])
async def test_what_is_made_anew_is_not_debited_beyond_what_its_own_enrollment_authorizes(
    why: str, town: Town, account: Account, owner_connection: psycopg.Connection
) -> None:
    """Two employees of one household and period: what keeps one from being paid keeps the other's authorization to
    itself.
    """
    pilot = await settle(town, account, "NJ")
    other = await _colleague(pilot)
    for each in (pilot, other):
        await each.enroll(ENDS_IN_DECEMBER)
    await _work_through(pilot, "2026-11-25", "2026-12-19")
    town.go_to("2027-01-05", 10)
    now = town.clock.now()
    if why == "revoked":
        owner_connection.execute(
            "UPDATE autopilot_authorizations SET ended_at = %s, revoked_at = %s WHERE enrollment_id = "
            "(SELECT id FROM autopilot_enrollments WHERE employee_id = %s)",
            (now, now, pilot.employee),
        )
    elif why == "above_enrolled_net":
        owner_connection.execute(  # what was agreed to, and what was debited under it, was less
            "UPDATE autopilot_versions SET expected_net = 70000 WHERE enrollment_id = "
            "(SELECT id FROM autopilot_enrollments WHERE employee_id = %s)",
            (pilot.employee,),
        )
        owner_connection.execute(
            "UPDATE payrolls SET net_pay = 70000 WHERE id IN "
            "(SELECT payroll_id FROM autopilot_periods WHERE employee_id = %s AND outcome = 'fired')",
            (pilot.employee,),
        )
    else:
        await town.connect(pilot.family.caller, pilot.family.employer_id, account="5556667778")
    await _work_through(pilot, "2027-01-05", "2027-01-13")
    anew = owner_connection.execute(
        "SELECT DISTINCT c.employee_id, n.status, n.failure ->> 'code', (SELECT string_agg(e.status, ' ') "
        "FROM bank_entries e WHERE e.payroll_id = n.id AND e.kind = 'debit') FROM payrolls n "
        "JOIN paychecks c ON c.payroll_id = n.id WHERE n.approved_at IS NOT NULL"
    ).fetchall()
    not_paid = ("failed", "debit_expired", "cancelled")
    paid = not_paid if why == "another_account" else ("completed", None, "settled")
    assert sorted(anew) == sorted([(pilot.employee, *not_paid), (other.employee, *paid)])


async def test_a_debit_that_only_an_absent_worker_held_never_expires(
    family: Family, town: Town, owner_connection: psycopg.Connection, owner_pool: Database
) -> None:
    """Its day passed six weeks ago; nothing else is in its way."""
    town.go_to("2027-01-11", 10)
    week = {"pay_period_start": "2027-01-04", "pay_period_end": "2027-01-10"}
    run = (await family.caller.post("/payroll/run", family.order(**week))).json()["data"]
    assert run["status"] == "pending_funding", run
    await town.live_through("2027-02-22", "2027-03-02")
    paid = (await family.caller.get(f"/payroll/{run['payroll_id']}")).json()["data"]
    assert (paid["status"], paid.get("failure")) == ("completed", None)
    moved = owner_connection.execute(
        "SELECT kind, status, effective_date::text FROM bank_entries WHERE payroll_id = %s ORDER BY id",
        (run["payroll_id"],),
    ).fetchall()
    assert moved == [("debit", "settled", "2027-02-23"), ("credit", "settled", "2027-02-26")]
    await proved(owner_pool, town.clock)


async def _colleague(pilot: Pilot) -> Pilot:
    """Somebody else whom the same household pays."""
    caller, employer_id = pilot.family.caller, pilot.family.employer_id
    employee_id = await add_employee(caller, employer_id, work_state="NJ", first_name="Ines")
    await pilot.town.connect(caller, employer_id, employee_id, account="1122334455")
    run = await caller.post("/payroll/run", payroll_of(employer_id, employee_id))
    assert run.status_code == 200, run.text
    return Pilot(pilot.town, Family(caller, employer_id, employee_id), pilot.actor)


async def _work_through(pilot: Pilot, first: str, last: str) -> None:
    """Let the worker work at noon of the first day, and at the cut-off of each."""
    pilot.town.go_to(first, 12)
    await pilot.work()
    await pilot.live_through(first, last, hours=(15,))


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> FixedClock:
    """A Friday in November 2026, or the day that the test asks for, at 15:00 UTC."""
    day = datetime.date.fromisoformat(getattr(request, "param", "2026-11-20"))
    return FixedClock(datetime.datetime(day.year, day.month, day.day, 15, tzinfo=datetime.UTC))
