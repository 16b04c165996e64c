"""HTTP routes of direct deposit."""

from typing import Annotated, Final

from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL
from hearthpay.banking.authorizations import authorize
from hearthpay.banking.schemas import DebitAuthorization, DirectDepositStatus
from hearthpay.banking.service import direct_deposit_status
from hearthpay.employers.service import find_employer, find_employer_or_tell_mode
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, answer
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import HouseholdIdentifier

router: Final = api_router("Employers")


@router.get(
    "/employers/{employer_id}/dd-status",
    operation_id="getDirectDepositStatus",
    summary="Tell whether a household can pay by direct deposit",
    **describe(answer=Envelope[DirectDepositStatus], errors=("not_found", "key_mode_mismatch")),
)
async def get_direct_deposit_status(
    request: Request,
    employer_id: HouseholdIdentifier,
    actor: Annotated[Actor, Depends(require(READ_PAYROLLS))],
) -> Response:
    """What is missing, for the household and for each active employee. Nothing of it asks for a number here.

    An authorization that is missing or expired is no blocker: `confirm_ach_debit` of a payroll gives it.
    """
    runtime = runtime_of(request)
    async with runtime.database.transaction(actor.tenant) as session:
        employer = await find_employer_or_tell_mode(session, actor, employer_id)
        status = await direct_deposit_status(
            session, employer, runtime.clock.now(), direct_deposit_enabled=runtime.direct_deposit
        )
    return answer(request, status)


@router.post(
    "/employers/{employer_id}/debit-authorization",
    operation_id="authorizeDebit",
    summary="Authorize debits of the household's bank account",
    **describe(
        answer=Envelope[DirectDepositStatus],
        body={"confirm_ach_debit": True},
        errors=("not_found", "direct_deposit_unavailable", "idempotency_conflict"),
    ),
)
async def authorize_debit(
    request: Request,
    employer_id: HouseholdIdentifier,
    body: DebitAuthorization,  # noqa: ARG001 - it can say yes alone
    actor: Annotated[Actor, Depends(require(RUN_PAYROLL))],
) -> Response:
    """For the account that is connected now, for 30 days. Payrolls on hold for it are sent automatically.

    Needed where an authorization was revoked, by a return such as R07 or R10, or ended with an account that was
    replaced.
    """
    runtime = runtime_of(request)

    async def operation(session: AsyncSession) -> Answer:
        employer = await find_employer(session, actor, employer_id)
        await authorize(session, actor, employer, runtime.clock.now())
        return Answer(
            await direct_deposit_status(
                session, employer, runtime.clock.now(), direct_deposit_enabled=runtime.direct_deposit
            )
        )

    return await idempotent(request, actor, operation)
