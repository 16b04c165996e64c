"""Households for the tests of registrations, and the day on which they are looked at."""

import datetime

from hearthpay.registrations.derivation import (
    EmployeeFacts,
    HouseholdFacts,
    WagesOfQuarter,
    WithholdingElection,
)

TODAY = datetime.date(2026, 11, 22)
NOTHING_WITHHELD = WithholdingElection(federal=False, state=False)


def paid(state: str, dollars: int, year: int = 2026, quarter: int = 3) -> tuple[WagesOfQuarter, ...]:
    """Wages of one quarter."""
    return (WagesOfQuarter(state, year, quarter, dollars * 100),)


def household(state: str, *employees: EmployeeFacts) -> HouseholdFacts:
    """A household with these employees, and no word of any number."""
    return HouseholdFacts(state, employees)


def first_hire(state: str) -> tuple[EmployeeFacts, ...]:
    """A nanny who has not been paid yet; income tax is withheld, as it is unless somebody says otherwise."""
    return (EmployeeFacts(state),)


def withholding_off(state: str) -> tuple[EmployeeFacts, ...]:
    """The same nanny; nobody agreed on withholding income tax."""
    return (EmployeeFacts(state, election=NOTHING_WITHHELD),)


def all_family(state: str) -> tuple[EmployeeFacts, ...]:
    """Spouse and child, without withholding."""
    return tuple(
        EmployeeFacts(state, relationship=tie, election=NOTHING_WITHHELD)
        for tie in ("spouse", "child_under_18")
    )


def terminated(state: str) -> tuple[EmployeeFacts, ...]:
    """A nanny who left this year, paid 2,000 in the third quarter."""
    return (EmployeeFacts(state, active=False, wages=paid(state, 2000)),)


CASES = {
    "first_hire": first_hire,
    "withholding_off": withholding_off,
    "all_family": all_family,
    "terminated": terminated,
}
