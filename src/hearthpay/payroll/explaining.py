"""Why a line of a paycheck is what it is: steps, figures and sources, as the API spells them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast
from uuid import UUID

from pydantic import Field, WithJsonSchema

from hearthpay.access.refusal import invalid
from hearthpay.payroll.ledger.rows import LineRow, PayrollRecord
from hearthpay.payroll.schemas import PayrollRequest
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.paycheck.result import LineExplanation
from hearthpay.taxes.vocabulary import Confidence, Payer
from hearthpay.wire.fields import Text
from hearthpay.wire.money import Dollars, Rate

StepFigure = Annotated[object, WithJsonSchema({"type": ["number", "string"]})]


class ExplanationRequest(PayrollRequest):
    """A payroll as a preview takes it, and which line to explain."""

    line_code: Annotated[str, Text(longest=40)] | None = Field(
        default=None, description="As a preview names it, such as `US-SS-EE`; left out, every line."
    )


@dataclass(frozen=True, slots=True)
class CalculationStep:
    """One step, and the figure that it uses or comes to."""

    label: str
    value: StepFigure


@dataclass(frozen=True, slots=True)
class LawSource:
    """Where a figure is printed."""

    title: str
    url: str
    date: str


@dataclass(frozen=True, slots=True)
class ExplainedLine:
    """A line of one employee's paycheck, and how it came about."""

    employee_id: UUID
    code: str
    name: str
    payer: Payer
    agency: str
    taxable_wages: Dollars
    rate: Rate | None
    amount: Dollars
    steps: list[CalculationStep]
    sources: list[LawSource]
    confidence: Confidence | None
    """How sure the figures are; null where the line follows from what was charged before."""

    note: str


@dataclass(frozen=True, slots=True)
class Explanations:
    """Of a payroll that nobody has run."""

    employer_id: UUID
    explanations: list[ExplainedLine]


def explanations_of(record: PayrollRecord, line_code: str | None) -> Explanations:
    """Return how the lines came about, or one of them. Raises `validation_error` where there is no such line."""
    told = []
    for paycheck in record.paychecks:
        known = {each.code: each for each in paycheck.explanations}
        told += [
            _explained(paycheck.employee_id, line, known.get(line.code))
            for line in paycheck.lines
            if line_code in (None, line.code)
        ]
    if line_code is not None and not told:
        codes = dict.fromkeys(line.code for paycheck in record.paychecks for line in paycheck.lines)
        raise invalid("line_code", f"is not a line of this payroll; its lines are {', '.join(codes)}")
    return Explanations(record.employer_id, told)


def _explained(employee_id: UUID, line: LineRow, known: LineExplanation | None) -> ExplainedLine:
    return ExplainedLine(
        employee_id=employee_id,
        code=line.code,
        name=line.name,
        payer=cast(Payer, line.payer),
        agency=line.agency,
        taxable_wages=from_cents(line.taxable_wages),
        rate=line.rate,
        amount=from_cents(line.amount),
        steps=[] if known is None else [CalculationStep(step.label, step.value) for step in known.steps],
        sources=[] if known is None else [LawSource(*source) for source in known.sources],
        confidence=None if known is None else cast(Confidence, known.confidence),
        note="" if known is None else known.note,
    )
