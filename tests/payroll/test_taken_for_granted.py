"""What a payroll takes for granted is told: places nobody chose, periods that do not fit, dates left out."""

from typing import Any

import pytest

from tests.http.api import Account, data, fields, refusal
from tests.worlds.households import add_employee, payroll_of


def told(answer: dict[str, Any], *words: str) -> bool:
    """Whether one warning of the first paycheck has all of these words."""
    return any(all(word in each for word in words) for each in answer["employees"][0]["warnings"])


@pytest.mark.parametrize(
    ("state", "word"), [("IN", "ounty"), ("MD", "ounty"), ("OH", "unicipal"), ("PA", "unicipal")]
)
async def test_a_place_that_nobody_chose_is_told_in_preview_and_run(
    account: Account, employer_id: str, state: str, word: str
):
    employee_id = await add_employee(account.live, employer_id, work_state=state)
    order = payroll_of(employer_id, employee_id)
    for path in ("/payroll/preview", "/payroll/run"):
        assert told(data(await account.live.post(path, order)), word)


async def test_where_nothing_is_left_open_nothing_is_told(
    account: Account, employer_id: str, employee_id: str
):
    preview = data(await account.live.post("/payroll/preview", payroll_of(employer_id, employee_id)))
    assert not told(preview, "period")
    assert not told(preview, "ounty")


@pytest.mark.parametrize(
    ("start", "end", "frequency", "word"),
    [
        ("2026-11-09", "2026-11-15", "monthly", "less than a month"),
        ("2026-11-09", "2026-11-10", "weekly", "less than a week"),
        ("2026-11-02", "2026-11-15", "weekly", "more than a week"),
        ("2026-10-01", "2026-11-15", "monthly", "more than a month"),
    ],
)
async def test_a_period_that_does_not_fit_its_frequency_is_told(
    account: Account, employer_id: str, employee_id: str, start: str, end: str, frequency: str, word: str
):
    order = payroll_of(
        employer_id, employee_id, pay_period_start=start, pay_period_end=end, pay_frequency=frequency
    )
    for path in ("/payroll/preview", "/payroll/run"):
        assert told(data(await account.live.post(path, order)), word)


async def test_a_bonus_is_taxed_flat_whatever_the_period(
    account: Account, employer_id: str, employee_id: str
):
    bonus = [{"employee_id": employee_id, "bonus": 500, "payment_method": "check"}]
    day = {"pay_period_start": "2026-11-15", "pay_period_end": "2026-11-15"}
    preview = data(
        await account.live.post(
            "/payroll/preview", payroll_of(employer_id, employee_id, employees=bonus, **day)
        )
    )
    assert not told(preview, "less than a week")


@pytest.mark.parametrize(
    ("start", "end", "frequency"),
    [
        ("2026-01-05", "2026-11-15", "weekly"),
        ("2026-11-01", "2026-11-15", "weekly"),
        ("2026-09-01", "2026-11-15", "monthly"),
    ],
)
async def test_an_absurd_period_is_refused(
    account: Account, employer_id: str, employee_id: str, start: str, end: str, frequency: str, counts
):
    order = payroll_of(
        employer_id, employee_id, pay_period_start=start, pay_period_end=end, pay_frequency=frequency
    )
    before = counts()
    for path in ("/payroll/preview", "/payroll/run"):
        error = refusal(await account.live.post(path, order), 400, "validation_error")
        assert fields(error) == ["pay_period_end"]
    assert counts() == before


# Catch-ups without a pay date.


def late(employer_id: str, employee_id: str, start: str, end: str, **more: Any) -> dict[str, Any]:
    order = payroll_of(employer_id, employee_id, pay_period_start=start, pay_period_end=end, notes="Catch-up")
    del order["pay_date"]
    return order | more


@pytest.mark.parametrize(
    ("start", "end", "year"),
    [
        ("2025-12-22", "2025-12-28", 2025),
        ("2025-12-25", "2025-12-31", 2025),
        ("2025-12-26", "2026-01-01", 2026),
        ("2026-06-01", "2026-06-07", 2026),
        ("2026-11-14", "2026-11-20", 2026),  # the last day is today
    ],
)
async def test_a_catch_up_is_dated_by_its_period(
    account: Account, employer_id: str, start: str, end: str, year: int
):
    employee_id = await add_employee(account.live, employer_id, start_date="2025-01-06")
    order = late(employer_id, employee_id, start, end)
    preview = data(await account.live.post("/payroll/preview", order))
    ran = data(await account.live.post("/payroll/run", order))
    for answer in (preview, ran):
        assert answer["pay_period"]["pay_date"] == end
        assert answer["pay_date_defaulted"] is True
        assert answer["rulebook"]["tax_year"] == year
    assert ran["status"] == "completed"


async def test_catch_ups_of_two_years_do_not_mix(account: Account, employer_id: str):
    employee_id = await add_employee(account.live, employer_id, start_date="2025-01-06")
    for start, end, so_far in (
        ("2025-12-15", "2025-12-21", 1140),
        ("2025-12-22", "2025-12-28", 2280),
        ("2026-01-05", "2026-01-11", 1140),
    ):
        ran = data(await account.live.post("/payroll/run", late(employer_id, employee_id, start, end)))
        assert ran["employees"][0]["ytd"]["gross_pay"] == so_far


async def test_a_pay_date_that_is_sent_stands(account: Account, employer_id: str):
    employee_id = await add_employee(account.live, employer_id, start_date="2025-01-06")
    order = late(employer_id, employee_id, "2025-12-22", "2025-12-28", pay_date="2026-01-02")
    ran = data(await account.live.post("/payroll/run", order))
    assert ran["pay_period"]["pay_date"] == "2026-01-02"
    assert ran["rulebook"]["tax_year"] == 2026


async def test_a_catch_up_of_days_to_come_is_refused(account: Account, employer_id: str, employee_id: str):
    order = late(employer_id, employee_id, "2026-11-16", "2026-11-22")
    assert fields(refusal(await account.live.post("/payroll/run", order), 400, "validation_error")) == [
        "pay_period_end"
    ]


async def test_by_check_a_pay_date_left_out_is_still_today(
    account: Account, employer_id: str, employee_id: str
):
    order = payroll_of(employer_id, employee_id)
    del order["pay_date"]
    assert data(await account.live.post("/payroll/run", order))["pay_period"]["pay_date"] == "2026-11-20"
