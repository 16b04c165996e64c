"""The contract, "Autopilot": each test's first line is a sentence of it."""

import datetime
from decimal import Decimal

import pytest

from hearthpay.autopilot.commands import ACTIONS, EnrolledTerms
from tests.autopilot.pilot import Pilot, pilot
from tests.http.api import Account, NewKey, data, refusal

__all__ = ["pilot"]


async def test_reading_one(pilot: Pilot) -> None:
    """`GET /autopilot?employer_id&employee_id` → enrollment or null, eligibility, the next three periods."""
    caller = pilot.family.caller
    await pilot.enroll()
    told = data(await caller.get("/autopilot", **pilot.whose))
    enrollment = told["enrollment"]
    assert set(enrollment) == {
        *(
            "id",
            "status",
            "employee_id",
            "standard_hours",
            "expected_net_pay",
            "next_pay_date",
            "failure_count",
        ),
        "skip_through",
    }
    assert (enrollment["status"], enrollment["standard_hours"]) == ("active", 40)
    assert 800 < enrollment["expected_net_pay"] < 1140
    assert [set(each) for each in told["schedule_preview"]] == [
        {"period_start", "period_end", "pay_date", "send_at"}
    ] * 3


async def test_reading_somebody_who_is_not_enrolled(pilot: Pilot) -> None:
    """The preview also for an eligible employee who is not enrolled: what enrolling now would give."""
    path = f"/api/v1/employees/{pilot.employee}"
    caller = pilot.family.caller
    await caller.client.patch(path, json={"pay_frequency": "weekly"}, headers=caller.headers())
    before = data(await caller.get("/autopilot", **pilot.whose))
    assert before == {
        "employer_id": pilot.family.employer_id,
        "enrollment": None,
        "eligibility": {"eligible": True, "reasons": []},
        "schedule_preview": [
            # The week from the 16th follows the one paid, but its payday, the 27th, is four business days away.
            # Thanksgiving, on the 26th, is none.
            _period("2026-11-23", "2026-11-29", "2026-12-04", "2026-11-27"),
            _period("2026-11-30", "2026-12-06", "2026-12-11", "2026-12-04"),
            _period("2026-12-07", "2026-12-13", "2026-12-18", "2026-12-11"),
        ],
    }
    terms = EnrolledTerms(
        standard_hours=Decimal(40),
        frequency="weekly",
        anchor=datetime.date.fromisoformat(before["schedule_preview"][0]["period_start"]),
        pay_days_after=5,
    )
    await pilot.enroll(terms)
    enrolled = data(await caller.get("/autopilot", **pilot.whose))
    assert enrolled["schedule_preview"] == before["schedule_preview"]


async def test_an_enrollment_that_was_ended(pilot: Pilot) -> None:
    """A disabled enrollment is `null`, and is not listed."""
    await pilot.enroll()
    await pilot.ask("disable")
    told = data(await pilot.family.caller.get("/autopilot", **pilot.whose))
    assert told["enrollment"] is None
    assert told["eligibility"] == {"eligible": True, "reasons": []}
    assert len(told["schedule_preview"]) == 3
    listed = data(await pilot.family.caller.get("/autopilot", employer_id=pilot.family.employer_id))
    assert listed["enrollments"] == []
    history = await pilot.history()
    assert [each["event"] for each in history] == ["enroll", "disable"]


async def test_no_preview_of_somebody_who_may_not_be_paid(pilot: Pilot) -> None:
    """If not eligible: no preview, and the reasons."""
    caller = pilot.family.caller
    path = f"/employees/{pilot.employee}/terminate"
    assert (await caller.post(path, {"end_date": "2026-11-20"})).is_success
    told = data(await caller.get("/autopilot", **pilot.whose))
    assert told["enrollment"] is None
    assert told["eligibility"] == {"eligible": False, "reasons": ["employee_inactive"]}
    assert told["schedule_preview"] == []


async def test_reading_all(pilot: Pilot) -> None:
    """Without employee_id → `{enrollments: [..]}`."""
    await pilot.enroll()
    told = data(await pilot.family.caller.get("/autopilot", employer_id=pilot.family.employer_id))
    assert [each["employee_id"] for each in told["enrollments"]] == [pilot.family.employee_id]


async def test_the_history(pilot: Pilot) -> None:
    """`GET /autopilot/history` → `[{event, at, actor, source, details}]` newest first."""
    await pilot.enroll()
    await pilot.ask("pause")
    first = await pilot.family.caller.get("/autopilot/history", **pilot.whose, limit=1)
    (item,) = first.json()["data"]
    assert set(item) == {"event", "at", "actor", "source", "details"}
    assert (item["event"], item["actor"], item["source"]) == ("pause", "key", "api")
    cursor = first.json()["meta"]["next_cursor"]
    second = await pilot.family.caller.get("/autopilot/history", **pilot.whose, limit=1, cursor=cursor)
    (older,) = second.json()["data"]
    assert (older["event"], older["actor"], older["source"]) == ("enroll", "operator", "app")
    assert second.json()["meta"]["next_cursor"] is None


async def test_enrolling(account: Account) -> None:
    """`POST /autopilot/enroll` → 403 always, with the page's address."""
    for body in ({}, {"anything": 1}):
        error = refusal(await account.live.post("/autopilot/enroll", body), 403, "autopilot_enroll_in_app")
        assert error["details"]["url"].startswith("http://pay.example.com/")


async def test_unknown_actions(pilot: Pilot) -> None:
    """An unknown `action` → 400 with the list."""
    for action in ("stop", "Pause", "enrol"):
        error = refusal(
            await pilot.family.caller.post(f"/autopilot/{action}", pilot.whose), 400, "validation_error"
        )
        assert error["details"][0]["field"] == "action"
        assert all(known in error["details"][0]["message"] for known in ACTIONS)


@pytest.mark.parametrize(
    ("action", "day"),
    [
        ("skip", datetime.date(2026, 11, 19)),
        ("skip", datetime.date(2028, 11, 21)),
        ("pause", datetime.date(2026, 12, 1)),
        ("resume", datetime.date(2026, 12, 1)),
        ("disable", datetime.date(2026, 12, 1)),
    ],
)
async def test_through_date(pilot: Pilot, action: str, day: datetime.date) -> None:
    """`through_date` in the past, beyond two years, without skip → 400."""
    await pilot.enroll()
    body = {**pilot.whose, "through_date": day.isoformat()}
    error = refusal(await pilot.family.caller.post(f"/autopilot/{action}", body), 400, "validation_error")
    assert error["details"][0]["field"] == "through_date"
    assert await pilot.events() == ["enroll"]


async def test_nothing_is_guessed(pilot: Pilot) -> None:
    """JSON body `{employer_id, employee_id, through_date?}`; ownership 403 without fallback."""
    caller = pilot.family.caller
    body = {"employer_id": pilot.whose["employer_id"]}
    error = refusal(await caller.post("/autopilot/pause", body), 400, "validation_error")
    assert error["details"][0]["field"] == "employee_id"
    refusal(await caller.get("/autopilot"), 400, "validation_error")
    refusal(await caller.get("/autopilot/history"), 400, "validation_error")
    foreign = {**pilot.whose, "employer_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10"}
    refusal(await caller.post("/autopilot/pause", foreign), 403, "household_forbidden")
    refusal(await caller.get("/autopilot", **foreign), 403, "household_forbidden")
    stranger = {**pilot.whose, "employee_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10"}
    refusal(await caller.post("/autopilot/pause", stranger), 400, "employee_not_in_household")
    refusal(await caller.post("/autopilot/pause", pilot.whose), 404, "not_found")


async def test_modes(pilot: Pilot, account: Account) -> None:
    """Mode refusals: a test key never reaches a real household."""
    for response in (
        await account.test.get("/autopilot", **pilot.whose),
        await account.test.post("/autopilot/pause", pilot.whose),
    ):
        refusal(response, 403, "key_mode_mismatch")


async def test_scope_and_plans(pilot: Pilot, new_key: NewKey) -> None:
    """Scope `ach`, plans Plus and Professional."""
    without = await new_key("Lopez family", scopes=("payroll", "employees"))
    refusal(await without.post("/autopilot/pause", pilot.whose), 403, "scope_required")
    for plan, allowed in (("starter", False), ("plus", True)):
        caller = await new_key(plan, plan=plan)
        response = await caller.post("/autopilot/pause", pilot.whose)
        if allowed:
            refusal(response, 403, "household_forbidden")
        else:
            error = refusal(response, 403, "subscription_required")
            assert error["details"]["required_plan"] == "plus"


async def test_repeats(pilot: Pilot) -> None:
    """Idempotent repeats: the same key replays, and the same wish changes nothing."""
    await pilot.enroll()
    caller = pilot.family.caller
    first = await caller.post("/autopilot/skip", pilot.whose, idempotency_key="a")
    again = await caller.post("/autopilot/skip", pilot.whose, idempotency_key="a")
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert data(await caller.post("/autopilot/skip", pilot.whose))["changed"] is False
    assert await pilot.events() == ["enroll", "skip"]


async def test_an_address_of_its_own_is_no_action(account: Account) -> None:
    """`method_not_allowed` 405: `GET /autopilot/history` is read, not done."""
    refusal(await account.live.post("/autopilot/history", {}), 405, "method_not_allowed")


def _period(start: str, end: str, pay_date: str, sent_on: str) -> dict[str, str]:
    return {
        "period_start": start,
        "period_end": end,
        "pay_date": pay_date,
        "send_at": f"{sent_on}T20:00:00Z",
    }
