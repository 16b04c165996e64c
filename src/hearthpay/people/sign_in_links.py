"""Links by mail that admit a browser to the sign-in form while a stranger keeps failing on the account.

After too many failures, browsers that nobody signed in from have to wait, and the person may be in one of them. A link
that is mailed to their account lets the browser in which it is opened try, counted apart from strangers. It signs
nobody in: the password and the second factor are asked for as always, and the sign-in is reported as one from a new
browser.
"""

from typing import Final

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import become_person
from hearthpay.languages.catalogue import mark
from hearthpay.mail.person_mail import SIGN_IN_LINKS
from hearthpay.people.context import PeopleContext
from hearthpay.people.devices import admitting_cookie, read_device
from hearthpay.people.events import Visit, note_event
from hearthpay.people.identity import read_address
from hearthpay.people.mails import person_mail
from hearthpay.people.models import PersonRecord
from hearthpay.people.sign_in import person_at
from hearthpay.people.tokens import LASTS, leave_token, look_at_token, use_token

SIGN_IN_LINK_PATH: Final = "/sign-in/link"
"""The start of the links; the token follows."""

_USED: Final = mark("This link was used already or has expired.")


async def ask_for_sign_in_link(
    people_context: PeopleContext, email: str, links_begin: str, visit: Visit
) -> None:
    """Send the link, if the account exists; the response doesn't reveal whether it does.

    No request uses the links up, a stranger's neither: after the first few, the last one is sent within the hour.
    Raises `validation_error` for an invalid address, and `rate_limited`.
    """
    address = read_address(email)
    await people_context.throttle.mail_asked_for(visit.address)
    async with people_context.in_constant_time():
        if not people_context.writes_mail:
            return
        now = people_context.clock.now()
        async with people_context.database.transaction(None) as session:
            person_id = await person_at(session, address)
            if person_id is None:
                return
            await become_person(session, person_id)
            person = await session.get_one(PersonRecord, person_id)
            token = await leave_token(session, now, "sign_in", email=address, person_id=person_id)
            await note_event(session, person_id, visit, "sign_in.ask_link")
            link = f"{links_begin}{SIGN_IN_LINK_PATH}/{token.text}"
            mail = person_mail("sign_in_link", address, person.language, name=person.name, link=link)
            expires_at, about = now + LASTS["sign_in"], f"sign_in {person_id}"
            await people_context.queue_mail(
                session, now, "sign_in_link", mail, expires_at, sort=SIGN_IN_LINKS, about=about
            )


async def look_at_sign_in_link(people_context: PeopleContext, presented: str) -> None:
    """Raises `not_found` or `gone` for a link that doesn't work."""
    async with people_context.database.transaction(None) as session:
        await look_at_token(session, people_context.clock.now(), "sign_in", presented)


async def admit_browser(people_context: PeopleContext, presented: str, visit: Visit) -> str:
    """Use the link up; return the cookie of the browser, which may then try to sign in for ADMITTED_FOR.

    Raises `not_found`, and `gone` for a link that no longer works, also one sent to an address that the account has no
    more.
    """
    await look_at_sign_in_link(people_context, presented)
    now, ring = people_context.clock.now(), people_context.keys()
    async with people_context.database.transaction(None) as session:
        facts = await use_token(session, now, "sign_in", presented)
        assert facts.person_id is not None
        await become_person(session, facts.person_id)
        person = await session.get_one(PersonRecord, facts.person_id)
        if facts.email not in (person.email, person.disputed_address):
            raise Refusal("gone", _USED)
        await note_event(session, person.id, visit, "sign_in.open_link")
    return admitting_cookie(ring, now, read_device(ring, now, visit.device_cookie), person.id)
