"""A bonus bears one tax, whatever was run before it: alone, with hours, before them or after them."""

import itertools
from typing import Any, Final

import pytest

from tests.cases import every_case
from tests.http.api import Account, data
from tests.worlds.households import add_employee, add_household, payroll_of

_WEEKS: Final = {
    "earlier": ("2026-10-19", "2026-10-25"),
    "before": ("2026-11-09", "2026-11-15"),
    "this": ("2026-11-16", "2026-11-22"),
    "month": ("2026-11-01", "2026-11-30"),
    "day": ("2026-11-20", "2026-11-20"),
}
_INCOME_TAX: Final = ("-FIT", "-FIT-SUP", "-SIT", "-LIT")


async def _employee(account: Account, state: str = "TX", **more: Any) -> tuple[str, str]:
    employer_id = await add_household(account.live, state=state)
    pay = {"work_state": state, "pay_rate": 30, "residence_state": state}
    return employer_id, await add_employee(account.live, employer_id, **(pay | more))


async def _run(
    account: Account, who: tuple[str, str], week: str, pay: dict[str, Any], **changes: Any
) -> dict[str, float]:
    """Run a payroll; return its income taxes by line."""
    start, end = _WEEKS[week]
    order = payroll_of(
        *who,
        employees=[{"employee_id": who[1], "payment_method": "check"} | pay],
        pay_period_start=start,
        pay_period_end=end,
        **changes,
    )
    preview = data(await account.live.post("/payroll/preview", order))
    ran = data(await account.live.post("/payroll/run", order))
    assert _taxes(preview) == _taxes(ran)
    return _taxes(ran)


def _taxes(payroll: dict[str, Any]) -> dict[str, float]:
    [paycheck] = payroll["employees"]
    lines = {line["code"]: float(line["amount"]) for line in paycheck["lines"]}
    return {code: amount for code, amount in lines.items() if code.endswith(_INCOME_TAX)}


def _sum(*taxes: dict[str, float]) -> dict[str, float]:
    codes = {code for each in taxes for code in each}
    sums = {code: round(sum(each.get(code, 0) for each in taxes), 2) for code in codes}
    return {code: amount for code, amount in sums.items() if amount}


_HOURS: Final = {"regular_hours": 40}
_BONUS: Final = {"bonus": 1000}


async def test_a_christmas_bonus_before_the_weeks_hours_bears_the_flat_rate(account: Account):
    """22 % of 1,000 for a week or a month of its own, where tax is withheld from regular wages."""
    with every_case() as case:
        for week, frequency in (("this", "weekly"), ("day", "weekly"), ("month", "monthly")):
            with case(week):
                who = await _employee(account)
                assert await _run(account, who, "earlier", _HOURS) == {"US-FIT": 102.08}
                bonus = await _run(account, who, week, _BONUS, pay_frequency=frequency)
                assert _sum(bonus) == {"US-FIT-SUP": 220}
                assert _sum(await _run(account, who, "this", _HOURS)) == {"US-FIT": 102.08}


async def test_a_bonus_of_the_first_period_is_taxed_with_its_wages(account: Account):
    """Nothing was withheld from regular wages of earlier periods: 2,200 x 52 gives 314.19, less 102.08."""
    who = await _employee(account)
    await _run(account, who, "this", _HOURS)
    assert await _run(account, who, "month", _BONUS, pay_frequency="monthly") == {"US-FIT": 212.11}


async def test_without_tax_on_regular_wages_the_flat_rate_is_not_used(account: Account):
    """Wages of 120 a week bear none. 1,100 x 52 - 8,600 = 48,600: 4,684 a year, 90.08 a week."""
    who = await _employee(account)
    await _run(account, who, "before", {"regular_hours": 4})
    bonus = await _run(account, who, "this", {"bonus": 980})
    assert bonus == {"US-FIT": 90.08}


async def test_a_year_that_withheld_allows_the_flat_rate_in_the_next(account: Account):
    who = await _employee(account, start_date="2025-11-03")
    old = {"pay_date": "2025-12-19", "notes": "catch-up"}
    order = payroll_of(
        *who,
        employees=[{"employee_id": who[1], "payment_method": "check"} | _HOURS],
        pay_period_start="2025-12-08",
        pay_period_end="2025-12-14",
        **old,
    )
    data(await account.live.post("/payroll/run", order))
    assert _sum(await _run(account, who, "this", _BONUS)) == {"US-FIT-SUP": 220}


async def test_what_is_voided_is_not_counted(account: Account):
    who = await _employee(account)
    await _run(account, who, "before", _HOURS)
    start, end = _WEEKS["this"]
    order = payroll_of(*who, pay_period_start=start, pay_period_end=end)
    ran = data(await account.live.post("/payroll/run", order))
    data(await account.live.post(f"/payroll/{ran['payroll_id']}/void", {}))
    assert _sum(await _run(account, who, "this", {"other_earnings": 1200})) == {"US-FIT": 102.08}


async def test_step_4c_is_withheld_once_a_period_in_any_order(account: Account):
    parts = ({"regular_hours": 20}, {"bonus": 300}, {"other_earnings": 200})
    expected: dict[str, float] = {}
    with every_case() as case:
        for order in itertools.permutations(range(3)):
            with case(order):
                who = await _employee(account, federal_withholding={"extra_withholding": 40})
                taxes = [await _run(account, who, "this", parts[each]) for each in order]
                expected = expected or _sum(*taxes)
                # 1,100 x 52 - 8,600 = 48,600: 4,684 a year, 90.08 a week, and the 40 once.
                assert _sum(*taxes) == {"US-FIT": 130.08} == expected


_STATES: Final = ("NY", "CA", "OH", "MN", "AL", "MA", "NJ", "MD", "OR", "OK", "NC", "CT")


@pytest.mark.parametrize("first_week", [True, False])
async def test_one_week_has_one_tax_in_every_order(account: Account, first_week: bool):
    """Bonus then hours, hours then bonus, together: the same lines, in states of each kind."""
    both = [_HOURS, {"bonus": 700}]
    with every_case() as case:
        for state in _STATES if not first_week else _STATES[:5]:
            found = []
            for runs in (both, both[::-1], [both[0] | both[1]]):
                who = await _employee(account, state, state_withholding={"elected": True})
                if not first_week:
                    await _run(account, who, "before", _HOURS)
                found.append(_sum(*[await _run(account, who, "this", each) for each in runs]))
            with case(state):
                assert found[0] == pytest.approx(found[1], abs=0.011)
                assert found[2] == pytest.approx(found[1], abs=0.011)
                assert found[0].get("US-FIT-SUP", 0) == (0 if first_week else 154)
