"""Federal income tax withholding: Worksheet 1A of IRS Publication 15-T, and supplemental wages."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from hearthpay.taxes.agencies import FEDERAL, read_agency
from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import (
    MAX_COUNT,
    FederalCertificate,
    Pre2020Certificate,
    PreFilingStatus,
)
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.heading import Heading
from hearthpay.taxes.money import RATE_SCALE, to_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source, Trace
from hearthpay.taxes.vocabulary import Confidence, FilingStatus, Payer
from hearthpay.taxes.withholding.annualized import annualized_tax

STATUSES = get_args(FilingStatus)
PRE_2020_STATUSES = get_args(PreFilingStatus)
_FORMS_BY_AGE = ("current_form", "older_form")


@dataclass(frozen=True, slots=True)
class FederalIncomeTax:
    """The annual percentage method tables for automated payroll systems, and the supplemental rates."""

    code: str
    name: str
    agency: str
    periods: Mapping[str, int]
    standard: Mapping[str, BracketTable]
    step_2_checkbox: Mapping[str, BracketTable]
    line_1g: Mapping[str, int]
    """Line 1g, by filing status; zero if the Step 2 box is checked."""

    allowance: int
    nonresident_alien: Mapping[str, int]
    """Cents a year added to a nonresident alien's wages, by the age of the form: `current_form`, `older_form`."""

    supplemental_code: str
    supplemental_rate: int
    supplemental_limit: int
    supplemental_rate_over_limit: int
    effective_from: datetime.date
    sources: tuple[Source, ...]
    confidence: Confidence
    heading: Heading = field(init=False, repr=False, compare=False)
    supplemental_heading: Heading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Create the headings of the two lines."""
        rest: tuple[Payer, str, str] = ("employee", self.agency, "federal_income_tax")
        name = f"{self.name} on supplemental wages"
        object.__setattr__(self, "heading", Heading(self.code, self.name, *rest))
        object.__setattr__(self, "supplemental_heading", Heading(self.supplemental_code, name, *rest))

    def withhold(
        self, wages: int, frequency: str, certificate: FederalCertificate, trace: Trace | None
    ) -> int:
        """Return the tax in cents on ``wages`` cents of a period by Worksheet 1A, without Step 4(c).

        Only the last step is rounded, to the nearest cent. Raises `TaxInputError` for an unknown status or an
        impossible entry of the certificate.
        """
        periods = self.periods.get(frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"must be one of {', '.join(self.periods)}")
        if trace is not None:
            trace.cents("wages of the period (1a)", wages)
        if certificate.nonresident_alien and wages > 0:
            wages += self._nonresident_addition(certificate, periods, trace)
        annual = wages * periods
        if trace is not None:
            trace.text("pay periods a year (1b)", periods)
            trace.cents("annual wages (1c)", annual)
        credit = 0
        if certificate.pre_2020 is None:
            annual, table = self._adjusted(annual, certificate, trace)
            if certificate.dependents_credit:
                credit = to_cents(certificate.dependents_credit, "federal.dependents_credit")
        else:
            annual, table = self._adjusted_by_old_certificate(annual, certificate.pre_2020, trace)
        if annual < 0:
            annual = 0
        if trace is not None:
            trace.cents("adjusted annual wage amount (2a)", annual)
        return annualized_tax(annual, periods, table, credit, 1, trace)

    def _nonresident_addition(
        self, certificate: FederalCertificate, periods: int, trace: Trace | None
    ) -> int:
        """Return the cents added to a nonresident alien's wages of a period.

        Publication 15-T prints the year's amount by period, to ten cents; nobody is paid it.
        """
        form = "current_form" if certificate.pre_2020 is None else "older_form"
        addition = 10 * half_up(self.nonresident_alien[form], 10 * periods)
        if trace is not None:
            trace.cents("added for a nonresident alien", addition)
        return addition

    def _adjusted(
        self, annual: int, certificate: FederalCertificate, trace: Trace | None
    ) -> tuple[int, BracketTable]:
        """Return annual wages by lines 1d to 1i, which may be negative, and the table of Step 2."""
        status = certificate.filing_status
        if status not in self.standard:
            raise TaxInputError("federal.filing_status", f"must be one of {', '.join(STATUSES)}")
        if certificate.other_income:
            annual += to_cents(certificate.other_income, "federal.other_income")
        if certificate.deductions:
            annual -= to_cents(certificate.deductions, "federal.deductions")
        line_1g = 0 if certificate.multiple_jobs else self.line_1g[status]
        if trace is not None:
            trace.text("filing status", status)
            trace.text("Step 2 box checked", certificate.multiple_jobs)
            trace.text("other income (1d)", certificate.other_income)
            trace.text("deductions (1f)", certificate.deductions)
            trace.cents("line 1g", line_1g)
        tables = self.step_2_checkbox if certificate.multiple_jobs else self.standard
        return annual - line_1g, tables[status]

    def _adjusted_by_old_certificate(
        self, annual: int, certificate: Pre2020Certificate, trace: Trace | None
    ) -> tuple[int, BracketTable]:
        """Return annual wages by lines 1j to 1l, which may be negative, and the table of the marital status."""
        if certificate.marital_status not in PRE_2020_STATUSES:
            raise TaxInputError(
                "federal.pre_2020.marital_status", f"must be one of {', '.join(PRE_2020_STATUSES)}"
            )
        if not 0 <= certificate.allowances <= MAX_COUNT:
            raise TaxInputError("federal.pre_2020.allowances", f"must be between 0 and {MAX_COUNT}")
        allowed = certificate.allowances * self.allowance
        if trace is not None:
            trace.text("filing status (W-4 of 2019 or earlier)", certificate.marital_status)
            trace.cents(f"{certificate.allowances} allowances (1k)", allowed)
        return annual - allowed, self.standard[
            "married" if certificate.marital_status == "married" else "single"
        ]

    def supplemental(self, wages: int, over_limit: int) -> int:
        """Return the flat-rate tax in cents on supplemental ``wages``, of which ``over_limit`` exceed the limit."""
        return half_up((wages - over_limit) * self.supplemental_rate, RATE_SCALE) + half_up(
            over_limit * self.supplemental_rate_over_limit, RATE_SCALE
        )


def read_federal_income_tax(table: RuleTable, periods: Mapping[str, int]) -> FederalIncomeTax:
    """Compile ``[income_tax]`` of the federal rule file; raises `RuleError` naming what is wrong."""
    standard = table.table("standard")
    checkbox = table.table("step_2_checkbox")
    tax = FederalIncomeTax(
        code=table.text("code"),
        name=table.text("name"),
        agency=read_agency(table, FEDERAL),
        periods=periods,
        standard={status: standard.brackets(status) for status in STATUSES},
        step_2_checkbox={status: checkbox.brackets(status) for status in STATUSES},
        line_1g=table.cents_by_key("line_1g", STATUSES),
        allowance=table.cents("allowance"),
        nonresident_alien=table.cents_by_key("nonresident_alien", _FORMS_BY_AGE),
        supplemental_code=table.text("supplemental_code"),
        supplemental_rate=table.rate("supplemental_rate"),
        supplemental_limit=table.cents("supplemental_limit"),
        supplemental_rate_over_limit=table.rate("supplemental_rate_over_limit"),
        effective_from=table.effective_from(),
        sources=table.sources(),
        confidence=table.confidence(),
    )
    for form in _FORMS_BY_AGE:
        if form not in tax.nonresident_alien:
            raise table.error("nonresident_alien", f"{form} is missing")
    for status in STATUSES:
        if status not in tax.line_1g:
            raise table.error("line_1g", f"{status} is missing")
    standard.close()
    checkbox.close()
    table.close()
    return tax
