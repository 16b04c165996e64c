"""The words for Autopilot's states and reasons on its pages, and the remedy for each reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hearthpay.autopilot.eligibility import Reason
from hearthpay.languages.catalogue import mark


@dataclass(frozen=True, slots=True)
class ReasonText:
    """Why Autopilot may not pay, and what can be done about it; `way` is the page for it, relative to the household's
    address.
    """

    why: str
    help: str
    way: str | None = None


REASONS: Final[Mapping[Reason, ReasonText]] = {
    "not_plus": ReasonText(
        mark("Your plan does not include Autopilot."),
        mark("Ask your administrator for the Plus or Professional plan."),
    ),
    "employee_inactive": ReasonText(
        mark("The employment has ended."),
        mark("Employ the person again, or end Autopilot."),
        "/employees/{employee_id}",
    ),
    "employment_ended_in_period": ReasonText(
        mark("The employment ended during the pay period."),
        mark("Run the last payroll yourself, with the hours worked until then."),
        "/payrolls/new",
    ),
    "employee_not_started": ReasonText(
        mark("The employment has not begun by the period's last day."), mark("Begin with a later period.")
    ),
    "employee_incomplete": ReasonText(
        mark("No pay rate yet."), mark("Enter the hourly pay."), "/employees/{employee_id}"
    ),
    "insufficient_history": ReasonText(
        mark("Run one payroll for this employee first."),
        mark("Run and check one payroll first. Autopilot repeats it."),
        "/payrolls/new",
    ),
    "direct_deposit_unavailable": ReasonText(
        mark("Direct deposit is not possible yet."),
        mark("Connect and verify both your bank account and your employee's."),
        "/bank",
    ),
    "direct_deposit_not_offered": ReasonText(
        mark("Direct deposit is switched off on this service at the moment."),
        mark("No action needed. Your administrator can switch it on."),
    ),
    "authorization_missing": ReasonText(
        mark("Debits from the connected bank account aren't authorized."),
        mark("Agree again."),
        "/autopilot/{enrollment_id}/agree",
    ),
    "tax_year_not_final": ReasonText(
        mark("Tax figures for this payday aren't published yet, or aren't in this version of Hearthpay."),
        mark("No action needed. Autopilot keeps trying and pays on the first possible date."),
    ),
    "unsupported_jurisdiction": ReasonText(
        mark("Hearthpay has no tax rules for the state of work yet."),
        mark("No action needed. Autopilot keeps trying and pays on the first possible date."),
    ),
    "not_calculable": ReasonText(
        mark("The payroll cannot be calculated."),
        mark("Check the employee's page."),
        "/employees/{employee_id}",
    ),
    "internal_error": ReasonText(
        mark("Something went wrong on our side."),
        mark("No action needed. Autopilot keeps trying and pays on the first possible date."),
    ),
}
FAILED: Final = mark("The payment failed; the page of the payroll tells why.")
"""A reason of the payroll itself, which its own page explains."""

HELD: Final[Mapping[str, str]] = {
    "above_enrolled_net": mark("Net pay is more than 20% above the usual amount."),
    "confirm_large_payroll": mark("It is unusually large."),
}
SOURCES: Final[Mapping[str, str]] = {
    "app": mark("in the app"),
    "api": mark("by an API key"),
    "mcp": mark("by an assistant"),
    "system": mark("automatically"),
}
AUTHORIZATION: Final = (
    mark(
        "I authorize the originator named below to debit electronically (ACH) the bank account that I have connected, "
        "again and again, for the payrolls that Autopilot makes for this employee, and to credit it where money comes "
        "back to me."
    ),
    mark(
        "Each debit is the net pay, and what is set aside, of one pay period of the hours that I have enrolled, at the "
        "employee's pay rate and after the taxes of the pay date. It is made five business days before the pay date. "
        "I am told of each by e-mail at least 24 hours before, where the service is at work by then."
    ),
    mark(
        "A payroll whose net pay is more than 20 percent above what I have enrolled is not debited before I have "
        "confirmed it. Pay above the limits for large payrolls I confirm once, when I enroll it; otherwise such a "
        "payroll is not debited before I have confirmed it."
    ),
    mark(
        "A debit that my bank returns for want of money may be presented up to two more times. A payroll whose debit "
        "fails is not paid by direct deposit, and I then still owe my employee the wages."
    ),
    mark(
        "The authorization holds until I end Autopilot for this employee, disconnect the account, or revoke it by "
        "writing to the originator. I may pause Autopilot, skip pay periods and void a payroll that is not yet sent "
        "at any time. A debit that has already been sent is stopped only by my bank."
    ),
    mark("The account is mine, and I may authorize debits of it."),
)
"""The sentences of the standing authorization, to be read in translation; agreed to is the text as it is recorded."""
