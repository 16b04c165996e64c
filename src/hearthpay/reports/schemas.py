"""API schemas for reports."""

import datetime
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from pydantic import Field

from hearthpay.reports.commands import AskStateWages, AskTaxLiability
from hearthpay.reports.state_wages import PersonsWages, StateWageDetail, WagesOfLine
from hearthpay.reports.tax_liability import AgencyLiability, TaxLiability
from hearthpay.taxes.money import from_cents
from hearthpay.wire.answer_fields import (
    AgencyName,
    EmployeeIdentifier,
    HouseholdIdentifier,
    LineCode,
    LineName,
)
from hearthpay.wire.fields import Day, Identifier, RequestModel, StateCode
from hearthpay.wire.money import Dollars

ReportFormat = Literal["json", "csv"]


class _ReportQuery(RequestModel):
    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one that the key remembers."
    )
    format: ReportFormat | None = Field(
        default=None,
        description="Default: the header `Accept` decides: `text/csv` for CSV, anything else for JSON.",
    )


class StateWagesQuery(_ReportQuery):
    """Of which state and quarter."""

    state: StateCode = Field(description="The state, by its two letters.")
    year: int = Field(strict=False, ge=2000, le=2100, description="The year of the pay dates.")
    quarter: int | None = Field(
        default=None, strict=False, ge=1, le=4, description="1 to 4; left out, the whole year."
    )

    def to_command(self) -> AskStateWages:
        """Return what is asked."""
        return AskStateWages(self.state, self.year, self.quarter, self.employer_id)


class TaxLiabilityQuery(_ReportQuery):
    """Of which pay dates."""

    first: Day = Field(alias="from", description="The first pay date.")
    last: Day = Field(alias="to", description="The last pay date; at most 36 calendar months may be touched.")

    def to_command(self) -> AskTaxLiability:
        """Return what is asked."""
        return AskTaxLiability(self.first, self.last, self.employer_id)


@dataclass(frozen=True, slots=True)
class StateWageLine:
    """One tax of the state with the wages behind it."""

    code: LineCode
    name: LineName
    payer: str
    """Who bears the tax: `employee` (withheld from pay) or `employer` (in addition to pay)."""

    agency: AgencyName
    category: str
    """What kind of tax it is, such as `state_unemployment` or `state_income_tax`."""

    subject_wages: Dollars
    """Wages that the tax is about, below its wage base or not."""

    excess_wages: Dollars
    """Wages above the wage base; below zero where a tax on wages of an earlier quarter is made up for."""

    taxable_wages: Dollars
    """Wages that it taxes: `subject_wages` less `excess_wages`."""

    amount: Dollars
    """The tax on these wages."""


@dataclass(frozen=True, slots=True)
class EmployeeStateWages:
    """One person's wages in the state; all records of a rehired employee together."""

    employee_id: EmployeeIdentifier
    first_name: str
    """The employee's first name."""

    last_name: str
    """The employee's last name."""

    taxpayer_number_last_four: str | None
    """Of the Social Security number or ITIN; null where none was entered."""

    gross_wages: Dollars
    """For work in the state."""

    subject_wages: Dollars
    """What the state's unemployment tax is about."""

    excess_wages: Dollars
    """Subject wages that it does not tax."""

    taxable_wages: Dollars
    """Subject wages that it taxes."""

    lines: list[StateWageLine]
    """All taxes of the state: unemployment, disability, leave, income and local tax."""


@dataclass(frozen=True, slots=True)
class StateWageTotals:
    """Sums over all employees."""

    employees: int
    """How many people were paid."""

    gross_wages: Dollars
    """Gross wages for work in the state."""

    subject_wages: Dollars
    """Wages that the state's unemployment tax is about."""

    excess_wages: Dollars
    """Subject wages that it doesn't tax."""

    taxable_wages: Dollars
    """Subject wages that it taxes."""

    lines: list[StateWageLine]
    """All taxes of the state, summed over all people."""


@dataclass(frozen=True, slots=True)
class StateWageReport:
    """The wages of a state by employee."""

    employer_id: HouseholdIdentifier
    state: str
    """The state: two letters."""

    year: int
    """The year of the pay dates."""

    quarter: int | None
    """Null for the whole year."""

    unemployment_line: str
    """Code of the tax whose subject, excess and taxable wages are reported with the gross wages."""

    employees: list[EmployeeStateWages]
    """The people who were paid for work in the state."""

    totals: StateWageTotals
    """Sums over all of them."""

    prior_wages_left_out: Dollars
    """What other payrolls paid these employees in the year, and reported."""

    remarks: list[str]
    """What to know before you file these figures, in English; empty if there is nothing."""


def state_wage_report(employer_id: UUID, report: StateWageDetail) -> StateWageReport:
    """Return the report as the API tells it, in dollars."""
    code, lines = report.unemployment_line, report.lines
    base = next((line for line in lines if line.code == code), None)
    subject, excess, taxable = (0, 0, 0) if base is None else (base.subject, base.excess, base.taxable)
    return StateWageReport(
        employer_id=employer_id,
        state=report.state,
        year=report.year,
        quarter=report.quarter,
        unemployment_line=code,
        employees=[_person(each, code) for each in report.people],
        totals=StateWageTotals(
            employees=len(report.people),
            gross_wages=from_cents(report.gross),
            subject_wages=from_cents(subject),
            excess_wages=from_cents(excess),
            taxable_wages=from_cents(taxable),
            lines=[_line(line) for line in lines],
        ),
        prior_wages_left_out=from_cents(report.prior_gross),
        remarks=list(report.remarks),
    )


def _person(each: PersonsWages, code: str) -> EmployeeStateWages:
    base = each.line(code)
    subject, excess, taxable = (0, 0, 0) if base is None else (base.subject, base.excess, base.taxable)
    return EmployeeStateWages(
        employee_id=each.person.id,
        first_name=each.person.first_name,
        last_name=each.person.last_name,
        taxpayer_number_last_four=each.person.last_four,
        gross_wages=from_cents(each.gross),
        subject_wages=from_cents(subject),
        excess_wages=from_cents(excess),
        taxable_wages=from_cents(taxable),
        lines=[_line(line) for line in each.lines],
    )


def _line(line: WagesOfLine) -> StateWageLine:
    return StateWageLine(
        line.code,
        line.name,
        line.payer,
        line.agency,
        line.category,
        subject_wages=from_cents(line.subject),
        excess_wages=from_cents(line.excess),
        taxable_wages=from_cents(line.taxable),
        amount=from_cents(line.amount),
    )


@dataclass(frozen=True, slots=True)
class MonthAmount:
    """What a calendar month costs."""

    month: str
    """As `2026-11`."""

    amount: Dollars
    """The taxes on what was paid in the month."""


@dataclass(frozen=True, slots=True)
class TaxLiabilityLine:
    """One tax, by month."""

    code: LineCode
    name: LineName
    payer: str
    """Who bears the tax: `employee` (withheld from pay) or `employer` (in addition to pay)."""

    category: str
    """What kind of tax it is, such as `social_security` or `state_income_tax`."""

    months: list[MonthAmount]
    """The tax by month of the pay dates."""

    total: Dollars
    """The tax over all months."""


@dataclass(frozen=True, slots=True)
class TaxLiabilityAgency:
    """What one agency is owed."""

    agency: AgencyName
    full_name: str
    """The agency's full name."""

    site: str | None
    """The agency's website; null if none is known."""

    lines: list[TaxLiabilityLine]
    """The taxes that the agency gets."""

    months: list[MonthAmount]
    """Their sums by month of the pay dates."""

    total: Dollars
    """What the agency is owed over all months."""

    paid: Dollars
    """What the household recorded as paid of these taxes, for periods that begin in the months of the report."""

    open: Dollars
    """`total` less `paid`: below zero where too much was paid."""


@dataclass(frozen=True, slots=True)
class TaxLiabilityTotals:
    """What all agencies are owed; the household pays the employees' part, which it withheld, as well."""

    employee_taxes: Dollars
    """Taxes that were withheld."""

    employer_taxes: Dollars
    """Taxes that the household owes in addition."""

    total: Dollars
    """`employee_taxes` plus `employer_taxes`."""

    months: list[MonthAmount]
    """All taxes by month of the pay dates."""

    paid: Dollars
    """What the household recorded as paid to all agencies for these taxes."""

    open: Dollars
    """`total` less `paid`: below zero if too much was paid."""


@dataclass(frozen=True, slots=True)
class TaxLiabilityReport:
    """Taxes by agency and month of the pay dates."""

    employer_id: HouseholdIdentifier
    first_pay_date: datetime.date
    """First day of the report: `from` of the request."""

    last_pay_date: datetime.date
    """Last day of the report: `to` of the request."""

    agencies: list[TaxLiabilityAgency]
    """The agencies that are owed something."""

    totals: TaxLiabilityTotals
    """Sums over all agencies."""


def tax_liability_report(employer_id: UUID, report: TaxLiability) -> TaxLiabilityReport:
    """Return the report as the API tells it, in dollars."""
    return TaxLiabilityReport(
        employer_id=employer_id,
        first_pay_date=report.first,
        last_pay_date=report.last,
        agencies=[_agency(each, report) for each in report.agencies],
        totals=TaxLiabilityTotals(
            employee_taxes=from_cents(report.of_payer("employee")),
            employer_taxes=from_cents(report.of_payer("employer")),
            total=from_cents(report.total),
            months=_months(report, report.by_month),
            paid=from_cents(report.paid),
            open=from_cents(report.open),
        ),
    )


def _agency(each: AgencyLiability, report: TaxLiability) -> TaxLiabilityAgency:
    return TaxLiabilityAgency(
        agency=each.agency,
        full_name=each.full_name,
        site=each.site,
        lines=[
            TaxLiabilityLine(
                line.code,
                line.name,
                line.payer,
                line.category,
                months=_months(report, line.months),
                total=from_cents(line.total),
            )
            for line in each.lines
        ],
        months=_months(report, each.months),
        total=from_cents(each.total),
        paid=from_cents(each.paid),
        open=from_cents(each.open),
    )


def _months(report: TaxLiability, cents: tuple[int, ...]) -> list[MonthAmount]:
    return [
        MonthAmount(f"{month:%Y-%m}", from_cents(amount))
        for month, amount in zip(report.months, cents, strict=True)
    ]
