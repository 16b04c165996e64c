"""One's own account: profile, password, second factor, passkeys, sessions, and the current organization."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import become_person
from hearthpay.http.runtime import address_in_mail
from hearthpay.languages.catalogue import mark
from hearthpay.people import credentials, passkeys, sessions
from hearthpay.people.events import recent_events
from hearthpay.people.second_factor import codes_left, second_factor_of, setup_in_progress
from hearthpay.web.device_names import device_name
from hearthpay.web.framework import go, id_in_path, message, page_of, problems_of, show
from hearthpay.web.visitor import Visitor, let_out

router: Final = APIRouter(include_in_schema=False)

_SAVED: Final = mark("Saved.")

EVENTS: Final = {
    "account.create": mark("The account was made"),
    "account.stop": mark("The account was secured by the link of a warning"),
    "sign_in": mark("Signed in"),
    "sign_in.first_half": mark("Password accepted; two-step code requested"),
    "sign_in.ask_link": mark("A link to sign in from a new browser was asked for"),
    "sign_in.open_link": mark("A link to sign in from a new browser was opened"),
    "sign_in.failed": mark("A wrong password was entered"),
    "second_factor.failed": mark("A wrong code was entered"),
    "second_factor.add": mark("Turned on two-step verification"),
    "second_factor.remove": mark("Turned off two-step verification"),
    "second_factor.remove_by_operator": mark("The administrator turned off two-step verification"),
    "recovery_code.use": mark("A recovery code was used"),
    "recovery_codes.renew": mark("New recovery codes were made"),
    "passkey.add": mark("A passkey was added"),
    "passkey.remove": mark("A passkey was removed"),
    "password.change": mark("The password was changed"),
    "password.reset": mark("The password was replaced by a link"),
    "reset.ask": mark("A link for a new password was asked for"),
    "reset.by_operator": mark("The administrator created a password reset link"),
    "email.ask": mark("Another address was entered"),
    "email.change": mark("The address was changed"),
    "email.settle": mark("It was decided which address is right"),
    "sign_in.in_doubt": mark("A password that was reported as known to somebody else was entered"),
    "profile.change": mark("Name or language was changed"),
    "member.join": mark("Joined an organization"),
    "employee.link": mark("An employee's record was added"),
    "session.sign_out": mark("Signed out"),
    "session.end": mark("A session was ended"),
    "session.end_others": mark("All other sessions were ended"),
    "session.end_by_operator": mark("The administrator ended all sessions"),
    "notices.choose": mark("Notices by mail were chosen"),
    "operator.make": mark("Now manages the service"),
    "operator.unmake": mark("No longer manages the service"),
    "session.proved": mark("Confirmed identity"),
    "operator.named": mark("Now manages this installation"),
    "operator.unnamed": mark("No longer manages this installation"),
    "session.proof_failed": mark("Could not prove who it is"),
    "rights.as_of_upgrade": mark("What was there was noted at an upgrade of this service"),
}
"""The events of an account, in words."""


@page_of(router, "POST", "/settings/where", "signed_in")
async def switch(visitor: Visitor) -> Response:
    """Switch to another organization, or to its sandbox, and continue to the requested page."""
    try:
        organization_id = UUID(visitor.form.get("where", ""))
    except ValueError:
        raise Refusal("not_found", "You are not in this organization.") from None
    await sessions.choose(
        visitor.people_context, visitor.signed_in, organization_id, sandbox=visitor.form.get("mode") == "test"
    )
    return go(visitor.next_page())


@page_of(router, "GET", "/settings/profile", "signed_in")
async def profile(visitor: Visitor) -> Response:
    """Show name, language and address, and the account's history."""
    return await _profile(visitor, {})


@page_of(router, "POST", "/settings/profile", "signed_in")
async def change_profile(visitor: Visitor) -> Response:
    """Save name and language."""
    form = visitor.form
    try:
        await credentials.change_profile(
            visitor.people_context,
            visitor.signed_in,
            form.get("name", ""),
            form.get("language", ""),
            visitor.visit,
        )
    except Refusal as error:
        return await _profile(visitor, problems_of(error))
    return go("/settings/profile")


@page_of(router, "POST", "/settings/profile/email", "signed_in", fresh=True)
async def change_email(visitor: Visitor) -> Response:
    """Send a link to the new address."""
    try:
        await credentials.ask_for_new_email(
            visitor.people_context,
            visitor.signed_in,
            visitor.form.get("email", ""),
            address_in_mail(visitor.request),
            visitor.visit,
        )
    except Refusal as error:
        return await _profile(visitor, problems_of(error))
    text = visitor.say(mark("If we have that address, we'll email you a link. You can close this page."))
    way_on = ("/settings/profile", mark("Profile"))
    return message(visitor, visitor.say(mark("Check your email")), text, way_on=way_on)


@page_of(router, "GET", "/settings/security", "signed_in", fresh=True)
async def security(visitor: Visitor) -> Response:
    """Password and second factor."""
    return await _security(visitor, {})


@page_of(router, "POST", "/settings/security/password", "signed_in", fresh=True)
async def change_password(visitor: Visitor) -> Response:
    """Save a new password."""
    try:
        await credentials.change_password(
            visitor.people_context, visitor.signed_in, visitor.form.get("password", ""), visitor.visit
        )
    except Refusal as error:
        return await _security(visitor, problems_of(error))
    return await _security(visitor, {}, notice=_SAVED)


@page_of(router, "POST", "/settings/security/second-factor", "signed_in", fresh=True)
async def set_up_second_factor(visitor: Visitor) -> Response:
    """Show the secret for the app."""
    enrollment = await credentials.set_up_second_factor(visitor.people_context, visitor.signed_in)
    return show(visitor, "second_factor_setup.html", {"enrollment": enrollment})


@page_of(router, "POST", "/settings/security/second-factor/confirm", "signed_in", fresh=True)
async def confirm_second_factor(visitor: Visitor) -> Response:
    """Activate the second factor, and show its recovery codes."""
    who = visitor.signed_in
    try:
        codes = await credentials.confirm_second_factor(
            visitor.people_context, who, visitor.form.get("code", ""), visitor.visit
        )
    except Refusal as error:
        problems = problems_of(error)
        async with visitor.people_context.database.transaction(None) as session:
            await become_person(session, who.person_id)
            enrollment = await setup_in_progress(
                session, visitor.people_context.keys(), who.person_id, who.email
            )
        facts = {"enrollment": enrollment, "problems": problems}
        return show(visitor, "second_factor_setup.html", facts, status=400)
    return show(visitor, "codes.html", {"codes": codes})


@page_of(router, "POST", "/settings/security/codes", "signed_in", fresh=True)
async def renew_codes(visitor: Visitor) -> Response:
    """Show new recovery codes."""
    codes: Sequence[str] = await credentials.new_recovery_codes(
        visitor.people_context, visitor.signed_in, visitor.visit
    )
    return show(visitor, "codes.html", {"codes": codes})


@page_of(router, "GET", "/settings/security/second-factor/remove", "signed_in", fresh=True)
async def confirm_second_factor_removal(visitor: Visitor) -> Response:
    """Ask whether to remove the second factor."""
    facts = {
        "title": visitor.say(mark("Turn off two-step verification?")),
        "text": visitor.say(
            mark("You then sign in with your password alone. Your recovery codes stop working.")
        ),
        "button": visitor.say(mark("Remove")),
        "back": "/settings/security",
    }
    return show(visitor, "confirm.html", facts)


@page_of(router, "POST", "/settings/security/second-factor/remove", "signed_in", fresh=True)
async def remove_second_factor(visitor: Visitor) -> Response:
    """Remove the second factor."""
    await credentials.do_without_second_factor(visitor.people_context, visitor.signed_in, visitor.visit)
    return go("/settings/security")


@page_of(router, "GET", "/settings/passkeys", "signed_in", fresh=True)
async def list_passkeys(visitor: Visitor) -> Response:
    """The passkeys, and the button for another."""
    facts = {"passkeys": await passkeys.list_passkeys(visitor.people_context, visitor.signed_in)}
    return show(visitor, "passkeys.html", facts, extra="script")


@page_of(router, "POST", "/settings/passkeys/options", "signed_in", fresh=True)
async def passkey_options(visitor: Visitor) -> Response:
    """Return what the browser needs to create a passkey, as JSON."""
    options = await passkeys.registration_options(
        visitor.people_context, visitor.signed_in, visitor.site, visitor.cookie
    )
    return Response(options, media_type="application/json")


@page_of(router, "POST", "/settings/passkeys", "signed_in", fresh=True)
async def add_passkey(visitor: Visitor) -> Response:
    """Store the passkey that the browser has created."""
    form = visitor.form
    await passkeys.add_passkey(
        visitor.people_context,
        visitor.signed_in,
        visitor.site,
        visitor.cookie,
        form.get("answer", ""),
        form.get("name", ""),
        visitor.visit,
    )
    return go("/settings/passkeys")


@page_of(router, "GET", "/settings/passkeys/{passkey_id}/remove", "signed_in", fresh=True)
async def confirm_passkey_removal(visitor: Visitor) -> Response:
    """Ask whether to remove the passkey."""
    requested = id_in_path(visitor, "passkey_id")
    there = await passkeys.list_passkeys(visitor.people_context, visitor.signed_in)
    named = next((each.name for each in there if each.id == requested), None)
    if named is None:
        raise Refusal("not_found", "Passkey not found.")
    facts = {
        "title": visitor.say(mark("Remove the passkey?")),
        "text": visitor.say(mark("You can't sign in with “{name}” any more."), name=named),
        "button": visitor.say(mark("Remove")),
        "back": "/settings/passkeys",
    }
    return show(visitor, "confirm.html", facts)


@page_of(router, "POST", "/settings/passkeys/{passkey_id}/remove", "signed_in", fresh=True)
async def remove_passkey(visitor: Visitor) -> Response:
    """Remove the passkey."""
    requested = id_in_path(visitor, "passkey_id")
    await passkeys.remove_passkey(visitor.people_context, visitor.signed_in, requested, visitor.visit)
    return go("/settings/passkeys")


@page_of(router, "GET", "/settings/sessions", "signed_in")
async def list_sessions(visitor: Visitor) -> Response:
    """List the sessions."""
    facts = {
        "sessions": await sessions.list_sessions(visitor.people_context, visitor.signed_in),
        "device_name": device_name,
    }
    return show(visitor, "sessions.html", facts)


@page_of(router, "POST", "/settings/sessions/{session_id}/end", "signed_in")
async def end_session(visitor: Visitor) -> Response:
    """End one session."""
    requested = id_in_path(visitor, "session_id")
    who = visitor.signed_in
    await sessions.end_session(visitor.people_context, who, requested, visitor.visit)
    return let_out(go("/sign-in")) if requested == who.session_id else go("/settings/sessions")


@page_of(router, "POST", "/settings/sessions/end-others", "signed_in")
async def end_other_sessions(visitor: Visitor) -> Response:
    """End all sessions but this one."""
    await sessions.end_other_sessions(visitor.people_context, visitor.signed_in, visitor.visit)
    return go("/settings/sessions")


async def _profile(visitor: Visitor, problems: dict[str, str]) -> Response:
    async with visitor.people_context.database.transaction(None) as session:
        events = await recent_events(session, visitor.signed_in.person_id, limit=20)
    facts = {"events": events, "event_names": EVENTS, "problems": problems, "form_values": visitor.form}
    return show(visitor, "profile.html", facts, status=400 if problems else 200)


async def _security(visitor: Visitor, problems: dict[str, str], *, notice: str | None = None) -> Response:
    who = visitor.signed_in
    async with visitor.people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        facts = {
            "factor": await second_factor_of(session, who.person_id),
            "codes_left": await codes_left(session, who.person_id),
            "problems": problems,
            "notice": notice,
        }
    return show(visitor, "security.html", facts, status=400 if problems else 200)
