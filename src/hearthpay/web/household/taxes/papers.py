"""The documents of a year: Forms W-2, W-3, Schedule H, the SSA's wage file, and everything in one file.

A document that shows a number in full can only be requested from a page after re-authentication; missing details are
listed with links to supply them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

from fastapi import APIRouter
from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response, StreamingResponse

from hearthpay.access.permissions import LIST_DOCUMENTS, OBTAIN_DOCUMENTS, RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.documents.archive import ArchivedFile
from hearthpay.documents.commands import (
    IssueCommand,
    IssueScheduleH,
    IssueW2,
    IssueW3,
    IssueWageFile,
    IssueYearPackage,
    W2Copy,
)
from hearthpay.documents.issuing import TooManyPapersError, issue
from hearthpay.documents.packages import (
    PACKAGE_AT_ONCE,
    find_package,
    latest_package,
    order_package,
    year_package_of,
)
from hearthpay.documents.packing import package_file
from hearthpay.documents.paper import media_type_of
from hearthpay.documents.schemas import Efw2Submitter
from hearthpay.documents.service import Prepared, list_documents, prepare_documents
from hearthpay.employees.models import Employee
from hearthpay.employees.service import find_employee
from hearthpay.http.disconnects import until_disconnected
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.ledger.quarters import read_prior_gross, read_quarters
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import field_errors, id_in, year_field, year_in, years_of
from hearthpay.web.refusal_words import problem_on_page
from hearthpay.wire.paging import Page
from hearthpay.wire.problems import problems_of

router: Final = APIRouter(include_in_schema=False)

_NOT_THERE: Final = mark("Nothing found with this name.")
_CHOOSE: Final = mark("Choose one.")
_COPIES: Final = ("employee", "household", "state")
_REASONS: Final = {
    "no_wages": mark("Nobody was paid in this year, so there is nothing to put on it."),
    "no_employees": mark("Nobody works for this household yet."),
    "future_year": mark("This year has not begun yet."),
    "form_not_published": mark("The government has not published this form for the year yet."),
    "not_required": mark("No Schedule H is due: no wages reach a threshold, and no income tax was withheld."),
}
_OTHERWISE: Final = mark("We can't create this document yet.")
_ADDRESS: Final = (mark("The employee’s address"), "/employees")
_HOUSEHOLDS_ADDRESS: Final = (mark("Your address"), "/taxes/papers/address")
_MISSING: Final = {
    "household.address": _HOUSEHOLDS_ADDRESS,
    "household.ein": (mark("Your employer identification number (EIN)"), "/state-accounts"),
    "employee.address": _ADDRESS,
}
"""Missing details by the service's name: their name on pages, and the page where they are supplied."""


@dataclass(frozen=True, slots=True)
class PaidPerson:
    """A person who was paid in the year; several records of one person are one."""

    id: UUID
    name: str


@household_page(router, "GET", "/taxes/papers", permission=LIST_DOCUMENTS)
async def papers(at: HouseholdContext) -> Response:
    """Show the documents of a year, with links."""
    year = year_in(at.visitor, at.clock.today())
    async with at.transaction() as session:
        people = await _people(session, at, year)
        found, _ = await list_documents(session, at.actor, at.id, year, Page(limit=1))
        asked = await latest_package(session, at.actor, at.id, year)
    facts = {
        "year": year,
        "years": years_of(at.clock.today()),
        "people": people,
        "issued": bool(found),
        "package": None if asked is None else year_package_of(asked),
        "may_obtain": at.may(OBTAIN_DOCUMENTS),
        "may_run": year == at.clock.today().year and at.may(RUN_PAYROLL),
        "over": year < at.clock.today().year,
    }
    return at.show("taxes/papers.html", facts)


@household_page(router, "GET", "/taxes/papers/w2/{employee_id}", permission=OBTAIN_DOCUMENTS, fresh=True)
async def w2_page(at: HouseholdContext) -> Response:
    """Show the copies of one person's Form W-2."""
    return await _w2_page(at, year_in(at.visitor, at.clock.today()))


@household_page(router, "POST", "/taxes/papers/w2/{employee_id}", permission=OBTAIN_DOCUMENTS, fresh=True)
async def w2(at: HouseholdContext) -> Response:
    """Download one copy of the form."""
    year, copy = year_field(at.form, at.clock.today()), at.form.get("copy", "")
    if copy not in _COPIES:
        return await _w2_page(at, year, {"copy": _CHOOSE})
    state = at.form.get("state") or None
    if copy == "state" and state is not None and state not in STATES:
        return await _w2_page(at, year, {"state": _CHOOSE})
    requested = IssueW2(
        tax_year=year,
        employee_id=id_in(at.visitor, "employee_id"),
        employer_id=at.id,
        copy=cast(W2Copy, copy),
        state=state if copy == "state" else None,
    )
    return await _handed_over(at, requested, year)


@household_page(router, "POST", "/taxes/papers/w3", permission=OBTAIN_DOCUMENTS)
async def w3(at: HouseholdContext) -> Response:
    """The Form W-3."""
    year = year_field(at.form, at.clock.today())
    return await _handed_over(at, IssueW3(tax_year=year, employer_id=at.id), year)


@household_page(router, "POST", "/taxes/papers/schedule-h", permission=OBTAIN_DOCUMENTS)
async def schedule_h(at: HouseholdContext) -> Response:
    """The Schedule H."""
    year = year_field(at.form, at.clock.today())
    return await _handed_over(at, IssueScheduleH(tax_year=year, employer_id=at.id), year)


@household_page(router, "GET", "/taxes/papers/wage-file", permission=OBTAIN_DOCUMENTS, fresh=True)
async def wage_file_page(at: HouseholdContext) -> Response:
    """Ask who uploads the wage file."""
    return _submitter_page(at, year_in(at.visitor, at.clock.today()), package=False)


@household_page(router, "POST", "/taxes/papers/wage-file", permission=OBTAIN_DOCUMENTS, fresh=True)
async def wage_file(at: HouseholdContext) -> Response:
    """The wage file."""
    year = year_field(at.form, at.clock.today())
    try:
        submitter = _submitter(at.form)
    except ValidationError as error:
        return _submitter_page(at, year, package=False, problems=_of_form(error))
    requested = IssueWageFile(tax_year=year, submitter=submitter.to_command(), employer_id=at.id)
    return await _handed_over(at, requested, year)


@household_page(router, "GET", "/taxes/papers/year-package", permission=OBTAIN_DOCUMENTS, fresh=True)
async def package_page(at: HouseholdContext) -> Response:
    """Ask what goes into one file, with the wage file or without."""
    return _submitter_page(at, year_in(at.visitor, at.clock.today()), package=True)


@household_page(router, "POST", "/taxes/papers/year-package", permission=OBTAIN_DOCUMENTS, fresh=True)
async def year_package(at: HouseholdContext) -> Response:
    """Download everything of the year."""
    year = year_field(at.form, at.clock.today())
    submitter = None
    if any(at.form.get(name, "").strip() for name in Efw2Submitter.model_fields):
        try:
            submitter = _submitter(at.form).to_command()
        except ValidationError as error:
            return _submitter_page(at, year, package=True, problems=_of_form(error))
    requested = IssueYearPackage(tax_year=year, employer_id=at.id, submitter=submitter)
    return await _handed_over(at, requested, year)


async def _handed_over(at: HouseholdContext, requested: IssueCommand, year: int) -> Response:
    """Return the document, issued now or before; if it can't be issued, a page with what is missing."""
    return await until_disconnected(at.visitor.request, _issued(at, requested, year))


async def _issued(at: HouseholdContext, requested: IssueCommand, year: int) -> Response:
    ring = at.visitor.people_context.keys()

    async def prepare(session: AsyncSession) -> Prepared:
        return await prepare_documents(session, ring, at.actor, at.clock, requested, at_once=PACKAGE_AT_ONCE)

    try:
        kept = await issue(at.transaction, ring, at.clock, at.actor, prepare)
    except TooManyPapersError as counted:
        return await _ordered(at, cast(IssueYearPackage, requested), counted.prepared)
    except Refusal as error:
        if error.code != "document_not_available" or not isinstance(error.details, dict):
            raise
        return _missing(at, error.details, year)
    return file_of(at, kept)


async def _ordered(at: HouseholdContext, requested: IssueYearPackage, counted: Prepared) -> Response:
    """Have the worker build the package, and redirect to its progress."""
    async with at.transaction() as session:
        package = await order_package(session, at.actor, at.clock, requested, counted)
    return at.go(f"/taxes/papers/packages/{package.id}")


@household_page(router, "GET", "/taxes/papers/packages/{package_id}", permission=LIST_DOCUMENTS)
async def package(at: HouseholdContext) -> Response:
    """How far a package is, and the finished file."""
    async with at.transaction() as session:
        found = await find_package(session, at.actor, id_in(at.visitor, "package_id"))
    if found.employer_id != at.id:
        raise Refusal("not_found", _NOT_THERE)
    if found.status == "failed" and (found.failure or {}).get("reason") != "internal_failure":
        return _missing(at, found.failure or {}, found.tax_year, status=200)
    facts = {"package": year_package_of(found), "may_obtain": at.may(OBTAIN_DOCUMENTS)}
    return at.show("taxes/package.html", facts)


def file_of(at: HouseholdContext, kept: ArchivedFile) -> Response:
    """Return a document as a download with its file name."""
    name = kept.document.file_name
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    headers |= {"Content-Type": media_type_of(name)}
    if kept.document.kind == "year_package":
        return StreamingResponse(
            package_file(at.transaction, at.visitor.people_context.keys(), kept), headers=headers
        )
    return Response(kept.content, headers=headers)


def _missing(at: HouseholdContext, details: Mapping[str, Any], year: int, status: int = 400) -> Response:
    missing: list[tuple[str, str | None]] = []
    for each in details.get("missing", ()):
        known = _MISSING.get(each["field"])
        if known is None:
            missing.append((each["field"], None))
        else:
            where = at.root + known[1]
            if known == _ADDRESS:
                where += f"/{each['employee_id']}"
            elif known == _HOUSEHOLDS_ADDRESS:
                where += f"?year={year}"
            missing.append((at.say(known[0]), where))
    reason = at.say(_REASONS.get(details.get("reason", ""), _OTHERWISE))
    facts = {"missing": missing, "reason": None if missing else reason, "year": year}
    return at.show("taxes/missing.html", facts, status=status)


async def _people(session: AsyncSession, at: HouseholdContext, year: int) -> Sequence[PaidPerson]:
    paid = {each.employee_id for each in await read_quarters(session, at.id, first_year=year, last_year=year)}
    paid |= (await read_prior_gross(session, at.id, year)).keys()
    records = await session.scalars(
        select(Employee).where(Employee.employer_id == at.id).order_by(Employee.last_name, Employee.id)
    )
    found: dict[UUID, PaidPerson] = {}
    for record in records:
        if record.id in paid:
            person = record.person_id or record.id
            found.setdefault(person, PaidPerson(person, record.name))
    return tuple(found.values())


async def _w2_page(at: HouseholdContext, year: int, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        employee = await find_employee(session, at.actor, id_in(at.visitor, "employee_id"))
        if employee.employer_id != at.id:
            raise Refusal("not_found", _NOT_THERE)
        paid = await read_quarters(session, at.id, first_year=year, last_year=year)
    states = sorted({each.work_state for each in paid if each.employee_id == employee.id})
    facts = {
        "employee": employee,
        "year": year,
        "years": [(each, each) for each in years_of(at.clock.today())],
        "states": [(state, STATES[state]) for state in states],
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("taxes/w2.html", facts, status=400 if problems else 200)


def _submitter(form: Mapping[str, str]) -> Efw2Submitter:
    """Return the submitter of the file. Raises ValidationError."""
    values = {name: form.get(name, "").strip() for name in Efw2Submitter.model_fields}
    return Efw2Submitter.model_validate({name: text for name, text in values.items() if text})


def _of_form(error: ValidationError) -> dict[str, str]:
    findings = error.errors(include_url=False, include_input=False)
    return field_errors({each.field: problem_on_page(each) for each in problems_of(findings)})


def _submitter_page(
    at: HouseholdContext, year: int, *, package: bool, problems: dict[str, str] | None = None
) -> Response:
    facts = {
        "year": year,
        "years": [(each, each) for each in years_of(at.clock.today())],
        "package": package,
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("taxes/submitter.html", facts, status=400 if problems else 200)
