"""Why a line of a paycheck is what it is: the plain sentence, the steps behind it, and the law with its table."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.languages.catalogue import Say
from hearthpay.payroll.ledger.estimates import EstimatedLine
from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.coverage import Law, law_behind
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.line_sentences import line_sentences
from hearthpay.taxes.paycheck.result import LineExplanation
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.trace import Source, Step
from hearthpay.web.household.payrolls.law_tables import LawTable, law_table
from hearthpay.web.household.payrolls.step_words import column_text, step_label, step_words
from hearthpay.web.message_text import message_text
from hearthpay.web.presentation import dollars_text, percent_text


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """One step in the reader's words."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class LineReason:
    """The explanation of one line: what it is, how it was calculated, and the law's table and sources."""

    name: str
    sentences: tuple[str, ...]
    steps: tuple[ExplainedStep, ...]
    table: LawTable | None
    sources: tuple[Source, ...]


def why_of(
    say: Say, language: str, paycheck: PaycheckRow, day: datetime.date, frequency: str
) -> Mapping[str, LineReason]:
    """Return the explanation of each explained line of a paycheck, by code. `frequency` is the pay schedule."""
    lines = {line.code: line for line in paycheck.lines}
    states = (paycheck.work_state, paycheck.residence_state)
    who = given_name(paycheck.employee_name)
    return {
        each.code: line_reason(
            say, language, lines[each.code], each, day=day, frequency=frequency, states=states, who=who
        )
        for each in paycheck.explanations
        if each.code in lines
    }


def line_reason(
    say: Say,
    language: str,
    line: LineRow | EstimatedLine,
    explanation: LineExplanation | None,
    *,
    day: datetime.date,
    frequency: str,
    states: Iterable[str],
    who: str,
) -> LineReason:
    """Return the explanation of a line; without `explanation`, what the law says alone. `states` may have the line."""
    rulebook = rulebook_of(day.year)
    steps = () if explanation is None else explanation.steps
    sentences: tuple[str, ...] = ()
    table: LawTable | None = None
    for state in dict.fromkeys((*states, line.code[:2])):
        if state in STATES:
            found = line_sentences(line.code, rulebook, state, day, who, line.rate)
            if found:
                sentences = tuple(message_text(say, language, each) for each in found)
                table = law_table(say, line.code, rulebook, state, day, who, frequency, steps)
                if table is not None and table.column:
                    table = replace(table, column=column_text(language, table.column))
                break
    return LineReason(
        line_name(line.code, line.name, language),
        sentences,
        tuple(_explained_step(say, language, step) for step in steps),
        table,
        () if explanation is None else explanation.sources,
    )


def given_name(name: str) -> str:
    """Return the first of a person's names, as sentences call her."""
    return name.split(maxsplit=1)[0] if name.strip() else name


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
    return ExplainedStep(step_label(say, language, step.label), _value(say, language, step))


def _value(say: Say, language: str, step: Step) -> str:
    if not isinstance(step.value, Decimal):
        return step_words(say, language, step.value)
    if step.label.startswith(("rate", "flat")):
        return percent_text(step.value)
    cents = step.value * 100
    return dollars_text(step.value) if cents == int(cents) else f"{step.value:f}"
