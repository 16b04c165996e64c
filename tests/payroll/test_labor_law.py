"""What labor law says against hours and rates stands in the warnings of previews, runs and what is read back."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from hearthpay.payroll.ledger.earnings import rates_of
from hearthpay.payroll.orders import Payee, PayrollEntry
from tests.http.api import Account, data
from tests.worlds.households import add_employee, add_household, payroll_of

ROSA = Payee(uuid4(), "Rosa", "Diaz", "TX", "TX", (), Decimal(20), Decimal(30), "check", "none", {}, {})


def told(answer: dict[str, Any]) -> list[str]:
    """What the first paycheck says of minimum wages and overtime."""
    warnings = answer["employees"][0]["warnings"]
    return [each for each in warnings if "minimum wage" in each or "overtime" in each]


def hours(employer_id: str, employee_id: str, regular: float, overtime: float = 0) -> dict[str, Any]:
    entry = {"employee_id": employee_id, "regular_hours": regular, "overtime_hours": overtime}
    return payroll_of(employer_id, employee_id, employees=[entry | {"payment_method": "check"}])


@pytest.mark.parametrize(
    ("settings", "regular", "overtime", "words"),
    [
        ({"pay_rate": 16.89}, 40, 0, ["below the minimum wage on 2026-11-20: 16.90", "California"]),
        ({"pay_rate": 16.90}, 40, 2, []),
        ({}, 42.5, 0, ["by federal law hours over 40", "at least 2.5, as overtime_hours"]),
        ({"lives_in": True}, 45, 0, []),
        ({"lives_in": True}, 46, 0, ["by the law of California hours over 45"]),
        ({"lives_in": True, "work_state": "TX"}, 80, 0, []),
        ({"pay_rate": 20, "overtime_rate": 25}, 40, 2, ["overtime rate of 25.00", "30.00"]),
        ({"work_state": "NY", "locality": "NYC", "pay_rate": 16.5}, 40, 0, ["17.00", "New York City"]),
    ],
)
async def test_preview_and_run_tell_and_refuse_nothing(
    account: Account,
    employer_id: str,
    settings: dict[str, Any],
    regular: float,
    overtime: float,
    words: list[str],
):
    employee_id = await add_employee(account.live, employer_id, **settings)
    order = hours(employer_id, employee_id, regular, overtime)
    previewed = data(await account.live.post("/payroll/preview", order))
    ran = data(await account.live.post("/payroll/run", order))
    read = data(await account.live.get(f"/payroll/{ran['payroll_id']}"))
    assert told(previewed) == told(ran) == told(read)
    assert len(told(ran)) == bool(words)
    assert all(word in told(ran)[0] for word in words)


HOME = {"line1": "1 Main St", "line2": None, "city": "Oakland", "state": "CA", "zip": "94612-1234"}
BERKELEY = HOME | {"city": "Berkeley", "zip": "94704"}


@pytest.mark.parametrize(
    ("household", "settings", "words"),
    [
        (HOME, {"pay_rate": 17.33}, "17.34 by the law of Oakland (California)"),
        (HOME, {"pay_rate": 17.34}, None),
        (HOME, {"pay_rate": 17.34, "city": "Berkeley", "address": BERKELEY}, None),
        (BERKELEY, {"pay_rate": 18, "city": "Oakland"}, "19.61 by the law of Berkeley (California)"),
        (None, {"pay_rate": 17.33, "city": "Oakland"}, "17.34 by the law of Oakland (California)"),
        (None, {"pay_rate": 17.33, "address": HOME}, "17.34 by the law of Oakland (California)"),
        (
            HOME | {"state": "NV"},
            {"pay_rate": 17.33, "city": "Oakland"},
            "17.34 by the law of Oakland (California)",
        ),
        (None, {"pay_rate": 17.33}, None),
    ],
)
async def test_the_minimum_wage_is_that_of_the_home_where_the_work_is_done(
    account: Account,
    household: dict[str, Any] | None,
    settings: dict[str, Any],
    words: str | None,
):
    """The household's address decides; the employee's own stands in where it is missing or in another state."""
    employer_id = await add_household(account.live, address=household)
    employee_id = await add_employee(account.live, employer_id, **settings)
    order = hours(employer_id, employee_id, 40)
    previewed = data(await account.live.post("/payroll/preview", order))
    ran = data(await account.live.post("/payroll/run", order))
    assert told(previewed) == told(ran)
    assert [words in each for each in told(ran) if words] == [True] * bool(words)
    assert bool(told(ran)) == bool(words)


async def test_a_law_that_begins_with_two_employees_counts_those_who_are_paid_together(
    account: Account, employer_id: str
):
    people = [
        await add_employee(account.live, employer_id, work_state="MI", first_name=name, pay_rate=12)
        for name in ("Ana", "Bea")
    ]
    alone = data(await account.live.post("/payroll/preview", hours(employer_id, people[0], 10)))
    assert told(alone) == []
    both = hours(employer_id, people[0], 10)
    both["employees"] += hours(employer_id, people[1], 10)["employees"]
    [warning] = told(data(await account.live.post("/payroll/preview", both)))
    assert "13.73 by the law of Michigan" in warning


@pytest.mark.parametrize(
    ("regular", "overtime", "approved", "rates"),
    [
        ("40", "2", (None, None), ("20", "30")),
        ("40", "2", ("800.00", "60.00"), ("20", "30")),
        ("40", "2", ("760.00", "57.00"), ("19.00", "28.50")),
        ("0.333", "0", ("6.66", "0.00"), ("20", "30")),  # what today's rate yields is today's rate
        ("0", "2", ("0.00", "57.00"), (None, "28.50")),
        ("0", "2", ("0.00", "60.00"), ("20", "30")),
    ],
)
def test_hours_are_looked_at_by_the_rate_at_which_they_were_approved(regular, overtime, approved, rates):
    pay = [None if each is None else Decimal(each) for each in approved]
    entry = PayrollEntry(
        ROSA.id,
        "check",
        Decimal(regular),
        Decimal(overtime),
        Decimal("0.00"),
        Decimal("0.00"),
        regular_pay=pay[0],
        overtime_pay=pay[1],
    )
    assert rates_of(entry, ROSA) == tuple(None if each is None else Decimal(each) for each in rates)
