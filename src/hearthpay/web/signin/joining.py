"""Making an account: by signing up, as the first owner, invited by a member; and choosing a new password by a link."""

from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.http.runtime import address_in_mail
from hearthpay.languages.catalogue import mark
from hearthpay.people import credentials, first_owner, sessions, sign_up
from hearthpay.people.members import OpenMemberInvitation
from hearthpay.people.sign_in import SignInResult
from hearthpay.people.sign_up import NewPerson
from hearthpay.web.framework import go, message, page_of, problems_of, show
from hearthpay.web.visitor import Visitor, let_in

router: Final = APIRouter(include_in_schema=False)

_SENT: Final = mark("If we have that address, we'll email you a link. You can close this page.")
_ROLES: Final = {
    "viewer": mark("As a viewer you see everything and change nothing."),
    "admin": mark("As an admin you set up households, run payroll and manage employees."),
    "owner": mark("As an owner you have full access, including people and API keys."),
}


@page_of(router, "GET", "/sign-up", "anyone")
async def show_sign_up(visitor: Visitor) -> Response:
    """The form for an address."""
    if not visitor.people_context.takes_sign_ups:
        raise Refusal("not_found", "Accounts are made by invitation here.")
    return _sign_up_form(visitor, {})


@page_of(router, "POST", "/sign-up", "anyone")
async def take_sign_up(visitor: Visitor) -> Response:
    """Send the link."""
    try:
        await sign_up.ask_to_sign_up(
            visitor.people_context,
            visitor.form.get("email", ""),
            visitor.language,
            address_in_mail(visitor.request),
            visitor.visit,
        )
    except Refusal as error:
        return _sign_up_form(visitor, problems_of(error))
    return message(visitor, visitor.say(mark("Check your email")), visitor.say(_SENT))


@page_of(router, "GET", "/sign-up/{token}", "anyone")
async def show_finish(visitor: Visitor) -> Response:
    """The form for name, household and password."""
    email = await sign_up.look_at_sign_up(visitor.people_context, _token(visitor))
    return _finish_form(visitor, email, {})


@page_of(router, "POST", "/sign-up/{token}", "anyone")
async def take_finish(visitor: Visitor) -> Response:
    """Make the account."""
    email = await sign_up.look_at_sign_up(visitor.people_context, _token(visitor))
    organization = visitor.form.get("organization", "")
    try:
        form_values = await sign_up.finish_sign_up(
            visitor.people_context, _token(visitor), _new_person(visitor), organization, visitor.visit
        )
    except Refusal as error:
        return _finish_form(visitor, email, problems_of(error))
    return await let_in(visitor, go("/home"), form_values)


@page_of(router, "GET", "/welcome/{token}", "anyone")
async def show_welcome(visitor: Visitor) -> Response:
    """The form for the first owner of a fresh installation."""
    return _welcome_form(
        visitor, {}, await first_owner.organization_to_join(visitor.people_context, _token(visitor))
    )


@page_of(router, "POST", "/welcome/{token}", "anyone")
async def take_welcome(visitor: Visitor) -> Response:
    """Create the first owner's account."""
    form = visitor.form
    try:
        form_values = await first_owner.become_first_owner(
            visitor.people_context,
            _token(visitor),
            form.get("email", ""),
            _new_person(visitor),
            form.get("organization", ""),
            visitor.visit,
        )
    except Refusal as error:
        problems = problems_of(error)
        joins = await first_owner.organization_to_join(visitor.people_context, _token(visitor))
        return _welcome_form(visitor, problems, joins)
    return await let_in(visitor, go("/home"), form_values)


@page_of(router, "GET", "/join/{token}", "anyone")
async def show_invitation(visitor: Visitor) -> Response:
    """Show the invitation: to accept it, or to create an account for it."""
    invitation, has_account = await sign_up.look_at_invitation(visitor.people_context, _token(visitor))
    if has_account or visitor.who is not None:
        return _accept_form(visitor, invitation)
    return _join_form(visitor, invitation, {})


@page_of(router, "POST", "/join/{token}", "anyone")
async def take_invitation(visitor: Visitor) -> Response:
    """Accept as the signed-in person or as a new one."""
    if visitor.who is not None:
        organization_id = await sign_up.join_signed_in(
            visitor.people_context, visitor.who, _token(visitor), visitor.visit
        )
        who = await sessions.find_session(visitor.people_context, visitor.cookie)
        if who is not None:
            await sessions.choose(visitor.people_context, who, organization_id, sandbox=False)
        return go("/home")
    invitation, _ = await sign_up.look_at_invitation(visitor.people_context, _token(visitor))
    try:
        form_values = await sign_up.join_as_new_person(
            visitor.people_context, _token(visitor), _new_person(visitor), visitor.visit
        )
    except Refusal as error:
        return _join_form(visitor, invitation, problems_of(error))
    return await let_in(visitor, go("/home"), form_values)


@page_of(router, "GET", "/reset", "anyone")
async def show_reset(visitor: Visitor) -> Response:
    """The form for the address of a lost password."""
    return _reset_form(visitor, {})


@page_of(router, "POST", "/reset", "anyone")
async def take_reset(visitor: Visitor) -> Response:
    """Send the link, if there is such an account."""
    try:
        await credentials.ask_for_reset(
            visitor.people_context,
            visitor.form.get("email", ""),
            address_in_mail(visitor.request),
            visitor.visit,
        )
    except Refusal as error:
        return _reset_form(visitor, problems_of(error))
    return message(visitor, visitor.say(mark("Check your email")), visitor.say(_SENT))


@page_of(router, "GET", "/reset/{token}", "anyone")
async def show_new_password(visitor: Visitor) -> Response:
    """The form for a new password."""
    await credentials.look_at_reset(visitor.people_context, _token(visitor))
    return _new_password_form(visitor, {})


@page_of(router, "POST", "/reset/{token}", "anyone")
async def take_new_password(visitor: Visitor) -> Response:
    """Set the new password and end all sessions."""
    try:
        form_values = await credentials.reset_password(
            visitor.people_context, _token(visitor), visitor.form.get("password", ""), visitor.visit
        )
    except Refusal as error:
        return _new_password_form(visitor, problems_of(error))
    return await _onward(visitor, form_values, "/settings/secure")


@page_of(router, "GET", "/new-email/{token}", "signed_in")
async def show_new_email(visitor: Visitor) -> Response:
    """Ask whether to use the new address."""
    facts = {
        "title": visitor.say(mark("Confirm your new address")),
        "text": visitor.say(mark("From then on you sign in with it, and we write to it.")),
        "button": visitor.say(mark("Use this address")),
        "may_accept": True,
        "signed_in_as": None,
    }
    return show(visitor, "accept.html", facts)


@page_of(router, "POST", "/new-email/{token}", "signed_in")
async def take_new_email(visitor: Visitor) -> Response:
    """Use the new address."""
    await credentials.confirm_new_email(
        visitor.people_context, visitor.signed_in, _token(visitor), visitor.visit
    )
    return go("/settings/profile")


def _token(visitor: Visitor) -> str:
    return str(visitor.request.path_params["token"])


def _new_person(visitor: Visitor) -> NewPerson:
    return NewPerson(visitor.form.get("name", ""), visitor.form.get("password", ""), visitor.language)


async def _onward(visitor: Visitor, form_values: SignInResult, page: str) -> Response:
    """Sign the person in and redirect to the page; ask for the second factor first if there is one."""
    return await let_in(
        visitor,
        go(f"/sign-in/second-factor?next={page}" if form_values.needs_second_factor else page),
        form_values,
    )


def _sign_up_form(visitor: Visitor, problems: dict[str, str]) -> Response:
    say = visitor.say
    facts = {
        "title": say(mark("Create account")),
        "text": say(mark("We send you a link, so that nobody can use your address but you.")),
        "action": "/sign-up",
    }
    return _form_page(visitor, "address.html", facts, problems)


def _reset_form(visitor: Visitor, problems: dict[str, str]) -> Response:
    say = visitor.say
    facts = {
        "title": say(mark("Choose a new password")),
        "text": say(mark("We send a link to the address of your account.")),
        "action": "/reset",
    }
    return _form_page(visitor, "address.html", facts, problems)


def _finish_form(visitor: Visitor, email: str, problems: dict[str, str]) -> Response:
    facts = {
        "title": visitor.say(mark("Create your account")),
        "text": visitor.say(mark("You can invite others later.")),
        "email": email,
        "ask_organization": True,
    }
    return _joining(visitor, facts, problems)


def _welcome_form(visitor: Visitor, problems: dict[str, str], joins: str | None) -> Response:
    """Return the first owner's form; `joins` is the organization that the person will own, None to ask for a name."""
    say = visitor.say
    facts = {
        "title": say(mark("Welcome to Hearthpay")),
        "text": say(mark("Nobody has an account here yet. Create the first one."))
        if joins is None
        else say(mark("Create the first account. You will own {organization}."), organization=joins),
        "ask_email": True,
        "ask_organization": joins is None,
    }
    return _joining(visitor, facts, problems)


def _join_form(visitor: Visitor, invitation: OpenMemberInvitation, problems: dict[str, str]) -> Response:
    return _joining(visitor, _invited(visitor, invitation) | {"email": invitation.email}, problems)


def _accept_form(visitor: Visitor, invitation: OpenMemberInvitation) -> Response:
    may_accept = visitor.who is not None and visitor.who.email == invitation.email
    signed_in_as = None if visitor.who is None or may_accept else visitor.who.email
    facts = _invited(visitor, invitation) | {
        "button": visitor.say(mark("Accept the invitation")),
        "may_accept": may_accept,
        "signed_in_as": signed_in_as,
    }
    return show(visitor, "accept.html", facts, status=200 if signed_in_as is None else 403)


def _invited(visitor: Visitor, invitation: OpenMemberInvitation) -> dict[str, Any]:
    return {
        "title": visitor.say(mark("You are invited to {organization}"), organization=invitation.organization),
        "text": visitor.say(_ROLES[invitation.role]),
    }


def _new_password_form(visitor: Visitor, problems: dict[str, str]) -> Response:
    facts = {
        "title": visitor.say(mark("Choose a new password")),
        "text": visitor.say(mark("This signs you out everywhere.")),
        "ask_name": False,
        "button": visitor.say(mark("Save")),
    }
    return _joining(visitor, facts, problems)


def _joining(visitor: Visitor, facts: dict[str, Any], problems: dict[str, str]) -> Response:
    usual = {
        "ask_email": False,
        "ask_name": True,
        "ask_organization": False,
        "email": None,
        "button": visitor.say(mark("Create account")),
    }
    return _form_page(visitor, "join.html", usual | facts, problems)


def _form_page(visitor: Visitor, template: str, facts: dict[str, Any], problems: dict[str, str]) -> Response:
    """Return a form; with problems, it contains the entries, but no password."""
    form_values = {name: value for name, value in visitor.form.items() if name != "password"}
    return show(
        visitor,
        template,
        facts | {"problems": problems, "form_values": form_values},
        status=400 if problems else 200,
    )
