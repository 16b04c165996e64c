"""An employee's withholding certificates: what is in force, a new one to sign, and the copies of those she signed."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.employees.certificate_sheets import (
    FEDERAL,
    AnswersError,
    CertificateSheet,
    read_answers,
    sheet_for,
)
from hearthpay.employees.models import Employee
from hearthpay.employees.own_notices import tell_of_change
from hearthpay.employees.signing import Signature, certificates_of, find_certificate, sign_certificate
from hearthpay.languages.catalogue import mark
from hearthpay.people.identity import read_name
from hearthpay.taxes import TaxInputError
from hearthpay.web.my.record import OwnRecord, record_of, today_of
from hearthpay.web.settings.account import id_in_path
from hearthpay.web.shell import go, page_of, problems_of
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_NOT_TODAY: Final = mark("must be today's date")


@page_of(router, "GET", "/my/{employee_id}/certificates", "signed_in")
async def certificates(visitor: Visitor) -> Response:
    """Which certificates there are, which are in force, and the ways to new ones."""
    record = await record_of(visitor)
    async with record.transaction() as session:
        employee = await record.employee(session)
        signed = await certificates_of(session, record.actor, employee.id)
    sheets = [
        sheet
        for jurisdiction in (FEDERAL, employee.work_state)
        if (sheet := _sheet(visitor, employee, jurisdiction)) is not None
    ]
    return record.show("my_certificates.html", {"sheets": sheets, "signed": signed})


@page_of(router, "GET", "/my/{employee_id}/certificates/sign/{jurisdiction}", "signed_in", fresh=True)
async def show_sheet(visitor: Visitor) -> Response:
    """The form, with what her record says now."""
    record = await record_of(visitor)
    return _form(record, await _wanted(record), {}, {})


@page_of(router, "POST", "/my/{employee_id}/certificates/sign/{jurisdiction}", "signed_in", fresh=True)
async def take_signature(visitor: Visitor) -> Response:
    """Keep the signed copy; it counts from the next payroll on."""
    record = await record_of(visitor)
    sheet = await _wanted(record)
    problems: dict[str, str] = {}
    name, on = read_signature(visitor.form, today_of(visitor), problems)
    try:
        answers = read_answers(sheet, visitor.form)
        if problems or on is None:
            raise AnswersError({})
        signature = Signature(
            name,
            on,
            person_id=visitor.signed_in.person_id,
            address=(visitor.visit.address or "")[:64] or None,
        )
        async with record.transaction() as session:
            certificate = await sign_certificate(
                session,
                record.actor,
                visitor.desk.clock,
                record.employment.employee_id,
                sheet,
                answers,
                signature,
            )
            what = "w4" if sheet.jurisdiction == FEDERAL else "certificate"
            employee = await record.employee(session)
            await tell_of_change(visitor.desk, session, employee, record.reader, what)
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


def read_signature(form: Mapping[str, str], today: date, problems: dict[str, str]) -> tuple[str, date | None]:
    """Return the name and day with which somebody signs; what is wrong goes into `problems`."""
    name, on = "", None
    try:
        name = read_name(form.get("signed_name", ""), "signed_name")
    except Refusal as error:
        problems.update(problems_of(error))
    try:
        on = date.fromisoformat(form.get("signed_on", "").strip())
    except ValueError:
        on = None
    if on != today:
        problems["signed_on"] = _NOT_TODAY
        on = None
    return name, on


def _answer(asked: Mapping[str, Any], typed: str) -> str:
    """Return what was answered, in the words in which it was asked."""
    if asked["kind"] == "flag":
        return "✓" if typed == "on" else "–"
    chosen = dict(map(tuple, asked["choices"]))
    return chosen.get(typed, typed) or "–"


async def _wanted(record: OwnRecord) -> CertificateSheet:
    jurisdiction = str(record.visitor.request.path_params["jurisdiction"])
    async with record.transaction() as session:
        employee = await record.employee(session)
    if jurisdiction in (FEDERAL, employee.work_state):
        sheet = _sheet(record.visitor, employee, jurisdiction)
        if sheet is not None:
            return sheet
    raise Refusal("not_found", "There is nothing at this address.")


def _sheet(visitor: Visitor, employee: Employee, jurisdiction: str) -> CertificateSheet | None:
    stored = employee.federal_withholding if jurisdiction == FEDERAL else employee.state_withholding
    try:
        return sheet_for(jurisdiction, today_of(visitor), visitor.language, stored)
    except TaxInputError:
        return None


def _form(
    record: OwnRecord, sheet: CertificateSheet, problems: dict[str, str], typed: Mapping[str, str]
) -> Response:
    entered = {each.field: typed.get(each.field, "") if typed else each.entered for each in sheet.questions}
    facts = {
        "sheet": sheet,
        "problems": problems,
        "entered": entered | {name: typed.get(name, "") for name in ("signed_name", "signed_on")},
        "today": today_of(record.visitor).isoformat(),
    }
    return record.show("my_sign.html", facts, status=400 if problems else 200)
