"""The law's table behind a line of a paycheck: its rows, and the one that was applied."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hearthpay.languages.catalogue import Say, mark
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.federal import FederalIncomeTax
from hearthpay.taxes.money import from_cents, rate_of
from hearthpay.taxes.rulebook import Rulebook
from hearthpay.taxes.state import StateRules
from hearthpay.taxes.trace import Step
from hearthpay.web.presentation import dollars_text, percent_text

_ROW: Final = "row of the "
_BASE: Final = "base tax of the row"
_RATE: Final = "rate of the row"
_COLUMN: Final = "column of the tables"
_STATUS: Final = ("filing status", "filing status (W-4 of 2019 or earlier)")
_TWO_JOBS: Final = "Step 2 box checked"
_YOU: Final = mark("You")
_NO_LIMIT: Final = mark("No limit")
_PAYER: Final = mark("Who pays")
_SHARE: Final = mark("Rate")
_UP_TO: Final = mark("Up to, a year")
_ABOVE: Final = mark("Above, a year")
_WAGES_FROM: Final = mark("Wages from")
_TAX: Final = mark("Tax")
_AND_ABOVE: Final = mark("Rate above")
_Rows = tuple[tuple[Decimal, Decimal, Decimal], ...]
"""Rows of a table of brackets: wages from, the rate of what is above, and the tax up to there."""

_OTHER_SHARE: Final = {"-EE": "ER", "-ER": "EE"}


@dataclass(frozen=True, slots=True)
class LawRow:
    """A row of a table: its first cell, its figures, and whether it applied to the paycheck."""

    name: str
    figures: tuple[str, ...]
    applies: bool


@dataclass(frozen=True, slots=True)
class LawTable:
    """A table of the law in the reader's words; `column` is its name in the law if it is one of several."""

    column: str
    heads: tuple[str, ...]
    rows: tuple[LawRow, ...]


def law_table(
    say: Say,
    code: str,
    rulebook: Rulebook,
    state: str,
    day: datetime.date,
    who: str,
    frequency: str,
    steps: tuple[Step, ...],
) -> LawTable | None:
    """Return the table behind a line; None if the law has no table, or the steps don't tell which row applied."""
    known = {step.label: step.value for step in steps}
    if code == rulebook.income_tax.code:
        found = _federal(rulebook.income_tax, known)
        return None if found is None else _brackets(say, *found, known)
    try:
        rules = rulebook.state(state)
    except TaxInputError:
        return None
    in_force = rules.contributions_by_code(day)
    if code in in_force:
        return _shares(say, in_force[code], in_force, who)
    if rules.income_tax is not None and rules.income_tax.code == code:
        return _of_state(say, rules, day, frequency, known)
    return None


def _shares(say: Say, line: Contribution, in_force: Mapping[str, Contribution], who: str) -> LawTable:
    """Return the rates of a flat tax: of the line, and of the other share if there are two."""
    other = in_force.get(f"{line.code[:-2]}{_OTHER_SHARE.get(line.code[-3:], '')}")
    lines = sorted(
        (each for each in (line, other) if each is not None), key=lambda each: each.payer != "employee"
    )
    rows = tuple(
        LawRow(
            who if each.payer == "employee" else say(_YOU),
            (percent_text(rate_of(each.rate)), _limit(say, each)),
            applies=each.code == line.code,
        )
        for each in lines
    )
    return LawTable("", (say(_PAYER), say(_SHARE), say(_ABOVE if line.wage_floor else _UP_TO)), rows)


def _limit(say: Say, line: Contribution) -> str:
    limit = line.wage_floor or line.wage_base
    return say(_NO_LIMIT) if limit is None else _whole(from_cents(limit))


def _federal(tax: FederalIncomeTax, known: Mapping[str, Decimal | str]) -> tuple[str, _Rows] | None:
    """Return the table of the filing status, with its name; None if the steps don't name one."""
    status = next((str(known[label]) for label in _STATUS if label in known), None)
    tables = tax.step_2_checkbox if known.get(_TWO_JOBS) == "True" else tax.standard
    table = None if status is None else tables.get(status)
    return None if table is None or status is None else (status.replace("_", " "), _rows(table))


def _rows(table: BracketTable) -> _Rows:
    return tuple(
        (from_cents(lower), rate_of(rate), from_cents(base))
        for lower, rate, base in zip(table.lowers, table.rates, table.bases, strict=True)
    )


def _of_state(
    say: Say, rules: StateRules, day: datetime.date, frequency: str, known: Mapping[str, Decimal | str]
) -> LawTable | None:
    """Return the state's table that has the row that was applied; None unless the steps point to a single one."""
    if rules.income_tax is None:
        return None
    applied = (_lower(known), known.get(_RATE), known.get(_BASE))
    figures = rules.income_tax.version(day, None, None).figures
    found = [(path, rows) for path, rows in _tables_in(figures, ()) if applied in rows]
    for name in (known.get(_COLUMN), frequency):
        found = [each for each in found if name in each[0]] or found
    if len({rows for _, rows in found}) != 1:
        return None
    column = " ".join(found[0][0][1:]).replace("_", " ") if len(found) == 1 else ""
    return _brackets(say, "" if column == "any" else column, found[0][1], known)


def _lower(known: Mapping[str, Decimal | str]) -> Decimal | str | None:
    """Return the wages from which the row that was applied begins."""
    return next((value for label, value in known.items() if label.startswith(_ROW)), None)


def _tables_in(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], _Rows]]:
    """Yield each table of brackets in the figures of a method, with the names that lead to it."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _tables_in(part, (*path, str(name)))
    elif isinstance(value, list) and value and all(isinstance(row, list) and len(row) == 3 for row in value):
        yield path, tuple((Decimal(row[0]), Decimal(row[1]), Decimal(row[2])) for row in value)


def _brackets(
    say: Say,
    column: str,
    rows: _Rows,
    known: Mapping[str, Decimal | str],
) -> LawTable:
    lower = _lower(known)
    shown = tuple(
        LawRow(_whole(each), (_whole(base), percent_text(rate)), applies=each == lower)
        for each, rate, base in rows
    )
    return LawTable(column, (say(_WAGES_FROM), say(_TAX), say(_AND_ABOVE)), shown)


def _whole(dollars: Decimal) -> str:
    text = dollars_text(dollars)
    return text.removesuffix(".00")
