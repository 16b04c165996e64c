"""Requests and answers of calculations and threshold checks."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from hearthpay.employees.commands import PayFrequency
from hearthpay.taxes.vocabulary import FilingStatus, ThresholdStatus
from hearthpay.wire.fields import RequestModel, StateCode
from hearthpay.wire.messages import MessageItem
from hearthpay.wire.money import Amount, Dollars, Percent, Rate

AnnualWages = Annotated[Decimal, Amount(maximum=Decimal(999_999))]
AnnualWagesQuery = Annotated[Decimal, Amount(maximum=Decimal(999_999), from_query=True)]


class Calculation(RequestModel):
    """A year of household employment to estimate."""

    state: StateCode = Field(description="Where the work is done.")
    annual_wages: AnnualWages = Field(description="Gross cash wages of the year.")
    pay_frequency: PayFrequency = "biweekly"
    filing_status: FilingStatus = Field(default="single", description="The employee's, on Form W-4.")
    residence_state: StateCode | None = Field(default=None, description="Default: the state of work.")
    reciprocity_certificate_on_file: bool = Field(
        default=False,
        description="The employee filed the work state's certificate for residents of a reciprocal state.",
    )


class ThresholdQuery(RequestModel):
    """Wages to compare with the household thresholds."""

    state: StateCode
    annual_wages: AnnualWagesQuery
    tax_year: int | None = Field(default=None, strict=False, description="2024 to 2027; left out, this year.")


# The shapes of answers, for the documentation and for typed clients.


@dataclass(frozen=True, slots=True)
class RulebookName:
    """Which edition of the law was used."""

    version: str
    tax_year: int


@dataclass(frozen=True, slots=True)
class Reciprocity:
    """The agreement between the state of work and that of residence; absent where there is none.

    `certificate` is the form by which the employee is free of the work state's income tax: while `applied` is false,
    the one to collect.
    """

    applied: bool
    certificate: str
    residence_state: str


@dataclass(frozen=True, slots=True)
class AnnualEmployerTaxes:
    """The household's taxes of a year."""

    social_security: Dollars
    medicare: Dollars
    futa: Dollars
    state_unemployment: Dollars
    other: Dollars
    total: Dollars
    effective_rate: Percent


@dataclass(frozen=True, slots=True)
class AnnualEmployeeTaxes:
    """What is withheld from the employee in a year."""

    federal_income_tax: Dollars
    state_income_tax: Dollars
    social_security: Dollars
    medicare: Dollars
    other: Dollars
    total: Dollars
    note: str


@dataclass(frozen=True, slots=True)
class PerPaycheck:
    """The year spread evenly over its paychecks."""

    gross_pay: Dollars
    employer_taxes: Dollars
    employee_taxes: Dollars
    net_pay: Dollars
    total_cost: Dollars
    periods_per_year: int


@dataclass(frozen=True, slots=True)
class CalculationThreshold:
    """Where the wages stand against the thresholds."""

    fica_threshold: Dollars
    federal_status: ThresholdStatus
    action_required: bool
    state_suta_status: ThresholdStatus
    state_suta_threshold: Dollars


@dataclass(frozen=True, slots=True)
class CalculationLine:
    """One tax over the year."""

    code: str
    name: str
    payer: Literal["employee", "employer"]
    annual_amount: Dollars
    per_paycheck_amount: Dollars
    rate: Rate | None
    wage_base: Dollars | None


@dataclass(frozen=True, slots=True)
class CalculationResult:
    """A year's estimate."""

    tax_year: int
    state: str
    state_name: str
    annual_wages: Dollars
    pay_frequency: PayFrequency
    filing_status: FilingStatus
    employer_taxes: AnnualEmployerTaxes
    employee_taxes_estimate: AnnualEmployeeTaxes
    per_paycheck: PerPaycheck
    threshold: CalculationThreshold
    lines: list[CalculationLine]
    limitations: list[str]
    limitation_codes: list[MessageItem]
    """The limitations again, in the same order, by code: for programs."""

    rulebook: RulebookName
    provisional: list[str] = field(default_factory=list)
    """Codes of lines whose figures of the year aren't published yet; absent where all are."""

    reciprocity: Reciprocity | None = None


@dataclass(frozen=True, slots=True)
class FederalThreshold:
    """The Social Security and Medicare threshold of the year."""

    fica_threshold: Dollars
    approaching_threshold: Dollars
    status: ThresholdStatus
    action_required: bool
    explanation: str


@dataclass(frozen=True, slots=True)
class StateThreshold:
    """The lowest quarterly cash wages from which the state requires anything."""

    threshold_quarterly: Dollars
    status: ThresholdStatus
    explanation: str


@dataclass(frozen=True, slots=True)
class FutaThreshold:
    """When federal unemployment tax begins."""

    quarterly_threshold: Dollars
    note: str


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """A threshold check."""

    tax_year: int
    state: str
    annual_wages: Dollars
    federal: FederalThreshold
    state_threshold: StateThreshold
    futa: FutaThreshold
    limitations: list[str]
    limitation_codes: list[MessageItem]
    """The limitations again, in the same order, by code: for programs."""
