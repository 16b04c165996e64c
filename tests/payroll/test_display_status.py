"""What people are told of a payroll's state: a check that is dated ahead isn't paid yet."""

from datetime import date
from typing import get_args

import pytest

from hearthpay.payroll.display_status import display_payment_status, display_status
from hearthpay.payroll.issues.payment_status import PaymentStatus
from hearthpay.payroll.lifecycle import STATUSES, PayrollStatus

YESTERDAY = date(2026, 12, 3)
TODAY = date(2026, 12, 4)
TOMORROW = date(2026, 12, 5)


@pytest.mark.parametrize(
    ("pay_date", "direct_deposit", "handed_over", "shown"),
    [
        (TOMORROW, False, False, "to_hand_over"),
        (TODAY, False, False, "to_hand_over"),
        (TODAY, False, True, "completed"),
        (YESTERDAY, False, False, "completed"),
        (TOMORROW, False, True, "completed"),
        (TOMORROW, True, False, "completed"),
    ],
)
def test_a_check_waits_through_its_day_or_for_somebody_to_hand_it_over(
    pay_date: date, direct_deposit: bool, handed_over: bool, shown: str
) -> None:
    assert shown == display_status(
        "completed",
        direct_deposit=direct_deposit,
        pay_date=pay_date,
        handed_over=handed_over,
        today=TODAY,
    )


@pytest.mark.parametrize("status", [each for each in STATUSES if each != "completed"])
def test_every_other_state_stays_as_it_is(status: PayrollStatus) -> None:
    assert status == display_status(
        status, direct_deposit=False, pay_date=TOMORROW, handed_over=False, today=TODAY
    )


@pytest.mark.parametrize("status", get_args(PaymentStatus))
def test_a_paycheck_waits_only_if_it_is_paid_by_check_or_cash(status: PaymentStatus) -> None:
    for method in ("check", "cash", "direct_deposit"):
        waits = status == "paid" and method != "direct_deposit"
        for pay_date, handed_over in (
            (TOMORROW, False),
            (TOMORROW, True),
            (TODAY, False),
            (TODAY, True),
            (YESTERDAY, False),
        ):
            shown = display_payment_status(
                status, method=method, pay_date=pay_date, handed_over=handed_over, today=TODAY
            )
            assert shown == ("to_hand_over" if waits and pay_date >= TODAY and not handed_over else status)
