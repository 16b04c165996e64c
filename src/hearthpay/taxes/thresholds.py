"""When a household owes anything: the yearly FICA threshold, and the quarterly federal and state ones."""

import functools
import json
from bisect import bisect_right
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple, cast

from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.messages import Message, message, of_rule, texts
from hearthpay.taxes.money import from_cents, to_cents
from hearthpay.taxes.rule_file import RuleTable, read_toml
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence, ThresholdStatus

_FILE = Path(__file__).parent / "rules" / "household_thresholds.toml"
QUARTERS = 4


class LiabilityThreshold(NamedTuple):
    """Cash wages from which a liability begins, in a year or a calendar quarter."""

    liability: str
    name: str
    period: Literal["year", "quarter"]
    cents: int
    rule: str
    sources: tuple[Source, ...]
    confidence: Confidence
    reaches_back_to: Literal["year", "quarter"] = "year"
    """Which wages are taxed once it is reached: from the first dollar of the year, or of the quarter that reaches
    it."""

    per_employee: bool = False
    """Whether each employee's wages are counted separately, or those of all household employees together."""

    next_year_too: bool = False
    """Whether reaching it in one year makes the household liable in the next one too."""

    @property
    def annualized_cents(self) -> int:
        """The threshold in annual wages, if they are spread evenly over the quarters."""
        return self.cents if self.period == "year" else self.cents * QUARTERS


class ThresholdCheck(NamedTuple):
    """A year's wages compared with the thresholds. Amounts are dollars."""

    tax_year: int
    state: str
    state_name: str
    annual_wages: Decimal
    fica_threshold: Decimal
    approaching_threshold: Decimal
    federal_status: ThresholdStatus
    futa_quarterly_threshold: Decimal
    state_threshold_quarterly: Decimal
    """The lowest quarterly cash wages from which the state requires anything."""

    state_status: ThresholdStatus
    state_explanation: str
    suta_threshold_quarterly: Decimal
    """The state's unemployment threshold."""

    suta_status: ThresholdStatus
    messages: tuple[Message, ...]
    """What the check leaves open, by code."""

    state_message: Message
    """The explanation by code: at which wages the state asks for what."""

    @property
    def limitations(self) -> tuple[str, ...]:
        """What the check leaves open, in English."""
        return texts(self.messages)


class _Thresholds(NamedTuple):
    fica: dict[int, LiabilityThreshold]
    futa: LiabilityThreshold
    states: dict[str, tuple[LiabilityThreshold, ...]]
    names: dict[str, str]
    approaching_percent: int


def _read(table: RuleTable, liability: str, period: Literal["year", "quarter"]) -> LiabilityThreshold:
    return LiabilityThreshold(
        liability=liability,
        name=table.text("name"),
        period=period,
        cents=table.cents("cash_wages"),
        rule=table.text("rule"),
        sources=table.sources(),
        confidence=table.confidence(),
        reaches_back_to=cast(
            'Literal["year", "quarter"]',
            table.choice("reaches_back_to", ("year", "quarter"), default="year"),
        ),
        per_employee=table.flag("per_employee", default=period == "year"),
        next_year_too=table.flag("next_year_too", default=period == "quarter"),
    )


@functools.cache
def _load() -> _Thresholds:
    table = RuleTable.load(_FILE)
    fica = {}
    for entry in table.tables("fica"):
        year = entry.integer("tax_year")
        fica[year] = _read(entry, "fica", "year")
        entry.close()
    futa_table = table.table("futa")
    futa = _read(futa_table, "futa", "quarter")
    futa_table.close()
    states: dict[str, tuple[LiabilityThreshold, ...]] = {}
    names: dict[str, str] = {}
    for entry in table.tables("state"):
        code = entry.text("state")
        names[code] = entry.text("state_name")
        rows = []
        for row in entry.tables("threshold"):
            rows.append(_read(row, row.text("liability"), "quarter"))
            row.close()
        states[code] = tuple(rows)
        entry.close()
    thresholds = _Thresholds(fica, futa, states, names, table.integer("approaching_percent"))
    table.close()
    return thresholds


@functools.cache
def canonical_thresholds(tax_year: int) -> bytes:
    """Return the thresholds of a year in one canonical form, for the digest.

    Layout, order and other years' entries don't affect it, so a threshold of 2027 leaves 2025 unchanged. Sources are
    left out: their names have no effect.
    """
    content = read_toml(_FILE)
    of_year = {
        "fica": [entry for entry in content["fica"] if entry["tax_year"] == tax_year],
        "futa": content["futa"],
        "state": sorted(content["state"], key=lambda entry: str(entry["state"])),
    }
    return json.dumps(of_year, sort_keys=True, default=str).encode()


def supported_threshold_years() -> tuple[int, ...]:
    """Return the years whose thresholds are known, ascending."""
    return tuple(sorted(_load().fica))


def known_liabilities(state: str) -> frozenset[str]:
    """Return the names that a contribution's ``liability`` may have in a state."""
    own = _load().states.get(state, ())
    return frozenset({"fica", "futa", "sui", "always", *(row.liability for row in own)})


@functools.cache
def liability_thresholds(state: str, tax_year: int) -> tuple[LiabilityThreshold, ...]:
    """Return the thresholds of federal law and of ``state`` (upper case) for a year.

    Raises `TaxInputError` with ``unsupported_tax_year`` or ``unsupported_jurisdiction``.
    """
    thresholds = _load()
    if tax_year not in thresholds.fica:
        years = ", ".join(map(str, supported_threshold_years()))
        raise TaxInputError(
            "tax_year", f"no household thresholds for {tax_year}; supported: {years}", "unsupported_tax_year"
        )
    if state not in thresholds.states:
        raise TaxInputError("state", f"no household thresholds for {state} yet", "unsupported_jurisdiction")
    return (thresholds.fica[tax_year], thresholds.futa, *thresholds.states[state])


@functools.cache
def _liabilities_by_threshold(state: str, tax_year: int) -> tuple[tuple[int, ...], list[frozenset[str]]]:
    """Return the annual thresholds in ascending order, and the liabilities that wages below each don't reach.

    The last set, of wages that reach all thresholds, is empty.
    """
    rows = liability_thresholds(state, tax_year)
    amounts = tuple(sorted({row.annualized_cents for row in rows}))
    unreached = [
        frozenset(row.liability for row in rows if row.annualized_cents >= amount) for amount in amounts
    ]
    return amounts, [*unreached, frozenset()]


def unreached_liabilities(state: str, tax_year: int, annual: int) -> frozenset[str]:
    """Return the liabilities whose threshold exceeds ``annual`` cents; raises as `liability_thresholds` does."""
    amounts, unreached = _liabilities_by_threshold(state, tax_year)
    return unreached[bisect_right(amounts, annual)]


def _status(annual: int, threshold: int, approaching_percent: int) -> ThresholdStatus:
    if annual >= threshold:
        return "above"
    return "approaching" if annual * 100 >= threshold * approaching_percent else "below"


def check_thresholds(state: str, annual_wages: Decimal, tax_year: int) -> ThresholdCheck:
    """Compare a year's cash wages of one employee with every household threshold of the year and state.

    Quarterly thresholds are compared with a quarter of the year's wages. A threshold is ``approaching`` from 80 % on
    and ``above`` once reached. Raises `TaxInputError` naming ``state``, ``annual_wages`` or ``tax_year``.
    """
    return thresholds_at(state.strip().upper(), to_cents(annual_wages, "annual_wages"), tax_year)


def thresholds_at(state: str, annual: int, tax_year: int) -> ThresholdCheck:
    """Return what `check_thresholds` does for ``annual`` cents in a state by its code in upper case."""
    table = _table(state, tax_year)
    percent = table.approaching_percent
    # By position: `_replace` and keywords take three times as long.
    year, code, name, _, fica, approaching, _, futa, lowest, _, explanation, suta, _, messages, said = (
        table.check
    )
    return ThresholdCheck(
        year,
        code,
        name,
        from_cents(annual),
        fica,
        approaching,
        _status(annual, table.fica, percent),
        futa,
        lowest,
        _status(annual, table.lowest, percent),
        explanation,
        suta,
        _status(annual, table.suta, percent),
        messages,
        said,
    )


class _Table(NamedTuple):
    """The thresholds of a state and year: annual cents to compare with, and the result they belong to."""

    fica: int
    lowest: int
    suta: int
    approaching_percent: int
    check: ThresholdCheck


@functools.cache
def _table(code: str, tax_year: int) -> _Table:
    thresholds = _load()
    rows = liability_thresholds(code, tax_year)
    fica, futa = rows[0], rows[1]
    own = rows[2:]
    suta = next(row for row in own if row.liability == "sui")
    lowest = min(own, key=lambda row: row.cents)
    percent = thresholds.approaching_percent
    starts = tuple(
        message("part_threshold_in_quarter", name=row.name, amount=f"{from_cents(row.cents):,.0f}")
        for row in own
    )
    name = thresholds.names[code]
    explained = message("state_thresholds", state=name, thresholds=starts)
    check = ThresholdCheck(
        tax_year=tax_year,
        state=code,
        state_name=name,
        annual_wages=from_cents(0),
        fica_threshold=from_cents(fica.cents),
        approaching_threshold=from_cents(fica.cents * percent // 100),
        federal_status="below",
        futa_quarterly_threshold=from_cents(futa.cents),
        state_threshold_quarterly=from_cents(lowest.cents),
        state_status="below",
        state_explanation=explained.text,
        suta_threshold_quarterly=from_cents(suta.cents),
        suta_status="below",
        messages=tuple(
            of_rule("threshold_not_verified", row.rule, "rule", name=row.name)
            for row in rows
            if row.confidence == "low"
        ),
        state_message=explained,
    )
    return _Table(fica.cents, lowest.annualized_cents, suta.annualized_cents, percent, check)
