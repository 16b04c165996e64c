"""An open payment as a sentence in the reader's language: from its stage, its amount and its days alone."""

from typing import Final

from hearthpay.languages.catalogue import mark, money_in, say_in, weekday_in
from hearthpay.payroll.issues.open_payments import OpenPayment, PaymentStage
from hearthpay.taxes.money import from_cents

SENTENCES: Final[dict[PaymentStage, str]] = {
    "leaves": mark("{amount} leaves your account on {debit_on}"),
    "fund": mark("Put {amount} in your account by {fund_by}: we try again on {debit_on}"),
    "retry": mark("Keep {amount} in your account: we try the debit again on {debit_on}"),
    "answer_awaited": mark(
        "We tried the {amount} debit again on {debit_on}: your bank answers by {answer_by}"
    ),
    "answer_late": mark("We tried the {amount} debit again on {debit_on}. Your bank’s answer is late"),
    "unpaid": mark("Choose how to pay {names}: your bank returned the {amount} debit"),
    "owed": mark("You owe {amount}: your bank returned the debit after the wages were sent"),
    "returned": mark("Choose how to pay {names}: {amount} came back from the account ending {digits}"),
    "reversed": mark("Choose how to pay {names}: the {amount} deposit was reversed"),
    "refunded": mark("Choose how to pay {names}: the {amount} deposit was not sent"),
    "failed": mark("Choose how to pay {names}: the {amount} payroll was not sent"),
    "choose": mark("Choose how to pay {names}: the account ending {digits} can’t take {amount}"),
    "waits": mark("{amount} for {names} waits until {until} for another bank account"),
    "verifying": mark("{amount} for {names} is on hold: the account ending {digits} is being verified"),
    "on_our_side": mark("{amount} for {names} is on hold: your administrator has been notified"),
    "connect": mark("Connect a bank account: the {amount} debit is on hold"),
    "debit_verifying": mark("The {amount} debit is on hold: your bank account is being verified"),
    "debit_on_our_side": mark("The {amount} debit is on hold: your administrator has been notified"),
    "authorize": mark("Authorize the {amount} debit by {until}"),
    "authorize_held": mark("Authorize the {amount} debit: the payroll is on hold"),
}
"""By stage; its placeholders are days of the payment, its amount, the names and the account's digits."""

_LAST_DAY: Final = mark("Authorize the {amount} debit by {until}: the payroll is on hold")
DAYS: Final = ("debit_on", "fund_by", "answer_by", "arrives_on", "until", "pay_date")
"""The days that an open payment may have."""

COMING: Final[dict[PaymentStage, tuple[str, ...]]] = {
    "leaves": ("debit_on",),
    "fund": ("fund_by", "debit_on"),
    "retry": ("debit_on",),
    "answer_awaited": ("answer_by",),
    "waits": ("until",),
    "authorize": ("until",),
    "authorize_held": ("until",),
}
"""The days that a stage's sentence says are still to come; the others are in the past tense, or have none."""


def payment_text(payment: OpenPayment, language: str) -> str:
    """Return the sentence without a period: "Put $906 in your account by Mon, Dec 7: we try again on Tue, Dec 8"."""
    say = say_in(language)
    sentence = SENTENCES[payment.stage]
    if payment.stage == "authorize_held" and payment.until is not None:
        sentence = _LAST_DAY
    days = {name: getattr(payment, name) for name in DAYS}
    return say(
        sentence,
        amount=money_in(language, from_cents(payment.amount)),
        names=", ".join(payment.names),
        digits=payment.last_four or "",
        **{name: "" if day is None else weekday_in(language, day) for name, day in days.items()},
    )
