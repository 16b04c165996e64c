"""The documents of a hire: the work agreement and the notice of pay to sign, and the new hire report."""

from typing import Final
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import OBTAIN_DOCUMENTS, SIGN_PAPERS
from hearthpay.access.refusal import Refusal
from hearthpay.documents.employment import (
    IssueNewHireReport,
    hire_to_report,
    prepare_employment_paper,
    prepare_new_hire_report,
)
from hearthpay.documents.issuing import issue
from hearthpay.documents.papers.new_hire_report import asked_by
from hearthpay.documents.service import Prepared
from hearthpay.documents.signatures import papers_to_sign, sign_paper
from hearthpay.languages.catalogue import mark
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import employee_in_path, find_here
from hearthpay.web.household.form_values import day_field, field_errors
from hearthpay.web.household.taxes.papers import file_of

router: Final = APIRouter(include_in_schema=False)

_AT: Final = "/employees/{employee_id}/papers"
_NOT_THERE: Final = mark("Nothing found with this name.")


@household_page(router, "GET", _AT, permission=OBTAIN_DOCUMENTS)
async def hire_papers(at: HouseholdContext) -> Response:
    """Show what is signed and reported for a hire."""
    return await _page(at)


@household_page(router, "POST", f"{_AT}/{{paper}}", permission=OBTAIN_DOCUMENTS)
async def employment_paper(at: HouseholdContext) -> Response:
    """The agreement or the notice as a PDF, kept as it is issued: `language` is en or es."""
    ring = at.visitor.people_context.keys()
    named = at.visitor.request.path_params["paper"]
    if named not in ("agreement", "notice"):
        raise Refusal("not_found", _NOT_THERE)
    async with at.transaction() as session:
        record = await find_here(at, session)

    async def prepare(session: AsyncSession) -> Prepared:
        return await prepare_employment_paper(
            session,
            at.actor,
            at.clock,
            record.id,
            "agreement" if named == "agreement" else "notice",
            "es" if at.form.get("language") == "es" else "en",
        )

    return file_of(at, await issue(at.transaction, ring, at.clock, at.actor, prepare))


@household_page(router, "POST", f"{_AT}/{{paper}}/sign", permission=SIGN_PAPERS)
async def sign(at: HouseholdContext) -> Response:
    """Sign, for the household, the version that the page showed."""
    document_id = _document(at)
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            await sign_paper(
                session,
                at.actor,
                at.clock,
                at.id,
                record.id,
                document_id,
                at.form.get("signed_name", ""),
                at.visitor.signed_in.person_id,
            )
    except Refusal as error:
        if error.code not in ("validation_error", "invalid_state"):
            raise
        return await _page(at, field_errors(problems_of(error)))
    return at.go(f"/employees/{employee_in_path(at)}/papers")


@household_page(
    router, "POST", "/employees/{employee_id}/new-hire-report", permission=OBTAIN_DOCUMENTS, fresh=True
)
async def new_hire_report(at: HouseholdContext) -> Response:
    """The report as a sheet or a file, with the numbers in full."""
    ring = at.visitor.people_context.keys()
    async with at.transaction() as session:
        record = await find_here(at, session)
    try:
        requested = IssueNewHireReport(
            employee_id=record.id,
            form="file" if at.form.get("form") == "file" else "sheet",
            birth_date=day_field(at.form, "birth_date") if at.form.get("birth_date", "").strip() else None,
            health_insurance={"yes": True, "no": False}.get(at.form.get("health_insurance", "")),
        )
    except Refusal as error:
        return await _page(at, field_errors(problems_of(error)))

    async def prepare(session: AsyncSession) -> Prepared:
        return await prepare_new_hire_report(session, ring, at.actor, requested)

    return file_of(at, await issue(at.transaction, ring, at.clock, at.actor, prepare))


def _document(at: HouseholdContext) -> UUID:
    try:
        return UUID(at.form.get("document", ""))
    except ValueError:
        raise Refusal("not_found", _NOT_THERE) from None


async def _page(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        record = await find_here(at, session)
        issued = await papers_to_sign(session, at.actor, at.id, record.id)
    hire = hire_to_report(record)
    facts = {
        "issued": [(each, each.signed_by("household"), each.signed_by("employee")) for each in issued],
        "employee_id": employee_in_path(at),
        "employee_name": record.name,
        "hire": hire,
        "is_late": hire.due < at.clock.today(),
        "asked": asked_by(record.work_state),
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("employees/hire_papers.html", facts, status=400 if problems else 200)
