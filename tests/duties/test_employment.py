"""What hires, endings and policies bring to the calendar."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest

from hearthpay.duties.employment import Engagement, PolicyStatus, employment_items, occasional_duties
from hearthpay.duties.employment_rules import employment_rules
from hearthpay.insurance.requirements import NeededPolicy, rules_of

HOUSEHOLD, ROSA = UUID(int=1), UUID(int=2)
HIRED = Engagement(ROSA, "Rosa Diaz", 1, "NJ", frozenset(), date(2026, 3, 2), None, Decimal(40), "biweekly")


def due(*engagements: Engagement, policies: tuple[PolicyStatus, ...] = ()) -> list[tuple[str, str]]:
    items = employment_items(HOUSEHOLD, engagements, policies, {})
    return [(item.key.removesuffix(f"/{ROSA}"), item.due.isoformat()) for item in items]


@pytest.mark.parametrize(
    ("state", "places", "expected"),
    [
        ("NJ", [], ["NJ/written-contract/hire-1"]),
        ("PA", [], ["PA/wage-notice/hire-1"]),
        ("PA", ["PHILADELPHIA"], ["PA/written-contract-philadelphia/hire-1", "PA/wage-notice/hire-1"]),
        ("IL", ["CHICAGO"], ["IL/written-contract-chicago/hire-1", "IL/wage-notice/hire-1"]),
        ("CA", [], ["CA/wage-notice/hire-1"]),
        ("TX", [], []),
    ],
)
def test_contracts_and_notices_are_due_on_the_first_day(
    state: str, places: list[str], expected: list[str]
) -> None:
    hired = replace(HIRED, state=state, places=frozenset(places))
    assert due(hired) == [(key, "2026-03-02") for key in expected]


def test_washingtons_agreement_begins_in_july_2027_and_montgomerys_at_twenty_hours() -> None:
    there = replace(HIRED, state="WA")
    assert due(there) == []
    assert due(replace(there, since=date(2027, 7, 1))) == [("WA/written-contract/hire-1", "2027-07-01")]
    offered = replace(HIRED, state="MD", places=frozenset({"MONTGOMERY COUNTY"}))
    assert len(due(offered)) == 2
    assert len(due(replace(offered, weekly_hours=Decimal(19)))) == 1


@pytest.mark.parametrize(
    ("state", "last_day"),
    [
        ("CA", "2026-11-24"),
        ("CT", "2026-11-25"),
        ("MN", "2026-11-25"),
        ("TX", "2026-11-30"),
        ("AK", "2026-11-30"),  # three working days, Thanksgiving between
        ("NY", "2026-12-08"),
        ("ID", "2026-12-09"),
    ],
)
def test_last_wages_are_due_as_the_state_has_it(state: str, last_day: str) -> None:
    left = replace(HIRED, state=state, until=date(2026, 11, 24))
    assert due(left)[-1] == (f"{state}/last-wages/hire-1", last_day)


def test_a_policy_is_due_before_the_first_day_and_renewed_by_its_end() -> None:
    needed = NeededPolicy(rules_of("NY")[0], "required", date(2026, 3, 2))
    missing = PolicyStatus(needed, "NY", "workers_compensation")
    assert due(policies=(missing,)) == [("NY/workers-compensation/policy", "2026-03-02")]
    kept = replace(missing, starts_on=date(2026, 3, 1), ends_on=date(2027, 2, 28), carrier="NYSIF")
    first, renewal = employment_items(HOUSEHOLD, [], [kept], {})
    assert first.done_on == date(2026, 3, 1)
    assert (renewal.key, renewal.done_on) == ("NY/workers-compensation/renewal-2027-02-28", None)


def test_form_w4_is_due_on_the_first_day_where_tax_is_withheld_and_done_once_signed() -> None:
    withheld = replace(HIRED, state="TX", withholds=True)
    assert due(withheld) == [("US/w4/hire-1", "2026-03-02")]
    (item,) = employment_items(HOUSEHOLD, [replace(withheld, w4_on=date(2026, 3, 1))], [], {})
    assert item.done_on == date(2026, 3, 1)


@pytest.mark.completeness
def test_every_duty_has_a_source_and_is_known_to_the_doctor() -> None:
    rules = employment_rules()
    for rule in (*rules.at_hire, *rules.last_wages.values()):
        assert rule.sources
    assert {"NJ/written-contract", "CA/last-wages", "NY/disability-policy"} <= set(occasional_duties())
