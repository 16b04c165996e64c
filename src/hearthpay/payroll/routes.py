"""HTTP routes for previewing and running payrolls, and for payrolls that were run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final, cast

from fastapi import Depends, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, ListEnvelope, answer, listing
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.payroll import service, voiding
from hearthpay.payroll.answers import detail_data, preview_data, run_data, summary_data
from hearthpay.payroll.commands import Corrections
from hearthpay.payroll.explaining import (
    ExplanationQuery,
    ExplanationRequest,
    PayrollExplanations,
    PreviewExplanations,
    explanations_of,
    recorded_explanations_of,
)
from hearthpay.payroll.handing_over import mark_handed_over
from hearthpay.payroll.issues.payment_status import read_payment_status
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.payroll.payday import remedies
from hearthpay.payroll.schemas import (
    HandedOver,
    HandOverRequest,
    PayrollDetail,
    PayrollPreview,
    PayrollRequest,
    PayrollResult,
    PayrollsQuery,
    PayrollSummary,
    RemedyRequest,
    VoidRequest,
)
from hearthpay.payroll.stored_explanations import explain_stored_payroll
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import EmployeeIdentifier, PayrollIdentifier

router: Final = api_router("Payroll")

_PAYROLL: Final = {
    "pay_period_start": "2026-11-02",
    "pay_period_end": "2026-11-15",
    "pay_date": "2026-11-20",
    "pay_frequency": "biweekly",
    "employees": [
        {
            "employee_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11",
            "regular_hours": 80,
            "overtime_hours": 2.5,
            "payment_method": "check",
        }
    ],
}
_NO_REASON: Final = VoidRequest()
_NO_NOTE: Final = HandOverRequest()
_RUN_ERRORS: Final = (
    "too_many_employees",
    "duplicate_employee",
    "employee_not_in_household",
    "employee_not_started",
    "employee_incomplete",
    "invalid_state",
    "unsupported_tax_year",
    "tax_year_not_final",
    "unsupported_jurisdiction",
    "household_forbidden",
    "key_mode_mismatch",
    "payroll_overlap",
    "autopilot_run_scheduled",
    "period_ahead_of_anchor",
    "pay_date_past_deadline",
    "confirmation_required",
    "idempotency_conflict",
    "direct_deposit_unavailable",
)


@contextmanager
def _refusals_shown_on(body: PayrollRequest) -> Iterator[None]:
    """Give a refusal that tells corrections the request as its example: word for word as it was sent, corrected."""
    try:
        yield
    except Refusal as refusal:
        if isinstance(refusal.example, Corrections):
            sent = body.model_dump(by_alias=True, exclude_unset=True)
            refusal.example = sent | dict(refusal.example.changes)
        raise


@router.post(
    "/payroll/preview",
    operation_id="previewPayroll",
    summary="Calculate a payroll without running it",
    **describe(answer=Envelope[PayrollPreview], body=_PAYROLL, errors=_RUN_ERRORS),
)
async def preview_payroll(
    request: Request, body: PayrollRequest, actor: Annotated[Actor, Depends(require(READ_PAYROLLS))]
) -> Response:
    """Takes and checks what a run does and answers the same amounts; creates nothing.

    Where no entry names a `payment_method`, a `pay_date` left out is the earliest day on which a direct deposit could
    arrive; a near or past one that a run by check or cash takes is taken, with a warning and `next_valid_pay_date`; a
    far one makes an estimate. `next_step` tells what a run would do.
    """
    runtime = runtime_of(request)
    clock = runtime.clock
    order = body.to_order()

    async def operation(session: AsyncSession) -> Answer:
        with _refusals_shown_on(body):
            preview = await service.preview_payroll(
                session, actor, clock, order, direct_deposit_enabled=runtime.direct_deposit
            )
        return Answer(preview_data(preview))

    return await idempotent(request, actor, operation)


@router.post(
    "/payroll/explain",
    operation_id="explainPayroll",
    summary="Tell why the lines of a payroll are what they are",
    **describe(
        answer=Envelope[PreviewExplanations],
        body={**_PAYROLL, "line_code": "US-SS-EE"},
        errors=_RUN_ERRORS,
    ),
)
async def explain_payroll(
    request: Request, body: ExplanationRequest, actor: Annotated[Actor, Depends(require(READ_PAYROLLS))]
) -> Response:
    """Calculates what a preview of the same body would, and tells each line's steps, figures and sources.

    With `line_code` of that line alone. Creates nothing.
    """
    runtime = runtime_of(request)
    order = body.to_order()

    async def operation(session: AsyncSession) -> Answer:
        with _refusals_shown_on(body):
            record = await service.explain_payroll(
                session, actor, runtime.clock, order, direct_deposit_enabled=runtime.direct_deposit
            )
        return Answer(explanations_of(record, body.line_code))

    return await idempotent(request, actor, operation)


@router.post(
    "/payroll/run",
    operation_id="runPayroll",
    summary="Run a payroll",
    **describe(
        answer=Envelope[PayrollResult],
        body=_PAYROLL,
        errors=(*_RUN_ERRORS, "amounts_changed"),
        links={"getPayroll": {"payroll_id": "payroll_id"}},
    ),
)
async def run_payroll(
    request: Request, body: PayrollRequest, actor: Annotated[Actor, Depends(require(RUN_PAYROLL))]
) -> Response:
    """Check and cash payrolls are completed at once; direct deposit runs now or is scheduled by its pay date.

    Send an `Idempotency-Key`: a retry then pays nobody twice. With the `preview_token` of a preview, it is refused with
    `amounts_changed`, and with both amounts, unless every line is what the preview showed. A preview is run once: with
    another `Idempotency-Key` it is refused, and `details.payroll_id` names the payroll, also once that is voided.
    """
    runtime = runtime_of(request)
    clock = runtime.clock
    order, confirmed = body.to_order(), body.to_confirmations()

    async def operation(session: AsyncSession) -> Answer:
        with _refusals_shown_on(body):
            payroll = await service.run_payroll(
                session,
                actor,
                clock,
                order,
                confirmed,
                direct_deposit_enabled=runtime.direct_deposit,
                preview_token=body.preview_token,
            )
        return Answer(run_data(payroll))

    return await idempotent(request, actor, operation)


@router.get(
    "/payroll/{payroll_id}",
    operation_id="getPayroll",
    summary="Read a payroll",
    **describe(answer=Envelope[PayrollDetail], errors=("not_found",)),
)
async def get_payroll(
    request: Request, payroll_id: PayrollIdentifier, actor: Annotated[Actor, Depends(require(READ_PAYROLLS))]
) -> Response:
    """The payroll as it was run, line by line, how it stands with the bank, and what can be done about it."""
    runtime = runtime_of(request)
    async with runtime.database.transaction(actor.tenant) as session:
        payroll = await service.get_payroll(session, actor, runtime.clock, payroll_id)
        standing = await read_payment_status(session, payroll_id, runtime.clock.now())
    return answer(request, detail_data(payroll, standing))


@router.get(
    "/payroll/{payroll_id}/explanation",
    operation_id="explainStoredPayroll",
    summary="Tell why the lines of a payroll on record are what they are",
    **describe(
        answer=Envelope[PayrollExplanations],
        query={"line_code": "US-SS-EE"},
        errors=("not_found", "invalid_state"),
    ),
)
async def explain_payroll_on_record(
    request: Request,
    payroll_id: PayrollIdentifier,
    query: Annotated[ExplanationQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_PAYROLLS))],
) -> Response:
    """The amounts are those on record. Each line is calculated again. If the result is the same, the line has its
    steps, figures and sources; otherwise it has `reproduced: false` and the recorded figures.

    `rulebook.version` is the fingerprint of the rules that the payroll was calculated under, and `rulebook.changed`
    says whether they were changed since. For a scheduled payroll, the lines are calculated as of now.
    """
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        found = await explain_stored_payroll(session, actor, payroll_id)
    return answer(request, recorded_explanations_of(found, query.employee_id, query.line_code))


@router.post(
    "/payroll/{payroll_id}/void",
    operation_id="voidPayroll",
    summary="Void a payroll",
    **describe(
        answer=Envelope[PayrollDetail],
        body={"reason": "The hours were wrong."},
        errors=("not_found", "invalid_state", "idempotency_conflict"),
    ),
)
async def void_payroll(
    request: Request,
    payroll_id: PayrollIdentifier,
    actor: Annotated[Actor, Depends(require(RUN_PAYROLL))],
    body: VoidRequest = _NO_REASON,
) -> Response:
    """A scheduled payroll that has not been sent, a completed one paid by check or cash, or one whose money is held.

    That is one whose debit waits and is on hold, or one that is collected, while no direct deposit of it has been sent
    to the bank; what was collected goes back to the household. Of a failed payroll, what was paid by check or cash.

    What was recorded is undone by entries of the opposite sign: the year to date is as if it had never been.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        payroll = await voiding.void_payroll(session, actor, clock, payroll_id, body.reason)
        return Answer(detail_data(payroll, await read_payment_status(session, payroll_id, clock.now())))

    return await idempotent(request, actor, operation)


@router.post(
    "/payroll/{payroll_id}/hand-over",
    operation_id="handOverPayroll",
    summary="Mark a payroll by check or cash as handed over",
    **describe(
        answer=Envelope[HandedOver],
        body={"note": "In person."},
        errors=("not_found", "invalid_state", "idempotency_conflict"),
    ),
)
async def hand_over_payroll(
    request: Request,
    payroll_id: PayrollIdentifier,
    actor: Annotated[Actor, Depends(require(RUN_PAYROLL))],
    body: HandOverRequest = _NO_NOTE,
) -> Response:
    """For checks or cash that the employees have before the pay date: the to-do to pay them ends.

    Nothing else changes: not the status, the pay date, or the taxes. Without it, a payroll counts as handed over once
    its pay date has come. The same request again answers with the time of the first.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        payroll, at = await mark_handed_over(session, actor, clock, payroll_id, body.note)
        status = cast(PayrollStatus, payroll.status)
        return Answer(HandedOver(payroll.id, payroll.employer_id, status, payroll.pay_date, at))

    return await idempotent(request, actor, operation)


@router.post(
    "/payroll/{payroll_id}/paychecks/{employee_id}/remedy",
    operation_id="remedyPaycheck",
    summary="Settle a direct deposit that is on hold",
    **describe(
        answer=Envelope[PayrollDetail],
        body={"action": "pay_by_check"},
        errors=("not_found", "invalid_state", "idempotency_conflict"),
    ),
)
async def remedy_paycheck(
    request: Request,
    payroll_id: PayrollIdentifier,
    employee_id: EmployeeIdentifier,
    body: RemedyRequest,
    actor: Annotated[Actor, Depends(require(RUN_PAYROLL))],
) -> Response:
    """Where the employee's account has failed after the money was collected; `remedies` tell what can be done.

    Paid by check, the paycheck and its year stay as they are. Refunded, the paycheck is undone and its period is free
    for another payroll: the wages are still owed. The same request again changes nothing.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        payroll = await remedies.apply_remedy(
            session, actor, clock, payroll_id, employee_id, body.action, body.until
        )
        return Answer(detail_data(payroll, await read_payment_status(session, payroll_id, clock.now())))

    return await idempotent(request, actor, operation)


@router.get(
    "/payrolls",
    operation_id="listPayrolls",
    summary="List payrolls",
    **describe(
        answer=ListEnvelope[PayrollSummary],
        query={"status": "completed", "from": "2026-01-01", "limit": 25},
        errors=("household_forbidden", "key_mode_mismatch"),
    ),
)
async def list_payrolls(
    request: Request,
    query: Annotated[PayrollsQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_PAYROLLS))],
) -> Response:
    """Newest first; of one household, or of all where the key remembers none and none is named.

    `metadata[key]=value` lists those with this value of the key.
    """
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        payrolls, next_cursor = await service.list_payrolls(session, actor, query.to_command())
    return listing(request, [summary_data(payroll, count) for payroll, count in payrolls], next_cursor)
