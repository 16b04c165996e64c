"""One payroll: the progress of its money, its paychecks line by line, each explained, and its pay stubs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import OBTAIN_DOCUMENTS, READ_PAYROLLS, RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.documents.commands import IssuePaystub
from hearthpay.documents.issuing import issue
from hearthpay.documents.paper import media_type_of
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.documents.service import Prepared, prepare_documents
from hearthpay.employees.models import Employee
from hearthpay.http.disconnects import until_disconnected
from hearthpay.payroll.corrections import is_correctable
from hearthpay.payroll.issues.payment_status import (
    PaycheckPaymentStatus,
    PaymentIssue,
    PayrollPaymentStatus,
    read_payment_status,
)
from hearthpay.payroll.issues.wording import action_text, happened_text, outcome_text, reason_text
from hearthpay.payroll.ledger.estimates import EstimatedPaycheck
from hearthpay.payroll.ledger.rows import PaycheckRow, StoredPayroll
from hearthpay.payroll.lifecycle import HAS_PAY_STUBS
from hearthpay.payroll.service import get_payroll
from hearthpay.payroll.stored_explanations import LineOnRecord, explain_stored_payroll
from hearthpay.taxes import TaxInputError
from hearthpay.web.framework import id_in_path
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.money import keep_aside_of, pots_of, who_is_paid
from hearthpay.web.household.payrolls.explanation import given_name, laws_of, line_reason
from hearthpay.web.household.payrolls.payment_words import first_names
from hearthpay.web.household.payrolls.payroll_states import ShownState, state_of_payment, state_of_stored
from hearthpay.web.household.payrolls.progress import read_moving_money, timeline_of
from hearthpay.web.message_text import message_text

router: Final = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ShownPaycheck:
    """A paycheck with what has become of its money; the texts are in the visitor's language."""

    pay: PaycheckRow | EstimatedPaycheck
    payment: PaycheckPaymentStatus
    state: ShownState
    outcome_text: str
    warnings: tuple[str, ...]
    resolvable: bool
    """Whether its deposit is on hold, and something can be done about that."""


async def payroll_here(session: AsyncSession, at: HouseholdContext) -> StoredPayroll:
    """Return the payroll named in the path. Raises `not_found` for another household's."""
    payroll_id = id_in_path(at.visitor, "payroll_id")
    payroll = await get_payroll(session, at.actor, at.clock, payroll_id)
    if payroll.employer_id != at.id:
        raise Refusal("not_found", "Payroll not found.")
    return payroll


@household_page(router, "GET", "/payrolls/{payroll_id}", permission=READ_PAYROLLS)
async def payroll(at: HouseholdContext) -> Response:
    """Show the payroll: its timeline, its paychecks, and the available actions."""
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        payment_status = await read_payment_status(session, found.id, at.clock.now())
        moving = await read_moving_money(session, found, at.clock.now())
        money = await money_facts(session, at, found)
    facts = money | {
        "payroll": found,
        "correctable": is_correctable(found, at.clock.today()),
        "state": state_of_stored(at, found),
        "totals": found.totals if found.expected is None else found.expected.totals,
        "paychecks": [_shown(at, found, payment_status, each) for each in paychecks_of(found)],
        "has_pay_stubs": bool(found.paychecks) and found.status in HAS_PAY_STUBS,
        "run_permission": RUN_PAYROLL,
        "paper_permission": OBTAIN_DOCUMENTS,
        "issue": payment_status.issue,
        "issue_text": None if payment_status.issue is None else _words(at, payment_status.issue),
        "line_name": partial(line_name, language=at.visitor.language),
        "steps": timeline_of(
            at.say,
            at.visitor.language,
            found,
            moving,
            state=state_of_stored(at, found),
            today=at.clock.today(),
        ),
    }
    return at.show("payroll.html", facts)


async def money_facts(session: AsyncSession, at: HouseholdContext, payroll: StoredPayroll) -> dict[str, Any]:
    """Return the pots of a payroll, who is paid, and what to keep aside of it while it stands."""
    paychecks = paychecks_of(payroll)
    names = await first_names(session, paychecks)
    aside = None
    if payroll.status not in ("voided", "failed"):
        aside = await keep_aside_of(
            session, at, paychecks, payroll.dates.pay_date, in_ledger=bool(payroll.paychecks)
        )
    return {
        "money": pots_of(paychecks),
        "first_names": names,
        "paid_name": who_is_paid(at.say, at.visitor.language, list(names.values())),
        "aside": aside,
    }


def paychecks_of(payroll: StoredPayroll) -> Sequence[PaycheckRow | EstimatedPaycheck]:
    """Return what was calculated for good, or what is expected as long as nothing was."""
    return payroll.paychecks if payroll.expected is None else payroll.expected.paychecks


def _shown(
    at: HouseholdContext,
    payroll: StoredPayroll,
    payment_status: PayrollPaymentStatus,
    pay: PaycheckRow | EstimatedPaycheck,
) -> ShownPaycheck:
    payment = payment_status.of_paycheck(pay.employee_id, payroll.status)
    deposit = payroll.available_actions.deposits.get(pay.employee_id)
    return ShownPaycheck(
        pay,
        payment,
        state_of_payment(at, payroll, payment.status, pay.payment_method),
        "" if payment.outcome is None else outcome_text(at.say, payment.outcome),
        tuple(message_text(at.say, at.visitor.language, warning) for warning in pay.warnings),
        resolvable=deposit is not None and bool(deposit.remedies),
    )


def _words(at: HouseholdContext, issue: PaymentIssue) -> dict[str, str]:
    """Return the payroll's issues, in the visitor's language."""
    say, language = at.say, at.visitor.language
    return {
        "reason": reason_text(say, issue),
        "happened": happened_text(say, language, issue),
        "action": action_text(say, language, issue),
    }


@household_page(router, "GET", "/payrolls/{payroll_id}/lines/{employee_id}/{code}", permission=READ_PAYROLLS)
async def line(at: HouseholdContext) -> Response:
    """Explain a line of a paycheck: what it is, how it was calculated, and the law behind it."""
    employee_id, code = id_in_path(at.visitor, "employee_id"), at.visitor.request.path_params["code"]
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        employee = await session.get(Employee, employee_id)
        pay = next((each for each in paychecks_of(found) if each.employee_id == employee_id), None)
        shown = None if pay is None else next((each for each in pay.lines if each.code == code), None)
        if pay is None or shown is None or employee is None:
            raise Refusal("not_found", "Page not found. Check the address.")
        recorded = await _explanation(session, at, found, employee_id, code)
    state = pay.work_state if isinstance(pay, PaycheckRow) else employee.work_state
    residence = pay.residence_state if isinstance(pay, PaycheckRow) else employee.residence_state or state
    why = line_reason(
        at.say,
        at.visitor.language,
        shown,
        None if recorded is None else recorded.explanation,
        day=found.dates.pay_date,
        frequency=found.pay_frequency,
        states=(state, residence),
        who=given_name(pay.employee_name),
    )
    facts = {
        "payroll": found,
        "pay": pay,
        "line": shown,
        "name": why.name,
        "why": why,
        "changed": recorded is not None and not recorded.reproduced,
        "laws": laws_of(code, found.tax_year, state),
    }
    return at.show("payroll_line.html", facts)


async def _explanation(
    session: AsyncSession, at: HouseholdContext, found: StoredPayroll, employee_id: UUID, code: str
) -> LineOnRecord | None:
    """Return how a line was calculated; None if the payroll can't be calculated again, as by today's rules."""
    try:
        explained = await explain_stored_payroll(session, at.actor, found.id)
    except TaxInputError:
        return None
    return next(
        (each for each in explained.lines if each.employee_id == employee_id and each.line.code == code), None
    )


@household_page(router, "GET", "/payrolls/{payroll_id}/stubs/{employee_id}", permission=OBTAIN_DOCUMENTS)
async def stub(at: HouseholdContext) -> Response:
    """A pay stub as a PDF: `language` is en or es, `copy` the employee's or the household's."""
    return await until_disconnected(at.visitor.request, _stub(at))


async def _stub(at: HouseholdContext) -> Response:
    asked = at.visitor.request.query_params
    ring = at.runtime.ring
    if ring is None:
        raise Refusal(
            "service_unavailable",
            "Documents aren't available: encryption isn't set up. Contact your administrator.",
        )
    requested = IssuePaystub(
        payroll_id=id_in_path(at.visitor, "payroll_id"),
        employer_id=at.id,
        employee_id=id_in_path(at.visitor, "employee_id"),
        language="es" if asked.get("language", at.visitor.language) == "es" else "en",
        copy="household" if asked.get("copy") == "household" else "employee",
    )

    async def prepare(session: AsyncSession) -> Prepared:
        return await prepare_documents(session, ring, at.actor, at.clock, requested)

    kept = await issue(at.transaction, ring, at.clock, at.actor, prepare)
    name = kept.document.file_name
    return Response(
        kept.content,
        headers={
            "Content-Type": media_type_of(name),
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )
