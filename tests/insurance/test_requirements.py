"""Which policies a household needs: each state's measure, at it and below it."""

from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest

from hearthpay.insurance.requirements import MEASURES, Worker, needed_policies, rules_of
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case


def worker(state: str, number: int = 1, **changed: object) -> Worker:
    facts = {
        "since": date(2026, 3, 2),
        "relationship": "none",
        "lives_in": False,
        "weekly_hours": Decimal(20),
        "weekly_wages": Decimal(400),
        "days_a_week": 4,
    } | changed
    return Worker(id=UUID(int=number), state=state, **facts)


def need(*workers: Worker, kind: str = "workers_compensation") -> str:
    return next(each.need for each in needed_policies(workers) if each.rule.kind == kind)


@pytest.mark.completeness
def test_every_state_has_a_rule_with_a_source() -> None:
    with every_case() as case:
        for state in STATES:
            with case(state):
                for rule in rules_of(state):
                    assert rule.measure in MEASURES
                    assert rule.words
                    assert rule.sources
                    assert (rule.penalty == "") == (rule.measure == "none")


LIMITS = [
    ("NY", 40, 900, "required"),
    ("NY", 39, 900, "not_required"),
    ("CT", 26, 600, "not_required"),
    ("CT", 27, 600, "required"),
    ("CO", 39, 800, "not_required"),
    ("MA", 16, 400, "required"),
    ("MA", 15, 400, "not_required"),
    ("OH", 2, 20, "required"),
    ("OH", 1, 12, "not_required"),
    ("MD", 4, 77, "required"),
    ("MD", 4, 76, "not_required"),
    ("DC", 19, 500, "required"),
    ("DC", 18, 500, "not_required"),
    ("KS", 20, 385, "required"),
    ("KS", 20, 384, "not_required"),
    ("CA", 5, 100, "required"),
    ("TX", 50, 1500, "not_required"),
]


def test_the_measure_is_met_at_its_limit() -> None:
    with every_case() as case:
        for state, hours, wages, expected in LIMITS:
            with case(state, hours, wages, expected):
                told = worker(state, weekly_hours=Decimal(hours), weekly_wages=Decimal(wages))
                assert need(told) == expected


def test_five_days_a_week_are_enough_in_colorado_and_living_in_is_in_new_york() -> None:
    assert need(worker("CO", days_a_week=5)) == "required"
    assert need(worker("NY", lives_in=True)) == "required"
    assert need(worker("NY"), kind="disability") == "required"
    assert need(worker("NY", weekly_hours=Decimal(19)), kind="disability") == "not_required"


def test_kentucky_asks_for_two_full_time_workers_and_illinois_adds_hours_up() -> None:
    full = {"weekly_hours": Decimal(40)}
    assert need(worker("KY", **full)) == "not_required"
    assert need(worker("KY", **full), worker("KY", 2, **full)) == "required"
    assert need(worker("IL"), worker("IL", 2)) == "required"


def test_hours_that_nobody_said_leave_the_question_open() -> None:
    assert need(worker("NY", weekly_hours=None)) == "unknown"
    assert need(worker("KY", weekly_hours=None)) == "not_required"
    assert needed_policies([worker("CA", relationship="spouse")]) == ()
