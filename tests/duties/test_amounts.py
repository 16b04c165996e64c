"""Each cent is owed once: the payments of a year add up to the ledger, by agency, however often a household files."""

import datetime
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache

from hypothesis import strategies as st

from hearthpay.duties.calendar import calendar_of_duties
from hearthpay.duties.household import (
    EmploymentSpell,
    Filing,
    Household,
    HouseholdEmployee,
    LedgerAmount,
    PaydayAmount,
)
from hearthpay.duties.rules import PAID, duties_of
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of
from tests.duties.household import HOUSEHOLD, MARIA
from tests.properties import on_examples

ONE_RETURN = {"New York State Department of Labor": "New York State Department of Taxation and Finance"}
"""Form NYS-45 goes to both; Form NYS-1 to the second alone."""

FIRST, LAST = datetime.date(2025, 1, 1), datetime.date(2029, 1, 1)


@cache
def payable_lines(state):
    """Return the codes of a state that are paid to an agency, with the agency that its duties name."""
    rules = rulebook_of(2026).state(state)
    codes = {line.code for line in rules.contributions if line.code.startswith(f"{state}-")}
    codes |= {tax.code for tax in rules.local_taxes}
    codes |= {rules.income_tax.code} if rules.income_tax is not None else set()
    found = {}
    for duty in duties_of(state).duties:
        for code in codes:
            if duty.kind in PAID and any(fnmatchcase(code, line) for line in duty.lines):
                found[code] = ONE_RETURN.get(duty.agency, duty.agency)
    return found


def paid_by(state, paydays, **facts):
    """Return a household of one employee in a state that was paid, by code, on these days."""
    months = {}
    for each in paydays:
        place = (each.line, each.day.year, each.day.month)
        months[place] = months.get(place, 0) + each.cents
    return Household(
        HOUSEHOLD,
        (HouseholdEmployee(MARIA, "Maria", (EmploymentSpell(state, FIRST),)),),
        amounts=tuple(LedgerAmount(MARIA, *place, cents) for place, cents in months.items()),
        paydays=tuple(paydays),
        **facts,
    )


@st.composite
def households(draw):
    state = draw(st.sampled_from(sorted(STATES)))
    codes = sorted(payable_lines(state))
    days = draw(
        st.lists(st.dates(datetime.date(2025, 1, 1), datetime.date(2027, 12, 31)), max_size=25, unique=True)
    )
    some = draw(st.lists(st.sampled_from(codes), min_size=1, max_size=4, unique=True)) if codes else []
    most = draw(st.sampled_from((60_00, 600_00, 9000_00)))
    paydays = [PaydayAmount(code, day, draw(st.integers(0, most))) for day in days for code in some]
    filings = tuple(
        Filing(state, account.name, draw(st.sampled_from(account.frequencies)), 2026)
        for account in duties_of(state).accounts
        if not account.label and draw(st.booleans())
    )
    numbers = frozenset(draw(st.sets(st.sampled_from(some)))) if some else frozenset()
    return state, paid_by(state, paydays, filings=filings, open_lines=numbers)


FEW, MANY = 40, 300


@on_examples(households(), few=FEW, many=MANY)
def test_the_payments_of_all_years_are_the_ledger_by_agency(found):
    state, household = found
    owed, paid = {}, {}
    for amount in household.amounts:
        agency = payable_lines(state)[amount.line]
        owed[agency] = owed.get(agency, 0) + amount.cents
    for item in calendar_of_duties(household, FIRST, LAST):
        if item.jurisdiction == state and item.amount is not None:
            assert item.amount >= 0
            agency = ONE_RETURN.get(item.agency, item.agency)
            paid[agency] = paid.get(agency, 0) + item.amount
    assert {agency: cents for agency, cents in paid.items() if cents} == {
        agency: cents for agency, cents in owed.items() if cents
    }


@on_examples(
    households(),
    st.dates(datetime.date(2025, 6, 1), datetime.date(2027, 12, 31)),
    st.integers(1, 9000_00),
    few=FEW,
    many=MANY,
)
def test_what_is_paid_later_changes_nothing_that_was_due_before(found, day, cents):
    state, household = found
    if not household.paydays or day <= max(each.day for each in household.paydays):
        return
    more = paid_by(
        state,
        (*household.paydays, PaydayAmount(household.paydays[0].line, day, cents)),
        filings=household.filings,
        open_lines=household.open_lines,
    )

    def before(of):
        last = day.replace(day=1) - datetime.timedelta(days=1)
        items = calendar_of_duties(replace(of, as_of=LAST), FIRST, last)
        return {item.key: item.amount for item in items if item.amount}

    assert before(more) == before(household)


def _in_new_york(*paydays):
    return paid_by("NY", [PaydayAmount("NY-SIT", datetime.date(2026, *day), cents) for day, cents in paydays])


def _of_state(household, state):
    return {
        item.key.removeprefix(f"{state}/"): (item.due.isoformat(), item.amount, item.earlier)
        for item in calendar_of_duties(household, datetime.date(2026, 1, 1), datetime.date(2027, 3, 1))
        if item.jurisdiction == state and item.amount
    }


def test_new_york_is_paid_within_five_business_days_of_the_payday_that_reaches_700_dollars():
    """Form NYS-1, NYS-50: three paydays of 250 dollars reach the limit on the third, the fourth begins anew."""
    paydays = [((1, 9), 250_00), ((2, 6), 250_00), ((2, 20), 250_00), ((3, 6), 250_00)]
    assert _of_state(_in_new_york(*paydays), "NY") == {
        "withholding-deposit/2026-02-20": ("2026-02-27", 750_00, 0),
        "wages-quarterly/2026-Q1": ("2026-04-30", 250_00, 750_00),
    }


def test_california_is_deposited_by_the_15th_after_the_month_that_reaches_350_dollars():
    """DE 44: income tax of 200 dollars a month reaches 350 in February; disability insurance goes with it."""
    paydays = [
        PaydayAmount(line, datetime.date(2026, month, 20), cents)
        for month in (1, 2, 3)
        for line, cents in (("CA-SIT", 200_00), ("CA-SDI-EE", 50_00), ("CA-SUI-ER", 30_00))
    ]
    assert _of_state(paid_by("CA", paydays), "CA") == {
        "withholding-deposit/2026-02-28": ("2026-03-16", 500_00, 0),
        "wages-quarterly/2026-Q1": ("2026-04-30", 340_00, 500_00),
    }
    annual = paid_by("CA", paydays, filings=(Filing("CA", "sui", "annual", 2026),))
    assert _of_state(annual, "CA") == {"wages-annual/2026": ("2027-02-01", 840_00, 0)}


def test_south_carolina_is_paid_by_the_15th_after_the_month_that_reaches_500_dollars():
    """S.C. Code 12-8-1520(B)."""
    paydays = [PaydayAmount("SC-SIT", datetime.date(2026, month, 20), 260_00) for month in (1, 2, 3)]
    assert _of_state(paid_by("SC", paydays), "SC") == {
        "withholding-deposit/2026-02-28": ("2026-03-16", 520_00, 0),
        "withholding-quarterly/2026-Q1": ("2026-04-30", 260_00, 520_00),
    }


def test_pennsylvania_becomes_monthly_with_the_quarter_that_reaches_300_dollars():
    """61 Pa. Code 113.6: 90 dollars a month stay quarterly, 120 are paid by the 15th of the next month."""
    low = [PaydayAmount("PA-SIT", datetime.date(2026, month, 20), 90_00) for month in (1, 2, 3)]
    high = [PaydayAmount("PA-SIT", datetime.date(2026, month, 20), 120_00) for month in (4, 5, 6)]
    household = paid_by("PA", low + high)
    assert _of_state(household, "PA") == {
        "withholding-quarterly/2026-Q1": ("2026-04-30", 270_00, 0),
        "withholding-monthly/2026-M4": ("2026-05-15", 120_00, 0),
        "withholding-monthly/2026-M5": ("2026-06-15", 120_00, 0),
        "withholding-monthly/2026-M6": ("2026-07-15", 120_00, 0),
    }
    items = {
        item.key: item
        for item in calendar_of_duties(household, datetime.date(2026, 1, 1), datetime.date(2026, 12, 31))
    }
    reason = items["PA/withholding-monthly/2026-M5"].reason
    assert (reason.code, reason.measured, reason.expected, reason.limit) == (
        "reached",
        240_00,
        360_00,
        300_00,
    )
    assert items["PA/withholding-quarterly/2026-Q1"].reason.is_near
    # The quarter's return is still filed, without money.
    assert items["PA/withholding-quarterly-report/2026-Q2"].amount is None


def test_a_household_that_registered_in_indiana_files_by_its_account():
    """IC 6-3-4-8: without an account with the own return; with one, monthly above 1,000 dollars a year."""
    paydays = [
        PaydayAmount(line, datetime.date(2026, month, 20), cents)
        for month in range(1, 13)
        for line, cents in (("IN-SIT", 100_00), ("IN-49-LIT", 60_00))
    ]
    without = paid_by("IN", paydays)
    assert _of_state(without, "IN") == {}
    year = calendar_of_duties(without, datetime.date(2027, 1, 1), datetime.date(2027, 12, 31))
    (own,) = [item for item in year if item.key == "IN/withholding-own-return/2026"]
    assert (own.due.isoformat(), own.amount, own.reason.code) == ("2027-04-15", 1920_00, "household_rule")
    registered = _of_state(paid_by("IN", paydays, open_lines=frozenset({"IN-SIT"})), "IN")
    assert registered["withholding-monthly/2026-M3"] == ("2026-04-30", 160_00, 0)
    assert len(registered) == 12


def test_philadelphia_is_paid_monthly_from_350_dollars_a_month():
    paydays = [
        PaydayAmount("PA-PHILADELPHIA-LIT", datetime.date(2026, month, 20), 30_00 * month)
        for month in (1, 12)
    ]
    assert _of_state(paid_by("PA", paydays), "PA") == {
        "philadelphia-quarterly/2026-Q1": ("2026-04-30", 30_00, 0),
        "philadelphia-monthly/2026-M12": ("2027-01-15", 360_00, 0),
    }


def test_wages_of_nobody_are_due_to_nobody():
    """A premium is the insurer's, and Arizona lets no household withhold."""
    assert {line for payee in duties_of("NY").payees for line in payee.lines} == {"NY-DBL-EE", "NY-PFL-EE"}
    assert duties_of("AZ").prohibited == ("AZ-SIT",)
