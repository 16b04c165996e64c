"""What four households do in a year in each state: ten states written out by hand, all against a reviewed table."""

import datetime
import tomllib
from pathlib import Path

from hearthpay.duties.calendar import calendar_of_duties
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case
from tests.duties.years import KINDS, YEAR, year_of

FOLDER = Path(__file__).parent
DATES = tomllib.loads((FOLDER / "due_dates.toml").read_text("utf-8"))
REVIEWED = tomllib.loads((FOLDER / "states_and_households.toml").read_text("utf-8"))


def told(state: str, kind: str) -> dict[str, list[datetime.date]]:
    """Return the days on which each duty about wages of the year is due, by its id; hires and notices left out."""
    found: dict[str, list[datetime.date]] = {}
    items = calendar_of_duties(
        year_of(state, kind), datetime.date(YEAR, 1, 1), datetime.date(YEAR + 1, 12, 31)
    )
    for item in items:
        name = item.key.split("/")[1]
        about_wages = item.kind in ("return", "payment", "report") and name != "new-hire"
        if item.jurisdiction == state and about_wages and item.period_start.year == YEAR:
            found.setdefault(name, []).append(item.due)
    return found


def by_rule(rule: str) -> list[datetime.date]:
    """Return the days of a rule of the table of due dates that are about the year."""
    return sorted(day for period, day in DATES[rule]["due"].items() if period.startswith(f"{YEAR}"))


QUARTERLY = "last_day_after_quarter"

PA_MONTHLY = {
    "wages-quarterly": QUARTERLY,
    "withholding-monthly": "15th_after_month",
    "withholding-quarterly-report": QUARTERLY,
    "withholding-reconciliation": "31_january",
}
PA_QUARTERLY = {"withholding-quarterly": QUARTERLY, "withholding-reconciliation": "31_january"}
IL = {
    "wages-quarterly": QUARTERLY,
    "withholding-own-return": "15_april",
    "withholding-reconciliation": "31_january",
}
OH = {
    "wages-quarterly": QUARTERLY,
    "withholding-quarterly": QUARTERLY,
    "withholding-reconciliation": "31_january",
}
GA = {
    "wages-annual": "31_january",
    "withholding-quarterly": QUARTERLY,
    "withholding-reconciliation": "31_january",
}
MI = {
    "wages-quarterly": "25th_after_quarter",
    "withholding-quarterly": "20th_after_quarter",
    "withholding-reconciliation": "last_of_february",
}
CA = {"wages-quarterly": QUARTERLY}
CA_DEPOSITS = CA | {"withholding-deposit": "15th_after_quarter"}
NY = {"wages-quarterly": QUARTERLY}
NYS_1 = [
    datetime.date(2026, 3, 20),  # five business days after March 13
    datetime.date(2026, 6, 22),  # after June 12; June 19 is a holiday
    datetime.date(2026, 9, 18),  # after September 11
    datetime.date(2026, 12, 18),  # after December 11
]

BY_HAND = {
    # Below 750 dollars a quarter nothing is owed; income tax of 390 dollars a quarter passes 350 in its last month.
    "CA": ({}, CA_DEPOSITS, CA_DEPOSITS, CA),
    "TX": (
        {},
        {"wages-quarterly": QUARTERLY},
        {"wages-quarterly": QUARTERLY},
        {"wages-quarterly": QUARTERLY},
    ),
    "FL": (
        {},
        {"wages-quarterly": QUARTERLY},
        {"wages-quarterly": QUARTERLY},
        {"wages-quarterly": QUARTERLY},
    ),
    # Two nannies of 800 dollars a week: 64.74 a payday reach 700 dollars with the eleventh of a quarter.
    "NY": ({}, NY, NY | {"withholding-deposit": NYS_1}, NY),
    # 3.07 per cent, from the first dollar: 399 dollars a quarter of 1,000 a week, 638 of two of 800, 259 of 650.
    "PA": (
        PA_QUARTERLY,
        PA_MONTHLY,
        PA_MONTHLY,
        PA_QUARTERLY | {"wages-quarterly": QUARTERLY},
    ),
    # With the household's own Form IL-1040.
    "IL": ({}, IL, IL, IL),
    # Below 2,000 dollars a year.
    "OH": ({}, OH, OH, OH),
    # About 2,080 dollars a year of one, 3,070 of two: above 200 dollars a month payments are monthly.
    "GA": (
        {},
        GA,
        {
            "wages-annual": "31_january",
            "withholding-monthly": "15th_after_month",
            "withholding-quarterly-report": QUARTERLY,
            "withholding-reconciliation": "31_january",
        },
        GA,
    ),
    # Below 250 dollars a month on average.
    "NC": ({}, OH, OH, OH),
    # The 25th for unemployment, the 20th for income tax.
    "MI": ({}, MI, MI, MI),
}
"""By state: what part-time help, a nanny, two nannies and a live-in carer bring, from the states' own publications."""


def test_the_ten_largest_states_as_written_by_hand() -> None:
    with every_case() as case:
        for state, rows in BY_HAND.items():
            for kind, expected in zip(KINDS, rows, strict=True):
                with case(state, kind):
                    assert told(state, kind) == {
                        name: by_rule(rule) if isinstance(rule, str) else rule
                        for name, rule in expected.items()
                    }


def test_each_state_and_household_as_reviewed() -> None:
    with every_case() as case:
        for kind in KINDS:
            for state in STATES:
                with case(kind, state):
                    assert told(state, kind) == REVIEWED[state].get(kind, {})
