"""The documents of a hire, from a household's records: the work agreement, the notice of pay, the new hire report."""

import datetime
from dataclasses import dataclass, replace
from typing import Final, Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import OBTAIN_DOCUMENTS, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.documents.facts import facts_of
from hearthpay.documents.identity import PaperMarks, address_lines
from hearthpay.documents.paper import DocumentKind, Paper, file_name_of
from hearthpay.documents.papers.employment_papers import EmploymentPaper, EmploymentTerms, employment_paper
from hearthpay.documents.papers.new_hire_report import NewHire, new_hire_file, new_hire_sheet
from hearthpay.documents.parties import Numbers, identity_of
from hearthpay.documents.service import Prepared
from hearthpay.duties.periods import AfterHire
from hearthpay.duties.rules import duties_of
from hearthpay.employees.commands import PaperLanguage
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.insurance.service import read_policies
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.security.key_ring import KeyRing

_KINDS: Final[dict[EmploymentPaper, DocumentKind]] = {"agreement": "work_agreement", "notice": "hire_notice"}
_NAMES: Final[dict[EmploymentPaper, str]] = {"agreement": "work-agreement", "notice": "notice-of-pay"}


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueNewHireReport:
    """A report of a hire as a sheet or a file; details missing from the records come with the request and aren't
    stored.
    """

    employee_id: UUID
    form: Literal["sheet", "file"] = "sheet"
    birth_date: datetime.date | None = None
    health_insurance: bool | None = None


async def prepare_employment_paper(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employee_id: UUID,
    paper: EmploymentPaper,
    language: PaperLanguage,
) -> Prepared:
    """Return an employee's work agreement or notice of pay, from the current records.

    Raises what `allow` raises, and `not_found` for another household's employee.
    """
    employer, employee = await _found(session, actor, employee_id)
    household = Numbers.household_on_stubs(employer)
    policies = await read_policies(session, employer.id, clock.today())
    insurer = next(
        (
            " · ".join(filter(None, (each.entered.carrier, each.entered.policy_number)))
            for each in policies
            if each.entered is not None
            and (each.state, each.kind) == (employee.work_state, "workers_compensation")
        ),
        None,
    )
    terms = EmploymentTerms(
        state=employee.work_state,
        place=", ".join(address_lines(household.address)) or None,
        first_day=employee.start_date,
        hourly_rate=employee.pay_rate,
        overtime_rate=employee.overtime_rate,
        salary=employee.salary,
        salary_per=employee.salary_per,
        pay_frequency=employee.pay_frequency,
        payment_method=employee.payment_method,
        weekly_hours=employee.usual_weekly_hours,
        working_days=tuple(employee.working_days or ()),
        lives_in=employee.lives_in,
        insurer=insurer,
    )
    person = identity_of(employee)

    def draw(marks: PaperMarks) -> bytes:
        return employment_paper(
            paper, terms, household=household, employee=person, language=language, marks=marks
        )

    facts = {"terms": terms, "household": household, "employee": person}
    return _prepared(
        employer,
        Paper(
            kind=_KINDS[paper],
            subject_id=employee.id,
            tax_year=employee.start_date.year,
            variant=f"{paper}-{language}",
            file_name=file_name_of(
                _NAMES[paper], employee.name, "es" if language == "es" else "", test=employer.sandbox
            ),
            facts=facts_of(facts),
            draw=draw,
            title=f"{_NAMES[paper].replace('-', ' ').capitalize()} of {employee.name}",
            employee_id=employee.id,
        ),
    )


async def prepare_new_hire_report(
    session: AsyncSession, ring: KeyRing, actor: Actor, requested: IssueNewHireReport
) -> Prepared:
    """Return the report of an employee's hire; numbers are read from the vault, each with an audit row.

    Raises what `allow` raises, and `not_found` for another household's employee.
    """
    employer, employee = await _found(session, actor, requested.employee_id)
    numbers = Numbers(session, ring, actor, "document.new_hire_report")
    household = await numbers.household_on_forms(employer)
    person = await numbers.employee_on_report(employee)
    hire = replace(
        hire_to_report(employee),
        state_account=household.state_accounts.get(employee.work_state),
        birth_date=requested.birth_date,
        health_insurance=requested.health_insurance,
    )

    def draw(marks: PaperMarks) -> bytes:
        if requested.form == "file":
            return new_hire_file(hire, household, person)
        return new_hire_sheet(hire, household, person, marks)

    facts = {"hire": hire, "household": household, "employee": person}
    return _prepared(
        employer,
        Paper(
            kind="new_hire_report",
            subject_id=employee.id,
            tax_year=employee.start_date.year,
            variant=requested.form,
            file_name=file_name_of(
                "new-hire-report",
                employee.name,
                end="csv" if requested.form == "file" else "pdf",
                test=employer.sandbox,
            ),
            facts=facts_of(facts),
            draw=draw,
            title=f"New hire report of {employee.name}",
            employee_id=employee.id,
        ),
    )


def hire_to_report(employee: Employee) -> NewHire:
    """Return where a hire is reported, and by when, according to the calendar of duties."""
    duty = next(each for each in duties_of(employee.work_state).duties if each.id == "new-hire")
    if not isinstance(duty.due, AfterHire):
        raise TypeError(f"{duty.jurisdiction} {duty.id} is due at a hire")
    return NewHire(
        state=employee.work_state,
        hired_on=employee.start_date,
        office=duty.agency,
        link=duty.link,
        due=duty.due.date(employee.start_date, duty.moving.offices),
    )


async def _found(session: AsyncSession, actor: Actor, employee_id: UUID) -> tuple[Employer, Employee]:
    allow(actor, OBTAIN_DOCUMENTS)
    employee = await session.get(Employee, employee_id)
    if employee is None or not actor.reaches(employee.employer_id):
        raise Refusal("not_found", "We couldn't find that employee.")
    return await session.get_one(Employer, employee.employer_id), employee


def _prepared(employer: Employer, paper: Paper) -> Prepared:
    return Prepared(Owner(employer.organization_id, employer.id, employer.sandbox), (paper,))
