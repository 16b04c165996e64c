"""An employee's withholding certificates: those in force, new ones to sign, and copies of signed ones."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.employees.certificate_sheets import (
    FEDERAL,
    AnswersError,
    CertificateSheet,
    read_answers,
)
from hearthpay.employees.own_notices import notify_of_change
from hearthpay.employees.signing import Signature, certificates_of, find_certificate, sign_certificate
from hearthpay.web.certificate_form import read_signature, sheets_of
from hearthpay.web.framework import go, id_in_path, page_of
from hearthpay.web.my.record import OwnRecord, record_of, today_of
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)


@page_of(router, "GET", "/my/{employee_id}/certificates", "signed_in")
async def certificates(visitor: Visitor) -> Response:
    """Show which certificates there are, which are in force, and links to new ones."""
    record = await record_of(visitor)
    async with record.transaction() as session:
        employee = await record.employee(session)
        signed = await certificates_of(session, record.actor, employee.id)
    sheets = sheets_of(employee, today_of(visitor), visitor.language)
    return record.show("my_certificates.html", {"sheets": sheets, "signed": signed})


@page_of(router, "GET", "/my/{employee_id}/certificates/sign/{jurisdiction}", "signed_in", fresh=True)
async def show_sheet(visitor: Visitor) -> Response:
    """Show the form with the record's current values."""
    record = await record_of(visitor)
    return _form(record, await _wanted(record), {}, {})


@page_of(router, "POST", "/my/{employee_id}/certificates/sign/{jurisdiction}", "signed_in", fresh=True)
async def take_signature(visitor: Visitor) -> Response:
    """Keep the signed copy; it counts from the next payroll on."""
    record = await record_of(visitor)
    sheet = await _wanted(record)
    problems: dict[str, str] = {}
    signed = read_signature(visitor.form, today_of(visitor), problems)
    try:
        answers = read_answers(sheet, visitor.form)
        if signed is None:
            raise AnswersError({})
        signature = Signature(
            *signed,
            person_id=visitor.signed_in.person_id,
            address=(visitor.visit.address or "")[:64] or None,
        )
        async with record.transaction() as session:
            certificate = await sign_certificate(
                session,
                record.actor,
                visitor.people_context.clock,
                record.employment.employee_id,
                sheet,
                answers,
                signature,
            )
            what = "w4" if sheet.jurisdiction == FEDERAL else "certificate"
            employee = await record.employee(session)
            await notify_of_change(visitor.people_context, session, employee, record.reader, what)
    except AnswersError as error:
        return _form(record, sheet, problems | dict(error.problems), visitor.form)
    return go(f"{record.path}/certificates/copies/{certificate.id}")


@page_of(router, "GET", "/my/{employee_id}/certificates/copies/{certificate_id}", "signed_in")
async def show_copy(visitor: Visitor) -> Response:
    """A signed certificate as it was issued."""
    record = await record_of(visitor)
    certificate_id = id_in_path(visitor, "certificate_id")
    async with record.transaction() as session:
        found = await find_certificate(session, record.actor, record.employment.employee_id, certificate_id)
    lines = [
        (asked["label"], asked["line"], _answer(asked, found.answered.get(asked["name"], "")))
        for asked in found.asked
        if asked["name"] != "declaration"
    ]
    declaration = next((each["label"] for each in found.asked if each["name"] == "declaration"), "")
    facts = {"certificate": found, "lines": lines, "declaration": declaration}
    return record.show("my_certificate.html", facts)


def _answer(asked: Mapping[str, Any], typed: str) -> str:
    """Return the answer, in the words of the question."""
    if asked["kind"] == "flag":
        return "✓" if typed == "on" else "–"
    chosen = dict(map(tuple, asked["choices"]))
    return chosen.get(typed, typed) or "–"


async def _wanted(record: OwnRecord) -> CertificateSheet:
    jurisdiction = str(record.visitor.request.path_params["jurisdiction"])
    async with record.transaction() as session:
        employee = await record.employee(session)
    for sheet in sheets_of(employee, today_of(record.visitor), record.visitor.language):
        if sheet.jurisdiction == jurisdiction:
            return sheet
    raise Refusal("not_found", "Page not found. Check the address.")


def _form(
    record: OwnRecord, sheet: CertificateSheet, problems: dict[str, str], typed: Mapping[str, str]
) -> Response:
    values = {each.field: typed.get(each.field, "") if typed else each.entered for each in sheet.questions}
    facts = {
        "sheet": sheet,
        "problems": problems,
        "form_values": values | {name: typed.get(name, "") for name in ("signed_name", "signed_on")},
        "today": today_of(record.visitor).isoformat(),
    }
    return record.show("my_sign.html", facts, status=400 if problems else 200)
