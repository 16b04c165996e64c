"""The words for states, and their appearance: good, waiting, bad, or plain.

Every state that the services know has its word here; a test checks that none is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.languages.catalogue import mark

Tone = Literal["good", "waits", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class StatusWord:
    """A state's name, translated later into the reader's language, and its tone."""

    word: str
    tone: Tone


STATUS_WORDS: Final[Mapping[str, Mapping[str, StatusWord]]] = {
    "payroll": {
        "draft": StatusWord(mark("Draft"), "plain"),
        "scheduled": StatusWord(mark("Scheduled"), "plain"),
        "firing": StatusWord(mark("Sending"), "plain"),
        "pending_funding": StatusWord(mark("Collecting funds"), "plain"),
        "processing": StatusWord(mark("On the way"), "plain"),
        "completed": StatusWord(mark("Paid"), "plain"),
        "to_hand_over": StatusWord(mark("To hand over on {day}"), "waits"),
        "voided": StatusWord(mark("Voided"), "plain"),
        "failed": StatusWord(mark("Failed"), "bad"),
    },
    "payment": {
        "scheduled": StatusWord(mark("Scheduled"), "plain"),
        "collecting": StatusWord(mark("Collecting funds"), "plain"),
        "waiting": StatusWord(mark("Funds collected"), "plain"),
        "held": StatusWord(mark("On hold"), "waits"),
        "sent": StatusWord(mark("Sent to the bank"), "plain"),
        "paid": StatusWord(mark("Paid"), "plain"),
        "to_hand_over": StatusWord(mark("To hand over on {day}"), "waits"),
        "returned": StatusWord(mark("Returned"), "bad"),
        "reversed": StatusWord(mark("Reversed"), "bad"),
        "undone": StatusWord(mark("Not sent"), "plain"),
    },
    "refund": {
        "waiting": StatusWord(mark("Refund scheduled"), "plain"),
        "held": StatusWord(mark("Refund on hold"), "waits"),
        "sent": StatusWord(mark("Refund sent"), "plain"),
        "paid": StatusWord(mark("Refunded"), "good"),
        "returned": StatusWord(mark("Refund returned"), "bad"),
    },
    "method": {
        "check": StatusWord(mark("Check"), "plain"),
        "cash": StatusWord(mark("Cash"), "plain"),
        "direct_deposit": StatusWord(mark("Direct deposit"), "plain"),
    },
    "employee": {
        "active": StatusWord(mark("Active"), "good"),
        "terminated": StatusWord(mark("Former"), "plain"),
    },
    "onboarding": {
        "missing": StatusWord(mark("Missing"), "waits"),
        "invited": StatusWord(mark("Requested"), "waits"),
        "complete": StatusWord(mark("Received"), "good"),
    },
    "invitation": {
        "pending": StatusWord(mark("Waiting for an answer"), "waits"),
        "completed": StatusWord(mark("Completed"), "good"),
        "cancelled": StatusWord(mark("Withdrawn"), "plain"),
        "expired": StatusWord(mark("Expired"), "bad"),
    },
    "bank_account": {
        "verifying": StatusWord(mark("Being verified"), "waits"),
        "active": StatusWord(mark("Verified"), "good"),
        "failed": StatusWord(mark("Refused by the bank"), "bad"),
    },
    "authorization": {
        "none": StatusWord(mark("Not given"), "waits"),
        "active": StatusWord(mark("In effect"), "good"),
        "expired": StatusWord(mark("Expired"), "waits"),
        "revoked": StatusWord(mark("Revoked"), "bad"),
    },
    "movement": {
        "debit": StatusWord(mark("Collected from you"), "plain"),
        "credit": StatusWord(mark("Direct deposit"), "plain"),
        "refund": StatusWord(mark("Refund to you"), "plain"),
        "payout": StatusWord(mark("Set-aside paid out"), "plain"),
        "reversal": StatusWord(mark("Reversed"), "plain"),
    },
    "movement_status": {
        "pending": StatusWord(mark("Scheduled"), "plain"),
        "sent": StatusWord(mark("Sent to the bank"), "plain"),
    },
    "escrow": {
        "deposit": StatusWord(mark("Set aside"), "plain"),
        "reversal": StatusWord(mark("Paycheck undone"), "plain"),
        "payout": StatusWord(mark("Paid out"), "plain"),
        "payout_returned": StatusWord(mark("Payout returned"), "bad"),
    },
    "autopilot": {
        "active": StatusWord(mark("On"), "good"),
        "paused": StatusWord(mark("Paused"), "waits"),
        "disabled": StatusWord(mark("Ended"), "plain"),
    },
    "autopilot_period": {
        "scheduled": StatusWord(mark("Scheduled"), "plain"),
        "fired": StatusWord(mark("On the way"), "plain"),
        "paid": StatusWord(mark("Paid"), "good"),
        "failed": StatusWord(mark("Failed"), "bad"),
        "voided": StatusWord(mark("Voided"), "plain"),
        "skipped": StatusWord(mark("Skipped"), "plain"),
        "paused": StatusWord(mark("Paused"), "plain"),
        "by_hand": StatusWord(mark("Paid outside Autopilot"), "plain"),
        "ineligible": StatusWord(mark("Not paid"), "bad"),
    },
    "registration": {
        "registered": StatusWord(mark("Number on file"), "good"),
        "pending": StatusWord(mark("Pending"), "plain"),
        "required": StatusWord(mark("Not registered"), "waits"),
        "coming": StatusWord(mark("Not yet required"), "plain"),
        "not_required": StatusWord(mark("Not needed"), "plain"),
    },
    "ein": {
        "none": StatusWord(mark("Missing"), "waits"),
        "pending": StatusWord(mark("Pending"), "waits"),
        "approved": StatusWord(mark("On file"), "good"),
    },
    "duty": {
        "return": StatusWord(mark("Return"), "plain"),
        "payment": StatusWord(mark("Payment"), "plain"),
        "statement": StatusWord(mark("Statement"), "plain"),
        "report": StatusWord(mark("Report"), "plain"),
        "election": StatusWord(mark("Election"), "plain"),
        "notice": StatusWord(mark("Notice"), "plain"),
    },
    "threshold": {
        "below": StatusWord(mark("Not reached"), "plain"),
        "approaching": StatusWord(mark("Close to the threshold"), "waits"),
        "above": StatusWord(mark("Reached"), "good"),
    },
}
"""By the kind of thing, then by its state as the services call it."""


def status_word(kind: str, state: str) -> StatusWord:
    """Return the word for a state. Raises KeyError for one without a word: add it here."""
    return STATUS_WORDS[kind][state]
