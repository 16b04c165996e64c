"""Which warnings a paycheck carries: about the way it is paid, the length of its period, and assumed thresholds."""

from typing import Any

import pytest

from tests.http.api import Account, data
from tests.worlds.households import add_employee, add_household, payroll_of


def codes(employee: dict[str, Any]) -> list[str]:
    return [each["code"] for each in employee["warning_codes"]]


async def preview(account: Account, body: dict[str, Any]) -> list[list[str]]:
    """Return the codes of each paycheck's warnings."""
    return [codes(each) for each in data(await account.live.post("/payroll/preview", body))["employees"]]


@pytest.mark.parametrize(
    ("own", "paid", "told"),
    [
        ("direct_deposit", "check", {"paid_by_check"}),
        ("direct_deposit", "cash", {"paid_by_cash"}),
        ("check", "check", set[str]()),
        ("check", "cash", set[str]()),
        ("cash", "check", set[str]()),
    ],
)
async def test_who_has_direct_deposit_and_is_paid_otherwise_is_named(
    account: Account, employer_id: str, own: str, paid: str, told: set[str]
) -> None:
    employee_id = await add_employee(account.live, employer_id, payment_method=own)
    body = payroll_of(employer_id, employee_id)
    body["employees"][0]["payment_method"] = paid
    (warnings,) = await preview(account, body)
    assert {"paid_by_check", "paid_by_cash"} & set(warnings) == told


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("2026-11-09", set[str]()),
        ("2026-11-12", {"period_shorter_than_frequency"}),
        ("2026-11-02", {"period_longer_than_frequency"}),
    ],
)
async def test_a_period_that_does_not_fit_the_frequency_is_named(
    account: Account, employer_id: str, employee_id: str, start: str, told: set[str]
) -> None:
    (warnings,) = await preview(account, payroll_of(employer_id, employee_id, pay_period_start=start))
    assert {each for each in warnings if each.startswith("period_")} == told


@pytest.mark.parametrize(("basis", "times"), [("assume_crossed", 1), ("as_paid", 0)])
async def test_that_thresholds_are_assumed_is_told_once_a_payroll(
    account: Account, basis: str, times: int
) -> None:
    employer_id = await add_household(account.live, threshold_basis=basis)
    body = payroll_of(employer_id, await add_employee(account.live, employer_id))
    second = await add_employee(account.live, employer_id, first_name="Lena")
    body["employees"].append(body["employees"][0] | {"employee_id": second})
    warnings = await preview(account, body)
    assert [each.count("thresholds_assumed") for each in warnings] == [times, 0]
