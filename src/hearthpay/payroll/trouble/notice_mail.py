"""What the mails about a payroll say: plain words, no link, and of an account no more than its last four digits."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hearthpay.clock import BUSINESS_TIME
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import holds_address, name_in_mail
from hearthpay.payroll.trouble.standing import PaycheckStanding, Trouble

_SOMEBODY: Final = "Your employer"


@dataclass(frozen=True, slots=True)
class Told:
    """Whom a notice is about; names as their owners spelled them. `pay_date` and `amount` are spelled already."""

    household: tuple[str, str]
    employees: tuple[str, ...]
    pay_date: str
    payroll_id: str


@dataclass(frozen=True, slots=True)
class ReturnTold:
    """A prenote or a payout that came back: to whose account, which it was, why, and how much (None: a prenote).

    Without an employee the account is the household's.
    """

    household: tuple[str, str]
    employee: tuple[str, str] | None
    last_four: str
    reason: str
    amount: str | None


def household_notice(to: str, told: Told, trouble: Trouble) -> Mail:
    """Return what is in the payroll's way, as `GET /payroll/{id}` tells it at the same moment."""
    names = [name for name in (name_in_mail(each) for each in told.employees) if name]
    about = f" It concerns {', '.join(names)}." if names else ""
    # The tax engine may repeat what a certificate says: no mail carries an address that somebody typed there.
    message = f"{trouble.reason}." if holds_address(trouble.message) else trouble.message
    lines = [
        f"About your payroll with the pay date {told.pay_date}:",
        f"{message}{about}",
        f"What to do: {trouble.what_to_do}",
    ]
    if trouble.until is not None and trouble.next_try is not None:
        lines.append(f"It is tried until {trouble.until.astimezone(BUSINESS_TIME):%A, %B %-d}.")
    lines.append(f"Payroll {told.payroll_id}.")
    return plain_mail(
        to, f"Your payroll of {told.pay_date}: {trouble.reason}", name_in_mail(told.household[0]), lines
    )


def employee_notice(to: str, told: Told, trouble: Trouble, paid: PaycheckStanding | None) -> Mail:
    """That pay by direct deposit is late, or does not come; nothing of the household's own affairs."""
    household = name_in_mail(*told.household) or _SOMEBODY
    ending = f" ending in {paid.last_four}" if paid is not None and paid.last_four else ""
    match trouble.kind:
        case "debit_returned" if trouble.next_try is not None:
            happened = (
                f"Your pay from {household}, due on {told.pay_date}, is going to arrive later than planned."
            )
            action = "You need not do anything. Please ask your employer if you have questions."
        case "deposit_returned":
            happened = (
                f"Your bank sent back your pay from {household} of {told.pay_date}: your account{ending} could not "
                f"take it ({trouble.reason.lower()})."
            )
            action = "Please speak with your employer, who can pay you by check or send you a link for another account."
        case "deposit_reversed":
            happened = (
                f"The direct deposit from {household} of {told.pay_date} was a mistake ({trouble.reason.lower()}). "
                f"The same amount is taken back from your account{ending}."
            )
            action = "Please speak with your employer about what you are to be paid instead."
        case "held":
            happened = (
                f"Your pay from {household} of {told.pay_date} waits: your account{ending} cannot take it."
            )
            action = "Please ask your employer for a link to enter another bank account."
        case "year_passed":
            happened = (
                f"Your pay from {household} of {told.pay_date} could not be sent before the end of the year."
            )
            action = "Please ask your employer when it comes."
        case _:
            happened = f"Your pay from {household}, due on {told.pay_date}, does not come by direct deposit."
            action = "Please ask your employer how you are going to be paid."
    name = name_in_mail(*told.employees[:1])
    return plain_mail(to, f"About your pay of {told.pay_date}", name, [happened, action])


def return_notice_to_household(to: str, told: ReturnTold) -> Mail:
    """That an account cannot be used, or that a payout of an employee's set-aside did not arrive."""
    name = name_in_mail(told.household[0])
    if told.employee is None:
        subject = "Your bank account cannot be used"
        happened = f"Your bank refused the trial of your account ending in {told.last_four}: {told.reason}."
        action = (
            "Nothing was debited. Payrolls by direct deposit wait until you connect an account and authorize its "
            "debit; you can pay by check at any time."
        )
        return plain_mail(to, subject, name, [happened, action])
    employee = name_in_mail(*told.employee) or "your employee"
    if told.amount is None:
        subject = "An employee's bank account cannot be used"
        happened = f"The bank of {employee} refused the trial of the account ending in {told.last_four}: {told.reason}."
        action = (
            "Direct deposit is not possible until another account is entered. "
            "Send a link to the portal for it, or pay by check."
        )
        return plain_mail(to, subject, name, [happened, action])
    happened = (
        f"The bank of {employee} sent back a payout of {told.amount} that had been set aside, to the account "
        f"ending in {told.last_four}: {told.reason}."
    )
    action = (
        "The money is in the employee's balance again. It can be paid out when another account is entered: "
        "send a link to the portal for it."
    )
    return plain_mail(to, "A payout of money set aside came back", name, [happened, action])


def return_notice_to_employee(to: str, told: ReturnTold) -> Mail:
    """That the employee's account cannot be used, or that a payout did not arrive."""
    employer = name_in_mail(*told.household) or _SOMEBODY
    name = name_in_mail(*(told.employee or ())[:1])
    action = "Please ask your employer for a link to enter another bank account."
    if told.amount is None:
        happened = (
            f"Your bank refused the trial of your account ending in {told.last_four} ({told.reason}), "
            f"so {employer} cannot pay you by direct deposit to it."
        )
        return plain_mail(to, "Your bank account cannot be used", name, [happened, action])
    happened = (
        f"Your bank sent back {told.amount} that {employer} had set aside for you and that was to be paid to your "
        f"account ending in {told.last_four} ({told.reason}). The money is in your balance again."
    )
    return plain_mail(to, "A payout of money set aside came back", name, [happened, action])


def operator_notice(to: str, about: str, lines: Sequence[str]) -> Mail:
    """Return what only the operator can put right."""
    return plain_mail(to, f"Hearthpay: {about}", "", list(lines))


def plain_mail(to: str, subject: str, name: str, lines: Sequence[str]) -> Mail:
    """Return a mail of plain paragraphs, to someone of this name (empty: without one)."""
    greeting = f"Hello {name}," if name else "Hello,"
    paragraphs = [greeting, *lines]
    body = "\n".join(f"<p>{html.escape(each)}</p>" for each in paragraphs)
    title = html.escape(subject)
    page = f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
    return Mail(
        to=to,
        subject=subject,
        text="\n\n".join(paragraphs) + "\n",
        html=f'{page}<body style="font-family: sans-serif; line-height: 1.5">\n{body}\n</body>\n</html>\n',
    )
