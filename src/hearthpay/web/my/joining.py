"""From an invitation's link to an account: a new one, or the one that the employee already has.

Where mail is sent, a second link proves the address first. Where none is, the link alone makes an account, which shows
no pay until the household has confirmed it.
"""

from dataclasses import replace
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.employees.links import NO_ACCOUNT_UNDER_IT, account_address, can_have_account
from hearthpay.employees.open_links import OpenInvitation
from hearthpay.employees.own_account import (
    link_signed_in,
    make_account_by_link,
    make_own_account,
    may_be_linked,
    read_account_offer,
    read_address_proof,
    request_account,
)
from hearthpay.http.runtime import address_in_mail
from hearthpay.languages.catalogue import mark
from hearthpay.people.identity import masked
from hearthpay.people.sign_up import NewPerson
from hearthpay.web.framework import go, message, page_of, problems_of, show
from hearthpay.web.visitor import Visitor, let_in

router: Final = APIRouter(include_in_schema=False)

_SENT: Final = mark("If we have that address, we'll email you a link. You can close this page.")


@page_of(router, "GET", "/portal/{token}/account", "anyone")
async def offer(visitor: Visitor) -> Response:
    """Offer to create an account by email address, or to use the one that is signed in."""
    visitor = _in_requested_language(visitor)
    return await _offer(
        visitor, await read_account_offer(visitor.people_context, _part(visitor, "token")), {}
    )


@page_of(router, "POST", "/portal/{token}/account", "anyone")
async def take_offer(visitor: Visitor) -> Response:
    """Send the link that proves the address, link the signed-in account, or without mail make the account."""
    visitor, token = _in_requested_language(visitor), _part(visitor, "token")
    opened = await read_account_offer(visitor.people_context, token)
    if visitor.who is not None:
        employee_id = await link_signed_in(visitor.people_context, visitor.who, token, visitor.visit)
        return go("/my" if not visitor.people_context.sends_mail else f"/my/{employee_id}")
    if not visitor.people_context.sends_mail:
        try:
            made = await make_account_by_link(
                visitor.people_context,
                token,
                visitor.form.get("email", ""),
                _new_person(visitor),
                visitor.visit,
            )
        except Refusal as error:
            return await _offer(visitor, opened, problems_of(error))
        return await let_in(visitor, go("/my"), made)
    try:
        await request_account(
            visitor.people_context,
            token,
            visitor.form.get("email", ""),
            visitor.language,
            address_in_mail(visitor.request),
            visitor.visit,
        )
    except Refusal as error:
        return await _offer(visitor, opened, problems_of(error))
    return message(visitor, visitor.say(mark("Check your email")), visitor.say(_SENT))


@page_of(router, "GET", "/portal/{token}/account/{proof}", "anyone")
async def show_making(visitor: Visitor) -> Response:
    """The form for name and password."""
    opened, email = await read_address_proof(
        visitor.people_context, _part(visitor, "token"), _part(visitor, "proof")
    )
    return _making(visitor, opened, email, {})


@page_of(router, "POST", "/portal/{token}/account/{proof}", "anyone")
async def take_making(visitor: Visitor) -> Response:
    """Create the account and sign in."""
    token, proof = _part(visitor, "token"), _part(visitor, "proof")
    opened, email = await read_address_proof(visitor.people_context, token, proof)
    try:
        form_values = await make_own_account(
            visitor.people_context, token, proof, _new_person(visitor), visitor.visit
        )
    except Refusal as error:
        return _making(visitor, opened, email, problems_of(error))
    return await let_in(visitor, go("/my"), form_values)


def _new_person(visitor: Visitor) -> NewPerson:
    return NewPerson(visitor.form.get("name", ""), visitor.form.get("password", ""), visitor.language)


def _in_requested_language(visitor: Visitor) -> Visitor:
    """Return the visitor, who reads the language of the link's pages before: that of `?language=`, if there is one."""
    requested = visitor.request.query_params.get("language")
    if visitor.who is not None or requested not in ("en", "es"):
        return visitor
    return replace(visitor, language=requested)


def _part(visitor: Visitor, name: str) -> str:
    return str(visitor.request.path_params[name])


async def _offer(visitor: Visitor, opened: OpenInvitation, problems: dict[str, str]) -> Response:
    """Return the offer. The holder of the link sees no address of the record, except which one is their own."""
    on_record, who = account_address(opened.employee), visitor.who
    facts = {
        "household": opened.household,
        "first_name": opened.first_name,
        "may_ask": visitor.people_context.sends_mail and not opened.sandbox,
        "makes_at_once": not visitor.people_context.sends_mail,
        "way": f"{visitor.request.url.path}?language={visitor.language}",
        "no_account": None if can_have_account(opened.employee) else NO_ACCOUNT_UNDER_IT,
        "problems": problems,
        "form_values": {
            "email": visitor.form.get("email", ""),
            "name": visitor.form.get("name", ""),
        },
        "on_record": None if on_record is None else masked(on_record),
        "may_use": who is not None and await may_be_linked(visitor.people_context, who, opened),
    }
    return show(visitor, "my_offer.html", facts, status=400 if problems else 200)


def _making(visitor: Visitor, opened: OpenInvitation, email: str, problems: dict[str, str]) -> Response:
    facts = {
        "title": visitor.say(mark("Create your account")),
        "text": visitor.say(
            mark("With it you can see your pay from the {household} household. You can add a passkey later."),
            household=opened.household,
        ),
        "ask_email": False,
        "ask_name": True,
        "ask_organization": False,
        "email": email,
        "button": visitor.say(mark("Create account")),
        "problems": problems,
        "form_values": {"name": visitor.form.get("name", "") or opened.employee.name},
    }
    return show(visitor, "join.html", facts, status=400 if problems else 200)
