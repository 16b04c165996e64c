"""Corrects a payroll in one act: voids it and keeps its hours and amounts as a draft, to be changed and run again.

Both happen in the caller's transaction, so nothing is voided without its draft. A draft pays nobody until it is run.
"""

import datetime
from typing import Final, cast
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.employees.commands import PayFrequency, PaymentMethod
from hearthpay.payroll.commands import EmployeePay, Order, SetAsideChoice
from hearthpay.payroll.drafts import Draft, save_draft
from hearthpay.payroll.ledger.rows import StoredPayroll
from hearthpay.payroll.orders import PayrollEntry
from hearthpay.payroll.orders.settled import read_entries
from hearthpay.payroll.service import get_payroll
from hearthpay.payroll.voiding import void_payroll
from hearthpay.taxes.money import from_cents

LATEST_DAYS: Final = 31
"""How long after its payday a payroll is corrected in one act; an older one can be voided."""


def is_correctable(payroll: StoredPayroll, today: datetime.date) -> bool:
    """Return whether nothing of a payroll went through the bank and it is recent enough to be corrected in one act."""
    by_hand = payroll.status == "scheduled" or (
        payroll.status == "completed"
        and (
            payroll.kind == "catch_up"
            or all(each.payment_method != "direct_deposit" for each in payroll.paychecks)
        )
    )
    return (
        by_hand
        and payroll.kind != "fica_refund"
        and "void" in payroll.available_actions.actions
        and (today - payroll.dates.pay_date).days <= LATEST_DAYS
    )


async def correct_payroll(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    payroll_id: UUID,
    draft_id: UUID,
    reason: str | None = None,
) -> Draft:
    """Void a payroll and return the draft with its hours and amounts, under the id given.

    Raises `not_found`, and `invalid_state` for a payroll that isn't correctable, also if the worker was faster.
    """
    allow(actor, RUN_PAYROLL)
    payroll = await get_payroll(session, actor, clock, payroll_id)
    if not is_correctable(payroll, clock.today()):
        raise Refusal(
            "invalid_state",
            "This payroll can't be corrected in one step.",
            details={"payroll_id": payroll_id, "status": payroll.status},
        )
    entries = (await read_entries(session, [payroll_id]))[payroll_id]
    await void_payroll(session, actor, clock, payroll_id, reason)
    return await save_draft(session, actor, clock, draft_id, _order(payroll, entries))


def _order(payroll: StoredPayroll, entries: list[PayrollEntry]) -> Order:
    """Return what was requested, with the payday that was asked for."""
    return Order(
        employer_id=payroll.employer_id,
        pay_period_start=payroll.dates.period_start,
        pay_period_end=payroll.dates.period_end,
        pay_date=payroll.dates.asked or payroll.dates.pay_date,
        pay_frequency=cast(PayFrequency, payroll.pay_frequency),
        notes=payroll.notes,
        employees=tuple(_pay(each) for each in entries),
        metadata=payroll.metadata,
    )


def _pay(entry: PayrollEntry) -> EmployeePay:
    wish = None
    if entry.set_aside_skip:
        wish = SetAsideChoice(skip=True)
    elif entry.set_aside_wish is not None:
        wish = SetAsideChoice(amount=from_cents(entry.set_aside_wish))
    return EmployeePay(
        employee_id=entry.employee_id,
        # Hours are stored with three decimals; a form shows those that count.
        regular_hours=entry.regular_hours.normalize(),
        overtime_hours=entry.overtime_hours.normalize(),
        bonus=entry.bonus,
        other_earnings=entry.other_earnings,
        unpaid_days=entry.unpaid_days if entry.salary is None else entry.salary.unpaid_days,
        pay_salary=entry.pays_the_period or not (entry.bonus or entry.other_earnings),
        payment_method=cast(PaymentMethod, entry.payment_method),
        voluntary_set_aside=wish,
    )
