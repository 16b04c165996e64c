"""The API's requests and responses about employees: everything payroll needs, and nothing secret."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from hearthpay.employees.certificate_schemas import FederalWithholding, StateWithholding
from hearthpay.employees.certificates import federal_certificate, state_entries
from hearthpay.employees.commands import (
    AddEmployee,
    ChangeEmployee,
    PaperLanguage,
    PayFrequency,
    PaymentMethod,
)
from hearthpay.employees.models import Employee
from hearthpay.employees.salaries import USUAL_WORKING_DAYS, WEEKDAYS, PayType, Salary, SalaryPer, Weekday
from hearthpay.employers.models import Employer
from hearthpay.employers.schemas import Address, AddressItem
from hearthpay.taxes import FederalCertificate, Pre2020Certificate
from hearthpay.taxes.contribution import RELATIONSHIPS
from hearthpay.taxes.messages import Message
from hearthpay.wire.answer_fields import CreatedAt, EmployeeIdentifier, HouseholdIdentifier
from hearthpay.wire.fields import Choice, Day, Email, Identifier, PersonName, RequestModel, StateCode, Text
from hearthpay.wire.messages import MessageItem, items_of
from hearthpay.wire.metadata import (
    ON_CHANGE,
    ON_CREATION,
    ON_LISTS,
    MetadataChangesField,
    MetadataFilterField,
    MetadataItem,
    NewMetadataField,
    merged,
)
from hearthpay.wire.metadata import item_of as metadata_item
from hearthpay.wire.money import Amount, Dollars
from hearthpay.wire.paging import Page

EmployeeStatus = Literal["active", "terminated"]
OnboardingStatus = Literal["missing", "invited", "complete"]
IncompleteField = Literal["pay_rate", "salary"]

HourlyRate = Annotated[Decimal, Amount(minimum=Decimal("0.01"), maximum=Decimal("9999.99"))]
SalaryAmount = Annotated[Decimal, Amount(minimum=Decimal("0.01"), maximum=Decimal("9999999.99"))]
WeeklyHours = Annotated[Decimal, Amount(minimum=Decimal(1), maximum=Decimal(168))]
PlaceName = Annotated[str, Text(longest=100)]


HoursOfWeek = Annotated[
    Decimal, WithJsonSchema({"type": "number", "description": "Hours, at most two decimals."})
]


class SalaryTerms(RequestModel):
    """What a salaried employee earns in a year or in each pay period."""

    amount: SalaryAmount
    """Gross dollars for each `per`, 0.01 to 9,999,999.99."""

    per: SalaryPer = Field(
        description="`year`: each period pays its share (weekly 1/52, biweekly 1/26, semimonthly 1/24, monthly 1/12), "
        "and as many full periods as a year has pay the amount to the cent; `period`: each full period of the "
        "employee's `pay_frequency` pays the amount."
    )

    def to_command(self) -> Salary:
        """Return the invitation in plain values."""
        return Salary(self.amount, self.per)


def _read_days(days: object) -> object:
    if not isinstance(days, list) or not 0 < len(days) <= len(WEEKDAYS):
        raise PydanticCustomError("weekdays", "must be a list of one to seven days")
    if len({str(day) for day in days}) != len(days):
        raise PydanticCustomError("weekday_twice", "must name each day once")
    return tuple(days)


WorkingDays = Annotated[tuple[Weekday, ...], BeforeValidator(_read_days)]


class NewEmployee(RequestModel):
    """An employee to be added to a household. Social Security and bank numbers are entered in the portal."""

    employer_id: Identifier | None = Field(
        default=None, description="The household; left out, the one the key remembers."
    )
    first_name: PersonName
    """The employee's legal first name, as on the Social Security card."""

    last_name: PersonName
    """The employee's legal last name, as on the Social Security card."""

    email: Email | None = None
    """Where invitations to the portal go; left out, links must be passed on by hand."""

    pay_type: PayType = Field(
        default="hourly", description="`hourly` goes with `pay_rate`, `salary` with `salary`."
    )
    pay_rate: HourlyRate | None = Field(
        default=None,
        description="Dollars an hour, of `pay_type` hourly. Without it the employee is created `incomplete`, and no "
        "hours can be paid.",
    )
    salary: SalaryTerms | None = Field(
        default=None,
        description="Of `pay_type` salary. Without it the employee is created `incomplete`, and no salary can be paid.",
    )
    usual_weekly_hours: WeeklyHours | None = Field(
        default=None,
        description="Hours of a usual week. Of a salary they decide the regular rate and the checks of the minimum "
        "wage and overtime; left out, 40 are assumed, and `warnings` say so.",
    )
    working_days: WorkingDays | None = Field(
        default=None,
        description="The days of a usual week, by which a salary is prorated; left out, Monday to Friday.",
    )
    overtime_rate: HourlyRate | None = Field(
        default=None,
        description="Dollars an hour of overtime; left out, one and a half times `pay_rate`, or the regular rate of "
        "the salary: a year's salary by 52 and by `usual_weekly_hours`, of which at most 40 count.",
    )
    pay_frequency: PayFrequency = "biweekly"
    """How often the employee is paid."""

    start_date: Day | None = Field(default=None, description="The first day; left out, today (US Eastern).")
    work_state: StateCode | None = Field(default=None, description="Default: the household's state.")
    residence_state: StateCode | None = Field(default=None, description="Default: the state of work.")
    city: PlaceName | None = Field(
        default=None, description="Where the employee lives; chooses the local tax of a city that has one."
    )
    locality: PlaceName | None = Field(
        default=None,
        description="A locality whose tax applies, by its code or name, such as `NYC` or `New York City`. "
        "`GET /jurisdictions/{state}` lists them.",
    )
    address: Address | None = Field(
        default=None, description="The mailing address, as it stands on pay stubs and on Form W-2."
    )
    language: PaperLanguage = Field(default="en", description="The language of the employee's pay stubs.")
    payment_method: PaymentMethod = "check"
    """How the employee is usually paid; a payroll may name another method."""

    relationship: Annotated[str, Choice(RELATIONSHIPS)] = Field(
        default="none",
        description="How the employee is related to the employer; some are exempt from some taxes.",
    )
    birth_year: int | None = Field(default=None, ge=1900, le=2200)
    """The year of birth, which some exemptions of relatives and students depend on; 1900 to 2200."""

    lives_in: bool = Field(default=False, description="Whether the employee lives in the household.")
    federal_withholding: FederalWithholding | None = None
    """The employee's Form W-4; left out, the law's default is used: single, without further entries."""

    state_withholding: StateWithholding | None = None
    """The employee's state certificate; left out, the state's default is used."""
    metadata: NewMetadataField = Field(default_factory=dict, description=ON_CREATION)

    def to_command(self) -> AddEmployee:
        """Return the invitation in plain values."""
        federal = self.federal_withholding
        whole = None if federal is None else federal.model_dump()
        address = None if self.address is None else self.address.to_command()
        salary = None if self.salary is None else self.salary.to_command()
        told = {
            "federal_withholding": whole,
            "address": address,
            "salary": salary,
            "metadata": merged({}, self.metadata),
        }
        return AddEmployee(**dict(self) | told)


def _kept(description: str | None = None) -> Any:
    """Return a field that may be left out but is never null; what is left out is never read (`model_fields_set`)."""
    return Field(default_factory=lambda: None, description=description)


class EmployeeChanges(RequestModel):
    """New settings of an employee; what is left out stays as it is. They hold from the next payroll on."""

    first_name: PersonName = _kept()
    """The legal first name, as on the Social Security card."""

    last_name: PersonName = _kept()
    """The legal last name, as on the Social Security card."""

    email: Email | None = Field(default=None, description="Null takes it out.")
    pay_type: PayType = _kept(
        "Another one takes the `pay_rate`, or the `salary`, of the former out: send the new one with it."
    )
    salary: SalaryTerms = _kept(
        "Of `pay_type` salary. An `overtime_rate` that is one and a half times the old regular rate "
        "follows the new one."
    )
    usual_weekly_hours: WeeklyHours | None = Field(
        default=None,
        description="Hours of a usual week; null takes them out, and 40 are assumed of a salary.",
    )
    working_days: WorkingDays | None = Field(
        default=None, description="The days of a usual week; null: Monday to Friday."
    )
    pay_rate: HourlyRate = _kept(
        "Dollars an hour, of `pay_type` hourly. An `overtime_rate` that is one and a half times the old rate follows "
        "the new one."
    )
    overtime_rate: HourlyRate | None = Field(
        default=None, description="Dollars an hour of overtime; null: one and a half times `pay_rate`."
    )
    pay_frequency: PayFrequency = _kept()
    """How often the employee is paid."""

    start_date: Day = _kept()
    """The first day of the current employment."""

    work_state: StateCode = _kept(
        "Another state takes out the local taxes and the state certificate of the old one, and a return brings them "
        "back; `warnings` of the answer tell. Send the new ones with it."
    )
    residence_state: StateCode = _kept()
    """Where the employee lives: two letters."""

    city: PlaceName | None = Field(
        default=None,
        description="Where the employee lives. With `locality` it takes the place of all earlier local taxes; null of "
        "either chooses none.",
    )
    locality: PlaceName | None = Field(
        default=None,
        description="A locality whose tax applies, by its code or name, such as `NYC` or `New York City`.",
    )
    address: Address | None = Field(
        default=None, description="The mailing address, as a whole; null takes it out. It chooses no tax."
    )
    language: PaperLanguage = _kept()
    """The language of the employee's pay stubs: `en` or `es`."""

    payment_method: PaymentMethod = _kept()
    """How the employee is usually paid; a payroll may name another method."""

    relationship: Annotated[str, Choice(RELATIONSHIPS)] = _kept()
    """How the employee is related to the employer; some are exempt from some taxes."""

    birth_year: int | None = Field(default=None, ge=1900, le=2200, description="Null takes it out.")
    lives_in: bool = _kept()
    """Whether the employee lives in the household."""

    federal_withholding: FederalWithholding | None = Field(
        default=None, description="Only the entries sent change; null takes the whole certificate out."
    )
    state_withholding: StateWithholding | None = Field(
        default=None,
        description="Only the entries sent change; null takes out an entry, or the whole certificate.",
    )
    metadata: MetadataChangesField | None = Field(default=None, description=ON_CHANGE)

    def to_command(self) -> ChangeEmployee:
        """Return the same in plain values: what was left out stays unchanged."""
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        if self.federal_withholding is not None:
            sent["federal_withholding"] = self.federal_withholding.model_dump(exclude_unset=True)
        if self.address is not None:
            sent["address"] = self.address.to_command()
        if "salary" in sent:
            sent["salary"] = self.salary.to_command()
        return ChangeEmployee(**sent)


class Termination(RequestModel):
    """The end of an employment."""

    end_date: Day | None = Field(default=None, description="The last day; left out, today (US Eastern).")


class Reinstatement(RequestModel):
    """The same person works for the household again."""

    start_date: Day | None = Field(
        default=None,
        description="The first day of the new employment, after the last day of the earlier one. Default: the earlier "
        "one continues as if it had never ended.",
    )


class EmployeeQuery(Page):
    """Whose employees to list."""

    employer_id: Identifier = Field(description="The household whose employees are listed.")
    metadata: MetadataFilterField = Field(default_factory=dict, description=ON_LISTS)


@dataclass(frozen=True, slots=True)
class Onboarding:
    """What the employee still has to enter in the portal.

    `missing`: nothing was entered and no link is open; `invited`: a link is open; `complete`: entered, and
    `complete` it stays while a new link is open.
    """

    bank_account: OnboardingStatus
    """Whether the employee has entered a bank account for direct deposit."""

    tax_info: OnboardingStatus
    """Whether the employee has entered a Social Security number or ITIN."""


@dataclass(frozen=True, slots=True)
class Employment:
    """An employment that has ended; both days included."""

    start_date: datetime.date
    """First day of the employment."""

    end_date: datetime.date
    """Last day of the employment."""


@dataclass(frozen=True, slots=True)
class SalaryItem:
    """A salary, for a year or for each pay period."""

    amount: Dollars
    """Gross pay for each `per`."""

    per: SalaryPer
    """`year` or `period`: each pay period of the employee's `pay_frequency`."""


@dataclass(frozen=True, slots=True)
class PersonEmployed:
    """Somebody whom a household employs, or employed."""

    employee_id: EmployeeIdentifier
    id: UUID
    """Identifies the employee, with the same value as `employee_id`."""

    name: str
    """First and last name."""

    status: EmployeeStatus
    """`terminated` from the end of the employment on; `active` before."""

    pay_type: PayType
    """`hourly` is paid by `pay_rate`, `salary` by `salary`."""

    pay_rate: Dollars | None
    """By the hour; None until it is set, and of a salary."""

    salary: SalaryItem | None
    """None of who is paid by the hour, and until it is set."""

    pay_frequency: PayFrequency
    """How often the employee is paid."""

    payment_method: PaymentMethod
    """How the employee is usually paid."""

    work_state: str
    """Where the employee works: two letters."""
    metadata: MetadataItem


@dataclass(frozen=True, slots=True)
class HouseholdItem:
    """A household and its people, by name."""

    employer_id: HouseholdIdentifier
    id: UUID
    """Identifies the household, with the same value as `employer_id`."""

    name: str
    """First and last name of the employer."""

    state: str
    """The household's state: two letters."""

    sandbox: bool
    """Whether it is a test household."""

    metadata: MetadataItem
    employees: list[PersonEmployed]
    """Everybody whom the household employs, or employed."""


def household_item(employer: Employer, people: Sequence[Employee]) -> HouseholdItem:
    """Return a household as the list of those with their people shows it."""
    return HouseholdItem(
        employer_id=employer.id,
        id=employer.id,
        name=f"{employer.first_name} {employer.last_name}",
        state=employer.state,
        sandbox=employer.sandbox,
        metadata=metadata_item(employer.metadata_),
        employees=[
            PersonEmployed(
                employee_id=person.id,
                id=person.id,
                name=person.name,
                status=cast(EmployeeStatus, person.status),
                pay_type=cast(PayType, person.pay_type),
                pay_rate=person.pay_rate,
                salary=_salary(person),
                pay_frequency=cast(PayFrequency, person.pay_frequency),
                payment_method=cast(PaymentMethod, person.payment_method),
                work_state=person.work_state,
                metadata=metadata_item(person.metadata_),
            )
            for person in people
        ],
    )


@dataclass(frozen=True, slots=True)
class EmployeeItem:
    """An employee as a list shows one."""

    id: UUID
    """The employee's id, the same as `employee_id`."""

    employee_id: EmployeeIdentifier
    employer_id: HouseholdIdentifier
    first_name: str
    """Legal first name, as on the Social Security card."""

    last_name: str
    """Legal last name, as on the Social Security card."""

    name: str
    """First and last name."""

    status: EmployeeStatus
    """`terminated` after the end of the employment, `active` before."""

    work_state: str
    """Where the employee works: two letters."""

    residence_state: str
    """Where the employee lives: two letters."""

    pay_type: PayType
    """`hourly` is paid by `pay_rate`, `salary` by `salary`."""

    pay_rate: Dollars | None
    """None until it is entered, and for a salary."""

    salary: SalaryItem | None
    """None of who is paid by the hour, and until it is set."""

    usual_weekly_hours: HoursOfWeek | None
    """None until it is set: 40 are assumed of a salary then."""

    working_days: list[Weekday]
    """The days of a usual week, Monday to Friday where none were set."""

    overtime_rate: Dollars | None
    """Gross dollars an hour of overtime; null until it is set, or the pay that it follows from."""

    pay_frequency: PayFrequency
    """How often the employee is paid."""

    start_date: datetime.date
    """First day of the current employment, or of the last one."""

    end_date: datetime.date | None
    """Last day of the employment; null while no end is set."""

    payment_method: PaymentMethod
    """How the employee is usually paid; a payroll may name another method."""

    onboarding: Onboarding
    """What the employee still has to enter in the portal."""

    person_id: UUID
    """The same for all records of one person, as their tax numbers say; else the employee's own id."""

    earlier_employments: list[Employment]
    """Those before the present one, oldest first."""

    created_at: CreatedAt
    metadata: MetadataItem
    incomplete: list[IncompleteField] = field(default_factory=list)
    """What must be entered before hours, or a salary, can be paid."""

    warnings: list[str] = field(default_factory=list)
    """What the household should know or do."""

    warning_codes: list[MessageItem] = field(default_factory=list)
    """`warnings` for programs, in the same order."""


@dataclass(frozen=True, slots=True)
class FederalWithholdingItem:
    """The Form W-4 by which income tax is withheld: as it was entered, or else as the law assumes."""

    elected: bool
    """Whether federal income tax is withheld at all, as household and employee agreed."""

    filing_status: Literal["single", "married", "head_of_household"]
    """Step 1(c) of the form."""

    multiple_jobs: bool
    """Whether Step 2(c) is checked."""

    dependents_credit: Dollars
    """Step 3 of the form: dollars a year."""

    other_income: Dollars
    """Step 4(a): dollars a year."""

    deductions: Dollars
    """Step 4(b): dollars a year."""

    extra_withholding: Dollars
    """Step 4(c): dollars each pay period."""

    exempt: bool
    """Whether the employee claims exemption from withholding."""

    nonresident_alien: bool
    """Whether the form says so below Step 4(c)."""

    pre_2020: Pre2020Certificate | None
    """The entries of a form of 2019 or earlier, which count in place of those above; null if there is none."""


StateEntries = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean"]},
            "description": "The state's certificate as it was entered, by the names of its form.",
        }
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmployeeDetail(EmployeeItem):
    """An employee with everything on file; numbers of the vault are never shown."""

    email: str | None
    """Where invitations to the portal go; null if none is on file."""

    relationship: str
    """How the employee is related to the employer; `none` if they aren't."""

    birth_year: int | None
    """The year of birth; null if it isn't known."""

    lives_in: bool
    """Whether the employee lives in the household."""

    city: str | None
    """Where the employee lives, as entered."""

    address: AddressItem | None
    """The mailing address, as entered; no tax depends on it."""

    language: PaperLanguage
    """The language of the employee's pay stubs, where none is asked for."""

    localities: list[str]
    """The codes of the local taxes chosen."""

    federal_withholding: FederalWithholdingItem
    """The Form W-4 that is used, the law's default where none was entered."""

    state_withholding: StateEntries
    """Empty if none was entered."""


def item_of(employee: Employee, onboarding: Onboarding, warnings: Iterable[Message] = ()) -> EmployeeItem:
    """Return the employee as a list shows one."""
    return EmployeeItem(**_shown(employee, onboarding, warnings))


def detail_of(employee: Employee, onboarding: Onboarding, warnings: Iterable[Message] = ()) -> EmployeeDetail:
    """Return the employee with everything that is on record."""
    return EmployeeDetail(
        **_shown(employee, onboarding, warnings),
        email=employee.email,
        relationship=employee.relationship,
        birth_year=employee.birth_year,
        lives_in=employee.lives_in,
        city=employee.city,
        address=None if employee.address is None else AddressItem(**employee.address),
        language=cast(PaperLanguage, employee.language),
        localities=list(employee.localities),
        federal_withholding=_federal(federal_certificate(employee.federal_withholding)),
        state_withholding=state_entries(employee.state_withholding),
    )


def _federal(certificate: FederalCertificate) -> FederalWithholdingItem:
    return FederalWithholdingItem(
        **{each.name: getattr(certificate, each.name) for each in fields(FederalWithholdingItem)}
    )


def _salary(employee: Employee) -> SalaryItem | None:
    if employee.salary is None:
        return None
    return SalaryItem(employee.salary, cast(SalaryPer, employee.salary_per))


def _shown(employee: Employee, onboarding: Onboarding, warnings: Iterable[Message]) -> dict[str, Any]:
    warnings = list(warnings)
    return {
        "id": employee.id,
        "employee_id": employee.id,
        "employer_id": employee.employer_id,
        "first_name": employee.first_name,
        "last_name": employee.last_name,
        "name": employee.name,
        "status": cast(EmployeeStatus, employee.status),
        "work_state": employee.work_state,
        "residence_state": employee.residence_state,
        "pay_type": cast(PayType, employee.pay_type),
        "pay_rate": employee.pay_rate,
        "salary": _salary(employee),
        "usual_weekly_hours": employee.usual_weekly_hours,
        "working_days": list(employee.working_days or USUAL_WORKING_DAYS),
        "overtime_rate": employee.overtime_rate,
        "pay_frequency": cast(PayFrequency, employee.pay_frequency),
        "start_date": employee.start_date,
        "end_date": employee.end_date,
        "payment_method": cast(PaymentMethod, employee.payment_method),
        "onboarding": onboarding,
        "person_id": employee.person_id or employee.id,
        "earlier_employments": [
            Employment(
                datetime.date.fromisoformat(spell["start_date"]),
                datetime.date.fromisoformat(spell["end_date"]),
            )
            for spell in employee.earlier_employments
        ],
        "created_at": employee.created_at,
        "metadata": metadata_item(employee.metadata_),
        "incomplete": list(employee.incomplete),
        "warnings": [each.text for each in warnings],
        "warning_codes": items_of(warnings),
    }
