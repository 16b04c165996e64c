"""What hires, endings and policies bring to the calendar."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest

from hearthpay.duties.employment import (
    Engagement,
    PolicyStatus,
    employment_items,
    last_wages_due,
    occasional_duties,
)
from hearthpay.duties.employment_rules import employment_rules, read_employment_rules
from hearthpay.duties.rules import FOLDER
from hearthpay.insurance.requirements import NeededPolicy, rules_of
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable, parse_toml
from tests.cases import every_case

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
        ("ID", "2026-12-08"),  # two weeks, the sooner of the payday and ten working days
    ],
)
def test_last_wages_are_due_as_the_state_has_it(state: str, last_day: str) -> None:
    left = replace(HIRED, state=state, until=date(2026, 11, 24))
    assert due(left)[-1] == (f"{state}/last-wages/hire-1", last_day)


#: A dismissal on Friday, June 12, 2026: the last day for weekly, biweekly, semimonthly and monthly pay.
#: Juneteenth is no working day. Paydays are a period away.
_EVERY_PERIOD = {
    "first of payday and days": (
        ("ID", ("06-19", "06-26", "06-28", "06-29")),
        ("LA", ("06-19", "06-26", "06-27", "06-27")),
        ("ND", ("06-19", "06-26", "06-27", "06-27")),
        ("NE", ("06-19", "06-26", "06-26", "06-26")),
        ("ME", ("06-19", "06-26", "06-26", "06-26")),
        ("AZ", ("06-19", "06-24", "06-24", "06-24")),
    ),
    "last of payday and days": (
        ("KY", ("06-26", "06-26", "06-28", "07-13")),
        ("TN", ("07-03", "07-03", "07-03", "07-13")),
        ("DE", ("06-19", "06-26", "06-28", "07-13")),
    ),
    "one day": (
        ("NY", ("06-19", "06-26", "06-28", "07-13")),
        ("TX", ("06-18",) * 4),
        ("CA", ("06-12",) * 4),
        ("AK", ("06-17",) * 4),
        ("SC", ("06-14",) * 4),
    ),
}
FREQUENCIES = ("weekly", "biweekly", "semimonthly", "monthly")


def test_of_a_payday_and_some_days_the_sooner_or_the_later_counts() -> None:
    with every_case() as case:
        for kind, rows in _EVERY_PERIOD.items():
            for state, days in rows:
                for frequency, day in zip(FREQUENCIES, days, strict=True):
                    with case(kind, state, frequency):
                        rule = employment_rules().last_wages[state]
                        assert last_wages_due(rule, date(2026, 6, 12), frequency).isoformat() == f"2026-{day}"


def test_every_state_but_four_has_a_rule_with_a_section_of_its_own() -> None:
    rules = employment_rules().last_wages
    assert STATES.keys() - rules.keys() == {"AL", "FL", "GA", "MS"}
    addresses = [rule.sources[0].url for rule in rules.values()]
    assert len(set(addresses)) == len(addresses)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('office_days = 10\npayday = true\nwhichever = "first"', "office_days = 10\npayday = true"),
        ('office_days = 10\npayday = true\nwhichever = "first"', "office_days = 10\ndays = 3"),
        ('days = 14\npayday = true\nwhichever = "last"', 'days = 14\nwhichever = "last"'),
        ('whichever = "last"', 'whichever = "later"'),
        ('days = 21\npayday = true\nwhichever = "last"\n', ""),
    ],
)
def test_a_mistake_in_the_days_is_refused(old: str, new: str) -> None:
    text = (FOLDER / "employment.toml").read_text("utf-8")
    assert old in text
    with pytest.raises(RuleError):
        read_employment_rules(RuleTable.of("x.toml", parse_toml("x.toml", text.replace(old, new, 1))))


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
