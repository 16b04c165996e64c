"""Endpoints that other services of this kind had and that were removed: callers get an error naming the replacement."""

from typing import Annotated, Final

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import LEARN_OF_RETIREMENT
from hearthpay.access.refusal import Refusal
from hearthpay.http.auth import require
from hearthpay.http.envelope import ErrorEnvelope
from hearthpay.http.routing import api_router, describe

router: Final = api_router("Payroll")


@router.post(
    "/ach/transfer",
    operation_id="transferFunds",
    summary="Retired: transfer money without a payroll",
    deprecated=True,
    **describe(answer=ErrorEnvelope, status=410, errors=("gone",)),
)
async def transfer_funds(
    request: Request,  # noqa: ARG001 - whatever it asks for, the answer is the same
    actor: Annotated[Actor, Depends(require(LEARN_OF_RETIREMENT))],  # noqa: ARG001 - the guard
) -> Response:
    """Always answers `gone`: `POST /payroll/run` with direct deposit collects the money and pays it."""
    raise Refusal(
        "gone",
        "Money is no longer transferred without a payroll. Run a payroll with payment_method direct_deposit: "
        "POST /api/v1/payroll/run collects the money from the household and pays the employees.",
        details={"use": "POST /api/v1/payroll/run"},
    )
