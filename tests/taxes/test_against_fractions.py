"""Ten thousand random paychecks by the engine and by an independent model in exact fractions: equal to the cent.

A failure prints the seed; ``paycheck_of(seed)`` is the paycheck, alone and again.
"""

import datetime
import functools
import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest

from hearthpay.taxes import calculate_paycheck
from hearthpay.taxes.interchange import read_paycheck_input
from tests.taxes.fraction_model import STATES, ZERO, Line, expected_lines, law

PAYCHECKS = 10_000
CHUNKS = 10
IN_THE_SUITE = 4
"""Chunks that `make test` goes through; `make test-long` goes through all of them."""

FREQUENCIES = ("weekly", "biweekly", "semimonthly", "monthly")
RARE_FREQUENCIES = ("daily", "quarterly", "semiannual", "annual")
STATUSES = ("single", "married", "head_of_household")
RELATIONSHIPS = (
    "spouse", "parent", "parent_caring_for_grandchild", "child_under_18", "child_18_to_20", "child_under_21",
    "student_under_18",
)  # fmt: skip
#: Work state → home states among the eight that have an agreement with it.
AGREEMENTS = {"NJ": ("PA",), "OH": ("PA",), "PA": ("NJ", "OH")}
CERTIFICATES = {
    "CA": {
        "filing_status": (
            "single", "married", "head_of_household", "married_one_income",
            "single_or_married_with_two_or_more_incomes",
        ),
        "regular_allowances": range(16),
        "estimated_deduction_allowances": range(16),
    },
    "GA": {
        "marital_status": ("A", "B", "C", "D", "A_single", "C_married_joint_one_working"),
        "dependent_allowances": range(6),
        "adjustment_allowances": range(4),
    },
    "IL": {"line1_allowances": range(8), "line2_allowances": range(8)},
    "NJ": {
        "filing_status": ("single", "married_joint", "married_separate", "head_of_household", "surviving_spouse"),
        "rate_letter": ("A", "B", "C", "D", "E"),
        "allowances": range(8),
    },
    "NY": {
        "filing_status": ("single", "married", "married_withhold_at_higher_single_rate"),
        "allowances": range(8),
        "nyc_allowances": range(8),
        "nyc_resident": (True, False),
        "yonkers": ("none", "resident", "nonresident_working_in_yonkers"),
    },
    "OH": {"exemptions": range(8)},
    "PA": {},
    "TX": {},
}  # fmt: skip


#: Tables of a year's wages, whatever the pay period.
ANNUAL_TABLES = ("brackets", "top_rates")


def cents(value: int) -> Decimal:
    return Decimal(value).scaleb(-2)


@functools.cache
def edges(state: str, frequency: str) -> tuple[int, ...]:
    """Return wages of a period, in cents, at which some table turns."""
    periods = law("2026", "us.toml")["pay_periods"][frequency]
    figures = law("2026", "us.toml")["income_tax"]
    found = set()
    for tables in (figures["standard"], figures["step_2_checkbox"]):
        for status, rows in tables.items():
            found |= {int((row[0] + figures["line_1g"][status]) * 100 / periods) for row in rows}
    for version in law("2026", "states", f"{state}.toml").get("income_tax", {}).get("version", ()):
        found |= {int(figure * 100) for figure in _figures_of_period(version["figures"], frequency, periods)}
    return tuple(sorted(found))


def _figures_of_period(figures: object, frequency: str, periods: int, divisor: int = 1):
    """Yield every bound and deduction of a rule version that belongs to the pay period."""
    if isinstance(figures, dict):
        for key, value in figures.items():
            if key in ANNUAL_TABLES:
                yield from _figures_of_period(value, frequency, periods, periods)
            elif key == frequency or key not in (*FREQUENCIES, *RARE_FREQUENCIES):
                yield from _figures_of_period(value, frequency, periods, divisor)
    elif isinstance(figures, list):
        for row in figures:
            yield from _figures_of_period(
                row[0] if isinstance(row, list) else row, frequency, periods, divisor
            )
    elif isinstance(figures, int | Fraction) and not isinstance(figures, bool) and figures > 2:
        yield Fraction(figures) / divisor


def bounds_of(state: str, frequency: str) -> list[int]:
    """Return wages, in cents, at which a row of the state's tables begins, also after each deduction."""
    periods = law("2026", "us.toml")["pay_periods"][frequency]
    versions = law("2026", "states", f"{state}.toml")["income_tax"]["version"]
    places = law("2026", "local", f"{state}.toml").get("local", ())
    bounds = set()
    for rules in (*versions, *places):
        figures = rules["figures"]
        deductions = figures.get("deduction", {})
        if frequency in figures.get("schedule", {}):
            deductions = figures["schedule"][frequency]["standard_deduction"]
        free = {ZERO, *_figures_of_period(deductions, frequency, periods)}
        found = set(_figures_of_period(figures, frequency, periods))
        bounds |= {math.ceil((bound + off) * 100) for bound in found for off in free}
    return sorted(bounds)


def wages_of(dice: random.Random, state: str, frequency: str) -> int:
    """Return a period's wages in cents: mostly a household's, some at the edges of tables, a few enormous."""
    periods = law("2026", "us.toml")["pay_periods"][frequency]
    kind = dice.random()
    if kind < 0.45:
        return dice.randrange(0, 12_000_000) // periods
    if kind < 0.55:
        return dice.randrange(0, 120_000) // periods * 100
    if kind < 0.75:
        return max(0, dice.choice(edges(state, frequency)) + dice.choice((-100, -1, 0, 1, 2, 100)))
    if kind < 0.95:
        return dice.randrange(0, 60_000_000) // periods
    return dice.randrange(0, 3_000_000_000) // periods


def federal_of(dice: random.Random) -> dict:
    entries: dict = {"filing_status": dice.choice(STATUSES)}
    if dice.random() < 0.15:
        entries["elected"] = False
    if dice.random() < 0.04:
        entries["exempt"] = True
    if dice.random() < 0.2:
        status = dice.choice(("single", "married", "married_withhold_at_single_rate"))
        entries["pre_2020"] = {"marital_status": status, "allowances": dice.randrange(0, 13)}
    else:
        if dice.random() < 0.3:
            entries["multiple_jobs"] = True
        if dice.random() < 0.3:
            entries["dependents_credit"] = dice.choice(
                (Decimal(2200), Decimal(500), cents(dice.randrange(10**6)))
            )
        if dice.random() < 0.2:
            entries["other_income"] = cents(dice.randrange(5_000_000))
        if dice.random() < 0.2:
            entries["deductions"] = cents(dice.randrange(5_000_000))
    if dice.random() < 0.15:
        entries["extra_withholding"] = cents(dice.choice((dice.randrange(20_000), dice.randrange(500_000))))
    return entries


def certificate_of(dice: random.Random, state: str) -> dict:
    entries = {
        name: dice.choice(values) for name, values in CERTIFICATES[state].items() if dice.random() < 0.6
    }
    if state == "TX":
        return {"elected": True} if dice.random() < 0.2 else {}
    if dice.random() < 0.25:
        entries["elected"] = dice.random() < 0.5
    if dice.random() < 0.04:
        entries["exempt"] = True
    if dice.random() < 0.15:
        entries["additional_withholding"] = cents(dice.randrange(20_000))
    if state == "NY":
        for name in ("nyc_additional_withholding", "yonkers_additional_withholding"):
            if dice.random() < 0.1:
                entries[name] = cents(dice.randrange(5_000))
    return entries


def year_to_date_of(dice: random.Random, year: str, state: str, gross: int) -> tuple[dict, dict]:
    """Return wages and taxes earlier in the year, most of them within a paycheck of some cap."""
    wages, taxes = {}, {}
    federal = law(year, "us.toml")
    state_file = law(year, "states", f"{state}.toml")
    for tax in (*federal["contribution"], *state_file["contribution"]):
        bound = tax.get("wage_base") or tax.get("wage_floor")
        if bound is None or dice.random() < 0.25:
            continue
        cap = int(bound * 100)
        choices = (
            cap - gross,
            cap - gross - 1,
            cap - gross + 1,
            cap - gross // 2,
            cap,
            cap + 1,
            cap + 500_000,
        )
        earlier = max(0, dice.choice((*choices, dice.randrange(cap))))
        wages[tax.get("ytd_code", tax["code"])] = cents(earlier)
        if dice.random() < 0.5:
            exact = min(earlier, cap) * tax["rate"]
            off = dice.choice((20, 20, 20, 190, 5_000))
            taxes[tax["code"]] = cents(max(0, int(exact) + dice.randrange(-off, off + 1)))
    if dice.random() < 0.1:
        limit = int(federal["income_tax"]["supplemental_limit"]) * 100
        earlier = dice.choice((0, limit - gross, limit - gross // 2, limit, limit + 1))
        wages[federal["income_tax"]["supplemental_code"]] = cents(max(0, earlier))
    return wages, taxes


def paycheck_of(seed: int) -> dict:
    """Return the random paycheck of a seed in its JSON form."""
    dice = random.Random(seed)
    state = STATES[seed % len(STATES)]
    year = "2025" if state == "TX" and dice.random() < 0.3 else "2026"
    frequency = dice.choice(RARE_FREQUENCIES if dice.random() < 0.15 else FREQUENCIES)
    day = datetime.date(int(year), 1, 1) + datetime.timedelta(days=dice.randrange(365))
    if state == "GA" and dice.random() < 0.3:
        day = datetime.date(2026, 5, dice.randrange(9, 14))
    elif state == "OH" and dice.random() < 0.3:
        day = datetime.date(2026, 8, 1) + datetime.timedelta(days=dice.randrange(-3, 12))
    regular = wages_of(dice, state, frequency)
    given: dict = {
        "pay_date": day.isoformat(),
        "pay_frequency": frequency,
        "regular_wages": cents(regular),
        "work_state": state,
        "federal": federal_of(dice),
        "state": certificate_of(dice, state),
    }
    if dice.random() < 0.6:
        end = day - datetime.timedelta(days=dice.randrange(0, 9))
        given["period_end"] = end.isoformat()
        given["period_start"] = (end - datetime.timedelta(days=dice.randrange(0, 31))).isoformat()
    bonus = 0
    if dice.random() < 0.3:
        bonus = dice.choice((dice.randrange(300_000), dice.randrange(30_000_000)))
        given["supplemental_wages"] = cents(bonus)
        given["supplemental_method"] = dice.choice(("aggregate", "flat"))
    if state in AGREEMENTS and dice.random() < 0.3:
        given["residence_state"] = dice.choice(AGREEMENTS[state])
        if dice.random() < 0.7:
            given["state"]["reciprocity_certificate_on_file"] = True
        if dice.random() < 0.6:
            given["residence"] = certificate_of(dice, given["residence_state"])
    if state == "NY" and dice.random() < 0.3:
        given["localities"] = dice.sample(("NYC", "YONKERS", "YONKERS-NONRESIDENT"), dice.randrange(1, 3))
    if dice.random() < 0.2:
        given["annual_wages_expected"] = cents(dice.randrange(1_000_000))
    if dice.random() < 0.2:
        given["relationship"] = dice.choice(RELATIONSHIPS)
    employer: dict = {}
    if dice.random() < 0.2:
        employer["sui_rate"] = Decimal(dice.randrange(0, 120_000)).scaleb(-6)
    for name in ("futa_liable", "sui_liable", "fica_liable"):
        if dice.random() < 0.08:
            employer[name] = False
    if state == "NY" and dice.random() < 0.2:
        employer["waived_lines"] = dice.sample(("NY-DBL-EE", "NY-PFL-EE"), dice.randrange(1, 3))
    if employer:
        given["employer"] = employer
    if dice.random() < 0.7:
        ytd, ytd_tax = year_to_date_of(dice, year, state, regular + bonus)
        given |= {"ytd": ytd, "ytd_tax": ytd_tax}
    return given


def engine_lines(given: dict) -> list[Line]:
    paycheck = calculate_paycheck(read_paycheck_input(given))
    return [
        Line(
            line.code,
            line.payer,
            Fraction(line.subject_wages),
            Fraction(line.taxable_wages),
            Fraction(line.amount),
        )
        for line in paycheck.lines
    ]


def readable(lines: list[Line]) -> list[str]:
    return [
        f"{line.code} {float(line.subject):.2f} {float(line.taxable):.2f} {float(line.amount):.2f}"
        for line in lines
    ]


@pytest.mark.parametrize(
    "chunk",
    [pytest.param(chunk, marks=() if chunk < IN_THE_SUITE else pytest.mark.long) for chunk in range(CHUNKS)],
)
def test_random_paychecks_agree_line_by_line(chunk):
    for seed in range(chunk, PAYCHECKS, CHUNKS):
        given = paycheck_of(seed)
        got, expected = engine_lines(given), expected_lines(given)
        if got != expected:
            assert readable(got) == readable(expected), f"seed {seed}: {given}"
            pytest.fail(f"seed {seed}: {given}")


#: State → the certificates that lead to each of its tables.
COLUMNS = {
    "CA": [{"filing_status": status, "regular_allowances": 2 * (status == "married")} for status in STATUSES]
    + [{"filing_status": "married"}],
    "GA": [{"marital_status": letter} for letter in "ABC"],
    "IL": [{}],
    "NJ": [{"rate_letter": letter} for letter in "ABCDE"],
    "NY": [
        {"filing_status": status, "nyc_resident": True, "yonkers": "nonresident_working_in_yonkers"}
        for status in ("single", "married")
    ],
    "OH": [{}],
    "PA": [{}],
}


def _tables_of_states():
    """Yield each state with its tables: where there are several, the suite has each other one, by turns."""
    for state, certificates in COLUMNS.items():
        by_turns: tuple[list, list] = ([], [])
        for (row, frequency), (column, certificate) in itertools.product(
            enumerate((*FREQUENCIES, "annual")), enumerate(certificates)
        ):
            by_turns[(row + column) % 2].append((frequency, certificate))
        if len(certificates) == 1:
            yield pytest.param(state, [*by_turns[0], *by_turns[1]], id=state)
        else:
            yield pytest.param(state, by_turns[0], id=state)
            yield pytest.param(state, by_turns[1], id=f"{state}-others", marks=pytest.mark.long)


@pytest.mark.parametrize(("state", "tables"), list(_tables_of_states()))
def test_every_bound_of_the_tables_agrees(state, tables):
    """A cent below, at and above: "over" and "at least" are told apart as they are printed."""
    for frequency, certificate in tables:
        for bound, offset in itertools.product(bounds_of(state, frequency), (-1, 0, 1)):
            given = {
                "pay_date": "2026-03-06",
                "pay_frequency": frequency,
                "regular_wages": cents(bound + offset),
                "work_state": state,
                "federal": {"elected": False},
                "state": {**certificate, "elected": True},
            }
            assert readable(engine_lines(given)) == readable(expected_lines(given)), given


def test_the_random_paychecks_reach_what_they_are_meant_to_reach():
    """The generator covers every line code, status, frequency and switch; else the agreement would prove little."""
    givens = [paycheck_of(seed) for seed in range(2_000)]
    assert {given["work_state"] for given in givens} == set(STATES)
    assert {given["pay_frequency"] for given in givens} == {*FREQUENCIES, *RARE_FREQUENCIES}
    assert {given.get("relationship") for given in givens} == {None, *RELATIONSHIPS}
    paid = {line.code for given in givens for line in engine_lines(given) if line.amount}
    lines = {tax["code"] for tax in law("2026", "us.toml")["contribution"]} | {"US-FIT", "US-FIT-SUP"}
    for state in STATES:
        rules = law("2026", "states", f"{state}.toml")
        lines |= {tax["code"] for tax in rules["contribution"]}
        lines |= {rules["income_tax"]["code"]} if "income_tax" in rules else set()
    lines |= {tax["code"] for tax in law("2026", "local", "NY.toml")["local"]}
    assert lines <= paid
