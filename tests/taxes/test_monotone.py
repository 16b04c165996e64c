"""More wages never bear less income tax, save where a printed table falls by itself: all of those are listed.

A table falls where the base tax printed for a row, often a rounded one, is below what the row before leads to. New
York's and Arkansas' marginal rates go up and down on purpose; the tax itself must rise all the same.
"""

import functools
import itertools
import tomllib
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest

import hearthpay.taxes
from hearthpay.taxes import FederalCertificate
from hearthpay.taxes.withholding import PeriodPay
from tests.taxes.strategies import FREQUENCIES, RULEBOOK, STATES, YEAR

RULES = Path(hearthpay.taxes.__file__).parent / "rules" / str(YEAR)
PERIODS = RULEBOOK.pay_periods
#: Wages are looked at up to this many dollars a year.
MOST_A_YEAR = 600_000
#: Cents looked at on either side of every figure.
AROUND = range(-2, 3)
STATUSES = ("single", "married", "head_of_household")

#: State → pay frequency → wages of the period, in cents, from which on the tax of some status is less than just below.
KNOWN_FALLS: dict[str, dict[str, set[int]]] = {
    "US": {
        "monthly": {907_817},
    },
    "AR": {
        "weekly": {197_060},
        "biweekly": {394_120},
        "semimonthly": {426_963},
        "monthly": {853_925},
    },
    "DC": {
        "weekly": {480_770},
        "semimonthly": {250_001},
    },
    "HI": {
        "weekly": {100_674},
        "biweekly": {53_654, 109_039, 127_500, 201_347},
        "semimonthly": {58_125, 118_125, 138_125, 218_125},
        "monthly": {116_250, 236_250, 276_250, 436_250},
    },
    "KS": {
        "weekly": {51_201, 104_301},
        "semimonthly": {110_901, 226_001},
        "monthly": {221_701},
    },
    "NJ": {
        "weekly": {38_501, 96_201, 288_501},
        "biweekly": {134_601, 192_301, 230_801, 269_201, 288_501, 307_701, 1_923_101},
        "semimonthly": {145_801, 166_701, 250_001, 291_701, 416_701, 2_083_301},
        "monthly": {166_701, 333_301, 416_701, 833_301, 1_250_001, 4_166_701},
    },
    "NM": {
        "weekly": {54_001, 61_701, 79_901, 102_101, 109_801, 143_401, 223_301, 629_001},
        "biweekly": {
            94_401,
            108_001,
            123_501,
            159_801,
            225_201,
            238_801,
            392_701,
            431_101,
            838_701,
            1_273_501,
        },
        "semimonthly": {56_501, 102_301, 117_001, 133_801, 244_001, 467_001, 483_801},
        "monthly": {167_301, 171_301, 234_001, 267_501, 346_301, 621_301, 934_001, 967_501, 2_759_201},
    },
    "NY": {
        "weekly": {36_730, 37_790, 169_330, 170_390, 200_430, 201_490, 318_490, 524_630, 732_990},
        "biweekly": {73_460, 75_580, 338_660, 340_780, 444_580, 636_880, 856_960},
        "semimonthly": {79_635, 81_925, 366_835, 369_125, 481_625, 690_025},
        "monthly": {159_170, 163_750, 733_770, 738_350, 963_350, 1_380_050},
    },
    "NY-NYC": {
        "weekly": {25_015, 25_975, 38_415, 39_375, 57_715, 58_675},
        "biweekly": {76_930, 78_850, 115_430, 117_350},
        "semimonthly": {83_335, 85_415, 125_035, 127_115},
        "monthly": {166_670, 170_830},
    },
    "OR": {
        "weekly": {96_154},
        "biweekly": {192_308},
        "semimonthly": {208_334},
        "monthly": {416_667},
    },
    "VT": {
        "weekly": {500_401},
    },
}


def _figures(figures: object, frequency: str) -> tuple[set[int], set[int]]:
    """Return the figures of a rule version for a pay period, in cents: those in rows, and the single ones."""
    in_rows: set[int] = set()
    single: set[int] = set()

    def collect(item: object, found: set[int]) -> None:
        if isinstance(item, dict):
            for key, value in item.items():
                if key == frequency or key not in PERIODS:
                    collect(value, found)
        elif isinstance(item, list):
            for value in item:
                collect(value, in_rows)
        elif isinstance(item, int | Decimal) and not isinstance(item, bool) and item > 3:
            found.add(int(item * 100))

    collect(figures, single)
    return in_rows, single


def _points(figures: object, frequency: str) -> list[int]:
    """Return the wages of a period, in cents, around every figure, alone and on top of every single figure."""
    periods = PERIODS[frequency]
    rows, single = _figures(figures, frequency)
    rows |= {cents // periods for cents in rows | single}
    single |= {cents // periods for cents in single}
    edges = rows | single | {row + free for row in rows for free in single}
    most = MOST_A_YEAR * 100 // periods
    return sorted({edge + offset for edge in edges for offset in AROUND if 0 <= edge + offset <= most})


def _falls(tax: Callable[[int], int], points: list[int]) -> Iterator[int]:
    """Yield the wages, in cents, at which the tax is lower than at the point before."""
    taxes = [tax(cents) for cents in points]
    for (_, before), (cents, after) in itertools.pairwise(zip(points, taxes, strict=True)):
        if after < before:
            yield cents


def _certificates(form) -> list[dict[str, object]]:
    """Return the certificate of somebody who filed none, and one for every choice of every entry."""
    found = [dict(form.defaults)]
    for field in form.fields.values():
        values = sorted(set(field.choices.values())) if field.kind == "choice" else []
        if field.kind == "flag" and field.name not in (
            "elected",
            "exempt",
            "reciprocity_certificate_on_file",
        ):
            values = [not field.default]
        if len(values) <= 12:
            found += [{**form.defaults, field.name: value} for value in values]
    return found


def _listed(falls: dict[str, set[int]]) -> dict[str, set[int]]:
    return {frequency: found for frequency, found in falls.items() if found}


@functools.cache
def _raw(*parts: str) -> dict:
    return tomllib.loads(RULES.joinpath(*parts).read_text("utf-8"), parse_float=Decimal)


@pytest.mark.parametrize("state", [state for state in STATES if RULEBOOK.state(state).income_tax is not None])
def test_state_income_tax_rises_with_wages(state):
    tax = RULEBOOK.state(state).income_tax
    falls: dict[str, set[int]] = {frequency: set() for frequency in FREQUENCIES}
    for version, raw in zip(
        tax.versions, _raw("states", f"{state}.toml")["income_tax"]["version"], strict=True
    ):
        for frequency in FREQUENCIES:
            points = _points(raw["figures"], frequency)
            for certificate in _certificates(tax.form):

                def withheld(cents, version=version, frequency=frequency, certificate=certificate):
                    return version.method.withhold(PeriodPay(cents, frequency, 0, 0), certificate, None)

                falls[frequency].update(_falls(withheld, points))
    assert _listed(falls) == KNOWN_FALLS.get(state, {})


def test_federal_income_tax_rises_with_wages():
    falls: dict[str, set[int]] = {frequency: set() for frequency in FREQUENCIES}
    for status, multiple_jobs in itertools.product(STATUSES, (False, True)):
        certificate = FederalCertificate(filing_status=status, multiple_jobs=multiple_jobs)
        for frequency in FREQUENCIES:

            def withheld(cents, frequency=frequency, certificate=certificate):
                return RULEBOOK.income_tax.withhold(cents, frequency, certificate, None)

            falls[frequency].update(_falls(withheld, _points(_raw("us.toml")["income_tax"], frequency)))
    assert _listed(falls) == KNOWN_FALLS.get("US", {})


@pytest.mark.parametrize("locality", [tax.locality for tax in RULEBOOK.state("NY").local_taxes])
def test_new_york_local_taxes_rise_with_wages(locality):
    rules = RULEBOOK.state("NY")
    position, tax = next(
        (position, tax) for position, tax in enumerate(rules.local_taxes) if tax.locality == locality
    )
    raw = _raw("local", "NY.toml")["local"][position]["figures"]
    falls: dict[str, set[int]] = {frequency: set() for frequency in FREQUENCIES}
    for frequency in FREQUENCIES:
        for status in ("single", "married"):
            certificate = {**rules.income_tax.form.defaults, "filing_status": status}

            def withheld(cents, frequency=frequency, certificate=certificate):
                return tax.method.withhold(PeriodPay(cents, frequency, 0, 0), certificate, cents // 20, None)

            falls[frequency].update(_falls(withheld, _points(raw, frequency)))
    assert _listed(falls) == KNOWN_FALLS.get(f"NY-{locality}", {})


def test_every_listed_state_has_rules():
    """A list that outlives its tables hides the next fall."""
    assert {name[:2] for name in KNOWN_FALLS} <= {"US", *RULEBOOK.supported_states}
