"""The contents of mails about a payroll: plain words, and no more of an account than its last four digits."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hearthpay.languages.catalogue import Say, day_in, hour_in, mark, money_in
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import name_in_mail
from hearthpay.payroll.issues.payment_status import PaycheckPaymentStatus, PaymentIssue
from hearthpay.payroll.issues.wording import action_text, happened_text, reason_text
from hearthpay.people.recipients import NoticeReader

_SOMEBODY: Final = mark("Your employer")
_AN_EMPLOYEE: Final = mark("your employee")
_WAYS_TO_BE_PAID: Final = mark("Ask your employer how you'll be paid.")
_ANOTHER_ACCOUNT: Final = mark("Ask your employer for a link to enter another bank account.")


@dataclass(frozen=True, slots=True)
class NoticeFacts:
    """The people a notice is about; names as their owners spelled them.

    `employees` are those whom the issue concerns, `paid` all employees of the payroll.
    """

    household: tuple[str, str]
    employees: tuple[str, ...]
    pay_date: datetime.date
    paid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReturnNoticeFacts:
    """A returned prenote or payout: whose account, which it was, why, and how much (None: a prenote).

    Without an employee the account is the household's. `title` and `code` are the bank's reason.
    """

    household: tuple[str, str]
    employee: tuple[str, str] | None
    last_four: str
    title: str
    code: str
    amount: Decimal | None


def household_notice(to: NoticeReader, facts: NoticeFacts, issue: PaymentIssue) -> Mail:
    """Return the household's notice of an issue, in words that follow from its code; nothing typed is repeated."""
    say = to.say
    names, paid = _names(facts.employees), _names(facts.paid)
    about = f" {say(mark('It concerns {names}.'), names=names)}" if names and names != paid else ""
    reason = reason_text(to.say, issue)
    pay_date = day_in(to.language, facts.pay_date)
    lines = [
        say(mark("About the {day} payroll for {names}:"), day=pay_date, names=paid)
        if paid
        else say(mark("About your payroll with the pay date {day}:"), day=pay_date),
        f"{happened_text(to.say, to.language, issue)}{about}",
        say(mark("What to do: {action}"), action=action_text(to.say, to.language, issue)),
    ]
    if issue.until is not None and issue.next_try is not None:
        until = hour_in(to.language, issue.until)
        lines.append(say(mark("It is tried until {moment}."), moment=until))
    subject = say(mark("Your payroll of {day}: {reason}"), day=pay_date, reason=reason)
    return letter(
        to.address, to.language, subject, to.greeted(facts.household[0]), tuple(lines), place=to.place
    )


def _names(employees: Sequence[str]) -> str:
    return ", ".join(name for name in (name_in_mail(each) for each in employees) if name)


def employee_notice(
    to: NoticeReader, facts: NoticeFacts, issue: PaymentIssue, paid: PaycheckPaymentStatus | None
) -> Mail:
    """Return the notice that pay by direct deposit is late, or won't arrive; without the household's own affairs."""
    say = to.say
    household = name_in_mail(*facts.household) or say(_SOMEBODY)
    account = (
        say(mark("your account ending in {digits}"), digits=paid.last_four)
        if paid is not None and paid.last_four
        else say(mark("your account"))
    )
    reason = reason_text(to.say, issue).lower()
    day = day_in(to.language, facts.pay_date)
    happened, action = _headline(issue)
    name = facts.employees[0] if facts.employees else ""
    return letter(
        to.address,
        to.language,
        say(mark("Problem with your {day} pay"), day=day),
        to.greeted(name),
        (say(happened, household=household, day=day, account=account, reason=reason), say(action)),
    )


def _headline(issue: PaymentIssue) -> tuple[str, str]:
    match issue.kind:
        case "debit_returned" if issue.next_try is not None:
            return (
                mark("Your pay from {household}, due on {day}, is going to arrive later than planned."),
                mark("You need not do anything. Please ask your employer if you have questions."),
            )
        case "deposit_returned":
            return (
                mark(
                    "Your bank returned your {day} pay from {household}: {account} couldn't accept it ({reason})."
                ),
                mark(
                    "Talk to your employer, who can pay you by check or send you a link to add another account."
                ),
            )
        case "deposit_reversed":
            return (
                mark(
                    "The direct deposit from {household} of {day} was a mistake ({reason}). We're reversing "
                    "the same amount from {account}."
                ),
                mark("Talk to your employer about how you'll be paid instead."),
            )
        case "held":
            return mark(
                "Your {day} pay from {household} is on hold. The bank didn't accept {account}."
            ), _ANOTHER_ACCOUNT
        case "year_passed":
            return (
                mark("Your pay from {household} of {day} could not be sent before the end of the year."),
                mark("Ask your employer when it arrives."),
            )
        case _:
            return (
                mark("Your pay from {household}, due on {day}, does not come by direct deposit."),
                _WAYS_TO_BE_PAID,
            )


def return_notice_to_household(to: NoticeReader, facts: ReturnNoticeFacts) -> Mail:
    """Return the notice that an account can't be used, or that a payout of an employee's set-aside didn't arrive."""
    say = to.say
    if facts.employee is None:
        subject = mark("Your bank account cannot be used")
        happened = mark("Your bank rejected the account ending in {digits}: {reason}.")
        action = mark(
            "No debit was made. Direct deposit payrolls wait until you connect an account and "
            "authorize its debit. You can pay by check at any time."
        )
    elif facts.amount is None:
        subject = mark("An employee's bank account cannot be used")
        happened = mark(
            "{employee}'s bank refused the zero-dollar test of the account ending in {digits}: {reason}."
        )
        action = mark(
            "Direct deposit is not possible until another account is entered. Send a link to the portal for it, or "
            "pay by check."
        )
    else:
        subject = mark("A payout of money set aside came back")
        happened = mark(
            "{employee}'s bank returned {amount} of set-aside savings that we sent to the account "
            "ending in {digits}: {reason}."
        )
        action = mark(
            "The money is in the employee's balance again. It can be paid out when another account is entered: send a "
            "link to the portal for it."
        )
    employee = name_in_mail(*(facts.employee or ())) or say(_AN_EMPLOYEE)
    happened = say(happened, employee=employee, **_facts(facts, say, to.language))
    return letter(
        to.address,
        to.language,
        say(subject),
        to.greeted(facts.household[0]),
        (happened, say(action)),
        place=to.place,
    )


def return_notice_to_employee(to: NoticeReader, facts: ReturnNoticeFacts) -> Mail:
    """Return the notice that the employee's account can't be used, or that a payout didn't arrive."""
    say = to.say
    employer = name_in_mail(*facts.household) or say(_SOMEBODY)
    if facts.amount is None:
        subject = mark("Your bank account cannot be used")
        happened = mark(
            "Your bank refused the zero-dollar test of your account ending in {digits} ({reason}), "
            "so {employer} can't pay you there by direct deposit."
        )
    else:
        subject = mark("A payout of money set aside came back")
        happened = mark(
            "Your bank returned {amount} of your set-aside savings that {employer} sent to your "
            "account ending in {digits} ({reason}). The money is in your balance again."
        )
    happened = say(happened, employer=employer, **_facts(facts, say, to.language))
    name = facts.employee[0] if facts.employee else ""
    return letter(to.address, to.language, say(subject), to.greeted(name), (happened, say(_ANOTHER_ACCOUNT)))


def _facts(facts: ReturnNoticeFacts, say: Say, language: str) -> dict[str, str]:
    amount = "" if facts.amount is None else money_in(language, facts.amount)
    return {"digits": facts.last_four, "reason": f"{say(facts.title)} ({facts.code})", "amount": amount}


def operator_notice(to: str, about: str, lines: Sequence[str]) -> Mail:
    """Return the notice of what only the operator can fix; in English, as is the more detailed log."""
    return letter(to, "en", f"Hearthpay: {about}", "", tuple(lines))
