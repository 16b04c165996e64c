"""The HTTP API of to-dos."""

from typing import Annotated, Final

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_TO_DOS
from hearthpay.http.auth import require
from hearthpay.http.envelope import DatedEnvelope, answer
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import address_of, runtime_of
from hearthpay.todos.schemas import ToDoItem, ToDosOfHousehold, to_do_item
from hearthpay.todos.service import list_to_dos

router: Final = api_router("To-dos")


@router.get(
    "/to-dos",
    operation_id="listToDos",
    summary="Tell what a household has to do",
    **describe(
        answer=DatedEnvelope[list[ToDoItem]],
        query={"due_within": 31},
        errors=("household_forbidden", "key_mode_mismatch"),
    ),
)
async def get_to_dos(
    request: Request,
    query: Annotated[ToDosOfHousehold, Query()],
    actor: Annotated[Actor, Depends(require(READ_TO_DOS))],
) -> Response:
    """Most urgent first: payments, what is overdue, due within a week, or without a date. An empty list is all clear.

    From the tax calendar, the ledger of tax payments, state accounts, insurance, payrolls, the bank and missing
    details of employees: the same list as the home page, the calendar and the reminders have. A to-do ends when it is
    done or recorded as done; nothing is marked here.
    """
    runtime = runtime_of(request)
    asked = query.to_command()
    agenda, to_dos = await runtime.read(
        actor.tenant, lambda session: list_to_dos(session, actor, runtime.clock, asked)
    )
    address = address_of(request)
    return answer(request, [to_do_item(each, agenda.today, address) for each in to_dos], as_of=agenda.today)
