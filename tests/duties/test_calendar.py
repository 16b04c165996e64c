"""What a household must do, written out in full, and what none of it depends on."""

import datetime
from dataclasses import replace

import pytest

from hearthpay.duties.calendar import CalendarItem, UnknownFilingError, calendar_of_duties
from hearthpay.duties.household import (
    ClosedAccount,
    EmploymentSpell,
    Filing,
    Household,
    HouseholdEmployee,
    LedgerAmount,
    Liability,
    WagesInState,
    Withholding,
)
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case
from tests.duties.household import HOUSEHOLD, JOHN, MARIA

NEW_YEAR = datetime.date(2026, 1, 1)
LAST = datetime.date(2027, 4, 30)


def _monthly(person, months, **cents):
    return tuple(
        LedgerAmount(person, line.replace("_", "-"), 2026, month, amount)
        for month in months
        for line, amount in cents.items()
    )


MARIA_HIRED, JOHN_HIRED = datetime.date(2026, 2, 2), datetime.date(2026, 5, 11)

IN_CA_AND_NY = Household(
    HOUSEHOLD,
    employees=(
        HouseholdEmployee(
            MARIA,
            "Maria",
            (EmploymentSpell("CA", MARIA_HIRED),),
            withholding=(Withholding("US", MARIA_HIRED), Withholding("CA", MARIA_HIRED)),
        ),
        HouseholdEmployee(
            JOHN,
            "John",
            (EmploymentSpell("NY", JOHN_HIRED),),
            withholding=(Withholding("US", JOHN_HIRED), Withholding("NY", JOHN_HIRED)),
        ),
    ),
    liabilities=(
        Liability("US", "fica", NEW_YEAR, datetime.date(2026, 12, 31), MARIA),
        Liability("US", "fica", NEW_YEAR, datetime.date(2026, 12, 31), JOHN),
        Liability("US", "futa", NEW_YEAR),
        Liability("CA", "sdi", NEW_YEAR),
        Liability("CA", "sui", NEW_YEAR),
        Liability("NY", "sui", datetime.date(2026, 4, 1)),
    ),
    amounts=(
        *_monthly(MARIA, range(2, 13), US_FIT=100_00, US_SS_EE=200_00, US_SS_ER=200_00),
        *_monthly(MARIA, range(2, 13), US_MED_EE=50_00, US_MED_ER=50_00, CA_SDI_EE=40_00, CA_SIT=60_00),
        *_monthly(MARIA, (2,), US_FUTA=42_00, CA_SUI_ER=238_00, CA_ETT_ER=7_00),
        *_monthly(JOHN, range(5, 13), US_FIT=80_00, US_SS_EE=150_00, US_SS_ER=150_00),
        *_monthly(JOHN, range(5, 13), US_MED_EE=35_00, US_MED_ER=35_00, NY_SIT=90_00, NY_NYC_LIT=30_00),
        *_monthly(JOHN, range(5, 13), NY_DBL_EE=2_40),
        *_monthly(JOHN, (5,), US_FUTA=42_00, NY_SUI_ER=120_00),
    ),
    wages=tuple(WagesInState("CA", 2026, month, 3225_00) for month in range(2, 13)),
)

# Monthly: Maria 600.00 of federal taxes and 100.00 for California, John 450.00 and, for New York, 120.00.
IN_FULL = f"""
2026-02-05 US/i9/hire-1/{MARIA}                  notice     I-9
2026-02-22 CA/new-hire/hire-1/{MARIA}            report     DE 34
2026-04-15 US/estimated-tax/2026-I1              payment    1040-ES                       1242.00
2026-04-30 CA/wages-quarterly/2026-Q1            return     DE 9 + DE 9C, paid with DE 88  445.00
2026-05-11 NY/start-notice/hire-1/{JOHN}         notice
2026-05-14 US/i9/hire-1/{JOHN}                   notice     I-9
2026-05-31 NY/new-hire/hire-1/{JOHN}             report
2026-06-15 US/estimated-tax/2026-I2              payment    1040-ES                       1692.00
2026-07-31 CA/wages-quarterly/2026-Q2            return     DE 9 + DE 9C, paid with DE 88  300.00
2026-07-31 NY/wages-quarterly/2026-Q2            return     NYS-45                         360.00
2026-09-15 US/estimated-tax/2026-I3              payment    1040-ES                       3150.00
2026-11-02 CA/wages-quarterly/2026-Q3            return     DE 9 + DE 9C, paid with DE 88  300.00
2026-11-02 NY/wages-quarterly/2026-Q3            return     NYS-45                         360.00
2027-01-15 US/estimated-tax/2026-I4              payment    1040-ES                       4200.00
2027-02-01 CA/wages-quarterly/2026-Q4            return     DE 9 + DE 9C, paid with DE 88  300.00
2027-02-01 NY/wages-quarterly/2026-Q4            return     NYS-45                         360.00
2027-02-01 US/w2-employee/2026/{MARIA}           statement  W-2
2027-02-01 US/w2-employee/2026/{JOHN}            statement  W-2
2027-02-01 US/w2-ssa/2026                        report     W-2 and W-3, or EFW2
2027-04-15 US/estimated-tax/2027-I1              payment    1040-ES                          0.00
2027-04-15 US/schedule-h/2026                    return     Schedule H (Form 1040)           0.00
2027-04-15 US/state-contributions/2026           payment
2027-04-30 CA/wages-quarterly/2027-Q1            return     DE 9 + DE 9C, paid with DE 88    0.00
2027-04-30 NY/wages-quarterly/2027-Q1            return     NYS-45                           0.00
"""


def _line(item: CalendarItem) -> str:
    amount = "" if item.amount is None else f"{item.amount // 100}.{item.amount % 100:02}"
    return " ".join(f"{item.due} {item.key} {item.kind} {item.form or ''} {amount}".split())


def _calendar(household, first=NEW_YEAR, last=LAST):
    return calendar_of_duties(household, first, last)


def _keys(household, first=NEW_YEAR, last=LAST):
    return {item.key for item in _calendar(household, first, last)}


def test_a_household_in_california_and_new_york_in_full():
    found = [_line(item) for item in _calendar(IN_CA_AND_NY)]
    assert found == [" ".join(line.split()) for line in IN_FULL.strip().splitlines()]


def test_an_item_says_whose_it_is_and_where_it_is_from():
    by_key = {item.key: item for item in _calendar(IN_CA_AND_NY)}
    statement = by_key[f"US/w2-employee/2026/{JOHN}"]
    assert (statement.employee_name, statement.agency) == ("John", "The employee")
    assert (statement.period_start, statement.period_end) == (NEW_YEAR, datetime.date(2026, 12, 31))
    schedule_h = by_key["US/schedule-h/2026"]
    assert (schedule_h.amount, schedule_h.earlier) == (0, 10284_00)
    returned = by_key["NY/wages-quarterly/2026-Q2"]
    assert returned.agency == "New York State Department of Labor"
    assert returned.link == "https://www.businessexpress.ny.gov"
    assert returned.sources[0].url == "https://www.tax.ny.gov/bus/wt/duedates.htm"
    assert all(item.sources and item.confidence for item in by_key.values())


def test_a_year_of_annual_filing_replaces_the_quarters_of_that_year_alone():
    annual = replace(IN_CA_AND_NY, filings=(Filing("CA", "sui", "annual", 2027),))
    keys = _keys(annual, last=datetime.date(2028, 2, 28))
    of_ca = {key for key in keys if key.startswith("CA/") and "hire" not in key}
    assert of_ca == {
        *(f"CA/wages-quarterly/2026-Q{number}" for number in (1, 2, 3, 4)),
        *(f"CA/household-wages-quarterly/2027-Q{number}" for number in (1, 2, 3, 4)),
        "CA/wages-annual/2027",
    }


def test_the_later_choice_stands():
    filings = (Filing("CA", "sui", "annual", 2025), Filing("CA", "sui", "quarterly", 2026))
    chosen = _calendar(replace(IN_CA_AND_NY, filings=filings))
    assert chosen == _calendar(replace(IN_CA_AND_NY, filings=filings[::-1]))
    assert [_line(item) for item in chosen] == [_line(item) for item in _calendar(IN_CA_AND_NY)]
    by_key = {item.key: item for item in chosen}
    assert by_key["CA/wages-quarterly/2026-Q2"].reason.code == "chosen"


@pytest.mark.parametrize(
    "filing",
    [
        Filing("CA", "sui", "weekly", 2026),
        Filing("NY", "sui", "annual", 2026),
        Filing("XX", "sui", "annual", 2026),
    ],
)
def test_a_filing_that_the_state_does_not_know_is_refused(filing):
    with pytest.raises(UnknownFilingError, match=filing.jurisdiction):
        _calendar(replace(IN_CA_AND_NY, filings=(filing,)))


def test_an_election_is_offered_while_the_years_wages_allow_it():
    little = replace(
        IN_CA_AND_NY, wages=(WagesInState("CA", 2026, 3, 20_000_00), WagesInState("NY", 2026, 3, 1))
    )
    assert "CA/elect-annual/2026" in _keys(little)
    assert "CA/elect-annual/2026" not in _keys(
        replace(little, wages=(*little.wages, WagesInState("CA", 2026, 4, 1)))
    )


def test_what_is_chosen_ahead_is_offered_to_those_who_are_liable_by_then():
    def texan(since):
        return Household(HOUSEHOLD, liabilities=(Liability("TX", "sui", since),))

    year = (datetime.date(2025, 1, 1), datetime.date(2026, 12, 31))
    assert {key for key in _keys(texan(NEW_YEAR), *year) if "elect" in key} == {"TX/elect-annual/2027"}
    chosen = replace(texan(NEW_YEAR), filings=(Filing("TX", "sui", "annual", 2027),))
    assert not {key for key in _keys(chosen, *year) if "elect" in key}


def test_a_closed_account_reports_no_later_period():
    closed = replace(
        IN_CA_AND_NY,
        filings=(Filing("CA", "sui", "quarterly", 2026),),
        closed=(ClosedAccount("CA", "sui", datetime.date(2026, 9, 30)),),
    )
    assert _keys(IN_CA_AND_NY) - _keys(closed) == {
        "CA/wages-quarterly/2026-Q4",
        "CA/wages-quarterly/2027-Q1",
    }


def test_a_statement_goes_to_those_alone_whose_wages_call_for_it():
    john_alone = replace(
        IN_CA_AND_NY,
        employees=tuple(replace(employee, withholding=()) for employee in IN_CA_AND_NY.employees),
        liabilities=tuple(one for one in IN_CA_AND_NY.liabilities if one.employee_id != MARIA),
        amounts=(),
    )
    assert {key for key in _keys(john_alone) if "w2" in key} == {
        f"US/w2-employee/2026/{JOHN}",
        "US/w2-ssa/2026",
    }


def test_who_had_nothing_withheld_is_told_of_the_credit():
    untaxed = replace(
        IN_CA_AND_NY,
        amounts=tuple(one for one in IN_CA_AND_NY.amounts if (one.employee_id, one.line) != (JOHN, "US-FIT")),
    )
    assert _keys(untaxed) - _keys(IN_CA_AND_NY) == {f"US/notice-797/2026/{JOHN}"}


def test_a_new_w4_is_asked_of_those_who_claim_exemption():
    maria, john = IN_CA_AND_NY.employees
    exempt = replace(IN_CA_AND_NY, employees=(replace(maria, claims_exemption=True), john))
    assert _keys(exempt) - _keys(IN_CA_AND_NY) == {f"US/exempt-w4/2026/{MARIA}"}


def test_instalments_are_left_to_those_who_pay_them():
    withheld = replace(IN_CA_AND_NY, filings=(Filing("US", "estimated-tax", "own_withholding", 2026),))
    gone = _keys(IN_CA_AND_NY) - _keys(withheld)
    assert gone == {
        f"US/estimated-tax/{period}" for period in ("2026-I1", "2026-I2", "2026-I3", "2026-I4", "2027-I1")
    }
    assert _keys(withheld) <= _keys(IN_CA_AND_NY)


def _rehired(since, state="CA"):
    first = EmploymentSpell("CA", MARIA_HIRED, datetime.date(2026, 6, 30))
    maria = replace(IN_CA_AND_NY.employees[0], employments=(first, EmploymentSpell(state, since)))
    return replace(IN_CA_AND_NY, employees=(maria,))


def test_who_comes_back_is_reported_again_after_sixty_days_apart():
    apart = datetime.date(2026, 6, 30) + datetime.timedelta(days=60)
    assert f"CA/new-hire/hire-2/{MARIA}" not in _keys(_rehired(apart))
    later = apart + datetime.timedelta(days=1)
    items = {item.key: item.due for item in _calendar(_rehired(later))}
    assert items[f"CA/new-hire/hire-2/{MARIA}"] == later + datetime.timedelta(days=20)


def test_a_move_to_another_state_is_no_hire():
    assert not {
        key for key in _keys(_rehired(datetime.date(2026, 7, 1), "NY")) if key.startswith("NY/new-hire")
    }


def test_withholding_that_ended_is_reported_for_its_quarters_and_its_year():
    until = datetime.date(2026, 5, 31)
    maria = HouseholdEmployee(
        MARIA,
        "Maria",
        (EmploymentSpell("CO", MARIA_HIRED),),
        relationship="spouse",
        withholding=(Withholding("CO", MARIA_HIRED, until),),
    )
    keys = _keys(Household(HOUSEHOLD, (maria,)))
    assert {key for key in keys if "withholding" in key} == {
        "CO/withholding-quarterly/2026-Q1",
        "CO/withholding-quarterly/2026-Q2",
        "CO/withholding-reconciliation/2026",
    }


def test_money_in_the_ledger_is_never_without_its_duty():
    refunded = replace(
        IN_CA_AND_NY,
        liabilities=(),
        employees=(HouseholdEmployee(JOHN, "John", (EmploymentSpell("NY", JOHN_HIRED),)),),
    )
    assert {"NY/wages-quarterly/2026-Q2", f"US/w2-employee/2026/{JOHN}", "US/schedule-h/2026"} <= _keys(
        refunded
    )


FROM_THE_FIRST_DOLLAR = {"CO", "CT", "ME", "MN", "OR", "WA"}


def test_below_every_threshold_nothing_is_due():
    with every_case() as case:
        for state in STATES:
            with case(state):
                maria = HouseholdEmployee(MARIA, "Maria", (EmploymentSpell(state, MARIA_HIRED),))
                household = Household(HOUSEHOLD, (maria,))
                keys = _keys(household, last=datetime.date(2027, 3, 31))
                if state in FROM_THE_FIRST_DOLLAR:
                    assert f"{state}/new-hire/hire-1/{MARIA}" in keys
                    assert {key for key in keys if key.startswith("US/")} == {f"US/i9/hire-1/{MARIA}"}
                else:
                    assert keys == set()
                    assert {f"{state}/new-hire/hire-1/{MARIA}", f"US/i9/hire-1/{MARIA}"} <= _keys(
                        replace(household, expects_to_owe=True)
                    )


def test_marylands_premiums_begin_in_2027():
    maria = HouseholdEmployee(MARIA, "Maria", (EmploymentSpell("MD", MARIA_HIRED),))
    assert _keys(Household(HOUSEHOLD, (maria,))) == {"MD/famli-quarterly/2027-Q1"}
    hired = replace(maria, employments=(EmploymentSpell("MD", datetime.date(2027, 1, 4)),))
    assert f"MD/new-hire/hire-1/{MARIA}" in _keys(Household(HOUSEHOLD, (hired,)))


def test_relatives_whom_the_law_exempts_bring_no_premiums():
    spouse = HouseholdEmployee(MARIA, "Maria", (EmploymentSpell("CT", MARIA_HIRED),), relationship="spouse")
    assert _keys(Household(HOUSEHOLD, (spouse,))) == set()
    assert "CO/famli-quarterly/2026-Q2" in _keys(
        Household(HOUSEHOLD, (replace(spouse, employments=(EmploymentSpell("CO", MARIA_HIRED),)),))
    )


def test_nothing_is_due_of_periods_before_anybody_worked():
    """A threshold makes liable from the start of the year; who hires in November has nothing to report of March."""
    with every_case() as case:
        for state in sorted(STATES):
            with case(state):
                _check_periods_before_anybody_worked(state)


def _check_periods_before_anybody_worked(state):
    hired = datetime.date(2026, 11, 2)
    year = datetime.date(2026, 1, 1)
    maria = HouseholdEmployee(
        MARIA,
        "Maria",
        (EmploymentSpell(state, hired),),
        withholding=(Withholding(state, hired), Withholding("US", hired)),
    )
    crossed = [Liability(state, name, year) for name in ("sui", "sdi", "tdi")]
    crossed += [Liability("US", "futa", year), Liability("US", "fica", year, employee_id=MARIA)]
    household = Household(HOUSEHOLD, (maria,), tuple(crossed))
    due = calendar_of_duties(household, year, datetime.date(2027, 12, 31))
    assert [item.key for item in due if item.period_end < hired] == []
    assert 2026 in {item.period_end.year for item in due if item.kind == "return"}
    # Somebody who had worked there before makes it owed again.
    john = HouseholdEmployee(JOHN, "John", (EmploymentSpell(state, year, datetime.date(2026, 3, 31)),))
    before = replace(household, employees=(maria, john))
    earlier = calendar_of_duties(before, year, datetime.date(2027, 12, 31))
    assert {item.key for item in due} <= {item.key for item in earlier}
    assert any(item.period_end < hired for item in earlier)


def test_wages_that_were_paid_are_reported_whatever_the_employment_says():
    amount = LedgerAmount(MARIA, "CA-SUI-ER", 2026, 5, 4_200)
    maria = HouseholdEmployee(MARIA, "Maria", (EmploymentSpell("CA", datetime.date(2026, 11, 2)),))
    household = Household(HOUSEHOLD, (maria,), amounts=(amount,))
    due = calendar_of_duties(household, datetime.date(2026, 1, 1), datetime.date(2026, 12, 31))
    assert "CA/wages-quarterly/2026-Q2" in {item.key for item in due}
    assert "CA/wages-quarterly/2026-Q1" not in {item.key for item in due}
