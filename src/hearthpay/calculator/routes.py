"""HTTP routes of the calculator and the threshold check."""

import datetime
import functools
from decimal import Decimal
from typing import Annotated, Final

import orjson
from fastapi import Depends, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CALCULATE
from hearthpay.calculator.answers import estimate_data, limitations_of, threshold_data
from hearthpay.calculator.schemas import Calculation, CalculationResult, ThresholdQuery, ThresholdResult
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, answer
from hearthpay.http.idempotency import idempotent, key_of
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.taxes import check_thresholds, estimate_year
from hearthpay.taxes.messages import Message
from hearthpay.wire.answer import Answer, render
from hearthpay.wire.money import number_of

router: Final = api_router("Calculator")

_ESTIMATES_KEPT: Final = 2_048
"""About three kilobytes each."""


@functools.lru_cache(maxsize=_ESTIMATES_KEPT)
def _estimate(
    state: str,
    annual_wages: Decimal,
    on: datetime.date,
    pay_frequency: str,
    filing_status: str,
    residence_state: str | None,
    reciprocity_certificate_on_file: bool,
) -> bytes:
    """Return the rendered estimate; it depends on nothing else, so those asked for again and again are kept."""
    estimate = estimate_year(
        state,
        annual_wages,
        on=on,
        pay_frequency=pay_frequency,
        filing_status=filing_status,
        residence_state=residence_state,
        reciprocity_certificate_on_file=reciprocity_certificate_on_file,
    )
    return render(estimate_data(estimate, number_of, _rendered_figure, _rendered_limitations))


@functools.cache
def _rendered_figure(figure: Decimal) -> orjson.Fragment:
    """Return a rate or a threshold as JSON; the law has few, and each has one spelling."""
    return orjson.Fragment(render(figure))


@functools.lru_cache(maxsize=1_024)
def _rendered_limitations(messages: tuple[Message, ...]) -> tuple[orjson.Fragment, orjson.Fragment]:
    """Return messages in English and by code as JSON, kept for the next estimate that says the same."""
    sentences, codes = limitations_of(messages)
    return orjson.Fragment(render(sentences)), orjson.Fragment(render(codes))


@router.post(
    "/calculate",
    operation_id="calculate",
    summary="Estimate a year's household taxes",
    **describe(
        answer=Envelope[CalculationResult],
        body={"state": "CA", "annual_wages": 35000, "pay_frequency": "biweekly", "filing_status": "single"},
        errors=("unsupported_jurisdiction", "unsupported_tax_year", "idempotency_conflict"),
    ),
)
async def calculate(
    request: Request, body: Calculation, actor: Annotated[Actor, Depends(require(CALCULATE))]
) -> Response:
    """Every tax of household and employee over a year and per paycheck, with the law's current figures."""
    data = orjson.Fragment(
        _estimate(
            body.state,
            body.annual_wages,
            runtime_of(request).clock.today(),
            body.pay_frequency,
            body.filing_status,
            body.residence_state,
            body.reciprocity_certificate_on_file,
        )
    )
    if key_of(request) is None:
        return answer(request, data)

    async def operation(_: AsyncSession) -> Answer:
        return Answer(data)

    return await idempotent(request, actor, operation)


@router.get(
    "/threshold",
    operation_id="checkThreshold",
    summary="Compare wages with the household thresholds",
    **describe(
        answer=Envelope[ThresholdResult],
        query={"state": "NY", "annual_wages": 2900, "tax_year": 2026},
        errors=("unsupported_jurisdiction", "unsupported_tax_year"),
    ),
)
async def threshold(
    request: Request,
    query: Annotated[ThresholdQuery, Query()],
    actor: Annotated[Actor, Depends(require(CALCULATE))],  # noqa: ARG001 - the guard
) -> Response:
    """Whether Social Security, Medicare, federal and state unemployment taxes are due on such wages."""
    year = query.tax_year if query.tax_year is not None else runtime_of(request).clock.today().year
    return answer(request, threshold_data(check_thresholds(query.state, query.annual_wages, year)))
