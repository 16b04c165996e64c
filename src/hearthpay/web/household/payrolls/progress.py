"""The progress of a payroll's money, as a timeline: what happened, and what is still to come and when."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.files import earliest_settlement
from hearthpay.database.relations import BANK_ENTRIES
from hearthpay.database.typed_rows import fetch_one, query
from hearthpay.languages.catalogue import Say, mark, moment_in
from hearthpay.payroll.issues.advice import is_known, reason_of
from hearthpay.payroll.issues.open_payment_rows import read_debit_state
from hearthpay.payroll.issues.open_payment_words import payment_text
from hearthpay.payroll.issues.open_payments import (
    OpenPayment,
    arrival_of,
    debit_days_of,
    open_payments_of,
)
from hearthpay.payroll.ledger.rows import StoredPayroll
from hearthpay.web.household.payrolls.payroll_states import ShownState
from hearthpay.web.presentation import day_text, money_text

StepState = Literal["done", "now", "open"]


@dataclass(frozen=True, slots=True)
class MovingMoney:
    """What is collected from the household, in cents, when, and when the pay arrives; None for what isn't known."""

    amount: int | None = None
    leaves: datetime.date | None = None
    arrives: datetime.date | None = None
    debit: OpenPayment | None = None
    """What is open about a debit that was returned and is tried again."""


class _DepositsRow(NamedTuple):
    arrives: datetime.date | None
    held: bool


_DEPOSITS: Final = query(
    _DepositsRow,
    "SELECT max(CASE WHEN e.status = 'pending' THEN greatest(e.settle_on, CAST(:earliest AS date)) "
    "ELSE coalesce(e.effective_date, e.settle_on) END) AS arrives, "
    "coalesce(bool_or(e.status = 'pending' AND e.held_reason IS NOT NULL), false) AS held "
    "FROM {bank_entries} e WHERE e.payroll_id = :payroll AND e.kind = 'credit' AND e.status <> 'cancelled'",
    bank_entries=BANK_ENTRIES,
)
_PASSED_BY: Final = ("firing", "draft")
_APPROVED: Final = mark("Approved")
_CALCULATED_ANEW: Final = mark("We recalculate the amounts before we debit your account.")
_LEAVES: Final = mark("Debit on {day}")
_LEFT: Final = mark("{amount} debit on {day}")
_COLLECTED: Final = mark("The money was collected")
_RETURNED: Final = mark("Your bank returned the debit")
_ARRIVES: Final = mark("Arrives {day}")
_WAS_TO_ARRIVE: Final = mark("Was to arrive {day}")
_ARRIVED: Final = mark("All payments arrived")
_RECORDED: Final = mark("Recorded")
_HANDED_OVER: Final = mark("Handed over")
_BY_HAND: Final = mark("You pay by check or cash. We record it.")
_IN_RETROSPECT: Final = mark("Past pay: no money moves.")
_FAILED: Final = mark("Failed")
_VOIDED: Final = mark("Voided")


async def read_moving_money(
    session: AsyncSession, payroll: StoredPayroll, now: datetime.datetime
) -> MovingMoney | None:
    """Return the days of a payroll's money; None if nothing of it goes through the bank."""
    state = await read_debit_state(session, payroll.id, now)
    days = None if state is None else debit_days_of(state, now)
    if state is None or days is None:
        return None
    if payroll.status == "processing":
        values = {"payroll": payroll.id, "earliest": earliest_settlement(now)}
        deposits = await fetch_one(session, _DEPOSITS, values)
        return MovingMoney(state.amount, days.leaves_on, None if deposits.held else deposits.arrives)
    found = open_payments_of(state, (), 0, now)
    debit = found[0] if found and (state.attempt or 1) > 1 else None
    arrives = arrival_of(state, days)
    if found and found[0].kind in ("authorization_needed", "deposit_held") and found[0].stage != "authorize":
        return MovingMoney(state.amount, None, None, debit)
    return MovingMoney(state.amount, days.leaves_on, arrives, debit)


def timeline_of(
    say: Say,
    language: str,
    payroll: StoredPayroll,
    money: MovingMoney | None,
    *,
    state: ShownState,
    today: datetime.date,
) -> list[tuple[str, str, str, StepState]]:
    """Return the steps: title, details, time, and whether it is done, current, or to come.

    ``state`` is the payroll's as its page shows it; ``today`` is the bank's day, and no step promises one before it.
    """
    by_bank = money is not None
    steps: list[tuple[str, str, str, StepState]] = []
    history = [each for each in payroll.history if each.status not in _PASSED_BY]
    for place, each in enumerate(history):
        title, explanation = _step(say, language, payroll, each.status, money)
        if each.reason:
            explanation = _cause(say, each.reason)
        last = place == len(history) - 1
        going_on = last and payroll.status in ("scheduled", "firing", "pending_funding", "processing")
        steps.append((title, explanation, moment_in(language, each.at), "now" if going_on else "done"))
    if payroll.status in ("scheduled", "firing") and money is not None and money.leaves is not None:
        steps.append((say(_LEAVES, day=day_text(language, "weekday", money.leaves)), "", "", "open"))
    if money is not None and money.debit is not None:
        steps[-1] = (*steps[-1][:3], "done")
        steps.append((say(_RETURNED), payment_text(money.debit, language), "", "now"))
    if payroll.status in ("scheduled", "firing", "pending_funding", "processing"):
        if money is not None and money.arrives is not None:
            sentence = _ARRIVES if money.arrives >= today else _WAS_TO_ARRIVE
            steps.append((say(sentence, day=day_text(language, "weekday", money.arrives)), "", "", "open"))
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
    say: Say, language: str, payroll: StoredPayroll, status: str, money: MovingMoney | None
) -> tuple[str, str]:
    match status:
        case "scheduled":
            return say(_APPROVED), say(_CALCULATED_ANEW)
        case "pending_funding":
            if money is None or money.leaves is None or money.amount is None or money.debit is not None:
                return say(_APPROVED), ""
            day = day_text(language, "weekday", money.leaves)
            return say(_APPROVED), say(_LEFT, amount=money_text(money.amount), day=day)
        case "processing":
            return say(_COLLECTED), ""
        case "completed" if money is not None:
            return say(_ARRIVED), ""
        case "completed":
            return say(_RECORDED), say(_IN_RETROSPECT if payroll.kind == "catch_up" else _BY_HAND)
        case "voided":
            return say(_VOIDED), ""
    return say(_FAILED), ""
