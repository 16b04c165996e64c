"""Why a line of a paycheck is what it is: steps, figures and sources, in the format of the API.

For a payroll that nobody has run, and for one on record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast
from uuid import UUID

from pydantic import Field, WithJsonSchema

from hearthpay.access.refusal import invalid
from hearthpay.payroll.ledger.rows import LineRow, PayrollRecord
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.payroll.schemas import PayrollRequest, StatusOfPayroll
from hearthpay.payroll.stored_explanations import PayrollOnRecord
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.paycheck.result import LineExplanation
from hearthpay.taxes.vocabulary import Confidence
from hearthpay.wire.answer_fields import (
    AgencyName,
    EmployeeIdentifier,
    HouseholdIdentifier,
    LineCode,
    LineName,
    LinePayer,
    PayrollIdentifier,
    SourceDate,
    SourceTitle,
    SourceUrl,
    YearOfTaxes,
)
from hearthpay.wire.fields import Identifier, RequestModel, Text
from hearthpay.wire.money import Dollars, Rate

StepFigure = Annotated[object, WithJsonSchema({"type": ["number", "string"]})]


class ExplanationRequest(PayrollRequest):
    """A payroll as a preview takes it, and the line to explain."""

    line_code: Annotated[str, Text(longest=40)] | None = Field(
        default=None, description="As a preview names it, such as `US-SS-EE`; left out, every line."
    )


@dataclass(frozen=True, slots=True)
class CalculationStep:
    """One step, and the figure that it uses or produces."""

    label: str
    """What the step does, in English."""

    value: StepFigure
    """The figure that it uses or produces: a number, or a text such as a table's name."""


@dataclass(frozen=True, slots=True)
class LawSource:
    """Where a figure is published."""

    title: SourceTitle
    url: SourceUrl
    date: SourceDate


@dataclass(frozen=True, slots=True)
class ExplainedLine:
    """A line of one employee's paycheck, and how it was calculated."""

    employee_id: EmployeeIdentifier
    code: LineCode
    name: LineName
    payer: LinePayer
    agency: AgencyName
    taxable_wages: Dollars
    """The part of the paycheck's wages that the tax was charged on."""

    rate: Rate | None
    """Null for taxes by a table, such as income tax."""

    amount: Dollars
    """The tax on this paycheck."""

    steps: list[CalculationStep]
    """How the amount follows from wages, figures and the certificate, in order."""

    sources: list[LawSource]
    """Where the figures are published."""

    confidence: Confidence | None
    """How certain the figures are; null if the line follows from what was charged before."""

    note: str
    """What to know about the line, in English; may be empty."""


@dataclass(frozen=True, slots=True)
class PreviewExplanations:
    """The explanations for a payroll that nobody has run."""

    employer_id: HouseholdIdentifier
    explanations: list[ExplainedLine]
    """The requested lines, employee by employee."""


@dataclass(frozen=True, slots=True)
class RecordedLine(ExplainedLine):
    """A line of a payroll on record, and how it was calculated."""

    reproduced: bool
    """Whether calculating it again gives the recorded figures. If false, the certificate, a rate, earlier wages or
    the rules have changed since: `steps` are the recorded figures, and `note` says so."""


@dataclass(frozen=True, slots=True)
class RecordedRulebook:
    """The rules that the payroll was calculated under, and those currently in force here."""

    version: str
    """Fingerprint of the rules that the payroll was calculated under."""

    tax_year: YearOfTaxes
    version_now: str | None
    """Null if this installation no longer has rules for the year."""

    changed: bool
    """Whether the year's rules have changed since."""


@dataclass(frozen=True, slots=True)
class PayrollExplanations:
    """The explanations for a payroll on record."""

    employer_id: HouseholdIdentifier
    payroll_id: PayrollIdentifier
    status: StatusOfPayroll
    is_estimated: bool
    """It is scheduled and not sent yet: the lines are what it would be now."""

    rulebook: RecordedRulebook
    """The rules that the payroll was calculated under, and whether they changed since."""

    explanations: list[RecordedLine]
    """The requested lines, employee by employee."""


class ExplanationQuery(RequestModel):
    """Whose lines to explain, and which."""

    employee_id: Identifier | None = Field(
        default=None, description="Whom the payroll pays; left out, everyone it pays."
    )
    line_code: Annotated[str, Text(longest=40)] | None = Field(
        default=None, description="As the payroll names it, such as `US-SS-EE`; left out, every line."
    )


def recorded_explanations_of(
    found: PayrollOnRecord, employee_id: UUID | None, line_code: str | None
) -> PayrollExplanations:
    """Return how the lines of a payroll on record were calculated, for one employee and one line if given.

    Raises `validation_error` for an employee whom it doesn't pay, and for a line that it doesn't have.
    """
    payroll = found.payroll
    of_employee = [each for each in found.lines if employee_id in (None, each.employee_id)]
    if not of_employee:
        raise invalid("employee_id", "is not paid by this payroll")
    requested = [each for each in of_employee if line_code in (None, each.line.code)]
    if not requested:
        codes = dict.fromkeys(each.line.code for each in of_employee)
        raise invalid("line_code", f"is not a line of this payroll; its lines are {', '.join(codes)}")
    return PayrollExplanations(
        employer_id=payroll.employer_id,
        payroll_id=payroll.id,
        status=cast(PayrollStatus, payroll.status),
        is_estimated=found.is_estimated,
        rulebook=RecordedRulebook(
            payroll.rulebook_version,
            payroll.tax_year,
            found.rulebook_now,
            changed=found.rulebook_now != payroll.rulebook_version,
        ),
        explanations=[
            RecordedLine(
                **_parts_of(each.employee_id, each.line, each.explanation), reproduced=each.reproduced
            )
            for each in requested
        ],
    )


def explanations_of(record: PayrollRecord, line_code: str | None) -> PreviewExplanations:
    """Return how the lines were calculated, or one of them. Raises `validation_error` if there is no such line."""
    explained = []
    for paycheck in record.paychecks:
        known = {each.code: each for each in paycheck.explanations}
        explained += [
            ExplainedLine(**_parts_of(paycheck.employee_id, line, known.get(line.code)))
            for line in paycheck.lines
            if line_code in (None, line.code)
        ]
    if line_code is not None and not explained:
        codes = dict.fromkeys(line.code for paycheck in record.paychecks for line in paycheck.lines)
        raise invalid("line_code", f"is not a line of this payroll; its lines are {', '.join(codes)}")
    return PreviewExplanations(record.employer_id, explained)


def _parts_of(employee_id: UUID, line: LineRow, known: LineExplanation | None) -> dict[str, Any]:
    """Return the fields of an explained line."""
    return {
        "employee_id": employee_id,
        "code": line.code,
        "name": line.name,
        "payer": line.payer,
        "agency": line.agency,
        "taxable_wages": from_cents(line.taxable_wages),
        "rate": line.rate,
        "amount": from_cents(line.amount),
        "steps": [] if known is None else [CalculationStep(step.label, step.value) for step in known.steps],
        "sources": [] if known is None else [LawSource(*source) for source in known.sources],
        "confidence": (known.confidence or None) if known is not None else None,
        "note": "" if known is None else known.note,
    }
