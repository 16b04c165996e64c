"""An employee's request to set money aside from each paycheck, and the balance."""

from decimal import Decimal, InvalidOperation
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.employees.own_notices import notify_of_change
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.set_asides.escrow import list_movements, read_account, stop_own_rule
from hearthpay.payroll.set_asides.requests import pending_request, request_set_aside, withdraw_request
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.web.framework import go, page_of
from hearthpay.web.my.record import OwnRecord, record_of
from hearthpay.web.visitor import Visitor
from hearthpay.wire.typed_numbers import typed_decimal

router: Final = APIRouter(include_in_schema=False)

_SHOWN: Final = 12
_LONGEST: Final = len("$123,456.78")
_NOT_PERCENT: Final = mark("Enter a percentage above 0, up to 100, like 5.")
_NOT_AMOUNT: Final = mark("Enter an amount above $0, up to $9,999.")
_CHOOSE: Final = mark("Choose one from the list.")


@page_of(router, "GET", "/my/{employee_id}/set-aside", "signed_in")
async def set_aside(visitor: Visitor) -> Response:
    """Show the current rule, the request, and the balance."""
    return await _page(await record_of(visitor), {})


@page_of(router, "POST", "/my/{employee_id}/set-aside", "signed_in")
async def ask(visitor: Visitor) -> Response:
    """Ask the household."""
    record = await record_of(visitor)
    problems: dict[str, str] = {}
    rule = _rule(visitor, problems)
    if rule is None:
        return await _page(record, problems)
    async with record.transaction() as session:
        employee = await record.employee(session)
        if await request_set_aside(session, record.actor, visitor.people_context.clock, employee.id, rule):
            await notify_of_change(
                visitor.people_context, session, employee, record.reader, "set_aside_asked"
            )
    return go(f"{record.path}/set-aside")


@page_of(router, "POST", "/my/{employee_id}/set-aside/withdraw", "signed_in")
async def withdraw(visitor: Visitor) -> Response:
    """Withdraw the request."""
    record = await record_of(visitor)
    async with record.transaction() as session:
        await withdraw_request(
            session, record.actor, visitor.people_context.clock, record.employment.employee_id
        )
    return go(f"{record.path}/set-aside")


@page_of(router, "POST", "/my/{employee_id}/set-aside/stop", "signed_in")
async def stop(visitor: Visitor) -> Response:
    """Stop setting money aside, from the next payroll on."""
    record = await record_of(visitor)
    async with record.transaction() as session:
        employee = await record.employee(session)
        if await stop_own_rule(session, record.actor, employee):
            await notify_of_change(
                visitor.people_context, session, employee, record.reader, "set_aside_stopped"
            )
    return go(f"{record.path}/set-aside")


def _rule(visitor: Visitor, problems: dict[str, str]) -> SetAsideRule | None:
    """Return the request; problems go into `problems`."""
    kind, text = visitor.form.get("kind", ""), visitor.form.get("how_much", "").strip()
    number = typed_decimal(text.removeprefix("$").removesuffix("%")) if len(text) <= _LONGEST else None
    wrong = {"percent": _NOT_PERCENT, "amount": _NOT_AMOUNT}.get(kind)
    if wrong is None:
        problems["kind"] = _CHOOSE
        return None
    try:
        if number is None:
            raise ValueError
        if kind == "percent":
            return SetAsideRule(rate=number / 100)
        if number != number.quantize(Decimal("0.01")):
            raise ValueError
        return SetAsideRule(amount_cents=int(number * 100))
    except (InvalidOperation, ValueError):
        problems["how_much"] = wrong
        return None


async def _page(record: OwnRecord, problems: dict[str, str]) -> Response:
    employee_id = record.employment.employee_id
    async with record.transaction() as session:
        facts = {
            "account": await read_account(session, employee_id),
            "request": await pending_request(session, employee_id),
            "movements": await list_movements(session, employee_id, limit=_SHOWN),
            "problems": problems,
            "form_values": dict(record.visitor.form) if problems else {},
        }
    return record.show("my_set_aside.html", facts, status=400 if problems else 200)
