"""Correcting a payroll in one act: it is voided, and a draft with the same hours is ready to be changed and run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import RUN_PAYROLL
from hearthpay.access.refusal import Refusal
from hearthpay.payroll.corrections import correct_payroll, is_correctable
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.idempotent_forms import new_form_id, submit_once
from hearthpay.web.household.money import who_is_paid
from hearthpay.web.household.payrolls.actions import changed_meanwhile, reason_of_form
from hearthpay.web.household.payrolls.payment_words import first_names
from hearthpay.web.household.payrolls.payroll_page import paychecks_of, payroll_here
from hearthpay.web.visitor import FORM_ID

router: Final = APIRouter(include_in_schema=False)


@household_page(router, "GET", "/payrolls/{payroll_id}/correct", permission=RUN_PAYROLL)
async def confirm_correction(at: HouseholdContext) -> Response:
    """Ask whether to void the payroll and fill in a new one."""
    return await _page(at)


@household_page(router, "POST", "/payrolls/{payroll_id}/correct", permission=RUN_PAYROLL)
async def correct(at: HouseholdContext) -> Response:
    """Void the payroll and open the draft; the same form again leads to the same draft."""
    reason, problems = reason_of_form(at)
    if problems:
        return await _page(at, problems)
    async with at.transaction() as session:
        found = await payroll_here(session, at)

    async def book(session: AsyncSession) -> str:
        draft = await correct_payroll(session, at.actor, at.clock, found.id, UUID(at.form[FORM_ID]), reason)
        return f"/payrolls/drafts/{draft.id}/change"

    try:
        return await submit_once(at, {"reason": reason}, book)
    except Refusal as refusal:
        if refusal.code == "validation_error":
            return await _page(at, problems_of(refusal))
        raise changed_meanwhile(refusal) from refusal


async def _page(at: HouseholdContext, problems: Mapping[str, str] | None = None) -> Response:
    async with at.transaction() as session:
        found = await payroll_here(session, at)
        names = await first_names(session, paychecks_of(found))
    facts = {
        "payroll": found,
        "totals": found.totals if found.expected is None else found.expected.totals,
        "correctable": is_correctable(found, at.clock.today()),
        "paid_name": who_is_paid(at.say, at.visitor.language, list(names.values())),
        "form_id": new_form_id(),
        "problems": problems or {},
        "form_values": at.form,
    }
    return at.show("payroll_correct.html", facts, status=400 if problems else 200)
