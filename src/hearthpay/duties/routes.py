"""The HTTP API of the calendar of duties."""

from typing import Annotated, Final

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_CALENDAR
from hearthpay.duties.schemas import TaxCalendar, TaxCalendarQuery, tax_calendar
from hearthpay.duties.service import read_calendar
from hearthpay.http.auth import require
from hearthpay.http.envelope import DatedEnvelope, answer
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of

router: Final = api_router("Tax calendar")


@router.get(
    "/tax-calendar",
    operation_id="getTaxCalendar",
    summary="Tell what a household must do by when",
    **describe(
        answer=DatedEnvelope[TaxCalendar],
        query={"from": "2026-12-01", "to": "2027-12-01"},
        errors=("household_forbidden", "key_mode_mismatch"),
    ),
)
async def get_tax_calendar(
    request: Request,
    query: Annotated[TaxCalendarQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_CALENDAR))],
) -> Response:
    """Returns, payments, statements to employees, reports of hires, elections and notices, by due date.

    `due_date` is the last day on which it is in time, moved from weekends and holidays as the agency moves it;
    `statutory_date` is the day that the law names. `amount` is the total of the period's paychecks so far, without
    those that were voided or failed. Without `from` and `to`, the calendar covers a year from today.

    An item with something to pay has a `payment_request`: send it to `POST /tax-payments` once the agency is paid.

    An item keeps its `key` even if its date changes. People mark items as done, never this API.
    """
    runtime = runtime_of(request)
    asked = query.to_command()
    calendar = await runtime.read(
        actor.tenant, lambda session: read_calendar(session, actor, runtime.clock, asked)
    )
    today = runtime.clock.today()
    return answer(request, tax_calendar(calendar, today), as_of=today)
