"""What a household can do now about what went wrong: the one place that chooses the words.

They follow from what happened, the state that the payroll is in and the ways out that are open, and never name one
that the state refuses.
"""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.banking.return_codes import return_codes
from hearthpay.clock import BUSINESS_TIME
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.payroll.trouble.failures import FailureKind

WayOut = Literal["void", "pay_by_check", "wait_for_account", "refund"]
"""What may be asked of the service now: void the payroll, or one of the remedies for a deposit that cannot leave."""

_NOTHING: Final = "Nothing: the payroll is voided."
_AGAIN: Final = "run the payroll again, or run it by check or cash"

_NOT_SENT: Final[dict[str, tuple[str, str]]] = {
    "bank_account_not_ready": (
        "Connect and verify the household's bank account",
        "it is sent by itself then",
    ),
    "authorization_missing": ("Authorize the debit anew", "it is sent by itself then"),
    "confirmation_missing": ("Confirm the amount", "it is sent by itself then"),
    "employee_account_not_ready": (
        "Invite the employee to enter a bank account",
        "it is sent by itself then",
    ),
    "not_calculable": ("Correct the employee's settings", "it is tried again by itself"),
    "tax_year_not_final": ("The operator must update Hearthpay", "it is sent by itself then"),
    "internal_error": ("The operator has been told", "it is tried again by itself"),
}
"""Why a payroll was not sent: what puts it right, and whether the payroll goes by itself then."""

_REASONS: Final = {
    "bank_account_not_ready": "The household's account is not ready",
    "employee_account_not_ready": "An employee's account is not ready",
    "authorization_missing": "The debit is not authorized",
    "confirmation_missing": "The amount is not confirmed",
    "debit_expired": "The debit could not be sent in time",
    "deposit_refunded": "Given back to the household",
    "employee_left": "The employment had ended",
    "not_calculable": "The payroll cannot be calculated",
    "tax_year_not_final": "The year's law is not complete",
    "internal_error": "An error on our side",
    "year_passed": "Not sent in time for its year",
    "payment_held": "A payment cannot leave",
    "not_authorized": "The debit is not authorized",
    "bank_unreachable": "The bank cannot be reached",
    "not_sent_yet": "Due, and not sent yet",
    "reversed": "Taken back as a mistake",
}


_HOLDS: Final = {
    "the bank account is verifying": "The bank account is still being verified",
    "the bank account is": "The bank account cannot be used",
    "the name has": "The name has no letter that banks can read",
    "it would arrive": "It would arrive in another year",
}
"""How a held payment's reason begins, as the file's builder notes it: in words for the household. Others are ours."""

_NOT_AUTHORIZED: Final = "the household has not authorized"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the words depend on. `of_household`: the payment that is held is one of the household's own account."""

    kind: FailureKind
    code: str
    status: PayrollStatus
    next_try: datetime.datetime | None = None
    ways_out: frozenset[WayOut] = frozenset()
    of_household: bool = False
    stored: str = ""


def reason_of(code: str) -> str:
    """Return a few words for a code: the bank's own reason, or ours."""
    return _REASONS.get(code) or return_codes().reason(code).title


def hold_of(reason: str, *, of_household: bool) -> tuple[str, str]:
    """Return the code of a hold and its reason in words for the household, which are none of what a key or a file
    says.
    """
    if reason.startswith(_NOT_AUTHORIZED):
        return "not_authorized", "The debit is not authorized"
    told = next((words for begins, words in _HOLDS.items() if reason.startswith(begins)), None)
    if told is None:
        return "payment_held", "Something on our side, of which the operator is told"
    if reason.startswith("the bank account is"):
        return ("bank_account_not_ready" if of_household else "employee_account_not_ready"), told
    return "payment_held", told


def what_to_do(case: Circumstances) -> str:
    """Tell the household what to do now; nothing it is told is refused in this state."""
    if case.status == "voided" and case.kind != "held":
        return _NOTHING
    match case.kind:
        case "not_sent":
            return _about_sending(case)
        case "debit_returned":
            return _about_debit(case)
        case "wages_not_covered":
            return (
                "The wages have been paid and cannot be called back: you owe what was to be collected. Contact "
                "support to settle it, and pay by check or cash until then."
            )
        case "deposit_returned":
            return return_codes().reason(case.code).explain(debit=False).action
        case "deposit_reversed":
            if case.status != "failed":
                return "Nothing yet: once it is taken back the payroll can be run again with what is right."
            return "Run the payroll again for this employee with what is right, by check if it is urgent."
        case "reversal_returned":
            return "Settle with the employee what was paid by mistake: the bank does not try again."
        case "held":
            return _about_hold(case)
        case "bank_unreachable":
            return "Nothing: the payment leaves by itself as soon as the bank can be reached."
        case "delayed":
            return f"Nothing: it is sent as soon as the service is at work again.{_or_else(case.ways_out)}"
        case "year_passed" | "debit_expired" | "deposit_refunded":
            return case.stored


def _about_sending(case: Circumstances) -> str:
    waits = case.status in ("scheduled", "firing")
    known = _NOT_SENT.get(case.code)
    if case.code == "employee_left":
        first = "Void the payroll, and run" if waits and "void" in case.ways_out else "Run"
        return f"{first} it again for those who worked in the period."
    if known is None:
        return case.stored
    remedy, then = known
    if waits:
        return f"{remedy}; {then}.{_or_else(case.ways_out)}"
    if case.code == "internal_error":
        return f"{_AGAIN[0].upper()}{_AGAIN[1:]}."
    return f"{remedy} and {_AGAIN}."


def _about_debit(case: Circumstances) -> str:
    words = return_codes().reason(case.code).explain(debit=True)
    if case.status == "failed" or case.next_try is None:
        return words.action
    return f"The debit is presented again {in_words(case.next_try)}. {words.again or ''}".strip()


def _about_hold(case: Circumstances) -> str:
    if case.code == "not_authorized":
        return "Authorize debits of the household's account anew: the payment goes by itself then."
    if case.code == "payment_held":
        return f"Nothing: the operator has been told.{_or_else(case.ways_out)}"
    if case.of_household:
        return "Connect a bank account of the household that is in use: the payment goes by itself then."
    first = "Invite the employee to enter a bank account: the deposit leaves by itself then."
    others = {
        "pay_by_check": "pay this paycheck by check instead",
        "wait_for_account": "let it wait until a day that you choose",
        "refund": "have it refunded",
    }
    open_now = [words for name, words in others.items() if name in case.ways_out]
    if open_now:
        return f"{first} Or {', or '.join(open_now)}.{_or_else(case.ways_out)}"
    return f"{first}{_or_else(case.ways_out)}"


def _or_else(ways_out: Collection[WayOut]) -> str:
    return " Or void the payroll and pay by check or cash." if "void" in ways_out else ""


def in_words(moment: datetime.datetime) -> str:
    """Return a moment as people in the East say it: on Tuesday, November 24, at 3:00 PM Eastern time."""
    return f"on {moment.astimezone(BUSINESS_TIME):%A, %B %-d, at %-I:%M %p} Eastern time"
