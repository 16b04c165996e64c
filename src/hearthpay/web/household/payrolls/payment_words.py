"""How a payroll is paid, in sentences: the headings of the review and the receipt, and what happens on which day."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.accounts import current_employee_accounts, current_household_account
from hearthpay.banking.calendar import banking_day_on_or_before, send_at
from hearthpay.banking.models import BankAccount
from hearthpay.clock import BUSINESS_TIME
from hearthpay.employees.models import Employee
from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.ledger.estimates import EstimatedPaycheck
from hearthpay.payroll.ledger.rows import PaycheckRow
from hearthpay.web.household.money import KeepAside, who_is_paid
from hearthpay.web.household.payrolls.wage_form import RunKind
from hearthpay.web.presentation import day_text, money_text
from hearthpay.web.status_words import status_word

Paychecks = Sequence[PaycheckRow | EstimatedPaycheck]
MethodWords = Literal["check", "cash", "direct_deposit", "mixed"]
DayState = Literal["now", "open"]

_TO_DO: Final[Mapping[MethodWords, str]] = {
    "check": mark("Write {name} a check for {amount} on {day}"),
    "cash": mark("Pay {name} {amount} in cash on {day}"),
    "direct_deposit": mark("Send {name} {amount} by direct deposit on {day}"),
    "mixed": mark("Pay {name} {amount} on {day}"),
}
_PAST: Final = mark("Record {amount} paid to {name} on {day}")
_CHECKS: Final = mark("Write {count} checks on {day}: {amount} in all, to {name}")
_REFUND: Final = mark("Refund {name} {amount} on {day}")
_RECORDED_CHECKS: Final = mark("Recorded. Write {count} checks: {amount} in all, to {name}.")
_RECORDED: Final[Mapping[MethodWords, str]] = {
    "check": mark("Recorded. Write {name} a check for {amount}."),
    "cash": mark("Recorded. Pay {name} {amount} in cash."),
    "direct_deposit": mark("Approved. {amount} reaches {name} on {day}."),
    "mixed": mark("Recorded. Pay {name} {amount} on {day}."),
}
_RECORDED_PAST: Final = mark("Recorded: {amount} paid to {name} on {day}.")
_RECORDED_REFUND: Final = mark("Recorded. Refund {name} {amount}.")
_LEAVES: Final = mark("debit of your account")
_TO: Final = mark("to {name}")
_TO_THE: Final = mark("to the {agency}")
_PREMIUM: Final = mark("with the premium")
_ACCOUNT: Final = mark("account ending {digits}")
_AT_BANK: Final = mark("{bank}, account ending {digits}")
_DEPOSIT: Final = mark("Direct deposit: {account}.")
_APPROVE_BY: Final = mark("Approve by {day}.")


@dataclass(frozen=True, slots=True)
class PaymentDay:
    """One payment: the amount in cents, to whom, and how and when."""

    cents: int
    to: str
    details: str
    state: DayState = "open"


@dataclass(frozen=True, slots=True)
class BankAccounts:
    """The accounts that a payroll moves money between: the household's, and each employee's who has one."""

    household: BankAccount | None = None
    employees: Mapping[UUID, BankAccount] | None = None


async def first_names(session: AsyncSession, paychecks: Paychecks) -> dict[UUID, str]:
    """Return the first names of those paid, by their ids, in the order of the paychecks."""
    ids = [each.employee_id for each in paychecks]
    known = {
        row.id: row.first_name
        for row in await session.execute(select(Employee.id, Employee.first_name).where(Employee.id.in_(ids)))
    }
    return {each: known[each] for each in ids}


async def bank_accounts(session: AsyncSession, employer_id: UUID, paychecks: Paychecks) -> BankAccounts:
    """Return the accounts of the household and of those paid by direct deposit; none for a payroll on paper."""
    paid = [each.employee_id for each in paychecks if each.payment_method == "direct_deposit"]
    if not paid:
        return BankAccounts()
    return BankAccounts(
        await current_household_account(session, employer_id), await current_employee_accounts(session, paid)
    )


def paid_by(paychecks: Paychecks) -> MethodWords:
    """Return how a payroll is paid; ``mixed`` where people are paid in different ways."""
    methods = {each.payment_method for each in paychecks}
    for method in ("check", "cash", "direct_deposit"):
        if methods == {method}:
            return method
    return "mixed"


def review_heading(
    say: Say,
    language: str,
    kind: RunKind,
    paychecks: Paychecks,
    names: Sequence[str],
    pay_date: datetime.date,
) -> str:
    """Return what the household is about to do: "Write Ana a check for $969.44 on Friday, Dec 4"."""
    sentence = {"catch-up": _PAST, "fica-refund": _REFUND}.get(kind)
    if sentence is None:
        sentence = _CHECKS if _needs_checks(paychecks) else _TO_DO[paid_by(paychecks)]
    return _filled(say, language, sentence, paychecks, names, pay_date)


def receipt_heading(
    say: Say,
    language: str,
    kind: str,
    paychecks: Paychecks,
    names: Sequence[str],
    pay_date: datetime.date,
) -> str:
    """Return what was recorded and is to be done: "Recorded. Write Ana a check for $969.44." """
    sentence = {"catch_up": _RECORDED_PAST, "fica_refund": _RECORDED_REFUND}.get(kind)
    if sentence is None:
        sentence = _RECORDED_CHECKS if _needs_checks(paychecks) else _RECORDED[paid_by(paychecks)]
    return _filled(say, language, sentence, paychecks, names, pay_date)


def _needs_checks(paychecks: Paychecks) -> bool:
    """Return whether several checks are to be written."""
    return paid_by(paychecks) == "check" and len(paychecks) > 1


def _filled(
    say: Say,
    language: str,
    sentence: str,
    paychecks: Paychecks,
    names: Sequence[str],
    pay_date: datetime.date,
) -> str:
    return say(
        sentence,
        name=who_is_paid(say, language, names),
        count=len(paychecks),
        amount=money_text(sum(each.net_pay for each in paychecks)),
        day=day_text(language, "weekday", pay_date),
    )


def payment_days(
    say: Say,
    language: str,
    paychecks: Paychecks,
    names: Mapping[UUID, str],
    accounts: BankAccounts,
    *,
    pay_date: datetime.date,
    debit: tuple[int, datetime.date] | None,
    aside: KeepAside | None,
) -> list[PaymentDay]:
    """Return what is paid, to whom and when: the debit, each paycheck, and the taxes by agency and due date.

    ``debit``: the cents collected from the household, and the day; None where nothing goes through the bank.
    """
    days = []
    if debit is not None:
        when = day_text(language, "weekday", debit[1])
        days.append(PaymentDay(debit[0], say(_LEAVES), _with(when, account_words(say, accounts.household))))
    for each in paychecks:
        method = say(status_word("method", each.payment_method).word)
        own = (accounts.employees or {}).get(each.employee_id)
        when = _with(method, day_text(language, "weekday", pay_date))
        days.append(
            PaymentDay(
                each.net_pay,
                say(_TO, name=names[each.employee_id]),
                _with(when, account_words(say, own) if each.payment_method == "direct_deposit" else ""),
            )
        )
    days[0] = PaymentDay(days[0].cents, days[0].to, days[0].details, "now")
    for share in () if aside is None else aside.shares:
        if share.cents < 0:
            continue
        insured = share.due is None
        days.append(
            PaymentDay(
                share.cents,
                say(_TO, name=share.agency) if insured else say(_TO_THE, agency=share.named),
                say(_PREMIUM) if insured else day_text(language, "weekday", share.due),
            )
        )
    return days


def account_words(say: Say, account: BankAccount | None) -> str:
    """Return "First Sierra Bank, account ending 4471"; nothing where no account is known."""
    if account is None:
        return ""
    if account.bank_name:
        return say(_AT_BANK, bank=account.bank_name, digits=account.last_four)
    return say(_ACCOUNT, digits=account.last_four)


def deposit_hint(
    say: Say, language: str, account: BankAccount | None, pay_date: datetime.date, today: datetime.date
) -> str:
    """Return from which account a direct deposit comes, and by when to approve it for a payday that it can reach."""
    if account is None:
        return ""
    text = say(_DEPOSIT, account=account_words(say, account))
    approve_by = send_at(banking_day_on_or_before(pay_date)).astimezone(BUSINESS_TIME).date()
    if approve_by < today:
        return text
    return f"{text} {say(_APPROVE_BY, day=day_text(language, 'weekday', approve_by))}"


def _with(first: str, second: str) -> str:
    return f"{first} · {second}" if second else first
