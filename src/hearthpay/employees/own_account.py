"""How an employee gets an account: from the link of an invitation, with an address that they prove.

The invitation proves which employee they are; a second link, sent to their address, proves that the address is
theirs. Someone who already has an account signs in and is linked to it. An invitation links once; for entering
numbers it stays valid.

Where no mail is sent, the link alone makes the account. Such an account shows no record until the household has
confirmed it: a person who got the link by mistake sees no pay.

An invitation's link may have been forwarded or stolen. So if the household has an address of theirs on record, no
account with another one is made or linked: a thief of the link would receive the notices meant for the employee.
"""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.refusal import Refusal
from hearthpay.database.session import become, become_person
from hearthpay.employees.links import (
    NO_ACCOUNT_UNDER_IT,
    account_address,
    await_household,
    can_have_account,
    employments_of,
    link_person,
    own_employee_at,
    refuse_other_address,
)
from hearthpay.employees.open_links import OpenInvitation, look_up
from hearthpay.employees.own_notices import NoticeRecipient, notify_of_link
from hearthpay.mail.person_mail import ASKED_LINKS
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit, note_event
from hearthpay.people.identity import read_address, read_new_address
from hearthpay.people.mails import person_mail
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_in import SignInResult, complete_sign_in, person_at
from hearthpay.people.sign_up import NewPerson, check_new_person, make_person
from hearthpay.people.tokens import LASTS, leave_token, look_at_token, use_token


async def read_account_offer(people_context: PeopleContext, presented: str) -> OpenInvitation:
    """Return the invitation from which an account may be made, even if its form was already sent.

    Raises `not_found` and `gone`.
    """
    return await look_up(people_context.database, people_context.clock, presented, also_completed=True)


async def request_account(
    people_context: PeopleContext, presented: str, email: str, language: str, links_begin: str, visit: Visit
) -> None:
    """Send a link to make the account, or if there is one, to sign in and be linked.

    It goes to the address on record; to `email` only if the record has none. Raises `not_found`, `gone`,
    `validation_error`, `rate_limited`, and `invalid_state` if no account can have the address on record, or if no
    mail is sent: this installation sends none, or the household is a test household.
    """
    opened = await read_account_offer(people_context, presented)
    if opened.sandbox or not people_context.sends_mail:
        raise Refusal("invalid_state", "Email isn't set up here. Sign in with an existing account.")
    if not can_have_account(opened.employee):
        raise Refusal("invalid_state", NO_ACCOUNT_UNDER_IT)
    on_record = account_address(opened.employee)
    address = read_address(on_record) if on_record is not None else read_new_address(email)
    await people_context.throttle.account_asked_for(visit.address, address, asked_by=opened.employee.id)
    now = people_context.clock.now()
    here = f"{links_begin}/portal/{presented}/account"
    async with people_context.in_constant_time(), people_context.database.transaction(None) as session:
        if await person_at(session, address) is not None:
            mail = person_mail("account_exists", address, language, link=here)
        else:
            token = await leave_token(session, now, "employee_account", email=address)
            mail = person_mail(
                "employee_account", address, language, household=opened.household, link=f"{here}/{token.text}"
            )
        expires_at, about = now + LASTS["employee_account"], f"employee_account {opened.employee.id}"
        await people_context.queue_mail(
            session, now, "employee_account", mail, expires_at, sort=ASKED_LINKS, about=about
        )


async def read_address_proof(
    people_context: PeopleContext, presented: str, proof: str
) -> tuple[OpenInvitation, str]:
    """Return the invitation, and the proven address.

    Raises `not_found`, `gone`, and `invalid_state` if the record has a different address by then.
    """
    opened = await read_account_offer(people_context, presented)
    async with people_context.database.transaction(None) as session:
        facts = await look_at_token(session, people_context.clock.now(), "employee_account", proof)
        if facts.email is None or await person_at(session, facts.email) is not None:
            raise Refusal("gone", "This link was used already or has expired.")
        if account_address(opened.employee) not in (None, facts.email):
            raise refuse_other_address()
        return opened, facts.email


async def may_be_linked(people_context: PeopleContext, who: SignedIn, opened: OpenInvitation) -> bool:
    """Return whether the account may be linked with its address, or is linked already."""
    if account_address(opened.employee) in (None, who.email):
        return True
    linked = await employments_of(people_context.database, who.person_id)
    return any(each.employee_id == opened.employee.id for each in linked)


async def make_own_account(
    people_context: PeopleContext, presented: str, proof: str, new: NewPerson, visit: Visit
) -> SignInResult:
    """Make the employee's account and link it; start a session.

    Raises `not_found`, `gone` for links that no longer work, `validation_error`, and what `link_person` raises.
    """
    _, address = await read_address_proof(people_context, presented, proof)
    checked = await check_new_person(new, address)
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await use_token(session, now, "employee_account", proof)
        person_id = await make_person(session, people_context.clock, address, checked, visit)
        sign_in = await complete_sign_in(people_context, session, now, person_id, "link", visit)
        await _link(people_context, session, person_id, address, checked.language, presented, visit)
        return sign_in


async def make_account_by_link(
    people_context: PeopleContext, presented: str, email: str, new: NewPerson, visit: Visit
) -> SignInResult:
    """Make the employee's account by the link alone, where no mail proves an address; start a session.

    The address is the one on record; `email` only if the record has none. The account shows no record until
    the household has confirmed it. Raises `not_found`, `gone`, `validation_error`, `rate_limited`, what `link_person`
    raises, and `invalid_state` if mail is sent here, or if the address has or can have no account.
    """
    opened = await read_account_offer(people_context, presented)
    if people_context.sends_mail:
        raise Refusal("invalid_state", "Ask for a link to your email address.")
    if not can_have_account(opened.employee):
        raise Refusal("invalid_state", NO_ACCOUNT_UNDER_IT)
    on_record = account_address(opened.employee)
    address = read_address(on_record) if on_record is not None else read_new_address(email)
    await people_context.throttle.account_asked_for(visit.address, address, asked_by=opened.employee.id)
    checked = await check_new_person(new, address)
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        if await person_at(session, address) is not None:
            raise Refusal("invalid_state", "There is an account with this address: sign in to accept.")
        person_id = await make_person(session, people_context.clock, address, checked, visit)
        sign_in = await complete_sign_in(people_context, session, now, person_id, "link", visit)
        await _link(people_context, session, person_id, address, checked.language, presented, visit)
        return sign_in


async def link_signed_in(people_context: PeopleContext, who: SignedIn, presented: str, visit: Visit) -> UUID:
    """Link the invitation's employee to the account of the person signed in; return the employee.

    Raises what `link_person` raises.
    """
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        return await _link(people_context, session, who.person_id, who.email, who.language, presented, visit)


async def _link(
    people_context: PeopleContext,
    session: AsyncSession,
    person_id: UUID,
    address: str,
    language: str,
    presented: str,
    visit: Visit,
) -> UUID:
    """Link, and notify everybody concerned; the transaction becomes the household's too."""
    linked = await link_person(session, people_context.clock.now(), presented)
    if linked.outcome == "kept":
        return linked.employee_id
    await become(session, linked.tenant)
    await note_event(session, person_id, visit, "employee.link", {"employee_id": str(linked.employee_id)})
    employee = await own_employee_at(session, linked.employee_id)
    if account_address(employee) not in (None, address):  # a host that the database cannot compare
        raise refuse_other_address()
    actor = Actor.employee(
        employee.id,
        employee.organization_id,
        employee.employer_id,
        sandbox=employee.sandbox,
        request_id=visit.request_id or "",
    )
    await record_audit(
        session,
        actor,
        "employee.link",
        employer_id=employee.employer_id,
        subject_id=employee.id,
        details={"person_id": person_id},
    )
    await notify_of_link(people_context, session, employee, NoticeRecipient(address, language, person_id))
    if not people_context.sends_mail:  # nobody has proven the account's address
        await await_household(session, employee.id)
    return linked.employee_id
