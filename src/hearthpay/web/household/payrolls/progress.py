"""The progress of a payroll's money, as a timeline: what happened, and what is still to come and when."""

from __future__ import annotations

import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking import calendar
from hearthpay.database.relations import BANK_ENTRIES
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.languages.catalogue import Say, mark, moment_in
from hearthpay.payroll.issues.advice import is_known, reason_of
from hearthpay.payroll.ledger.rows import StoredPayroll
from hearthpay.web.household.payrolls.payroll_states import ShownState
from hearthpay.web.presentation import day_text, money_text

StepState = Literal["done", "now", "open"]


class LeavingMoney(NamedTuple):
    """What is collected from the household, in cents, and the day on which its account is debited."""

    amount: int
    leaves: datetime.date


_DEBIT: Final = query(
    LeavingMoney,
    "SELECT amount, coalesce(settle_on, send_on) AS leaves FROM {bank_entries} e "
    "WHERE payroll_id = :payroll AND kind = 'debit' ORDER BY attempt DESC, id DESC LIMIT 1",
    bank_entries=BANK_ENTRIES,
)
_PASSED_BY: Final = ("firing", "draft")
_APPROVED: Final = mark("Approved")
_CALCULATED_ANEW: Final = mark("We recalculate the amounts before we debit your account.")
_LEAVES: Final = mark("Debit on {day}")
_LEFT: Final = mark("{amount} debit on {day}")
_COLLECTED: Final = mark("The money was collected")
_ARRIVES: Final = mark("Arrives {day}")
_ARRIVED: Final = mark("All payments arrived")
_RECORDED: Final = mark("Recorded")
_HANDED_OVER: Final = mark("Handed over")
_BY_HAND: Final = mark("You pay by check or cash. We record it.")
_IN_RETROSPECT: Final = mark("Past pay: no money moves.")
_FAILED: Final = mark("Failed")
_VOIDED: Final = mark("Voided")


async def latest_debit(session: AsyncSession, payroll_id: UUID) -> LeavingMoney | None:
    """Return the latest debit of a payroll that the session sees; None if nothing is being collected yet."""
    return await fetch_optional(session, _DEBIT, {"payroll": payroll_id})


def timeline_of(
    say: Say,
    language: str,
    payroll: StoredPayroll,
    debit: LeavingMoney | None,
    *,
    by_bank: bool,
    state: ShownState,
) -> list[tuple[str, str, str, StepState]]:
    """Return the steps: title, details, time, and whether it is done, current, or to come.

    ``state`` is the payroll's as its page shows it.
    """
    steps: list[tuple[str, str, str, StepState]] = []
    history = [each for each in payroll.history if each.status not in _PASSED_BY]
    for place, each in enumerate(history):
        title, explanation = _step(say, language, payroll, each.status, debit, by_bank=by_bank)
        if each.reason:
            explanation = _cause(say, each.reason)
        last = place == len(history) - 1
        going_on = last and payroll.status in ("scheduled", "firing", "pending_funding", "processing")
        steps.append((title, explanation, moment_in(language, each.at), "now" if going_on else "done"))
    arrives = say(_ARRIVES, day=day_text(language, "weekday", payroll.dates.pay_date))
    if payroll.status in ("scheduled", "firing"):
        leaves = say(_LEAVES, day=day_text(language, "weekday", _leaves(payroll)))
        steps += [(leaves, "", "", "open"), (arrives, "", "", "open")]
    elif payroll.status in ("pending_funding", "processing"):
        steps.append((arrives, "", "", "open"))
    elif payroll.status == "completed" and not by_bank:
        steps.append(_given(say, language, payroll, state))
    return steps


def _given(
    say: Say, language: str, payroll: StoredPayroll, state: ShownState
) -> tuple[str, str, str, StepState]:
    """Return the last step of a payroll by check or cash: it is to be handed over, was handed over, or is paid."""
    if payroll.handed_over_at is not None:
        return say(_HANDED_OVER), "", moment_in(language, payroll.handed_over_at), "done"
    if state.to_hand_over:
        return state.text, "", "", "open"
    return state.text, "", day_text(language, "weekday", payroll.dates.pay_date), "done"


def _cause(say: Say, reason: str) -> str:
    """Return the reason for a status: by our code or the bank's, or in the words of the person who voided it."""
    return say(reason_of(reason)) if is_known(reason) else reason


def _step(
    say: Say, language: str, payroll: StoredPayroll, status: str, debit: LeavingMoney | None, *, by_bank: bool
) -> tuple[str, str]:
    match status:
        case "scheduled":
            return say(_APPROVED), say(_CALCULATED_ANEW)
        case "pending_funding":
            if debit is None:
                return say(_APPROVED), ""
            day = day_text(language, "weekday", debit.leaves)
            return say(_APPROVED), say(_LEFT, amount=money_text(debit.amount), day=day)
        case "processing":
            return say(_COLLECTED), ""
        case "completed" if by_bank:
            return say(_ARRIVED), ""
        case "completed":
            return say(_RECORDED), say(_IN_RETROSPECT if payroll.kind == "catch_up" else _BY_HAND)
        case "voided":
            return say(_VOIDED), ""
    return say(_FAILED), ""


def _leaves(payroll: StoredPayroll) -> datetime.date:
    """Return the day on which the money of a pending payroll will leave the household's account."""
    send_at = payroll.dates.send_at
    assert send_at is not None, "a scheduled payroll waits for an instant"
    return calendar.debited_on(send_at)
