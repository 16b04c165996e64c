"""Which rows a household gets: all states in the cases that matter, then each rule by itself, then changes and back.

`expected_rows.csv` holds one line for each account of each state: what the rows of `facts.CASES` must say, gone through
state by state against the law that the rule files cite.
"""

import csv
import datetime
import itertools
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearthpay.registrations.accounts import accounts_of
from hearthpay.registrations.derivation import (
    EVERY_ACCOUNT,
    EmployeeFacts,
    HouseholdFacts,
    NumberOnFile,
    Registration,
    RegistrationApplication,
    WagesOfQuarter,
    WithholdingElection,
    registrations_of,
    state_withheld_for,
)
from hearthpay.taxes import FederalCertificate, PaycheckInput, calculate_paycheck
from hearthpay.taxes.contribution import RELATIONSHIPS
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.cases import every_case
from tests.registrations.facts import (
    CASES,
    NOTHING_WITHHELD,
    TODAY,
    all_family,
    first_hire,
    household,
    paid,
    terminated,
    withholding_off,
)

with Path(__file__).with_name("expected_rows.csv").open(encoding="utf-8", newline="") as file:
    EXPECTED = list(csv.DictReader(file))

NEXT_STATE = dict(itertools.pairwise([*sorted(STATES), "AK"]))
Row = tuple[str, str, str, str, str | None, str, bool, None, str]


def expected(state: str, case: str) -> list[Row]:
    """The rows of a state in a case, by the table, without those that are listed only when asked for."""
    rows: list[Row] = []
    for line in EXPECTED:
        if line["state"] == state and not line["include"]:
            status = line[case]
            needed = status == "required"
            url = line["url"] if needed else None
            fixed = (line["state"], line["account_type"], line["agency"], line["label"])
            rows.append((*fixed, url, status, needed, None, line["number"]))
    return rows


def told(row: Registration) -> Row:
    """A row as the table has it; none of these households has a number."""
    assert row.last_four is None
    assert row.applied_on is None
    fixed = (row.state, row.account_type, row.agency, row.label, row.url)
    return (*fixed, row.status, row.required, row.last_four, row.number_id)


def statuses(facts: HouseholdFacts, on: datetime.date = TODAY) -> dict[tuple[str, str], str]:
    return {(row.state, row.account_type): row.status for row in registrations_of(facts, on)}


# --- every state, in the cases that matter ------------------------------------------------------------------------


def test_the_table_has_every_account_once():
    listed = [(line["state"], line["account_type"]) for line in EXPECTED]
    assert len(set(listed)) == len(listed) == 107
    assert {state for state, _ in listed} == set(STATES)
    assert {line[case] for line in EXPECTED for case in CASES} == {"required", "not_required"}


def test_the_rows_of_one_state():
    with every_case() as case:
        for state in STATES:
            for situation in CASES:
                with case(state, situation):
                    rows = registrations_of(household(state, *CASES[situation](state)), TODAY)
                    assert [told(row) for row in rows] == expected(state, situation)


def test_the_rows_of_two_states():
    """A nanny with withholding where the household lives, and one without in the state that comes next."""
    with every_case() as case:
        for state in STATES:
            with case(state):
                other = NEXT_STATE[state]
                rows = registrations_of(household(state, *first_hire(state), *withholding_off(other)), TODAY)
                of_both = [*expected(state, "first_hire"), *expected(other, "withholding_off")]
                assert [told(row) for row in rows] == sorted(of_both, key=lambda row: row[0])


def test_nobody_employed_or_gone_before_the_first_payday_asks_for_nothing():
    with every_case() as case:
        for state in STATES:
            with case(state):
                gone = EmployeeFacts(state, active=False)
                for facts in (household(state), household(state, gone)):
                    rows = registrations_of(facts, TODAY)
                    assert [row.account_type for row in rows] == [
                        account.type
                        for account in accounts_of(state).accounts
                        if not account.voluntary and account.type != "local"
                    ]
                    assert {(row.status, row.required, row.url) for row in rows} == {
                        ("not_required", False, None)
                    }


def test_a_household_of_two_states_written_out():
    """California and New York, at length: what a family reads."""
    facts = replace(
        household(
            "CA", *first_hire("CA"), EmployeeFacts("NY", relationship="parent", election=NOTHING_WITHHELD)
        ),
        numbers=(NumberOnFile("CA", "edd", "6789"),),
        applications=(RegistrationApplication("NY", "policy", datetime.date(2026, 11, 2)),),
    )
    rows = [
        (row.state, row.account_type, row.status, row.required, row.last_four, row.applied_on, row.url)
        for row in registrations_of(facts, TODAY)
    ]
    edd, applied = "https://edd.ca.gov", datetime.date(2026, 11, 2)
    coverage = "https://www.wcb.ny.gov/content/main/coverage-requirements-db/household-employers.jsp"
    assert rows == [
        ("CA", "sui", "registered", False, "6789", None, f"{edd}/e-Services_for_Business"),
        ("CA", "withholding", "registered", False, "6789", None, edd),
        ("CA", "sdi", "registered", False, "6789", None, f"{edd}/en/payroll_taxes/Household_Employer"),
        ("NY", "sui", "required", True, None, None, "https://www.businessexpress.ny.gov"),
        ("NY", "withholding", "not_required", False, None, None, None),
        ("NY", "sdi", "pending", True, None, applied, coverage),
        ("NY", "pfml", "pending", True, None, applied, "https://paidfamilyleave.ny.gov"),
    ]


# --- withholding: as long as somebody's is in force ---------------------------------------------------------------


def test_withholding_only_of_the_federal_tax():
    """Some states must be withheld for wherever the federal tax is, and Pennsylvania always."""
    with every_case() as case:
        for state in STATES:
            with case(state):
                bound = {"CO", "DE", "IL", "ME", "NJ", "NM", "PA"}
                employee = EmployeeFacts(state, election=WithholdingElection(federal=True, state=False))
                assert (statuses(household(state, employee)).get((state, "withholding")) == "required") == (
                    state in bound
                )


def test_withholding_only_of_the_states_tax():
    employee = EmployeeFacts("GA", election=WithholdingElection(federal=False, state=True))
    assert statuses(household("GA", employee))["GA", "withholding"] == "required"


def test_an_exempt_employee_needs_no_account():
    employee = EmployeeFacts("GA", election=WithholdingElection(exempt=True))
    assert statuses(household("GA", employee))["GA", "withholding"] == "not_required"


def test_one_of_several_suffices_and_one_who_left_does_not():
    left = EmployeeFacts("GA", active=False, wages=paid("GA", 9000))
    off = withholding_off("GA")
    assert statuses(household("GA", left, *off))["GA", "withholding"] == "not_required"
    assert statuses(household("GA", left, *off, *first_hire("GA")))["GA", "withholding"] == "required"


def test_reciprocity_moves_the_account_home():
    """Who works in the District and lives in Maryland has Maryland's tax withheld, once the certificate is filed."""
    commuter = EmployeeFacts(
        "DC", residence_state="MD", election=WithholdingElection(reciprocity_certificate=True)
    )
    assert state_withheld_for(commuter, TODAY) == "MD"
    assert statuses(household("DC", commuter)) == {
        ("DC", "sui"): "required",
        ("DC", "withholding"): "not_required",
        ("DC", "pfml"): "required",
        ("MD", "sui"): "not_required",
        ("MD", "withholding"): "required",
        ("MD", "pfml"): "not_required",
    }
    without = replace(commuter, election=WithholdingElection())
    assert state_withheld_for(without, TODAY) == "DC"
    # New Jersey has no agreement with New York: the certificate moves nothing.
    assert state_withheld_for(replace(commuter, work_state="NJ", residence_state="NY"), TODAY) == "NJ"


REACHES = [
    *((state, None) for state in STATES),
    *((state, home) for state in STATES for home in rulebook_of(2026).state(state).reciprocity),
]


@pytest.mark.parametrize("elected", [None, True, False])
@pytest.mark.parametrize("federal", [True, False])
def test_a_paycheck_withholds_for_the_state_that_the_rows_speak_of(federal: bool, elected: bool | None):
    for state, home in REACHES:
        election = WithholdingElection(federal, elected, reciprocity_certificate=home is not None)
        employee = EmployeeFacts(state, residence_state=home, election=election)
        entries = {"elected": elected, "reciprocity_certificate_on_file": home is not None}
        paycheck = calculate_paycheck(
            PaycheckInput(
                pay_date=TODAY,
                pay_frequency="weekly",
                regular_wages=Decimal("900.00"),
                work_state=state,
                residence_state=home,
                federal=FederalCertificate(elected=federal),
                state={name: value for name, value in entries.items() if value is not None},
            )
        )
        codes = {
            tax.code: of
            for of in (state, home)
            if of is not None and (tax := rulebook_of(2026).state(of).income_tax) is not None
        }
        taxed = [codes[line.code] for line in paycheck.lines if line.code in codes and line.taxable_wages]
        assert taxed == ([withheld] if (withheld := state_withheld_for(employee, TODAY)) else []), (
            state,
            home,
        )


# --- unemployment insurance, disability, leave --------------------------------------------------------------------


@pytest.mark.parametrize("tie", RELATIONSHIPS)
def test_unemployment_insurance_is_blind_to_family_ties(tie: str):
    for state in STATES:
        rows = registrations_of(household(state, EmployeeFacts(state, relationship=tie)), TODAY)
        assert next(row for row in rows if row.account_type == "sui").required


def test_disability_and_leave_follow_the_exemptions_of_their_lines():
    mother = EmployeeFacts("NY", relationship="parent")
    assert statuses(household("NY", mother))["NY", "pfml"] == "required"
    assert statuses(household("NY", *all_family("NY")))["NY", "pfml"] == "not_required"
    assert statuses(household("NY", *all_family("NY"), mother))["NY", "pfml"] == "required"


def test_marylands_leave_begins_in_2027():
    facts = household("MD", EmployeeFacts("MD", wages=paid("MD", 2000)))
    assert statuses(facts, datetime.date(2026, 12, 31))["MD", "pfml"] == "not_required"
    assert statuses(facts, datetime.date(2027, 1, 1))["MD", "pfml"] == "required"
    # Wages of the year before it began are never reported to it.
    assert statuses(household("MD", *terminated("MD")), datetime.date(2027, 1, 1)) == {
        ("MD", "sui"): "required",
        ("MD", "withholding"): "not_required",
        ("MD", "pfml"): "not_required",
    }


@pytest.mark.parametrize(
    ("state", "account", "dollars"),
    [("TX", "sui", 1000), ("NY", "sui", 500), ("DC", "pfml", 500), ("CA", "sdi", 750), ("CA", "sui", 1000)],
)
def test_who_left_counts_from_the_threshold_on(state: str, account: str, dollars: int):
    def status(wages: tuple[WagesOfQuarter, ...], on: datetime.date = TODAY) -> str:
        gone = EmployeeFacts(state, active=False, wages=wages)
        return statuses(household(state, gone), on)[state, account]

    enough, short = paid(state, dollars), paid(state, dollars - 1)
    assert status(enough) == "required"
    assert status(short) == "not_required"
    # Two quarters below it are not one above it, but two people paid in one quarter are.
    assert status((*short, *paid(state, dollars - 1, quarter=2))) == "not_required"
    half = EmployeeFacts(state, active=False, wages=paid(state, dollars // 2))
    assert statuses(household(state, half, half))[state, account] == "required"
    # The year after still counts, the one after that does not.
    assert status(enough, datetime.date(2027, 12, 31)) == "required"
    assert status(enough, datetime.date(2028, 1, 1)) == "not_required"


def test_years_without_rules_are_answered_by_those_nearest():
    """Nobody is left without a list because the law of a year is not known yet, or no longer."""
    for state in STATES:
        facts = household(state, *first_hire(state))
        latest = statuses(facts, datetime.date(supported_years()[-1], 12, 31))
        assert statuses(facts, datetime.date(supported_years()[-1] + 10, 1, 1)) == latest
    assert statuses(household("MD", *first_hire("MD")), datetime.date(2020, 6, 1))["MD", "sui"] == "required"


def test_a_program_that_every_wage_owes_counts_the_first_dollar():
    gone = EmployeeFacts("CO", active=False, wages=paid("CO", 1))
    assert statuses(household("CO", gone)) == {
        ("CO", "sui"): "not_required",
        ("CO", "withholding"): "not_required",
        ("CO", "pfml"): "required",
    }


def test_exempt_wages_do_not_keep_an_account_alive():
    gone = EmployeeFacts("CA", active=False, relationship="spouse", wages=paid("CA", 5000))
    assert statuses(household("CA", gone)) == {
        ("CA", "sui"): "required",
        ("CA", "withholding"): "not_required",
        ("CA", "sdi"): "not_required",
    }


def test_a_policy_ends_with_the_last_employee():
    assert statuses(household("HI", *terminated("HI")))["HI", "sdi"] == "not_required"
    assert statuses(household("HI", *first_hire("HI")))["HI", "sdi"] == "required"


def test_who_moves_leaves_the_old_states_rows_behind():
    moved = EmployeeFacts("WA", wages=paid("OR", 2000))
    assert statuses(household("WA", moved)) == {
        ("OR", "sui"): "required",
        ("OR", "withholding"): "not_required",
        ("OR", "pfml"): "required",
        ("WA", "sui"): "required",
        ("WA", "pfml"): "required",
    }


# --- income tax by agreement, and thresholds ------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_withholding_by_agreement_is_listed_when_asked_for(case: str):
    by_agreement = {line["state"] for line in EXPECTED if line["include"] == "voluntary"}
    assert by_agreement == {"AL", "AR", "OK", "SC"}
    for state in (*by_agreement, "AZ"):
        facts = household(state, *CASES[case](state))
        rows = registrations_of(facts, TODAY, include=EVERY_ACCOUNT)
        added = [told(row) for row in rows if row not in registrations_of(facts, TODAY)]
        (line,) = [each for each in EXPECTED if (each["state"], each["include"]) == (state, "voluntary")] or [
            {}
        ]
        requested = line.get(case) == "required"
        assert [(row[0], row[1], row[2], row[3], row[4], row[5]) for row in added] == (
            [(state, "withholding", line["agency"], line["label"], line["url"], "required")]
            if requested
            else []
        )


def required_from(facts: HouseholdFacts, account: str, on: datetime.date = TODAY) -> tuple[int, int] | None:
    row = next(row for row in registrations_of(facts, on) if row.account_type == account)
    return None if row.required_from is None else tuple(cents // 100 for cents in row.required_from)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("state", "account", "dollars"),
    [("TX", "sui", 1000), ("NY", "sui", 500), ("DC", "pfml", 500), ("CA", "sdi", 750), ("CA", "sui", 1000)],
)
def test_below_a_threshold_a_row_says_from_when_and_how_much_is_paid(state: str, account: str, dollars: int):
    def of(*wages: WagesOfQuarter, on: datetime.date = TODAY) -> tuple[int, int] | None:
        return required_from(household(state, EmployeeFacts(state, wages=wages)), account, on)

    this, last = {"quarter": 4}, {"quarter": 4, "year": 2025}
    assert of() == (dollars, 0)
    assert of(*paid(state, dollars - 1, **this)) == (dollars, dollars - 1)
    assert of(*paid(state, dollars, **this)) is None
    # Below it in another quarter, it counts for nothing now; reached last year, it holds this year and no longer.
    assert of(*paid(state, dollars - 1)) == (dollars, 0)
    assert of(*paid(state, dollars, **last)) is None
    assert of(*paid(state, dollars, **last), on=datetime.date(2027, 1, 4)) == (dollars, 0)
    # All household employees count together.
    half = EmployeeFacts(state, wages=paid(state, dollars // 2, **this))
    assert required_from(household(state, half), account) == (dollars, dollars // 2)
    assert required_from(household(state, half, half), account) is None


def test_where_each_employee_is_counted_alone_the_most_paid_one_is_told():
    some, more = (EmployeeFacts("HI", wages=paid("HI", each, quarter=4)) for each in (100, 200))
    assert required_from(household("HI", some, more), "sdi") == (225, 200)
    assert (
        required_from(household("HI", some, EmployeeFacts("HI", wages=paid("HI", 225, quarter=4))), "sdi")
        is None
    )


def test_only_what_is_still_to_be_done_says_from_when():
    facts = household("TX", *first_hire("TX"))
    assert required_from(facts, "sui") == (1000, 0)
    assert required_from(replace(facts, numbers=(NumberOnFile("TX", "sui", "1234"),)), "sui") is None
    assert required_from(household("TX"), "sui") is None
    assert required_from(household("GA", *first_hire("GA")), "withholding") is None
    assert required_from(household("CO", *first_hire("CO")), "pfml") is None  # every wage owes it
    exempt = EmployeeFacts("CA", relationship="spouse", wages=paid("CA", 700, quarter=4))
    assert required_from(household("CA", exempt, *first_hire("CA")), "sdi") == (750, 0)
    assert required_from(household("CA", exempt, *first_hire("CA")), "sui") == (1000, 700)


# --- numbers and applications -------------------------------------------------------------------------------------


def test_a_number_on_file_registers_every_row_that_goes_by_it_and_no_other():
    with every_case() as case:
        for state in STATES:
            with case(state):
                for number in accounts_of(state).numbers:
                    facts = replace(
                        household(state, *first_hire(state)),
                        numbers=(NumberOnFile(state, number.id, "4321"),),
                    )
                    for row in registrations_of(facts, TODAY, include=EVERY_ACCOUNT):
                        assert (row.status == "registered") == (row.number_id == number.id)
                        assert row.required == (row.status in ("required", "pending"))
                        assert row.last_four == ("4321" if row.number_id == number.id else None)


def test_a_number_stays_on_file_when_nothing_asks_for_it():
    facts = replace(
        household("GA", *withholding_off("GA")), numbers=(NumberOnFile("GA", "withholding", "67AB"),)
    )
    row = next(row for row in registrations_of(facts, TODAY) if row.account_type == "withholding")
    assert (row.status, row.required, row.last_four) == ("registered", False, "67AB")
    assert row.url == "https://gtc.dor.ga.gov"


def test_an_application_waits_only_for_what_is_needed_and_gives_way_to_the_number():
    applied = datetime.date(2026, 10, 1)
    facts = replace(
        household("GA", *first_hire("GA")),
        applications=(RegistrationApplication("GA", "withholding", applied),),
    )

    def row(facts: HouseholdFacts) -> Registration:
        return next(row for row in registrations_of(facts, TODAY) if row.account_type == "withholding")

    waiting = row(facts)
    assert (waiting.status, waiting.required, waiting.applied_on) == ("pending", True, applied)
    assert waiting.url is not None
    off = row(replace(facts, employees=withholding_off("GA")))
    assert (off.status, off.applied_on, off.url) == ("not_required", None, None)
    came = row(replace(facts, numbers=(NumberOnFile("GA", "withholding", "67AB"),)))
    assert (came.status, came.applied_on) == ("registered", None)


def test_a_number_of_a_state_that_was_left_is_still_shown():
    facts = replace(household("TX"), numbers=(NumberOnFile("FL", "sui", "4567"),))
    assert statuses(facts) == {("FL", "sui"): "registered", ("TX", "sui"): "not_required"}


# --- changes ------------------------------------------------------------------------------------------------------

some_state = st.sampled_from(sorted(STATES))
elections = st.builds(
    WithholdingElection,
    federal=st.booleans(),
    state=st.none() | st.booleans(),
    exempt=st.booleans(),
    reciprocity_certificate=st.booleans(),
)
wages = st.builds(
    WagesOfQuarter,
    state=some_state,
    year=st.sampled_from([2025, 2026]),
    quarter=st.integers(1, 4),
    cents=st.integers(0, 200_000),
)
people = st.builds(
    EmployeeFacts,
    work_state=some_state,
    active=st.booleans(),
    relationship=st.sampled_from(RELATIONSHIPS),
    residence_state=st.none() | some_state,
    election=elections,
    wages=st.lists(wages, max_size=3).map(tuple),
)
entries = st.sampled_from([(state, number.id) for state in STATES for number in accounts_of(state).numbers])
households = st.builds(
    HouseholdFacts,
    state=some_state,
    employees=st.lists(people, min_size=1, max_size=3).map(tuple),
    numbers=st.lists(entries.map(lambda entry: NumberOnFile(*entry, "1234")), max_size=2).map(tuple),
    applications=st.lists(entries.map(lambda entry: RegistrationApplication(*entry, TODAY)), max_size=2).map(
        tuple
    ),
)


@settings(max_examples=30, deadline=None)
@given(households, people, some_state, elections)
def test_a_change_and_its_opposite_leave_the_rows_as_they_were(
    facts: HouseholdFacts, newcomer: EmployeeFacts, elsewhere: str, other: WithholdingElection
):
    """Hire and dismiss, terminate and reinstate, move away and back, turn withholding over and back."""
    before = registrations_of(facts, TODAY)
    first, *others = facts.employees
    changes = [
        (*facts.employees, newcomer),
        (replace(first, active=not first.active), *others),
        (replace(first, work_state=elsewhere), *others),
        (replace(first, election=other), *others),
        (),
    ]
    for employees in changes:
        changed = replace(facts, employees=employees)
        registrations_of(changed, TODAY)
        assert registrations_of(replace(changed, employees=facts.employees), TODAY) == before


@settings(max_examples=30, deadline=None)
@given(households)
def test_what_holds_of_all_rows(facts: HouseholdFacts):
    rows = registrations_of(facts, TODAY)
    assert rows == registrations_of(replace(facts, employees=facts.employees[::-1]), TODAY)
    keys = [(row.state, row.account_type) for row in rows]
    assert len(set(keys)) == len(keys)
    states = {row.state for row in rows}
    assert {facts.state, *(employee.work_state for employee in facts.employees)} <= states
    at_work = {employee.work_state for employee in facts.employees if employee.active}
    for row in rows:
        assert (row.url is None) == (row.status == "not_required")
        assert (row.last_four is None) == (row.status != "registered")
        assert (row.applied_on is None) == (row.status != "pending")
        assert row.required == (row.status in ("required", "pending"))
        if row.account_type == "sui" and row.state in at_work:
            assert row.required == (row.last_four is None)
        if row.account_type == "withholding":
            withheld = {state_withheld_for(employee, TODAY) for employee in facts.employees}
            assert row.required == (row.state in withheld and row.last_four is None)


@settings(max_examples=30, deadline=None)
@given(households, people)
def test_a_hire_never_takes_a_duty_away(facts: HouseholdFacts, newcomer: EmployeeFacts):
    def duties(facts: HouseholdFacts) -> set[tuple[str, str]]:
        return {(row.state, row.account_type) for row in registrations_of(facts, TODAY) if row.required}

    more = replace(facts, employees=(*facts.employees, newcomer))
    assert duties(facts) <= duties(more)
