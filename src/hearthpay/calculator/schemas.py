"""Requests and answers of calculations and threshold checks."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from hearthpay.employees.commands import PayFrequency
from hearthpay.taxes.vocabulary import FilingStatus, ThresholdStatus
from hearthpay.wire.answer_fields import Limitations, LineCode, LineName, LinePayer, YearOfTaxes
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
    """How often wages are paid; decides the number of paychecks, and the tables for income tax."""

    filing_status: FilingStatus = Field(default="single", description="The employee's, on Form W-4.")
    residence_state: StateCode | None = Field(default=None, description="Default: the state of work.")
    reciprocity_certificate_on_file: bool = Field(
        default=False,
        description="The employee filed the work state's certificate for residents of a reciprocal state.",
    )


class ThresholdQuery(RequestModel):
    """Wages to compare with the household thresholds."""

    state: StateCode = Field(description="Where the work is done: two letters.")
    annual_wages: AnnualWagesQuery = Field(
        description="Gross cash wages of the whole year in dollars, 0 to 999,999."
    )
    tax_year: int | None = Field(default=None, strict=False, description="2024 to 2027; left out, this year.")


# The shapes of answers, for the documentation and for typed clients.


@dataclass(frozen=True, slots=True)
class RulebookName:
    """Which edition of the law was used."""

    version: str
    """Fingerprint of the rules; the same version always calculates the same amounts."""

    tax_year: YearOfTaxes


@dataclass(frozen=True, slots=True)
class Reciprocity:
    """The agreement between the state of work and that of residence; absent where there is none.

    `certificate` is the form by which the employee is free of the work state's income tax: while `applied` is false,
    the one to collect.
    """

    applied: bool
    """Whether the agreement was applied: the employee pays income tax to the state of residence only."""

    certificate: str
    """The form that the employee gives the household so that the agreement applies, such as `VA-4`."""

    residence_state: str
    """Where the employee lives: two letters."""


@dataclass(frozen=True, slots=True)
class AnnualEmployerTaxes:
    """The household's taxes of a year."""

    social_security: Dollars
    """The employer's share of Social Security for the year."""

    medicare: Dollars
    """The employer's share of Medicare for the year."""

    futa: Dollars
    """Federal unemployment tax (FUTA) for the year, after the credit for state unemployment tax."""

    state_unemployment: Dollars
    """State unemployment tax for the year, at the new-employer rate."""

    other: Dollars
    """All further employer taxes of the year, such as training or paid leave; `lines` has each."""

    total: Dollars
    """All employer taxes of the year."""

    effective_rate: Percent
    """Employer taxes as a share of `annual_wages`; 0 if there are no wages."""


@dataclass(frozen=True, slots=True)
class AnnualEmployeeTaxes:
    """What is withheld from the employee in a year."""

    federal_income_tax: Dollars
    """Federal income tax withheld over the year."""

    state_income_tax: Dollars
    """State income tax withheld over the year; 0 in states without one."""

    social_security: Dollars
    """The employee's share of Social Security for the year."""

    medicare: Dollars
    """The employee's share of Medicare for the year."""

    other: Dollars
    """All further employee taxes of the year, such as disability insurance or local tax; `lines` has each."""

    total: Dollars
    """All taxes withheld over the year."""

    note: str
    """Why it is an estimate, in English."""


@dataclass(frozen=True, slots=True)
class PerPaycheck:
    """The year spread evenly over its paychecks."""

    gross_pay: Dollars
    """`annual_wages` divided by `periods_per_year`."""

    employer_taxes: Dollars
    """The employer's taxes of one paycheck."""

    employee_taxes: Dollars
    """What is withheld from one paycheck."""

    net_pay: Dollars
    """`gross_pay` less `employee_taxes`."""

    total_cost: Dollars
    """`gross_pay` plus `employer_taxes`: what one paycheck costs the household."""

    periods_per_year: int
    """How many paychecks the year has: 52, 26, 24 or 12."""


@dataclass(frozen=True, slots=True)
class CalculationThreshold:
    """Where the wages stand against the thresholds."""

    fica_threshold: Dollars
    """Cash wages of one employee in the year from which Social Security and Medicare are due."""

    federal_status: ThresholdStatus
    """How the year's wages compare with `fica_threshold`; `approaching` from 80 percent of it, `above` once it is
    reached."""

    action_required: bool
    """Whether the wages reach the federal threshold, or the lowest of the state's."""

    state_suta_status: ThresholdStatus
    """How a quarter of the year's wages compares with `state_suta_threshold`."""

    state_suta_threshold: Dollars
    """Cash wages of a calendar quarter from which state unemployment tax is due."""


@dataclass(frozen=True, slots=True)
class CalculationLine:
    """One tax over the year."""

    code: LineCode
    name: LineName
    payer: LinePayer
    annual_amount: Dollars
    """The tax of the whole year."""

    per_paycheck_amount: Dollars
    """The tax of one paycheck, the year spread evenly."""

    rate: Rate | None
    """Null for taxes by a table, such as income tax."""

    wage_base: Dollars | None
    """Wages of the year up to which the tax is charged; null if there is no limit."""


@dataclass(frozen=True, slots=True)
class CalculationResult:
    """A year's estimate."""

    tax_year: YearOfTaxes
    state: str
    """Where the work is done: two letters, in upper case."""

    state_name: str
    """The state's name in English."""

    annual_wages: Dollars
    """Gross cash wages of the year, as in the request."""

    pay_frequency: PayFrequency
    """How often wages are paid, as in the request."""

    filing_status: FilingStatus
    """The employee's filing status on Form W-4, as in the request."""

    employer_taxes: AnnualEmployerTaxes
    """What the household pays in addition to the wages, over the year."""

    employee_taxes_estimate: AnnualEmployeeTaxes
    """What is withheld from the wages, over the year."""

    per_paycheck: PerPaycheck
    """The year spread evenly over its paychecks."""

    threshold: CalculationThreshold
    """How the wages compare with the thresholds."""

    lines: list[CalculationLine]
    """Each tax; the sums above are made of them."""

    limitations: Limitations
    limitation_codes: list[MessageItem]
    """The limitations again, in the same order, by code: for programs."""

    rulebook: RulebookName
    """The rules that were used."""

    provisional: list[str] = field(default_factory=list)
    """Codes of lines whose figures of the year aren't published yet; absent where all are."""

    reciprocity: Reciprocity | None = None
    """The agreement between the state of work and the state of residence; absent if there is none."""


@dataclass(frozen=True, slots=True)
class FederalThreshold:
    """The Social Security and Medicare threshold of the year."""

    fica_threshold: Dollars
    """Cash wages of one employee in the year from which Social Security and Medicare are due."""

    approaching_threshold: Dollars
    """80 percent of `fica_threshold`: from here `status` is `approaching`."""

    status: ThresholdStatus
    """How the wages compare with `fica_threshold`; `above` once it is reached."""

    action_required: bool
    """Whether the threshold is reached, so that Social Security and Medicare are due from the first dollar."""

    explanation: str
    """What that means, in English."""


@dataclass(frozen=True, slots=True)
class StateThreshold:
    """The lowest quarterly cash wages from which the state requires anything."""

    threshold_quarterly: Dollars
    """Cash wages of a calendar quarter from which the state first requires something."""

    status: ThresholdStatus
    """How a quarter of the year's wages compares with `threshold_quarterly`."""

    explanation: str
    """Which of the state's taxes starts where, in English."""


@dataclass(frozen=True, slots=True)
class FutaThreshold:
    """When federal unemployment tax begins."""

    quarterly_threshold: Dollars
    """Cash wages of all household workers in a calendar quarter from which FUTA is due."""

    note: str
    """When FUTA is due, in English."""


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """A threshold check."""

    tax_year: YearOfTaxes
    state: str
    """The state of the request: two letters, in upper case."""

    annual_wages: Dollars
    """Gross cash wages of the year, as in the request."""

    federal: FederalThreshold
    """Social Security and Medicare."""

    state_threshold: StateThreshold
    """The lowest threshold of the state, and what it starts."""

    futa: FutaThreshold
    """Federal unemployment tax."""

    limitations: Limitations
    limitation_codes: list[MessageItem]
    """The limitations again, in the same order, by code: for programs."""
