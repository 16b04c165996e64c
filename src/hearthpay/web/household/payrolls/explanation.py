"""Why a line of a paycheck is what it is: the steps behind it, and the law with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.ledger.rows import PaycheckRow
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.coverage import Law, law_behind
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.trace import Source, Step
from hearthpay.web.household.payrolls.page_messages import STEPS
from hearthpay.web.presentation import dollars_text, percent_text

_YES_OR_NO: Final = {"True": mark("yes"), "False": mark("no")}


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """One step in the reader's words; `foreign`: it is available in English only."""

    label: str
    value: str
    foreign: bool


@dataclass(frozen=True, slots=True)
class LineReason:
    """The explanation of one line."""

    name: str
    steps: tuple[ExplainedStep, ...]
    sources: tuple[Source, ...]
    note: str


def why_of(say: Say, language: str, paycheck: PaycheckRow) -> Mapping[str, LineReason]:
    """Return the explanation of each explained line of a paycheck, by code."""
    names = {line.code: line_name(line.code, line.name, language) for line in paycheck.lines}
    return {
        each.code: LineReason(
            names[each.code],
            tuple(_explained_step(say, language, step) for step in each.steps),
            each.sources,
            each.note,
        )
        for each in paycheck.explanations
        if each.code in names
    }


def laws_of(code: str, tax_year: int, state: str) -> tuple[Law, ...]:
    """Return the law behind a line of a year, each version of it; nothing for a line that the law no longer has."""
    rulebook = rulebook_of(tax_year)
    for where in (None, state, code[:2]):
        try:
            return law_behind(code, rulebook, where)
        except TaxInputError:
            continue
    return ()


def _explained_step(say: Say, language: str, step: Step) -> ExplainedStep:
    known = step.label in STEPS
    return ExplainedStep(
        say(step.label) if known else step.label, _value(say, step), language != "en" and not known
    )


def _value(say: Say, step: Step) -> str:
    if not isinstance(step.value, Decimal):
        return say(_YES_OR_NO[step.value]) if step.value in _YES_OR_NO else step.value
    if step.label.startswith(("rate", "flat")):
        return percent_text(step.value)
    cents = step.value * 100
    return dollars_text(step.value) if cents == int(cents) else f"{step.value:f}"
