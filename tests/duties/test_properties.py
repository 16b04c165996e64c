"""What holds of every household: nothing depends on order, on the range asked for, or on what was so in between."""

import datetime
from dataclasses import replace
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearthpay.duties.calendar import calendar_of_duties, payments_covering
from hearthpay.duties.household import (
    EmploymentSpell,
    Filing,
    Household,
    HouseholdEmployee,
    LedgerAmount,
    Liability,
    PaydayAmount,
    Withholding,
)
from tests.duties.household import HOUSEHOLD, by_key, covering

FIRST, LAST = datetime.date(2025, 10, 1), datetime.date(2027, 12, 31)
SOME_STATES = ("CA", "NY", "TX", "NJ", "MD", "WA", "PA", "IN")

states = st.sampled_from(SOME_STATES)
days = st.dates(datetime.date(2025, 1, 1), datetime.date(2027, 12, 31))


@st.composite
def stretches(draw):
    since = draw(days)
    return since, draw(st.none() | st.dates(since, datetime.date(2028, 12, 31)))


@st.composite
def employees(draw, number):
    since, until = draw(stretches())
    state = draw(states)
    return HouseholdEmployee(
        UUID(int=number),
        f"Employee {number}",
        (EmploymentSpell(state, since, until),),
        draw(st.sampled_from(("none", "spouse", "parent", "child_under_18"))),
        tuple(
            Withholding(jurisdiction, *draw(stretches()))
            for jurisdiction in draw(st.sets(st.sampled_from(("US", state)), max_size=2))
        ),
        draw(st.booleans()),
    )


@st.composite
def households(draw):
    people = tuple(draw(employees(number)) for number in range(1, draw(st.integers(0, 3)) + 1))
    liabilities = [
        Liability(draw(states), draw(st.sampled_from(("sui", "sdi"))), *draw(stretches()))
        for _ in range(draw(st.integers(0, 3)))
    ]
    liabilities += [
        Liability("US", "fica", *draw(stretches()), person.id) for person in people if draw(st.booleans())
    ]
    lines = (
        "US-FIT",
        "US-SS-ER",
        "CA-SUI-ER",
        "CA-SIT",
        "NY-SIT",
        "NJ-FLI-EE",
        "IN-01-LIT",
        "MD-SIT",
        "WA-PFML-EE",
    )
    amounts = [
        LedgerAmount(
            draw(st.sampled_from(people)).id,
            draw(st.sampled_from(lines)),
            draw(st.sampled_from((2025, 2026, 2027))),
            draw(st.integers(1, 12)),
            draw(st.integers(-10_00, 1000_00)),
        )
        for _ in range(draw(st.integers(0, 6)) if people else 0)
    ]
    paydays = [
        PaydayAmount(
            amount.line, datetime.date(amount.year, amount.month, draw(st.integers(1, 28))), amount.cents
        )
        for amount in amounts
    ]
    choices = (
        ("CA", "sui", "annual"),
        ("TX", "sui", "annual"),
        ("NJ", "sui", "quarterly"),
        ("MD", "withholding", "monthly"),
    )
    filings = [Filing(*choice, 2026) for choice in draw(st.sets(st.sampled_from(choices)))]
    return Household(
        HOUSEHOLD,
        people,
        tuple(liabilities),
        tuple(amounts),
        filings=tuple(filings),
        paydays=tuple(paydays),
        expects_to_owe=draw(st.booleans()),
    )


some = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _calendar(household, first=FIRST, last=LAST):
    return calendar_of_duties(household, first, last)


@some
@given(households(), st.randoms(use_true_random=False))
def test_the_order_of_facts_is_nothing(household, random):
    def shuffled(facts):
        return tuple(random.sample(facts, len(facts)))

    other = replace(
        household,
        employees=shuffled(household.employees),
        liabilities=shuffled(household.liabilities),
        amounts=shuffled(household.amounts),
        filings=shuffled(household.filings),
    )
    assert _calendar(other) == _calendar(household)


@some
@given(households(), days)
def test_two_ranges_are_one(household, between):
    after = between + datetime.timedelta(days=1)
    whole = _calendar(household)
    if FIRST <= between < LAST:
        assert _calendar(household, FIRST, between) + _calendar(household, after, LAST) == whole
    assert len({item.uid for item in whole}) == len({item.key for item in whole}) == len(whole)


@some
@given(households(), days)
def test_the_payments_of_a_day_are_those_of_the_calendar(household, day):
    calendar = _calendar(household)
    assert covering(calendar, day) == by_key(payments_covering(household, day, FIRST, LAST))


@some
@given(households(), employees(9), st.integers(1, 60))
def test_what_changes_and_changes_back_leaves_nothing(household, hired, later):
    before = _calendar(household)
    more = replace(household, employees=(*household.employees, hired))
    # Where nobody has worked, a threshold that is crossed has no first period of its own: she gives it one.
    known = {one.state for person in household.employees for one in person.employments} | {
        amount.line[:2] for amount in household.amounts
    }
    had = {item.key for item in before if item.jurisdiction in known or (item.jurisdiction == "US" and known)}
    assert had <= {item.key for item in _calendar(more)}
    moved = replace(
        more,
        employees=tuple(
            replace(
                person,
                employments=tuple(
                    replace(one, since=one.since + datetime.timedelta(days=later), until=None)
                    for one in person.employments
                ),
                withholding=(),
            )
            for person in more.employees
        ),
    )
    _calendar(moved)
    back = replace(more, employees=tuple(one for one in more.employees if one.id != hired.id))
    assert _calendar(back) == before


@some
@given(households())
def test_a_mark_changes_nothing_but_itself(household):
    before = _calendar(household)
    done = {item.key: datetime.date(2026, 1, 1) for item in before[::2]}
    marked = _calendar(replace(household, done=done))
    assert {item.key for item in marked if item.done_on} == set(done)
    assert tuple(replace(item, done_on=None) for item in marked) == before


@some
@given(households())
def test_every_cent_of_the_ledger_is_in_the_payments(household):
    """Each line in one account: the returns of a year add up to the ledger, however often they are filed."""
    items = _calendar(household, datetime.date(2025, 1, 1), datetime.date(2029, 1, 1))

    def paid(prefix):
        return sum(item.amount or 0 for item in items if item.key.startswith(prefix))

    def owed(*prefixes):
        return sum(one.cents for one in household.amounts if one.line.startswith(prefixes))

    assert paid("US/schedule-h/") + paid("US/estimated-tax/") == owed("US-")
    assert paid("CA/") == owed("CA-")
    assert paid("NY/") == owed("NY-")
    assert paid("NJ/") == owed("NJ-")
    assert paid("IN/") == owed("IN-")
    assert paid("MD/") == owed("MD-")
    assert paid("WA/") == owed("WA-")
