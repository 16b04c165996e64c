"""What is kept aside of each payroll is what the calendar asks for: to the cent, in every state, by agency and date."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest
from _pytest.mark import ParameterSet

from hearthpay.duties.calendar import calendar_of_duties, payments_covering
from hearthpay.duties.deposits import PayrollLine, TaxDeposit, tax_deposits, with_payroll
from hearthpay.duties.household import Household
from hearthpay.duties.records import codes_by_payday
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case
from tests.duties.household import by_key, covering
from tests.duties.years import KINDS, YEAR, paychecks_of_year, year_of

PREMIUMS = {"NY-PFL-EE", "NY-DBL-EE", "HI-TDI-EE"}
"""What a private insurer gets."""


def _payrolls(state: str, name: str) -> dict[datetime.date, list[PayrollLine]]:
    kind = KINDS[name]
    payrolls: dict[datetime.date, list[PayrollLine]] = {}
    for number, weekly in enumerate(kind.weekly, 1):
        for day, code, cents in paychecks_of_year(state, weekly, withheld=kind.withheld):
            payrolls.setdefault(day, []).append(PayrollLine(UUID(int=number), code, cents, "an insurer"))
    return payrolls


def _every_case() -> Iterator[ParameterSet]:
    """Each kind of household in each state; in the suite one kind in each, in turn, and all of them in a few."""
    names = ("nanny", "part-time", "two-nannies")
    for number, state in enumerate(STATES):
        for name in names:
            in_the_suite = name == names[number % len(names)] or state in ("CA", "HI", "NY", "WA")
            yield pytest.param(state, name, marks=() if in_the_suite else pytest.mark.long)


def _named(deposits: tuple[TaxDeposit, ...]) -> dict[str, tuple[datetime.date | None, int]]:
    return {each.key or each.agency: (each.due, each.cents) for each in deposits}


@pytest.mark.parametrize(("state", "name"), list(_every_case()))
def test_payrolls_together_keep_aside_what_each_item_asks_for(state: str, name: str) -> None:
    household = year_of(state, name)
    days = (datetime.date(YEAR, 1, 1), datetime.date(YEAR + 1, 12, 31))
    calendar = calendar_of_duties(household, *days)
    for month in range(1, 13):
        day = datetime.date(YEAR, month, 2 * month)
        assert covering(calendar, day) == by_key(payments_covering(household, day, *days))
    asked = {item.key: (item.due, item.amount) for item in calendar if item.amount}
    kept: Counter[str] = Counter()
    for day, lines in _payrolls(state, name).items():
        deposits = tax_deposits(household, lines, day)
        assert sum(each.cents for each in deposits) == sum(line.cents for line in lines), day
        for each in deposits:
            if each.key is None:
                assert each.lines is not None
                assert set(each.lines) <= PREMIUMS
                assert (each.agency, each.due) == ("an insurer", None)
            else:
                assert each.due == asked[each.key][0]
                assert each.agency
                kept[each.key] += each.cents
    assert dict(kept) == {key: amount for key, (_, amount) in asked.items()}


def test_a_preview_keeps_aside_what_the_payroll_does() -> None:
    with every_case() as case:
        for state in STATES:
            with case(state):
                payrolls = _payrolls(state, "nanny")
                household = year_of(state, "nanny")
                day, lines = list(payrolls.items())[-1]
                before = _without(household, day, lines)
                previewed = with_payroll(
                    before, lines, day, frozenset(codes_by_payday({line.line for line in lines}))
                )
                assert _named(tax_deposits(previewed, lines, day)) == _named(
                    tax_deposits(household, lines, day)
                )


def test_california_keeps_aside_for_the_irs_and_the_edd() -> None:
    household = year_of("CA", "nanny")
    day, lines = list(_payrolls("CA", "nanny").items())[-1]
    federal = sum(line.cents for line in lines if line.line.startswith("US-"))
    state = sum(line.cents for line in lines if line.line.startswith("CA-"))
    assert [(each.agency, each.due, each.cents) for each in tax_deposits(household, lines, day)] == [
        ("IRS", datetime.date(YEAR + 1, 1, 15), federal),
        ("EDD", datetime.date(YEAR + 1, 1, 15), state),
    ]


def test_a_refund_lowers_what_is_kept_aside_for_the_same_items() -> None:
    household = year_of("CA", "nanny")
    day, lines = list(_payrolls("CA", "nanny").items())[-1]
    back = [line._replace(cents=-line.cents) for line in lines]
    paid, refunded = tax_deposits(household, lines, day), tax_deposits(household, back, day)
    assert [(each.key, -each.cents) for each in refunded] == [(each.key, each.cents) for each in paid]


def _without(household: Household, day: datetime.date, lines: list[PayrollLine]) -> Household:
    """Return the household as its books were before the payroll of a day."""
    charged = {(line.employee_id, line.line): line.cents for line in lines}
    return replace(
        household,
        amounts=tuple(
            each._replace(cents=each.cents - charged.get((each.employee_id, each.line), 0))
            if (each.year, each.month) == (day.year, day.month)
            else each
            for each in household.amounts
        ),
        paydays=tuple(each for each in household.paydays if each.day != day),
    )
