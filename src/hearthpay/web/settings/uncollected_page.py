"""Wages sent before their debit was returned: for operators, what households owe, and recording what they paid."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.database.session import Tenant
from hearthpay.http.envelope import request_id_of
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.payday.settlements import settle_wages
from hearthpay.people.uncollected_wages import UncollectedWages, wages_not_collected
from hearthpay.web.framework import go, id_in_path, page_of, problems_of, show
from hearthpay.web.household.form_parsing import Entries
from hearthpay.web.settings.operator_matters import WAGES_PATH, reason_of_return
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_PROBLEMS: Final = {
    "amount": mark("Enter an amount above 0, at most what is still owed."),
    "received": mark("Enter a day from the return of the debit to today."),
    "told_by": mark("Enter where the payment is seen, in at most 200 characters."),
}
_NOT_OPEN: Final = mark("The household owes nothing more of this payroll.")


@page_of(router, "GET", WAGES_PATH, "signed_in")
async def uncollected(visitor: Visitor) -> Response:
    """Show what households owe; 404 for everyone else."""
    return _shown(visitor, await wages_not_collected(visitor.people_context, visitor.signed_in))


@page_of(router, "POST", WAGES_PATH + "/{payroll_id}", "signed_in", fresh=True)
async def settle(visitor: Visitor) -> Response:
    """Record what a household paid by other means."""
    who, clock = visitor.signed_in, visitor.people_context.clock
    payroll_id = id_in_path(visitor, "payroll_id")
    cases = await wages_not_collected(visitor.people_context, who)
    case = next((each for each in cases if each.payroll_id == payroll_id), None)
    if case is None:
        return _shown(visitor, cases, payroll_id, {"": _NOT_OPEN})
    entries = Entries(visitor.form)
    amount, received, told_by = entries.amount("amount"), entries.day("received"), entries.text("told_by")
    given = {"amount": amount, "received": received, "told_by": told_by}
    problems = {name: _PROBLEMS[name] for name in given if given[name] is None or name in entries.problems}
    if amount is not None and amount != amount.quantize(Decimal("0.01")):
        problems["amount"] = _PROBLEMS["amount"]
    if amount is None or received is None or told_by is None or problems:
        return _shown(visitor, cases, payroll_id, problems)
    actor = Actor.operator(
        case.organization_id, sandbox=False, request_id=request_id_of(visitor.request), person=who.person_id
    )
    try:
        async with visitor.people_context.database.transaction(
            Tenant(case.organization_id, sandbox=False)
        ) as session:
            await settle_wages(
                session,
                actor,
                case.payroll_id,
                int(amount.scaleb(2)),
                received,
                told_by,
                clock.now(),
                clock.today(),
            )
    except Refusal as error:
        if error.code == "invalid_state":  # somebody else has noted it since
            return _shown(visitor, cases, payroll_id, {"": _NOT_OPEN})
        problems = {name: _PROBLEMS[name] for name in problems_of(error) if name in _PROBLEMS}
        return _shown(visitor, cases, payroll_id, problems)
    return go(WAGES_PATH)


def _shown(
    visitor: Visitor,
    cases: Sequence[UncollectedWages],
    at: UUID | None = None,
    problems: dict[str, str] | None = None,
) -> Response:
    facts = {
        "cases": cases,
        "total": sum(each.open for each in cases),
        "reasons": {
            each.payroll_id: reason_of_return(visitor.say, each.return_code)
            for each in cases
            if each.return_code is not None
        },
        "at": at,
        "problems": problems or {},
        "form_values": dict(visitor.form) if problems else {},
        "today": visitor.people_context.clock.today(),
    }
    return show(visitor, "uncollected.html", facts, status=400 if problems else 200)
