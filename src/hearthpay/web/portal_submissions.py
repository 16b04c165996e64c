"""What an employee enters by a link: how it is stored, and who is notified.

A link may have been forwarded or stolen. So an account replaces another only after the waiting day, and everyone who
could object is notified of each entry at once. That includes entries that replace nothing, since a thief who comes
first with a stolen link keeps the employee from entering their own data, and the employee should hear of it.
"""

import datetime
from collections.abc import Sequence
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.banking.account_changes import change_account
from hearthpay.banking.accounts import AccountDetails
from hearthpay.employees.certificate_sheets import FEDERAL
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employees.onboarding import save_employee_address, save_employee_tax_number
from hearthpay.employees.own_notices import notify_of_account, notify_of_change, reader_of
from hearthpay.employees.signing import Signature, sign_certificate
from hearthpay.employers.commands import PostalAddress
from hearthpay.languages.catalogue import mark, moment_in, say_in
from hearthpay.payroll.years.household_year import measure_people_anew
from hearthpay.people.context import PeopleContext
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import SecretNumber
from hearthpay.web.certificate_form import FilledIn
from hearthpay.web.numbers_form import BankAccountEntry

_SAVED: Final = {
    "checking": mark("We saved your checking account ending in {digits}."),
    "savings": mark("We have saved your savings account ending in {digits}."),
}
_STARTS: Final = {
    "checking": mark(
        "Money goes to your checking account ending in {digits} from {start} on, and not before."
    ),
    "savings": mark("Money goes to your savings account ending in {digits} from {start} on, and not before."),
}
_NEEDS_WORD: Final = mark(
    "An email address was changed or an account was reported a short while ago, so an owner of the household has to "
    "agree first."
)
NOTIFIED: Final = mark("We write to you and to the household about it, wherever we have an email address.")


class SubmittedAccount:
    """The bank account that pay goes to: at once if there was none, otherwise after the waiting day."""

    def __init__(self, typed: BankAccountEntry, people_context: PeopleContext) -> None:
        self._typed = typed
        self._people_context = people_context
        self._needs_word = False
        self._waits_until: datetime.datetime | None = None
        self._notified = False

    async def store(self, session: AsyncSession, actor: Actor, invitation: Invitation) -> None:
        """Connect the account or request the change. Raises what `change_account` raises."""
        typed, people_context = self._typed, self._people_context
        details = AccountDetails(typed.routing, typed.account, typed.account_type)
        asked = await change_account(
            session, people_context.keys(), actor, people_context.clock, invitation.employee_id, details
        )
        employee = await session.get_one(Employee, invitation.employee_id)
        self._notified = people_context.sends_mail and not employee.sandbox
        reader = await reader_of(session, employee.id)
        self._waits_until = None if asked.waiting is None else asked.waiting.effective_at
        self._needs_word = asked.waiting is not None and asked.waiting.needs_word
        await notify_of_account(
            people_context,
            session,
            employee,
            reader,
            old=asked.old_digits,
            new=typed.account.last_four,
            start=self._waits_until or people_context.clock.now(),
            kind="bank_entered" if asked.news == "bank_changed" else asked.news,
        )

    def thanks(self, language: str) -> Sequence[str]:
        """Return the confirmation; for a change, with the time from which it counts."""
        say, digits, kind = say_in(language), self._typed.account.last_four, self._typed.account_type
        found = [say(_SAVED[kind], digits=digits)]
        if self._waits_until is not None:
            start = moment_in(language, self._waits_until)
            found.append(say(_STARTS[kind], digits=digits, start=start))
            if self._needs_word:
                found.append(say(_NEEDS_WORD))
        return (*found, say(NOTIFIED)) if self._notified else found


class SubmittedNumber:
    """A Social Security number or ITIN."""

    def __init__(self, number: SecretNumber, people_context: PeopleContext, ring: KeyRing) -> None:
        self._number = number
        self._people_context = people_context
        self._ring = ring

    async def store(self, session: AsyncSession, actor: Actor, invitation: Invitation) -> None:
        """Store it in the vault. Raises what `save_employee_tax_number` raises."""
        parted_or_joined = await save_employee_tax_number(
            session, self._ring, actor, invitation, self._number
        )
        await measure_people_anew(session, parted_or_joined)
        await _notify(self._people_context, session, invitation, "tax_number")


class SubmittedAddress:
    """A mailing address."""

    def __init__(self, address: PostalAddress, people_context: PeopleContext) -> None:
        self._address = address
        self._people_context = people_context

    async def store(self, session: AsyncSession, actor: Actor, invitation: Invitation) -> None:
        """Store it. Raises what `save_employee_address` raises."""
        if await save_employee_address(session, actor, self._people_context.clock, invitation, self._address):
            await _notify(self._people_context, session, invitation, "address")


class SubmittedCertificates:
    """Signed withholding certificates."""

    def __init__(self, signed: Sequence[FilledIn], people_context: PeopleContext) -> None:
        self._signed = signed
        self._people_context = people_context

    async def store(self, session: AsyncSession, actor: Actor, invitation: Invitation) -> None:
        """Store each. Raises what `sign_certificate` raises."""
        clock, changed = self._people_context.clock, []
        for each in self._signed:
            signature = Signature(each.name, each.on, invitation_id=invitation.id)
            await sign_certificate(
                session, actor, clock, invitation.employee_id, each.sheet, each.answers, signature
            )
            changed.append("w4" if each.sheet.jurisdiction == FEDERAL else "certificate")
        await _notify(self._people_context, session, invitation, *changed)


async def _notify(
    people_context: PeopleContext, session: AsyncSession, invitation: Invitation, *changed: str
) -> None:
    """Queue the notices of what was entered; of a test household no mail leaves."""
    employee = await session.get_one(Employee, invitation.employee_id)
    reader = await reader_of(session, employee.id)
    await notify_of_change(people_context, session, employee, reader, *changed, kind="record_entered")
