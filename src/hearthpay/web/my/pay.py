"""An employee's pay: the home page, pay stubs and Forms W-2, and the year to date."""

from functools import partial
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.banking.account_changes import pending_change
from hearthpay.documents.commands import IssuePaystub, IssueW2
from hearthpay.documents.issuing import issue
from hearthpay.documents.service import Prepared, prepare_own_paper
from hearthpay.employees.links import awaits_any_household, employments_of
from hearthpay.http.disconnects import until_disconnected
from hearthpay.http.statuses import status_of
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.own_pay import own_pay
from hearthpay.payroll.set_asides.requests import pending_request
from hearthpay.web.framework import go, id_in_path, message, page_of, show
from hearthpay.web.my.record import OwnRecord, record_of, today_of
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_SHOWN_FIRST: Final = 3
_NO_PAPER: Final = mark("This document isn't ready")
_WHY: Final = mark("The household needs to add some information first. Ask them to do that.")


@page_of(router, "GET", "/my", "signed_in")
async def employments(visitor: Visitor) -> Response:
    """List the employee's current and former households; if there is only one, show its page."""
    database, person_id = visitor.people_context.database, visitor.signed_in.person_id
    found = await employments_of(database, person_id)
    waits = await awaits_any_household(database, person_id)
    if len(found) == 1 and not waits:
        return go(f"/my/{found[0].employee_id}")
    return show(visitor, "my_households.html", {"employments": found, "waits": waits})


@page_of(router, "GET", "/my/{employee_id}", "signed_in")
async def overview(visitor: Visitor) -> Response:
    """Show one household: the year to date, the latest pay stubs, and to-dos."""
    record = await record_of(visitor)
    employee_id, actor = record.employment.employee_id, record.actor
    async with record.transaction() as session:
        pay = await own_pay(session, actor, visitor.people_context.clock, employee_id)
        facts = {
            "year": pay.year,
            "stubs": pay.stubs[:_SHOWN_FIRST],
            "latest": next((each for each in pay.stubs if not each.undone), None),
            "today": today_of(visitor),
            "change": await pending_change(session, employee_id),
            "request": await pending_request(session, employee_id),
        }
    return record.show("my_overview.html", facts)


@page_of(router, "GET", "/my/{employee_id}/pay/{year}", "signed_in")
async def pay_of_year(visitor: Visitor) -> Response:
    """Show all pay stubs of a year, its Form W-2, and its totals."""
    record, year = await record_of(visitor), _year(visitor)
    employee_id, actor = record.employment.employee_id, record.actor
    async with record.transaction() as session:
        pay = await own_pay(session, actor, visitor.people_context.clock, employee_id, year)
    facts = {
        "years": pay.years,
        "year": pay.year,
        "stubs": pay.stubs,
        "w2": year in pay.years and year < today_of(visitor).year,
    }
    return record.show("my_pay.html", facts)


@page_of(router, "GET", "/my/{employee_id}/stubs/{payroll_id}", "signed_in")
async def stub(visitor: Visitor) -> Response:
    """Download a pay stub as PDF, in the language of the employee's documents."""
    record = await record_of(visitor)
    requested = IssuePaystub(
        payroll_id=id_in_path(visitor, "payroll_id"),
        employer_id=record.employment.employer_id,
        employee_id=record.employment.employee_id,
    )
    return await _paper(record, requested)


@page_of(router, "GET", "/my/{employee_id}/w2/{year}", "signed_in")
async def w2(visitor: Visitor) -> Response:
    """Download a Form W-2 as PDF; it shows the last four digits of the employee's number."""
    record = await record_of(visitor)
    year = _year(visitor)
    if year >= today_of(visitor).year:
        raise Refusal("not_found", "The year is not over yet.")
    requested = IssueW2(
        tax_year=year,
        employer_id=record.employment.employer_id,
        employee_id=record.employment.employee_id,
    )
    return await _paper(record, requested)


async def _paper(record: OwnRecord, requested: IssuePaystub | IssueW2) -> Response:
    return await until_disconnected(record.visitor.request, _issued(record, requested))


async def _issued(record: OwnRecord, requested: IssuePaystub | IssueW2) -> Response:
    visitor = record.visitor
    people_context, ring = visitor.people_context, visitor.people_context.keys()

    async def prepare(session: AsyncSession) -> Prepared:
        return await prepare_own_paper(session, ring, record.actor, people_context.clock, requested)

    transaction = partial(people_context.database.transaction, record.employment.tenant)
    try:
        kept = await issue(transaction, ring, people_context.clock, record.actor, prepare)
    except Refusal as error:
        if error.code != "document_not_available":
            raise
        return message(
            visitor,
            visitor.say(_NO_PAPER),
            visitor.say(_WHY),
            status=status_of(error),
            way_on=(record.path, mark("Back to your pay")),
        )
    headers = {
        "Content-Disposition": f'inline; filename="{kept.document.file_name}"',
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    }
    return Response(kept.content, media_type="application/pdf", headers=headers)


def _year(visitor: Visitor) -> int:
    text = str(visitor.request.path_params["year"])
    if not (text.isascii() and text.isdigit() and len(text) == len("2026")):
        raise Refusal("not_found", "Page not found. Check the address.")
    return int(text)
