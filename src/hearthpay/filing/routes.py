"""The HTTP face of the ledgers of tax payments and filings."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import KEEP_TAX_LEDGER, READ_TAX_LEDGER
from hearthpay.filing import filings, service
from hearthpay.filing.schemas import (
    FilingItem,
    LedgerPage,
    LedgerReversal,
    NewFiling,
    NewTaxPayment,
    RecordedTaxPayment,
    TaxPaymentItem,
    filing_item,
    recorded_tax_payment,
    tax_payment_item,
)
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, ListEnvelope, listing
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import described_id

TaxPaymentId = Annotated[UUID, described_id("Id of the payment, as `GET /tax-payments` lists it.")]
FilingId = Annotated[UUID, described_id("Id of the filing, as `GET /filings` lists it.")]

router: Final = api_router("Payments and filings")

_HOUSEHOLD: Final = ("household_forbidden", "key_mode_mismatch")
_NO_REASON: Final = LedgerReversal()
_PAYMENT: Final = {
    "agency": "IRS",
    "account_type": "estimated-tax",
    "period": "2026-I3",
    "amount": 502.62,
    "paid_on": "2026-09-14",
    "method": "bank_account",
    "confirmation": "DP-7K2M-4418",
}
_FILING: Final = {
    "key": "CA/wages-quarterly/2026-Q3",
    "filed_on": "2026-10-27",
    "confirmation": "0-418-229-304",
}


@router.get(
    "/tax-payments",
    operation_id="listTaxPayments",
    summary="List what was paid to tax agencies",
    **describe(answer=ListEnvelope[TaxPaymentItem], query={"limit": 25}, errors=_HOUSEHOLD),
)
async def list_tax_payments(
    request: Request,
    query: Annotated[LedgerPage, Query()],
    actor: Annotated[Actor, Depends(require(READ_TAX_LEDGER))],
) -> Response:
    """Of one household, the last recorded first; reversed payments are included."""
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        _, details, cursor = await service.list_tax_payments(session, actor, query.to_command())
    return listing(request, [tax_payment_item(each) for each in details], cursor)


@router.post(
    "/tax-payments",
    operation_id="recordTaxPayment",
    summary="Record what was paid to a tax agency",
    **describe(
        answer=Envelope[RecordedTaxPayment],
        body=_PAYMENT,
        status=201,
        errors=(*_HOUSEHOLD, "idempotency_conflict"),
    ),
)
async def record_tax_payment(
    request: Request,
    body: NewTaxPayment,
    actor: Annotated[Actor, Depends(require(KEEP_TAX_LEDGER))],
) -> Response:
    """Notes a payment that was made elsewhere: this moves no money.

    `balance` tells what is open of the period since: `owed` less `paid`. More than is owed counts for other items that
    the same return settles: payments of estimated tax for the year of Schedule H, deposits for the quarter's return.
    A payment is never changed; reverse it and record it again.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        details = await service.record_tax_payment(session, actor, clock, body.to_command())
        return Answer(recorded_tax_payment(details), 201)

    return await idempotent(request, actor, operation)


@router.post(
    "/tax-payments/{tax_payment_id}/reverse",
    operation_id="reverseTaxPayment",
    summary="Reverse a recorded tax payment",
    **describe(
        answer=Envelope[RecordedTaxPayment],
        body={"reason": "Recorded twice."},
        errors=("not_found", "invalid_state", "idempotency_conflict"),
    ),
)
async def reverse_tax_payment(
    request: Request,
    tax_payment_id: TaxPaymentId,
    actor: Annotated[Actor, Depends(require(KEEP_TAX_LEDGER))],
    body: LedgerReversal = _NO_REASON,
) -> Response:
    """For one recorded by mistake, or returned by the bank. What it paid is open again. Moves no money."""
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        details = await service.reverse_tax_payment(session, actor, clock, tax_payment_id, body.reason)
        return Answer(recorded_tax_payment(details))

    return await idempotent(request, actor, operation)


@router.get(
    "/filings",
    operation_id="listFilings",
    summary="List what was filed with agencies",
    **describe(answer=ListEnvelope[FilingItem], query={"limit": 25}, errors=_HOUSEHOLD),
)
async def list_filings(
    request: Request,
    query: Annotated[LedgerPage, Query()],
    actor: Annotated[Actor, Depends(require(READ_TAX_LEDGER))],
) -> Response:
    """Of one household, the last recorded first, with the figures as they were filed; also those reversed."""
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        _, details, cursor = await filings.list_filings(session, actor, query.to_command())
    return listing(request, [filing_item(each) for each in details], cursor)


@router.post(
    "/filings",
    operation_id="recordFiling",
    summary="Record what was filed with an agency",
    **describe(
        answer=Envelope[FilingItem],
        body=_FILING,
        status=201,
        errors=(*_HOUSEHOLD, "invalid_state", "idempotency_conflict"),
    ),
)
async def record_filing(
    request: Request,
    body: NewFiling,
    actor: Annotated[Actor, Depends(require(KEEP_TAX_LEDGER))],
) -> Response:
    """Notes a return or report that was filed elsewhere: this files nothing.

    The figures of the period are kept as they are now. A return that was filed again after payrolls of its period have
    changed (`next_step: amend` of the calendar's item) is recorded as another filing.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        return Answer(filing_item(await filings.record_filing(session, actor, clock, body.to_command())), 201)

    return await idempotent(request, actor, operation)


@router.post(
    "/filings/{filing_id}/reverse",
    operation_id="reverseFiling",
    summary="Reverse a recorded filing",
    **describe(
        answer=Envelope[FilingItem],
        body={"reason": "The agency rejected it."},
        errors=("not_found", "invalid_state", "idempotency_conflict"),
    ),
)
async def reverse_filing(
    request: Request,
    filing_id: FilingId,
    actor: Annotated[Actor, Depends(require(KEEP_TAX_LEDGER))],
    body: LedgerReversal = _NO_REASON,
) -> Response:
    """For one recorded by mistake, or rejected by the agency: the item is to be filed again."""
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        return Answer(
            filing_item(await filings.reverse_filing(session, actor, clock, filing_id, body.reason))
        )

    return await idempotent(request, actor, operation)
