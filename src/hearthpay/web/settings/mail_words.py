"""Emails that weren't sent, in words for operators: what each was about, who it was for, and why it wasn't sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hearthpay.languages.catalogue import Say, mark
from hearthpay.people.operators import UnsentMail

SUBJECTS: Final[Mapping[str, str]] = {
    "account_changed": mark("A bank account changed"),
    "account_exists": mark("A link to sign in, for an address that has an account"),
    "agent_ended": mark("An app was disconnected"),
    "autopilot_debit_now": mark("Autopilot debits the account now"),
    "autopilot_debit_tomorrow": mark("Autopilot debits the account tomorrow"),
    "autopilot_enrolled": mark("Autopilot was set up"),
    "autopilot_held": mark("A payroll of Autopilot needs approval"),
    "autopilot_paid": mark("Autopilot paid"),
    "autopilot_paused": mark("Autopilot paused"),
    "awaited_rules": mark("Payrolls need tax rules"),
    "bank_asked": mark("An employee asked for another bank account"),
    "bank_changed": mark("A bank account changed"),
    "bank_connected": mark("A bank account was connected"),
    "bank_entered": mark("A bank account was entered"),
    "bank_unreachable": mark("The bank can't be reached"),
    "bank_account": mark("A link to enter a bank account"),
    "by_operator": mark("The administrator changed an account"),
    "changed": mark("A sign-in setting changed"),
    "credit_returned": mark("A direct deposit was returned"),
    "debit_ahead": mark("A debit is coming"),
    "debit_expired": mark("A debit wasn't sent in time"),
    "debit_returned": mark("A debit was returned"),
    "delayed": mark("A payroll is late"),
    "deposit_refunded": mark("A direct deposit was refunded to the household"),
    "deposit_returned": mark("A direct deposit was returned"),
    "deposit_reversed": mark("A direct deposit is being reversed"),
    "document_ready": mark("A Form W-2 is ready"),
    "duties_due": mark("Deadlines are near"),
    "employee_account": mark("A link to make an employee's account"),
    "file_unread": mark("A file of the bank isn't read"),
    "employee_changed": mark("An employee changed their details"),
    "held": mark("A payment is on hold"),
    "household_decided": mark("A household decided on a bank account"),
    "invitation": mark("An invitation"),
    "link_requested": mark("An employee asked for a new link"),
    "moved": mark("An account moved to another address"),
    "new_email": mark("A link to confirm a new address"),
    "new_sign_in": mark("A new sign-in"),
    "not_sent": mark("A payroll couldn't be sent"),
    "package_ready": mark("The year's documents are ready"),
    "pay_stub": mark("A pay stub is ready"),
    "payday": mark("A payroll was paid"),
    "payout_returned": mark("A payout of savings was returned"),
    "prenote_returned": mark("A bank account was refused"),
    "problem": mark("The bank's work is held up"),
    "record_changed": mark("An employee's details changed"),
    "record_entered": mark("An employee's details were entered"),
    "refund_returned": mark("A refund was returned"),
    "reset": mark("A link for a new password"),
    "reversal_returned": mark("A reversal was returned"),
    "security_alert": mark("A sensitive setting was changed"),
    "sign_in_link": mark("A link to sign in from a new browser"),
    "sign_up": mark("A link to make an account"),
    "stopped": mark("A change was stopped"),
    "disputed": mark("An address is in dispute"),
    "address_settled": mark("A dispute about an address was decided"),
    "tax_info": mark("A link to enter a Social Security number"),
    "wages_not_covered": mark("A debit was returned after the wages were paid"),
    "weekly_summary": mark("What is due this week"),
    "year_passed": mark("A direct deposit missed its year"),
}
"""What an email is about, by the last part of its kind."""

_OTHER: Final = mark("An email")
_READERS: Final = {
    "person": mark("To somebody who signs in"),
    "employee": mark("To an employee"),
    "household": mark("To a household"),
    "operator": mark("To the administrator"),
}
_REASONS: Final = {
    "kept_in_folder": mark("In the folder: there is no mail server"),
    "recipient_refused": mark("The address was refused"),
    "message_refused": mark("The message was refused"),
    "mail_server_unreachable": mark("The mail server could not be reached"),
    "mail_server_too_slow": mark("The mail server was too slow"),
    "mail_server_refuses_us": mark("The mail server refuses this service"),
    "mail_server_busy": mark("The mail server was busy"),
    "unsafe_content": mark("The message could not be written"),
    "not_taken_in_time": mark("It was not sent in time"),
}
_ALL_SENT: Final = mark("All email was sent")
_ALL_IN_FOLDER: Final = mark("Email is saved in the folder")
_ONE_NOT_SENT: Final = mark("One email wasn't sent")
_NOT_SENT: Final = mark("{count} emails weren't sent")


@dataclass(frozen=True, slots=True)
class UnsentLine:
    """An email that wasn't sent, for display."""

    mail: UnsentMail
    words: str
    reader: str
    reason: str


def unsent_lines(say: Say, mails: Sequence[UnsentMail]) -> Sequence[UnsentLine]:
    """Return the emails for display, in the order given."""
    return [
        UnsentLine(
            each,
            say(SUBJECTS.get(each.kind.rpartition(".")[2], _OTHER)),
            say(_READERS[each.recipient]),
            say(_REASONS[each.reason]) if each.reason in _REASONS else each.reason.replace("_", " "),
        )
        for each in mails
    ]


def unsent_heading(say: Say, mails: Sequence[UnsentMail]) -> str:
    """Return the sentence that says what wasn't sent; what is in the folder isn't counted."""
    failed = sum(each.reason != "kept_in_folder" for each in mails)
    if failed:
        return say(_ONE_NOT_SENT) if failed == 1 else say(_NOT_SENT, count=failed)
    return say(_ALL_IN_FOLDER if mails else _ALL_SENT)
