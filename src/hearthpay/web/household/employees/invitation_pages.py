"""Links with which an employee enters their details: those sent, sending another, sharing and withdrawing one.

An account that an employee made by a link alone is confirmed here, or ended.
"""

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final, cast, get_args

import segno
from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.commands import InvitationType, Invite
from hearthpay.employees.invitations import (
    PORTAL_PATH,
    Sending,
    invite,
    list_invitations,
    with_email_of,
    withdraw_invitation,
)
from hearthpay.employees.links import confirm_link, end_link, unconfirmed_account
from hearthpay.employees.models import Invitation
from hearthpay.http.runtime import address_in_mail
from hearthpay.mail.postman import Postman
from hearthpay.web.framework import id_in_path
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.employees.words import EMAIL_REASONS, INVITATIONS, OTHER_REASON
from hearthpay.web.household.form_parsing import Entries, problems_in

router: Final = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class SentLink:
    """A link that was just created: shown this once. `reason` says why it wasn't emailed, if so."""

    address: str
    emailed: bool
    reason: str | None

    @property
    def picture(self) -> Markup:
        """The link as a QR code, for a phone's camera."""
        code = segno.make(self.address, error="m")
        drawn = code.svg_inline(omitsize=True, light="#fff", svgclass="picture", lineclass=None)
        return Markup(drawn)  # noqa: S704 - squares, drawn from a link that we made


@household_page(router, "GET", "/employees/{employee_id}/invitations", permission=READ_EMPLOYEES)
async def invitations(at: HouseholdContext) -> Response:
    """Show the employee's links and their results."""
    return await _page(at, {}, None)


@household_page(
    router, "POST", "/employees/{employee_id}/invitations", permission=CHANGE_EMPLOYEES, fresh=True
)
async def send_invitation(at: HouseholdContext) -> Response:
    """Create a link, and email it if there is an address and a mail server; it is shown in any case."""
    entries = Entries(at.form)
    requested = _type(entries.text("type"))
    runtime = at.runtime
    if runtime.ring is None:
        raise Refusal("service_unavailable", "This service has no encryption keys yet.")
    sending = Sending(
        f"{address_in_mail(at.visitor.request)}{PORTAL_PATH}",
        runtime.ring,
        None if runtime.mailer is None else runtime.mail_limits,
    )
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            made = await invite(
                session,
                at.actor,
                at.clock,
                sending,
                record.id,
                Invite(requested, entries.ticked("send_email")),
                direct_deposit_enabled=runtime.direct_deposit,
            )
    except Refusal as error:
        return await _page(at, problems_in(error, at.form), None)
    postman = None
    if runtime.mailer is not None:
        postman = Postman(runtime.database, runtime.ring, runtime.mailer, runtime.clock)
    invitation = await with_email_of(runtime.database, at.clock, postman, at.actor.tenant, asdict(made))
    reason = None
    if not invitation["email_sent"]:
        reason = EMAIL_REASONS.get(str(invitation["email_reason"]), OTHER_REASON)
    return await _page(at, {}, SentLink(made.portal_url, bool(invitation["email_sent"]), reason))


@household_page(
    router, "POST", "/employees/{employee_id}/invitations/{kind}/withdraw", permission=CHANGE_EMPLOYEES
)
async def withdraw(at: HouseholdContext) -> Response:
    """Close the open link."""
    requested = _type(at.visitor.request.path_params["kind"])
    async with at.transaction() as session:
        record = await find_here(at, session)
        await withdraw_invitation(session, at.actor, at.clock, record.id, requested)
    return at.go(f"/employees/{employee_in_path(at)}/invitations")


@household_page(
    router,
    "POST",
    "/employees/{employee_id}/invitations/account/{link_id}/{answer}",
    permission=CHANGE_EMPLOYEES,
    fresh=True,
)
async def answer_about_account(at: HouseholdContext) -> Response:
    """Confirm that the account is the employee's, or end it."""
    answer, link_id = at.visitor.request.path_params["answer"], id_in_path(at.visitor, "link_id")
    async with at.transaction() as session:
        record = await find_here(at, session)
        if answer == "confirm":
            await confirm_link(session, at.actor, record.id, link_id)
        elif answer == "end":
            await end_link(session, at.actor, at.clock, link_id)
        else:
            raise Refusal("not_found", "Page not found. Check the address.")
    return at.go(f"/employees/{employee_in_path(at)}/invitations")


def _type(text: str | None) -> InvitationType:
    if text not in get_args(InvitationType):
        raise Refusal("not_found", "We couldn't find that invitation.")
    return cast(InvitationType, text)


async def _page(at: HouseholdContext, problems: dict[str, str], sent: SentLink | None) -> Response:
    async with at.transaction() as session:
        record = await find_here(at, session)
        found = await described(at, session, record)
        links = await list_invitations(session, at.actor, record.id)
        account = await unconfirmed_account(session, at.actor, record.id)
    now = at.clock.now()
    facts = {
        "employee": found,
        "states": _states(links, at),
        "account": account,
        "pending": [each for each in links if each.status == "pending" and each.expires_at > now],
        "kinds": INVITATIONS,
        "sent": sent,
        "sends_mail": at.runtime.mailer is not None,
        "may_change": at.may(CHANGE_EMPLOYEES),
        "problems": problems,
        "form_values": at.form if problems else {},
    }
    return at.show(
        "employees/invitations.html",
        facts,
        status=400 if problems else 200,
        extra=None if sent is None else "script",
    )


def _states(links: Sequence[Invitation], at: HouseholdContext) -> list[tuple[Invitation, str]]:
    """Return the links with their current states: one past its time has expired, even if nobody has noticed.

    One by which the number was entered did what it was sent for.
    """
    return [(each, _state(each, at.clock.now())) for each in links]


def _state(link: Invitation, now: datetime.datetime) -> str:
    if link.tax_number_at is not None and link.status != "cancelled":
        return "completed"
    return "expired" if link.status == "pending" and link.expires_at <= now else link.status
