"""What the mails of Autopilot say: plain words, no link, and always how to stop it."""

import datetime
from collections.abc import Mapping
from typing import Any, Final, cast

from hearthpay.autopilot.eligibility import IN_WORDS, Reason
from hearthpay.clock import BUSINESS_TIME
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import name_in_mail
from hearthpay.payroll.trouble.advice import reason_of
from hearthpay.payroll.trouble.notice_mail import plain_mail
from hearthpay.taxes.money import from_cents

_HOW_TO_STOP: Final = (
    "You can pause Autopilot, skip a pay period or end it at any time, on its page or by the API."
)


def mail_of(kind: str, people: Any, payroll: Any, details: Mapping[str, Any]) -> Mail | None:
    """Return what the household is told; None where it has no address.

    `people` has the names of employee and household, `payroll` what is known of the payroll it is about, if any.
    """
    if people.email is None:
        return None
    name = name_in_mail(people.first_name, people.last_name) or "your employee"
    subject, lines = _said(kind, name, payroll, details)
    return plain_mail(people.email, subject, name_in_mail(people.household_first), lines)


def _said(kind: str, name: str, payroll: Any, details: Mapping[str, Any]) -> tuple[str, list[str]]:
    match kind:
        case "enrolled":
            return (
                f"Autopilot is on for {name}",
                [
                    (
                        f"From now on {name} is paid by direct deposit, period after period, for the hours that you "
                        "enrolled, and you have authorized the debits of your bank account for it."
                    ),
                    "You are told of each debit a day before, and asked before an amount out of the ordinary leaves.",
                    f"{_HOW_TO_STOP} If this was not you, end Autopilot now and write to the operator.",
                ],
            )
        case "debit_tomorrow":
            if payroll.status != "scheduled":
                return (
                    f"Autopilot: your account is debited for {name}",
                    [
                        (
                            f"{_amount(payroll)} net and what is set aside is being debited from your account, to pay "
                            f"{name} for {_days(payroll)} on {_day(payroll.pay_date)}. We could not tell you a day "
                            "before."
                        ),
                        f"Payroll {payroll.id}. {_HOW_TO_STOP}",
                    ],
                )
            sent = _moment(payroll.scheduled_send_at)
            return (
                f"Autopilot: a debit for {name} is coming",
                [
                    (
                        f"On {sent}, {_amount(payroll)} net and what is set aside is debited from your account, to "
                        f"pay {name} for {_days(payroll)} on {_day(payroll.pay_date)}. It is calculated for good then."
                    ),
                    f"Payroll {payroll.id}. Until then it can be voided. {_HOW_TO_STOP}",
                ],
            )
        case "held":
            return (
                f"Autopilot asks you: the pay of {name}",
                [
                    (
                        f"The pay of {name} for {_days(payroll)}, {_amount(payroll)} net, is out of the ordinary. It "
                        "is not sent before you have confirmed it."
                    ),
                    f"Void payroll {payroll.id}, or confirm it before {_moment(payroll.scheduled_send_at)}.",
                ],
            )
        case "paid":
            return (
                f"Autopilot has paid {name}",
                [
                    f"{name} was paid {_amount(payroll)} on {_day(payroll.pay_date)} for {_days(payroll)}.",
                    f"Payroll {payroll.id}. {_HOW_TO_STOP}",
                ],
            )
        case "paused":
            return (
                f"Autopilot is paused for {name}",
                [
                    f"After {details['failure_count']} failures in a row Autopilot pays {name} nothing more.",
                    *_why(details),
                    "Then resume it. The periods in between are not paid by Autopilot: run them by hand.",
                ],
            )
        case _:
            for_good = details.get("for_good")
            about = f"{details['period_start']} to {details['period_end']}"
            happens = (
                f"Autopilot has not paid {name} for {about}, and will not: run this period by hand."
                if for_good
                else f"Autopilot cannot pay {name} for {about} as things stand. It looks again until the money has to "
                "be sent."
            )
            return f"Autopilot cannot pay {name}", [happens, *_why(details)]


def _why(details: Mapping[str, Any]) -> list[str]:
    lines = []
    for reason in details.get("reasons", ()):
        why, action = IN_WORDS.get(
            cast(Reason, reason), (reason_of(str(reason)), "See what the payroll says of it.")
        )
        lines.append(f"{why}. What to do: {action}")
    return lines


def _amount(payroll: Any) -> str:
    return f"${from_cents(payroll.net_pay):,}"


def _days(payroll: Any) -> str:
    return f"{_day(payroll.period_start)} to {_day(payroll.period_end)}"


def _day(day: datetime.date) -> str:
    return f"{day:%B %-d, %Y}"


def _moment(moment: datetime.datetime) -> str:
    return f"{moment.astimezone(BUSINESS_TIME):%A, %B %-d, at %-I:%M %p} Eastern time"
