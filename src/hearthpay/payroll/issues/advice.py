"""What a household can do now about an issue: the one place that chooses the words.

They depend on what happened, the payroll's state and the available actions, and never name an action that the state
refuses.
"""

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.banking.holds import HOLD_OF_ACCOUNT, HoldCode
from hearthpay.banking.return_codes import return_codes
from hearthpay.languages.catalogue import Say, hour_in, mark, say_in
from hearthpay.payroll.issues.failures import RUN_AFTER_EXPIRY, RUN_AFTER_REFUND, FailureKind
from hearthpay.payroll.issues.open_payment_words import payment_text
from hearthpay.payroll.issues.open_payments import OpenPayment
from hearthpay.payroll.lifecycle import PayrollStatus

WayOut = Literal["void", "pay_by_check", "wait_for_account", "refund"]
"""The actions now available: void the payroll, or one of the remedies for a deposit that can't be sent."""

_NOTHING: Final = mark("No action needed. The payroll is voided.")
_BY_ITSELF: Final = mark("we'll send it automatically")
_TRIED_AGAIN: Final = mark("we'll try again automatically")

_NOT_SENT: Final[dict[str, tuple[str, str]]] = {
    "bank_account_not_ready": (mark("Connect and verify the household's bank account"), _BY_ITSELF),
    "authorization_missing": (mark("Authorize the debit again"), _BY_ITSELF),
    "confirmation_missing": (mark("Confirm the amount"), _BY_ITSELF),
    "employee_account_not_ready": (mark("Invite the employee to enter a bank account"), _BY_ITSELF),
    "not_calculable": (mark("Correct the employee's settings"), _TRIED_AGAIN),
    "internal_error": (mark("Your administrator has been notified"), _TRIED_AGAIN),
}
"""Why a payroll wasn't sent: what fixes it, and whether the payroll is then sent automatically."""

_NOT_KNOWN_YET: Final = {
    "tax_year_not_final": mark(
        "No action needed. We'll send it automatically once the figures are published and Hearthpay is updated."
    ),
    "unsupported_jurisdiction": mark(
        "No action needed. We'll send it automatically once Hearthpay has rules for this place."
    ),
}
"""Why a payroll can't be calculated yet, not even by check or cash: what happens without the household."""

_RUN_LATER: Final = mark(
    "Run the payroll again once Hearthpay is updated: until then nobody can calculate it."
)

_REASONS: Final = {
    "bank_account_not_ready": mark("The household's account is not ready"),
    "employee_account_not_ready": mark("An employee's account is not ready"),
    "authorization_missing": mark("The debit is not authorized"),
    "confirmation_missing": mark("The amount is not confirmed"),
    "debit_expired": mark("The debit wasn't sent in time"),
    "deposit_refunded": mark("Refunded to the household"),
    "employee_left": mark("The employment had ended"),
    "not_calculable": mark("The payroll cannot be calculated"),
    "tax_year_not_final": mark("Tax figures aren't published yet"),
    "unsupported_jurisdiction": mark("No tax rules for the place of work yet"),
    "internal_error": mark("An error on our side"),
    "year_passed": mark("Not sent in time for its year"),
    "payment_held": mark("A payment is on hold"),
    "not_authorized": mark("The debit is not authorized"),
    "bank_unreachable": mark("The bank cannot be reached"),
    "not_sent_yet": mark("Due, and not sent yet"),
    "reversed": mark("Reversed as a mistake"),
    "reversal_too_late": mark("Too late to reverse"),
}


_HOLDS: Final[Mapping[HoldCode, str]] = {
    "account_verifying": mark("The bank account is still being verified"),
    "account_failed": mark("The bank account cannot be used"),
    "account_not_usable": mark("The bank account cannot be used"),
    "not_authorized": mark("The debit is not authorized"),
    "name_not_readable": mark("The name has no letter that banks can read"),
    "arrives_in_other_year": mark("It would arrive in another year"),
    "internal": mark("A problem on our side. Your administrator has been notified"),
}
"""Why a payment can't be sent, in words for the household, without the contents of any key or file."""

NOT_PAID: Final = mark("Not paid: what was collected goes back")

_ADVICE: Final = {
    "debit_expired": RUN_AFTER_EXPIRY,
    "deposit_refunded": RUN_AFTER_REFUND,
}
"""What to do about an ended matter, by code, if it names nothing that only the payroll knows."""

_NOT_COVERED: Final = mark(
    "The wages have been paid and cannot be called back: you owe what was to be collected. Contact support to settle "
    "it, and pay by check or cash until then."
)
_NOT_YET: Final = mark(
    "No action needed yet. After the reversal, you can run the payroll again with the right amount."
)
_RUN_FOR_THIS_ONE: Final = mark(
    "Run the payroll again for this employee with the right amount, by check if it's urgent."
)
_VOID_AND_RUN: Final = mark("Void the payroll, and run it again for those who worked in the period.")
_RUN_FOR_THOSE: Final = mark("Run it again for those who worked in the period.")
_AUTHORIZE: Final = mark(
    "Authorize debits from your account again, and we'll send the payment automatically."
)
_CONNECT: Final = mark("Connect an active bank account, and we'll send the payment automatically.")
_REMEDIES: Final[dict[WayOut, str]] = {
    "pay_by_check": mark("pay it by check"),
    "wait_for_account": mark("let it wait until a day that you choose"),
    "refund": mark("get a refund"),
}
_OR: Final = mark(", or ")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the words depend on. `of_household`: the held payment is one of the household's own account."""

    kind: FailureKind
    code: str
    status: PayrollStatus
    next_try: datetime.datetime | None = None
    available_actions: frozenset[WayOut] = frozenset()
    of_household: bool = False
    stored: str = ""
    hold: HoldCode | None = None
    tax_year: int | None = None
    followed: bool | None = None
    """After the turn of the year: whether another payroll pays; None if that isn't stored."""

    reversed_for: str = ""
    retry: OpenPayment | None = None
    """What is open about a returned debit that is tried again."""


def is_known(code: str) -> bool:
    """Return whether a text is a code that `reason_of` has its own words for: ours, or the bank's."""
    return code in _REASONS or code in return_codes().reasons


def reason_of(code: str) -> str:
    """Return a short text for a code: the bank's reason, or ours."""
    return _REASONS.get(code) or return_codes().reason(code).title


def hold_reason(hold: HoldCode) -> str:
    """Return why a payment can't be sent, in words for the household."""
    return _HOLDS[hold]


def hold_of(hold: HoldCode, *, of_household: bool) -> tuple[str, str]:
    """Return the code that the API has for a hold, and its reason in words for the household."""
    hold_code = _HOLDS[hold]
    if hold == "not_authorized":
        return "not_authorized", hold_code
    if hold in HOLD_OF_ACCOUNT:
        return ("bank_account_not_ready" if of_household else "employee_account_not_ready"), hold_code
    return "payment_held", hold_code


def what_to_do(case: Circumstances, language: str = "en") -> str:
    """Return what the household should do now; nothing it suggests is refused in this state.

    Empty if only English words are stored and another language is requested.
    """
    say = say_in(language)
    if case.status == "voided" and case.kind != "held":
        return say(_NOTHING)
    match case.kind:
        case "not_sent":
            return _about_sending(case, language)
        case "debit_returned":
            return _about_debit(case, language)
        case "wages_not_covered":
            return say(_NOT_COVERED)
        case "deposit_returned":
            return say(return_codes().reason(case.code).explain(debit=False).action)
        case "deposit_reversed":
            return say(_NOT_YET if case.status != "failed" else _RUN_FOR_THIS_ONE)
        case "reversal_returned":
            return say(
                mark("Settle with the employee what was paid by mistake: the bank does not try again.")
            )
        case "held":
            return _about_hold(case, say)
        case "bank_unreachable":
            return say(
                mark("No action needed. We'll send the payment automatically when the bank can be reached.")
            )
        case "delayed":
            nothing = say(mark("No action needed. We'll send it automatically."))
            return f"{nothing}{_or_else(case.available_actions, say)}"
        case "year_passed" | "debit_expired" | "deposit_refunded":
            return _as_stored(case, language)


def advice_after(case: Circumstances) -> str | None:
    """Return what to do about a matter that has ended, as a sentence to translate; None if its state decides."""
    ended = case.kind in ("debit_expired", "deposit_refunded") and case.status != "voided"
    return _ADVICE.get(case.code) if ended else None


def _about_sending(case: Circumstances, language: str) -> str:
    say = say_in(language)
    waits = case.status in ("scheduled", "firing")
    known = _NOT_SENT.get(case.code)
    if case.code == "employee_left":
        first = waits and "void" in case.available_actions
        return say(_VOID_AND_RUN if first else _RUN_FOR_THOSE)
    if case.code in _NOT_KNOWN_YET:
        return say(_NOT_KNOWN_YET[case.code] if waits else _RUN_LATER)
    if known is None:
        return _as_stored(case, language)
    remedy, then = known
    if waits:
        return f"{say(remedy)}; {say(then)}.{_or_else(case.available_actions, say)}"
    if case.code == "internal_error":
        return say(mark("Run the payroll again, or run it by check or cash."))
    return say(
        mark("{remedy} and run the payroll again, or run it by check or cash."),
        remedy=say(remedy),
    )


def _as_stored(case: Circumstances, language: str) -> str:
    """Return the stored advice in English; in another language the text for its code, or nothing."""
    if language == "en":
        return case.stored
    known = _ADVICE.get(case.code)
    return "" if known is None else say_in(language)(known)


def _about_debit(case: Circumstances, language: str) -> str:
    say = say_in(language)
    words = return_codes().reason(case.code).explain(debit=True)
    if case.retry is None:
        return say(words.action)
    told = f"{payment_text(case.retry, language)}."
    ahead = words.again if case.retry.stage == "fund" else None
    return f"{told} {say(ahead)}" if ahead else told


def _about_hold(case: Circumstances, say: Say) -> str:
    if case.code == "not_authorized":
        return say(_AUTHORIZE)
    if case.code == "payment_held":
        nothing = say(mark("No action needed. Your administrator has been notified."))
        return f"{nothing}{_or_else(case.available_actions, say)}"
    if case.of_household:
        return say(_CONNECT)
    first = say(mark("Ask your employee to add a bank account, and we'll send the deposit automatically."))
    open_now = [say(words) for name, words in _REMEDIES.items() if name in case.available_actions]
    if open_now:
        others = say(mark("Or {remedies}."), remedies=say(_OR).join(open_now))
        return f"{first} {others}{_or_else(case.available_actions, say)}"
    return f"{first}{_or_else(case.available_actions, say)}"


def _or_else(available_actions: Collection[WayOut], say: Say) -> str:
    if "void" not in available_actions:
        return ""
    return f" {say(mark('Or void the payroll and pay by check or cash.'))}"


def in_words(moment: datetime.datetime, language: str = "en") -> str:
    """Return a moment in US Eastern words: on Tuesday, November 24, at 3:00 PM Eastern time."""
    return say_in(language)(mark("on {moment}"), moment=hour_in(language, moment))
