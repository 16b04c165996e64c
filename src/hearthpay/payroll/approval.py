"""What a person must confirm before the household's account is debited: the checks for direct deposit.

They apply at approval, for a payroll that runs now and for a scheduled one alike.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.banking.authorizations import LARGE_NET_PAY
from hearthpay.banking.readiness import Blocker, employee_blockers
from hearthpay.payroll.commands import Confirmations, Corrections
from hearthpay.payroll.ledger.rows import PayrollRecord
from hearthpay.payroll.orders import SettledOrder
from hearthpay.taxes.messages import DollarAmount, message
from hearthpay.taxes.money import from_cents

LARGE_TOTAL: Final = 500_000
"""Cents: a payroll with direct deposits above this total must be confirmed."""

LARGEST_DEBIT: Final = 9_999_999_999
"""Cents: the largest ten-digit amount of a Nacha entry, whether a debit or a deposit."""

_WHY: Final = {
    "confirm_large_payroll": "the direct deposits are unusually large",
    "confirm_ach_debit": "the household has not authorized a bank debit in the last 30 days",
}


def confirmations_needed(record: PayrollRecord, *, authorization_needed: bool) -> tuple[str, ...]:
    """Return the flags without which the payroll cannot be approved, whether they were sent or not."""
    deposits = [paycheck.net_pay for paycheck in record.through_the_bank]
    if not deposits:
        return ()
    large = sum(deposits) > LARGE_TOTAL or max(deposits) > LARGE_NET_PAY
    return (
        *(("confirm_large_payroll",) if large else ()),
        *(("confirm_ach_debit",) if authorization_needed else ()),
    )


def require_confirmations(record: PayrollRecord, needed: tuple[str, ...], confirmed: Confirmations) -> None:
    """Raise `confirmation_required` for the flags that are needed and not given, all at once."""
    missing = [flag for flag in needed if flag not in confirmed.given]
    if not missing:
        return
    deposits = record.through_the_bank
    raise Refusal(
        "confirmation_required",
        f"Please confirm: {'; '.join(_WHY[flag] for flag in missing)}. Look at the amounts, then send the request "
        f"again with {' and '.join(missing)}.",
        details={
            "required": missing,
            "total_net_pay": from_cents(sum(paycheck.net_pay for paycheck in deposits)),
            "debit_amount": from_cents(debit_of(record)),
            "largest_net_pay": from_cents(max(paycheck.net_pay for paycheck in deposits)),
            "large_payroll_total": from_cents(LARGE_TOTAL),
            "large_payroll_net_pay": from_cents(LARGE_NET_PAY),
            "employees": [
                {"employee_id": paycheck.employee_id, "net_pay": from_cents(paycheck.net_pay)}
                for paycheck in deposits
            ],
        },
        example=Corrections(dict.fromkeys(missing, True)),
    )


def refuse_beyond_the_bank(record: PayrollRecord) -> None:
    """Raise `validation_error` if a direct deposit, or the debit for all of them, doesn't fit a bank entry."""
    if not record.through_the_bank:
        return
    most = DollarAmount(LARGEST_DEBIT)
    for position, paycheck in enumerate(record.paychecks):
        if paycheck.payment_method == "direct_deposit" and paycheck.net_pay > LARGEST_DEBIT:
            raise invalid(f"employees[{position}]", message("deposit_too_large", most=most))
    if debit_of(record) > LARGEST_DEBIT:
        raise invalid("employees", message("debit_too_large", most=most))


def debit_of(record: PayrollRecord) -> int:
    """Return the cents to collect from the household: the direct deposits and what is set aside from them."""
    return sum(paycheck.net_pay + paycheck.set_aside.amount for paycheck in record.through_the_bank)


async def require_accounts(session: AsyncSession, order: SettledOrder) -> None:
    """Raise `direct_deposit_unavailable` where an employee who is paid so has no account that could take it."""
    requested = [entry.employee_id for entry in order.entries if entry.payment_method == "direct_deposit"]
    blocked = {
        employee_id: found
        for employee_id, found in (await employee_blockers(session, requested)).items()
        if found
    }
    if blocked:
        raise Refusal(
            "direct_deposit_unavailable",
            "Direct deposit is not available for every employee it was asked for: invite them to enter their bank "
            "account, or pay them by check or cash.",
            details={
                "employees": [
                    {"employee_id": employee_id, "blockers": _listed(found)}
                    for employee_id, found in blocked.items()
                ]
            },
        )


def unavailable(blockers: Sequence[Blocker]) -> Refusal:
    """Return the `direct_deposit_unavailable` of a household."""
    return Refusal(
        "direct_deposit_unavailable",
        f"Direct deposit is not available for this household: {blockers[0].message} Pay by check or cash.",
        details={"blockers": _listed(blockers)},
    )


def _listed(blockers: Sequence[Blocker]) -> list[dict[str, str]]:
    return [{"code": blocker.code, "message": blocker.message} for blocker in blockers]
