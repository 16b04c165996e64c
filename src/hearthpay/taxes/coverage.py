"""The contents of the rulebooks: every tax with its version, confidence and sources, and the law behind one line."""

import datetime
import difflib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.finality import Finality
from hearthpay.taxes.local import LocalTax
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rulebook import Rulebook
from hearthpay.taxes.state import StateIncomeTax, StateRules
from hearthpay.taxes.supplemental_wages import supplemental_rule
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

FEDERAL = "US"


class CoverageRow(NamedTuple):
    """One version of one tax."""

    jurisdiction: str
    code: str
    name: str
    payer: str
    effective_from: datetime.date
    effective_to: datetime.date | None
    confidence: Confidence
    sources: tuple[Source, ...]
    finality: Finality | None
    """What the figures are based on if they aren't published for the year; None if they are."""


def coverage(rulebook: Rulebook) -> Iterator[CoverageRow]:
    """Yield every tax of a year's rulebook: federal first, then state by state."""
    tax = rulebook.income_tax
    yield CoverageRow(
        FEDERAL,
        tax.code,
        tax.name,
        "employee",
        tax.effective_from,
        None,
        tax.confidence,
        tax.sources,
        rulebook.finality.get(tax.code),
    )
    for line in rulebook.contributions:
        yield _contribution_row(FEDERAL, line, rulebook.finality)
    for code in rulebook.supported_states:
        yield from state_coverage(rulebook.state(code))


def state_coverage(rules: StateRules) -> Iterator[CoverageRow]:
    """Yield every tax of a state: income tax by version, contributions, local taxes."""
    if rules.income_tax is not None:
        tax = rules.income_tax
        for version, following in zip(tax.versions, (*tax.versions[1:], None), strict=True):
            until = following.effective_from - datetime.timedelta(days=1) if following is not None else None
            yield CoverageRow(
                rules.state,
                tax.code,
                tax.name,
                "employee",
                version.effective_from,
                until,
                version.confidence,
                version.sources,
                rules.finality.get(tax.code),
            )
    for line in rules.contributions:
        yield _contribution_row(rules.state, line, rules.finality)
    for local in rules.local_taxes:
        yield _local_row(rules.state, local, rules.finality)


def _contribution_row(jurisdiction: str, line: Contribution, finality: Mapping[str, Finality]) -> CoverageRow:
    return CoverageRow(
        jurisdiction,
        line.code,
        line.name,
        line.payer,
        line.effective_from,
        line.effective_to,
        line.confidence,
        line.sources,
        finality.get(line.code),
    )


def _local_row(state: str, local: LocalTax, finality: Mapping[str, Finality]) -> CoverageRow:
    return CoverageRow(
        state,
        local.code,
        local.name,
        local.payer,
        local.effective_from,
        local.effective_to,
        local.confidence,
        local.sources,
        finality.get(local.code),
    )


class Law(NamedTuple):
    """The law behind a line, as facts by label, and where the facts are published."""

    code: str
    name: str
    facts: tuple[tuple[str, str], ...]
    sources: tuple[Source, ...]


def law_behind(code: str, rulebook: Rulebook, state: str | None) -> tuple[Law, ...]:
    """Return the law behind a line code, one entry for each version; federal lines need no state.

    Raises `TaxInputError` naming ``code`` for a line that is neither federal nor the state's.
    """
    requested = code.strip().upper()
    found = list(_federal_law(requested, rulebook))
    if state is not None:
        found += _state_law(requested, rulebook.state(state, "state"))
    if not found:
        where = "federal law" if state is None else f"federal law or {state.upper()}"
        known = {
            row.code
            for row in coverage(rulebook)
            if state is None or row.jurisdiction in (FEDERAL, state.upper())
        }
        close = sorted(
            each for each in known if each.startswith(f"{requested}-")
        ) or difflib.get_close_matches(requested[:40], known, n=1)
        suggestion = f"; did you mean {' or '.join(close[:3])}?" if close else ""
        raise TaxInputError("code", f"{code!r} is not a line of {where}{suggestion}")
    return tuple(found)


def _federal_law(code: str, rulebook: Rulebook) -> Iterator[Law]:
    tax = rulebook.income_tax
    if code in (tax.code, tax.supplemental_code):
        facts = [
            ("Method", "Publication 15-T, Worksheet 1A (annual percentage method tables)"),
            ("In force from", str(tax.effective_from)),
            ("Confidence", tax.confidence),
            ("Allowance of a W-4 of 2019 or earlier", _money(tax.allowance)),
            ("Supplemental wages, optional flat rate", _percent(tax.supplemental_rate)),
            (
                f"Supplemental wages above {_money(tax.supplemental_limit)} a year",
                _percent(tax.supplemental_rate_over_limit),
            ),
        ]
        for title, tables in (("Table", tax.standard), ("Step 2 table", tax.step_2_checkbox)):
            for status, table in tables.items():
                rows = zip(table.lowers, table.rates, table.bases, strict=True)
                text = "; ".join(
                    f"from {_money(lower)}: {_money(base)} + {_percent(rate)}" for lower, rate, base in rows
                )
                facts.append((f"{title}, {status}", text))
        yield Law(tax.code, tax.name, tuple(facts), tax.sources)
    for line in rulebook.contributions:
        if line.code == code:
            yield _contribution_law(line)


def _state_law(code: str, rules: StateRules) -> Iterator[Law]:
    if rules.income_tax is not None and rules.income_tax.code == code:
        yield from _income_tax_law(rules.income_tax)
    for line in rules.contributions:
        if line.code == code:
            yield _contribution_law(line)
    for local in rules.local_taxes:
        if local.code == code:
            facts = [
                ("Chosen by locality", local.locality),
                ("Active", _span(local.effective_from, local.effective_to)),
                ("Confidence", local.confidence),
            ]
            if local.note:
                facts.append(("Note", local.note))
            yield Law(local.code, local.name, tuple(facts), local.sources)


def _income_tax_law(tax: StateIncomeTax) -> Iterator[Law]:
    supplemental = supplemental_rule(tax.code[:2])
    for version in tax.versions:
        facts = [
            ("Withheld by a household", f"{tax.household}. {tax.household_note}".strip()),
            ("Certificate", f"{tax.form.form}: {', '.join(tax.form.known)}"),
            *((f"Not taken: {entry.name}", entry.note) for entry in tax.form.refused),
            ("In force from", f"{version.effective_from}, by {tax.selected_by.replace('_', ' ')}"),
            ("Method", version.method_name),
            ("Confidence", version.confidence),
        ]
        if version.supplemental_rate is not None:
            facts.append(("Supplemental wages, flat rate", _percent(version.supplemental_rate)))
        facts.append(("Supplemental wages in a payroll", f"{supplemental.method}. {supplemental.note}"))
        if version.note:
            facts.append(("Note", version.note))
        facts += [(f"Figures: {name}", _figure(value)) for name, value in version.figures.items()]
        sources = tuple(dict.fromkeys((*version.sources, *supplemental.sources)))
        yield Law(tax.code, tax.name, tuple(facts), sources)


def _contribution_law(line: Contribution) -> Law:
    facts = [
        ("Paid by", line.payer),
        ("Agency", line.agency),
        ("Rate", _percent(line.rate)),
        ("Wage base of a year", "none" if line.wage_base is None else _money(line.wage_base)),
        ("Active", _span(line.effective_from, line.effective_to)),
        ("Switched on by", line.liability),
        ("Not on wages of", ", ".join(sorted(line.exempt_relationships)) or "nobody is exempt"),
        ("Confidence", line.confidence),
    ]
    if line.wage_floor:
        facts.insert(3, ("On wages of a year above", _money(line.wage_floor)))
    if line.period_maximum is not None:
        facts.insert(4, ("At most a week", _money(line.period_maximum["weekly"])))
    if line.assigned_rate:
        facts.append(("Household's own rate", "takes the place of the new-employer rate"))
    if line.waivable:
        facts.append(
            ("May be left out", "where the household's coverage is not required or it bears the share")
        )
    if line.note:
        facts.append(("Note", line.note))
    return Law(line.code, line.name, tuple(facts), line.sources)


def _span(start: datetime.date, end: datetime.date | None) -> str:
    return f"from {start}" if end is None else f"from {start} to {end}"


def _money(cents: int) -> str:
    return f"{from_cents(cents):,}"


def _percent(rate: int) -> str:
    return f"{Decimal(rate).scaleb(-7).normalize():f} %"


def _figure(value: object) -> str:
    """Return a figure of a rule file as text: tables as name=value, rows in brackets."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={_figure(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(_figure(item) for item in value) + "]"
    return str(value)
