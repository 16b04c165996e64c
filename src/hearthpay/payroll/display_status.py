"""What a payroll's state is called for people: a check that is dated ahead isn't paid yet.

A payroll by check or cash is `completed` as soon as it is recorded, and programs know it so. People read "To hand
over" through the pay date where the household is, or until somebody marks the payroll as handed over. Every page and
email that words a state asks these functions.
"""

import datetime
from typing import Final, Literal

from hearthpay.payroll.issues.payment_status import PaymentStatus
from hearthpay.payroll.lifecycle import PayrollStatus

TO_HAND_OVER: Final = "to_hand_over"

DisplayStatus = PayrollStatus | Literal["to_hand_over"]
DisplayPaymentStatus = PaymentStatus | Literal["to_hand_over"]


def display_status(
    status: PayrollStatus,
    *,
    direct_deposit: bool,
    pay_date: datetime.date,
    handed_over: bool,
    today: datetime.date,
) -> DisplayStatus:
    """Return the state of a payroll as people know it; ``today`` is the day where the household is.

    ``direct_deposit``: some of it is paid through the bank, which then says when it is paid.
    """
    waits = status == "completed" and not direct_deposit and not handed_over and pay_date >= today
    return "to_hand_over" if waits else status


def display_payment_status(
    status: PaymentStatus,
    *,
    method: str,
    pay_date: datetime.date,
    handed_over: bool,
    today: datetime.date,
) -> DisplayPaymentStatus:
    """Return the state of one paycheck's money as people know it; ``method`` is how it is paid."""
    waits = status == "paid" and method != "direct_deposit" and not handed_over and pay_date >= today
    return "to_hand_over" if waits else status
