"""What the review of a payroll shows: where the money goes, what is paid when, what keeps a deposit from leaving."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.banking.calendar import debited_on, next_banking_day, submission_day
from hearthpay.employees.models import Employee
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.approval import debit_of
from hearthpay.payroll.drafts import DraftReview
from hearthpay.payroll.ledger.rows import PayrollRecord, Preview
from hearthpay.web.household.context import HouseholdContext
from hearthpay.web.household.money import keep_aside_of, pots_of, who_is_paid
from hearthpay.web.household.payrolls.payment_words import (
    account_words,
    bank_accounts,
    first_names,
    payment_days,
    review_heading,
)
from hearthpay.web.household.payrolls.wage_form import kind_of

_OF_HOUSEHOLD: Final[Mapping[str, tuple[str, str, str]]] = {
    "bank_account_missing": (
        mark("Connect the account that wages are paid from."),
        "/bank/connect",
        mark("Connect a bank account"),
    ),
    "bank_account_verifying": (
        mark("Your bank account is being verified. That takes about 4 business days."),
        "/bank",
        mark("View account"),
    ),
    "bank_account_failed": (mark("Your bank rejected your account."), "/bank", mark("View account")),
    "direct_deposit_not_offered": (mark("Direct deposit isn't set up here."), "", ""),
    "name_not_spellable": (
        mark("Bank files allow only the letters A to Z. Spell your name without other characters."),
        "/household",
        mark("Edit your household"),
    ),
}
_OF_EMPLOYEE: Final[Mapping[str, tuple[str, str, str]]] = {
    "bank_account_missing": (
        mark("{name} hasn't entered a bank account yet."),
        "/employees/{id}/invitations",
        mark("Send {name} the link"),
    ),
    "bank_account_verifying": (
        mark("The account of {name} is being verified. That takes about 4 business days."),
        "",
        "",
    ),
    "bank_account_failed": (
        mark("The bank rejected the account of {name}."),
        "/employees/{id}/invitations",
        mark("Send {name} the link"),
    ),
    "name_not_spellable": (
        mark("Bank files allow only the letters A to Z. Spell the name of {name} without other characters."),
        "/employees/{id}",
        mark("View {name}"),
    ),
}
_OTHERWISE: Final = (mark("Direct deposit can't be used yet."), "", "")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a payroll from direct deposit, and where it is mended; without a path nothing can be done now."""

    text: str
    path: str
    button: str


async def preview_facts(at: HouseholdContext, review: DraftReview, preview: Preview) -> dict[str, Any]:
    """Return what the page says of a preview, in the visitor's language."""
    record, say, language = preview.record, at.say, at.visitor.language
    debit = _debit(record, at.clock.now())
    async with at.transaction() as session:
        names = await first_names(session, record.paychecks)
        accounts = await bank_accounts(session, at.id, record.through_the_bank)
        aside = await keep_aside_of(session, at, record.paychecks, record.dates.pay_date, in_ledger=False)
    kind = kind_of(review.draft.order)
    return {
        "heading": review_heading(
            say, language, kind, record.paychecks, list(names.values()), record.dates.pay_date
        ),
        "pots_of_payroll": pots_of(record.paychecks),
        "paid_name": who_is_paid(say, language, list(names.values())),
        "first_names": names,
        "aside": aside,
        "hours": sum(each.earnings.regular_hours + each.earnings.overtime_hours for each in record.paychecks),
        "days": payment_days(
            say,
            language,
            record.paychecks,
            names,
            accounts,
            pay_date=record.dates.pay_date,
            debit=debit,
            aside=aside,
        ),
        "account": account_words(say, accounts.household),
        "debit": debit,
    }


def _debit(record: PayrollRecord, now: datetime.datetime) -> tuple[int, datetime.date] | None:
    """Return what the household's account would be debited, and the day, if the payroll were approved now."""
    cents = debit_of(record)
    if not cents:
        return None
    if record.dates.send_at is not None:
        return cents, debited_on(record.dates.send_at)
    return cents, next_banking_day(submission_day(now))


async def obstacles_of(at: HouseholdContext, refusal: Refusal) -> list[Obstacle]:
    """Return what keeps a refused payroll from direct deposit; nothing for one that was refused for other reasons."""
    if refusal.code != "direct_deposit_unavailable" or not isinstance(refusal.details, Mapping):
        return []
    details = cast("Mapping[str, Sequence[Mapping[str, Any]]]", refusal.details)
    found = [
        _obstacle(at, _OF_HOUSEHOLD.get(each["code"], _OTHERWISE)) for each in details.get("blockers", ())
    ]
    blocked = details.get("employees", ())
    if blocked:
        async with at.transaction() as session:
            for each in blocked:
                employee = await session.get_one(Employee, UUID(str(each["employee_id"])))
                found += [
                    _obstacle(
                        at,
                        _OF_EMPLOYEE.get(blocker["code"], _OTHERWISE),
                        name=employee.first_name,
                        id=employee.id,
                    )
                    for blocker in each["blockers"]
                ]
    return found


def _obstacle(at: HouseholdContext, words: tuple[str, str, str], **of: object) -> Obstacle:
    text, path, button = words
    return Obstacle(
        at.say(text, **of),
        at.root + path.format(**of) if path else "",
        at.say(button, **of) if button else "",
    )
