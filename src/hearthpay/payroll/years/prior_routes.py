"""HTTP routes for prior wages."""

from typing import Annotated, Final

from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, ListEnvelope, listing
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.payroll.years.prior_schemas import NewPriorWages
from hearthpay.payroll.years.prior_wages import PriorWagesItem, enter_prior_wages, list_prior_wages
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import EmployeeIdentifier

router: Final = api_router("Employees")

_PRIOR_WAGES: Final = {
    "tax_year": 2026,
    "source": "Our former payroll service",
    "as_of": "2026-06-30",
    "gross_pay": 20000,
    "lines": [
        {"code": "US-SS-EE", "subject_wages": 20000, "taxable_wages": 20000, "amount": 1240},
        {"code": "US-SS-ER", "subject_wages": 20000, "taxable_wages": 20000, "amount": 1240},
        {"code": "US-MED-EE", "subject_wages": 20000, "taxable_wages": 20000, "amount": 290},
        {"code": "US-MED-ER", "subject_wages": 20000, "taxable_wages": 20000, "amount": 290},
        {"code": "US-FUTA", "subject_wages": 20000, "taxable_wages": 7000, "amount": 42},
    ],
}


@router.post(
    "/employees/{employee_id}/prior-wages",
    operation_id="enterPriorWages",
    summary="Enter what another payroll paid earlier in the year",
    **describe(
        answer=Envelope[PriorWagesItem],
        body=_PRIOR_WAGES,
        status=201,
        errors=("not_found", "unsupported_tax_year", "unsupported_jurisdiction", "idempotency_conflict"),
    ),
)
async def enter(
    request: Request,
    employee_id: EmployeeIdentifier,
    body: NewPriorWages,
    actor: Annotated[Actor, Depends(require(CHANGE_EMPLOYEES))],
) -> Response:
    """Counts in caps and in the year to date. One entry for each year and source: the latest replaces earlier ones.

    Entered values are never altered; `warnings` say where they differ from the law.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        entered = await enter_prior_wages(session, actor, clock, employee_id, body.to_command())
        return Answer(entered.item, 201)

    return await idempotent(request, actor, operation)


@router.get(
    "/employees/{employee_id}/prior-wages",
    operation_id="listPriorWages",
    summary="List what other payrolls paid",
    **describe(answer=ListEnvelope[PriorWagesItem], errors=("not_found",)),
)
async def list_entered(
    request: Request,
    employee_id: EmployeeIdentifier,
    actor: Annotated[Actor, Depends(require(READ_EMPLOYEES))],
) -> Response:
    """Lists the entries in force, latest year first, all on one page."""
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        items = await list_prior_wages(session, actor, employee_id)
    return listing(request, items, None)
