"""Documents of a household: turns a request into documents that can be drawn, or a refusal that says what to supply."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import LIST_DOCUMENTS, OBTAIN_DOCUMENTS, OWN_RECORD, allow
from hearthpay.access.plans import NOTHING
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock
from hearthpay.documents.archive import ArchivedFile, open_document
from hearthpay.documents.availability import (
    missing_details,
    not_available,
    require_schedule_h_form,
    require_w2_form,
    require_year,
)
from hearthpay.documents.commands import (
    IssueCommand,
    IssuePaystub,
    IssueScheduleH,
    IssueW2,
    IssueW3,
    IssueWageFile,
    IssueYearPackage,
)
from hearthpay.documents.figures.books import BookedPaycheck, futa_quarters
from hearthpay.documents.figures.figure import Remark
from hearthpay.documents.figures.forms import FormNotKnownError, schedule_h_form
from hearthpay.documents.figures.schedule_h import ScheduleH, ScheduleHQuestion, schedule_h_of
from hearthpay.documents.figures.stub import StubParties, stub_of
from hearthpay.documents.figures.w2 import w2_of
from hearthpay.documents.figures.w3 import w3_of
from hearthpay.documents.identity import (
    EmployeeIdentity,
    HouseholdIdentity,
    PaperMarks,
    missing_for_schedule_h,
    missing_for_w2,
)
from hearthpay.documents.models import IssuedDocument
from hearthpay.documents.paper import Paper
from hearthpay.documents.parties import Numbers
from hearthpay.documents.preparing import (
    FormOfPerson,
    Setting,
    cover_paper,
    paystub_paper,
    schedule_h_paper,
    w2_paper,
    w3_paper,
    wage_file_paper,
    with_remarks,
)
from hearthpay.documents.year_books import YearOnRecord, read_year_on_record
from hearthpay.employees.commands import PaperLanguage
from hearthpay.employees.links import allow_own
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import find_employer, resolve_employer, resolve_employer_of
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.payroll.lifecycle import HAS_PAY_STUBS
from hearthpay.payroll.models import Payroll
from hearthpay.security.key_ring import KeyRing
from hearthpay.wire.paging import PageRequest, page_of

_STUB_OF_PACKAGE: Final = "household"


@dataclass(frozen=True, slots=True)
class Prepared:
    """The requested documents of one household; those with a cover sheet go into one file."""

    owner: Owner
    papers: tuple[Paper, ...]
    package: str | None = None
    """The name of the file that they are packed into; None if there is one document."""

    tax_year: int = 0
    too_many: int | None = None
    """How many documents the package has if they are too many to draw at once; none of them is here then."""


async def prepare_documents(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    clock: Clock,
    requested: IssueCommand,
    *,
    at_once: int | None = None,
) -> Prepared:
    """Return the requested documents, calculated from the household's books as this transaction sees them.

    Nothing is drawn yet; if a package has more than `at_once` documents they are only counted. Numbers that they show
    are read from the vault, with a row in the audit trail for each. Raises what `allow` and `resolve_employer` raise,
    `document_not_available` with what is missing and how to supply it, `not_found` for another household's payroll or
    employee, and `validation_error` if the request must choose.
    """
    allow(actor, OBTAIN_DOCUMENTS)
    employer = await _household_of(session, actor, requested)
    builder = _DocumentBuilder(session, ring, actor, clock.today(), employer)
    owner = Owner(employer.organization_id, employer.id, employer.sandbox)
    match requested:
        case IssuePaystub():
            return Prepared(owner, (await builder.paystub(requested),))
        case IssueW2():
            return Prepared(owner, (await builder.w2(requested),))
        case IssueW3():
            return Prepared(owner, (await builder.w3(requested),))
        case IssueScheduleH():
            return Prepared(owner, (await builder.schedule_h(requested),))
        case IssueWageFile():
            return Prepared(owner, (await builder.wage_file(requested),))
        case IssueYearPackage():
            return await _package(builder, owner, requested, at_once)


async def prepare_package(
    session: AsyncSession, ring: KeyRing, clock: Clock, employer_id: UUID, requested: IssueYearPackage
) -> Prepared:
    """Return the documents of a package whose request was allowed before; the session is the worker's.

    Numbers are read by the service itself, with a row in the audit trail for each. Raises `document_not_available`,
    and `not_found` if the household no longer exists.
    """
    employer = await session.get(Employer, employer_id)
    if employer is None:
        raise Refusal("not_found", "No household has this id.")
    actor = worker_for(employer)
    builder = _DocumentBuilder(session, ring, actor, clock.today(), employer)
    return await _package(
        builder, Owner(employer.organization_id, employer.id, employer.sandbox), requested, None
    )


def worker_for(employer: Employer | Owner) -> Actor:
    """Return the worker as the actor who makes what was requested."""
    household = employer.id if isinstance(employer, Employer) else employer.employer_id
    return Actor.system(
        employer.organization_id,
        sandbox=employer.sandbox,
        request_id="worker",
        terms=NOTHING,
        household=household,
    )


async def _package(
    builder: "_DocumentBuilder", owner: Owner, requested: IssueYearPackage, at_once: int | None
) -> Prepared:
    name = "-".join(["test"] * owner.sandbox + ["household-payroll", str(requested.tax_year)]) + ".zip"
    forms = await builder.year_forms(requested)
    stubs = builder.stubs_of(forms.year)
    papers = len(forms.papers) + len(stubs) + 1
    if at_once is not None and papers > at_once:
        return Prepared(owner, (), name, requested.tax_year, papers)
    return Prepared(owner, await builder.year(requested, forms), name, requested.tax_year)


async def prepare_own_paper(
    session: AsyncSession, ring: KeyRing, actor: Actor, clock: Clock, requested: IssuePaystub | IssueW2
) -> Prepared:
    """Return an employee's own copy of a pay stub or Form W-2, issued and archived like the household's.

    It is calculated from the household's books, which the employee's own transaction can't see, so whether it is
    about them is checked before anything is read. Raises what `allow_own` raises, `not_found` and
    `document_not_available`.
    """
    if (
        requested.employee_id is None
        or requested.employer_id is None
        or not actor.reaches(requested.employer_id)
    ):
        raise Refusal("not_found", "There is no such paper.")
    allow_own(actor, OWN_RECORD, requested.employee_id)
    employer = await session.get(Employer, requested.employer_id)
    if employer is None:
        raise Refusal("not_found", "There is no such paper.")
    builder = _DocumentBuilder(session, ring, actor, clock.today(), employer)
    owner = Owner(employer.organization_id, employer.id, employer.sandbox)
    if isinstance(requested, IssuePaystub):
        return Prepared(owner, (await builder.paystub(replace(requested, copy="employee")),))
    return Prepared(owner, (await builder.w2(replace(requested, copy="employee")),))


async def _household_of(session: AsyncSession, actor: Actor, requested: IssueCommand) -> Employer:
    """Return the household that is named, or that has the named payroll or employee; the operator's session has no
    tenant, so the operator names it.
    """
    if actor.kind == "operator" and requested.employer_id is not None:
        return await find_employer(session, actor, requested.employer_id)
    match requested:
        case IssuePaystub():
            owner = await session.scalar(
                select(Payroll.employer_id).where(Payroll.id == requested.payroll_id)
            )
            missing = Refusal("not_found", "Payroll not found.")
        case IssueW2():
            owner = await session.scalar(
                select(Employee.employer_id).where(Employee.id == requested.employee_id)
            )
            missing = Refusal("not_found", "We couldn't find that employee.")
        case _:
            return await resolve_employer(session, actor, requested.employer_id)
    return await resolve_employer_of(session, actor, requested.employer_id, owner, missing)


async def list_documents(
    session: AsyncSession, actor: Actor, employer_id: UUID | None, tax_year: int | None, page: PageRequest
) -> tuple[Sequence[IssuedDocument], str | None]:
    """Return one page of the documents issued for a household, newest first. Raises what `resolve_employer` raises."""
    allow(actor, LIST_DOCUMENTS)
    employer = await resolve_employer(session, actor, employer_id)
    statement = select(IssuedDocument).where(IssuedDocument.employer_id == employer.id)
    if tax_year is not None:
        statement = statement.where(IssuedDocument.tax_year == tax_year)
    return await page_of(session, statement, IssuedDocument.id, page)


async def open_issued(session: AsyncSession, ring: KeyRing, actor: Actor, document_id: UUID) -> ArchivedFile:
    """Return an issued document, byte for byte, even if another version has replaced it; leaves an audit row.

    Raises `not_found`, also for one out of reach.
    """
    allow(actor, OBTAIN_DOCUMENTS)
    statement = select(IssuedDocument).where(IssuedDocument.id == document_id)
    document = await session.scalar(statement.options(undefer(IssuedDocument.sealed_content)))
    if document is None or not actor.reaches(document.employer_id):
        raise Refusal("not_found", "There is no such document.")
    kept = open_document(ring, document)
    await record_audit(
        session, actor, "document.read", employer_id=document.employer_id, subject_id=document.id
    )
    return kept


@dataclass(frozen=True, slots=True)
class _YearForms:
    """A year's documents except stubs and cover sheet, and what they were calculated from."""

    setting: Setting
    year: YearOnRecord
    papers: tuple[Paper, ...]
    remarks: tuple[str, ...]


@dataclass(slots=True)
class _DocumentBuilder:
    """One request in progress: whose documents, who requests them, and the day."""

    session: AsyncSession
    ring: KeyRing
    actor: Actor
    today: datetime.date
    employer: Employer

    async def paystub(self, requested: IssuePaystub) -> Paper:
        payroll = await self.session.get(Payroll, requested.payroll_id)
        if payroll is None or payroll.employer_id != self.employer.id:
            raise Refusal("not_found", "Payroll not found.")
        if payroll.status not in HAS_PAY_STUBS:
            raise not_available(
                "payroll_not_completed",
                f"This payroll is {payroll.status.replace('_', ' ')}: its pay stubs are there once it is completed.",
                payroll_id=payroll.id,
                status=payroll.status,
                pay_date=payroll.pay_date,
            )
        year = await self._year(payroll.tax_year)
        paid = {
            each.paycheck.employee_id: each.id
            for each in year.books.paychecks
            if each.payroll_id == payroll.id and each.reverses is None
        }
        employee_id = requested.employee_id
        if employee_id is None:
            if len(paid) > 1:
                raise invalid("employee_id", f"is required: this payroll paid {len(paid)} employees")
            employee_id = next(iter(paid), None)
        if employee_id is None or employee_id not in paid:
            raise not_available(
                "no_wages",
                "This payroll has no paycheck of this employee.",
                payroll_id=payroll.id,
                employee_id=employee_id,
            )
        employee = await self.session.get_one(Employee, employee_id)
        return await self._stub(year, paid[employee_id], employee, requested)

    async def _stub(
        self, year: YearOnRecord, paycheck_id: UUID, employee: Employee, requested: IssuePaystub
    ) -> Paper:
        household = Numbers.household_on_stubs(self.employer)
        parties = StubParties(
            employer_address=household.address is not None, employer_phone=household.phone is not None
        )
        work_out = partial(stub_of, year.books, paycheck_id, parties)
        shown = await self._numbers("document.paystub").employee_on_stubs(employee)
        language = cast(PaperLanguage, employee.language) if requested.copy == "employee" else "en"
        chosen = replace(requested, language=requested.language or language)
        return paystub_paper(self._setting(household), work_out, shown, employee.id, chosen)

    async def w2(self, requested: IssueW2) -> Paper:
        year = await self._year_of_forms(requested.tax_year)
        person = year.person_of(requested.employee_id)
        if person is None:
            raise Refusal("not_found", "We couldn't find that employee.")
        household = await self._household("document.w2")
        form = await self._form(year, person.id, household)
        if form is None:
            raise not_available(
                "no_wages",
                f"{person.name} was paid nothing in {requested.tax_year}.",
                employee_id=requested.employee_id,
                tax_year=requested.tax_year,
            )
        state = None
        if requested.copy == "state":
            state = _state_of(form, requested)
        elif requested.state is not None:
            raise invalid("state", "is only for the state's copy")
        return w2_paper(self._setting(household), form, requested.copy, state)

    async def w3(self, requested: IssueW3) -> Paper:
        year = await self._year_of_forms(requested.tax_year)
        household = await self._household("document.w3")
        return w3_paper(
            self._setting(household), w3_of([each.form for each in await self._forms(year, household)])
        )

    async def wage_file(self, requested: IssueWageFile) -> Paper:
        year = await self._year_of_forms(requested.tax_year)
        household = await self._household("document.efw2")
        if household.ein is None:
            raise missing_details(["household.ein"], self.employer.id)
        forms = await self._forms(year, household)
        return wage_file_paper(self._setting(household), requested.tax_year, forms, requested.submitter)

    async def schedule_h(self, requested: IssueScheduleH) -> Paper:
        require_year(requested.tax_year, self.today)
        require_schedule_h_form(requested.tax_year)
        year = await self._year(requested.tax_year)
        if next(year.books.everyone(), None) is None:
            raise self._nobody(year)
        household = await self._household("document.schedule_h")
        missing = [*missing_for_schedule_h(household), *self._ein_missing(household)]
        if missing:
            raise missing_details(missing, self.employer.id)
        return schedule_h_paper(self._setting(household), await self._schedule(year))

    async def year_forms(self, requested: IssueYearPackage) -> "_YearForms":
        """Return a package's contents other than the pay stubs and the cover sheet."""
        year = await self._year_of_forms(requested.tax_year)
        household = await self._household("document.year")
        setting = self._setting(household)
        forms = await self._forms(year, household)
        papers = []
        for each in forms:
            papers += [w2_paper(setting, each, "employee"), w2_paper(setting, each, "household")]
            papers += [w2_paper(setting, each, "state", row.state) for row in each.form.states]
        papers.append(w3_paper(setting, w3_of([each.form for each in forms])))
        remarks = [
            f"{each.employee.name}: {remark.text}"
            for each in forms
            for remark in _about_number(each.employee)
        ]
        schedule = await self._known_schedule(year)
        if schedule is None:
            remarks.append(f"Schedule H of {requested.tax_year} is not published yet.")
        elif schedule.required:
            papers.append(schedule_h_paper(setting, schedule))
        else:
            remarks.append(
                "No Schedule H is due: no wages reach a threshold, and no income tax was withheld."
            )
        if requested.submitter is None or household.ein is None:
            remarks.append("The wage file (EFW2) is not here: it takes an EIN and the SSA's user id.")
        else:
            file = wage_file_paper(setting, requested.tax_year, forms, requested.submitter)
            try:
                file.draw(PaperMarks())  # text alone, in no time
                papers.append(file)
            except Refusal as refusal:
                remarks.append(refusal.message)
        return _YearForms(setting, year, tuple(papers), tuple(remarks))

    async def year(self, requested: IssueYearPackage, forms: "_YearForms") -> tuple[Paper, ...]:
        """Return all documents of a package, the cover sheet last."""
        papers = _named_apart([*forms.papers, *await self._stubs(forms.year)])
        return (*papers, cover_paper(forms.setting, requested.tax_year, papers, forms.remarks))

    @staticmethod
    def stubs_of(year: YearOnRecord) -> list[BookedPaycheck]:
        """Return the paychecks of the year that have pay stubs."""
        return [
            each
            for each in year.books.paychecks
            if each.reverses is None and year.statuses[each.payroll_id] in HAS_PAY_STUBS
        ]

    async def _stubs(self, year: YearOnRecord) -> list[Paper]:
        """Return the household's copies of all pay stubs of the year."""
        records = {record.id: record for own in year.records.values() for record in own}
        return [
            await self._stub(
                year,
                each.id,
                records[each.paycheck.employee_id],
                IssuePaystub(payroll_id=each.payroll_id, copy=_STUB_OF_PACKAGE),
            )
            for each in self.stubs_of(year)
        ]

    async def _year(self, tax_year: int) -> YearOnRecord:
        return await read_year_on_record(self.session, self.employer.id, tax_year)

    async def _year_of_forms(self, tax_year: int) -> YearOnRecord:
        require_year(tax_year, self.today)
        require_w2_form(tax_year)
        return await self._year(tax_year)

    async def _household(self, purpose: str) -> HouseholdIdentity:
        return await self._numbers(purpose).household_on_forms(self.employer)

    async def _forms(self, year: YearOnRecord, household: HouseholdIdentity) -> list[FormOfPerson]:
        """Return the Forms W-2 of everybody who was paid; refuse if nobody was, or with all that is missing."""
        found = [await self._unchecked_form(year, person.id) for person in year.books.people]
        forms = [each for each in found if each is not None]
        if not forms:
            raise self._nobody(year)
        self._refuse_incomplete(household, forms)
        return forms

    async def _form(
        self, year: YearOnRecord, person: UUID, household: HouseholdIdentity
    ) -> FormOfPerson | None:
        """Return a person's form; None for somebody who was paid nothing in the year. Refuse one that is incomplete."""
        form = await self._unchecked_form(year, person)
        if form is not None:
            self._refuse_incomplete(household, [form])
        return form

    async def _unchecked_form(self, year: YearOnRecord, person: UUID) -> FormOfPerson | None:
        books = next((each for each in year.books.everyone() if each.person.id == person), None)
        if books is None:
            return None
        employee = await self._numbers("document.w2").employee_on_forms(year, person)
        remarks = [*self._remarks(year), *_about_number(employee)]
        return FormOfPerson(with_remarks(w2_of(books), remarks), employee)

    def _refuse_incomplete(self, household: HouseholdIdentity, forms: Sequence[FormOfPerson]) -> None:
        """Refuse forms for which household or employee details are missing, and name all of them."""
        of_household: list[str] = []
        people: dict[UUID, list[str]] = {}
        for each in forms:
            missing = missing_for_w2(household, each.employee)
            of_household += [name for name in missing if name == "household.address"]
            own = [name for name in missing if name.startswith("employee.")]
            if own:
                people[each.form.person_id] = own
        of_household += self._ein_missing(household)
        if of_household or people:
            raise missing_details(of_household, self.employer.id, people)

    def _ein_missing(self, household: HouseholdIdentity) -> list[str]:
        """Return the EIN as missing, unless it is applied for: documents may then say so."""
        return ["household.ein"] if household.ein is None and self.employer.ein_status != "pending" else []

    async def _schedule(self, year: YearOnRecord) -> ScheduleH:
        before = await self._year(year.books.tax_year - 1)
        question = ScheduleHQuestion(quarters_before=futa_quarters(before.books))
        schedule = schedule_h_of(year.books, question)
        return replace(schedule, remarks=(*schedule.remarks, *self._remarks(year)))

    async def _known_schedule(self, year: YearOnRecord) -> ScheduleH | None:
        try:
            schedule_h_form(year.books.tax_year)
        except FormNotKnownError:
            return None
        return await self._schedule(year)

    def _remarks(self, year: YearOnRecord) -> list[Remark]:
        """Return remarks on what a year's documents leave open: an unfinished year, and money still in transit."""
        remarks = []
        tax_year = year.books.tax_year
        if tax_year == self.today.year and year.books.paychecks:
            last = max(each.pay_date for each in year.books.paychecks)
            remarks.append(
                Remark("year_not_over", f"{tax_year} is not over: this counts what was paid until {last}.")
            )
        if year.under_way:
            remarks.append(
                Remark(
                    "under_way",
                    f"Counts payrolls whose deposits have not arrived yet ({year.under_way}).",
                )
            )
        return remarks

    def _nobody(self, year: YearOnRecord) -> Refusal:
        tax_year = year.books.tax_year
        if not year.books.people:
            return not_available(
                "no_employees", "This household has no employees.", employer_id=self.employer.id
            )
        return not_available(
            "no_wages",
            f"Nobody was paid by this household in {tax_year}.",
            employer_id=self.employer.id,
            tax_year=tax_year,
        )

    def _setting(self, household: HouseholdIdentity) -> Setting:
        return Setting(self.employer.id, household, self.today, self.employer.sandbox)

    def _numbers(self, purpose: str) -> Numbers:
        return Numbers(self.session, self.ring, self.actor, purpose)


def _about_number(employee: EmployeeIdentity) -> tuple[Remark, ...]:
    """Return what a household has to know about a Form W-2 without a Social Security number.

    IRS General Instructions for Forms W-2 and W-3, box a: file, and correct it when there is a number.
    """
    if employee.ssn is not None:
        return ()
    return (
        Remark(
            "number_applied_for",
            "No Social Security number is on file: box a says “Applied For”, the wage file has zeros. An ITIN is none. "
            "Once there is a number, give the employee and the SSA a Form W-2c.",
        ),
    )


def _named_apart(papers: Sequence[Paper]) -> list[Paper]:
    """Return the documents with a number added to names that would repeat in one file."""
    used: dict[str, int] = {}
    named = []
    for paper in papers:
        number = used[paper.file_name] = used.get(paper.file_name, 0) + 1
        start, end = paper.file_name.rsplit(".", 1)
        named.append(paper if number == 1 else replace(paper, file_name=f"{start}-{number}.{end}"))
    return named


def _state_of(form: FormOfPerson, requested: IssueW2) -> str:
    states = [row.state for row in form.form.states]
    if requested.state is None and len(states) > 1:
        raise invalid("state", f"is required: this form names {', '.join(states)}")
    state = requested.state or next(iter(states), None)
    if state is None or state not in states:
        raise not_available(
            "no_wages",
            "This form has no wages of the state."
            if state
            else "This form names no state with an income tax.",
            state=state,
            states=states,
        )
    return state
