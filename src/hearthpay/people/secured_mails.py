"""The mails about a secured account: that it was stopped, that its address is in dispute, and how that was decided."""

import datetime
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.languages.catalogue import moment_in
from hearthpay.mail.person_mail import WARNINGS
from hearthpay.mail.wording import name_in_mail
from hearthpay.people.context import PeopleContext
from hearthpay.people.identity import masked
from hearthpay.people.mails import PersonMailKind, person_mail
from hearthpay.people.models import PersonRecord
from hearthpay.people.tokens import LASTS, leave_token

if TYPE_CHECKING:
    from hearthpay.people.address_dispute import AddressDispute

ADDRESS_PATH = "/settings/address"
"""Where a dispute about one's address is decided."""


async def send_secured(
    people_context: PeopleContext,
    session: AsyncSession,
    now: datetime.datetime,
    person: PersonRecord,
    dispute: "AddressDispute | None",
) -> None:
    """Send the mail that the account was secured, with a link for a new password to its own address.

    In a dispute there is no such link: both addresses get a mail about where it is decided.
    """
    if not people_context.writes_mail:
        return
    if dispute is None:
        token = await leave_token(session, now, "reset", email=person.email, person_id=person.id)
        link = f"{people_context.links_begin}/reset/{token.text}"
        await _send(people_context, session, now, person, "stopped", person.email, link)
        return
    link = f"{people_context.links_begin}{ADDRESS_PATH}"
    for address in (dispute.current, dispute.former):
        await _send(
            people_context, session, now, person, "disputed", address, link, dispute.former, dispute.current
        )


async def send_settled(
    people_context: PeopleContext,
    session: AsyncSession,
    now: datetime.datetime,
    person: PersonRecord,
    other: str,
) -> None:
    """Tell both addresses which one the account has, now that this is decided."""
    if people_context.writes_mail:
        for address in (person.email, other):
            await _send(
                people_context, session, now, person, "address_settled", address, None, other, person.email
            )


async def _send(
    people_context: PeopleContext,
    session: AsyncSession,
    now: datetime.datetime,
    person: PersonRecord,
    kind: PersonMailKind,
    address: str,
    link: str | None,
    old: str = "",
    new: str = "",
) -> None:
    mail = person_mail(
        kind,
        address,
        person.language,
        name=person.name,
        link=link,
        operator=people_context.operator,
        when=moment_in(person.language, now),
        old=_shown(old),
        new=_shown(new),
    )
    about = f"{kind} {person.id} {masked(address)}"
    await people_context.queue_mail(
        session, now, kind, mail, now + LASTS["reset"], sort=WARNINGS, about=about
    )


def _shown(address: str) -> str:
    """Return an address in a form that its reader recognizes and no mail program turns into a link."""
    return name_in_mail(masked(address).replace("@", " at ")) if address else ""
