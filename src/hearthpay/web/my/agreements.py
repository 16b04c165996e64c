"""An employee's work agreement and notice of pay: as issued, with the employee's signature."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.documents.signatures import papers_to_sign, read_paper, sign_paper
from hearthpay.web.framework import go, id_in_path, page_of, problems_of
from hearthpay.web.my.record import OwnRecord, record_of
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)


@page_of(router, "GET", "/my/{employee_id}/agreements", "signed_in")
async def agreements(visitor: Visitor) -> Response:
    """List what there is to sign, and what is signed."""
    return await _page(await record_of(visitor), {})


@page_of(router, "GET", "/my/{employee_id}/agreements/{document_id}", "signed_in")
async def agreement(visitor: Visitor) -> Response:
    """Download a document as PDF, as it was issued."""
    record = await record_of(visitor)
    employment = record.employment
    async with record.transaction() as session:
        kept = await read_paper(
            session,
            visitor.people_context.keys(),
            record.actor,
            employment.employer_id,
            employment.employee_id,
            id_in_path(visitor, "document_id"),
        )
    headers = {
        "Content-Disposition": f'inline; filename="{kept.document.file_name}"',
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    }
    return Response(kept.content, media_type="application/pdf", headers=headers)


@page_of(router, "POST", "/my/{employee_id}/agreements/{document_id}/sign", "signed_in")
async def sign(visitor: Visitor) -> Response:
    """Record the employee's signature under that version."""
    record = await record_of(visitor)
    employment = record.employment
    document_id = id_in_path(visitor, "document_id")
    try:
        async with record.transaction() as session:
            await sign_paper(
                session,
                record.actor,
                visitor.people_context.clock,
                employment.employer_id,
                employment.employee_id,
                document_id,
                visitor.form.get("signed_name", ""),
                visitor.signed_in.person_id,
            )
    except Refusal as error:
        if error.code not in ("validation_error", "invalid_state"):
            raise
        return await _page(record, problems_of(error))
    return go(f"{record.path}/agreements")


async def _page(record: OwnRecord, problems: dict[str, str]) -> Response:
    employment = record.employment
    async with record.transaction() as session:
        issued = await papers_to_sign(session, record.actor, employment.employer_id, employment.employee_id)
    facts = {
        "issued": [(each, each.signed_by("household"), each.signed_by("employee")) for each in issued],
        "problems": problems,
        "form_values": {"signed_name": record.visitor.form.get("signed_name", "")} if problems else {},
    }
    return record.show("my_agreements.html", facts, status=400 if problems else 200)
