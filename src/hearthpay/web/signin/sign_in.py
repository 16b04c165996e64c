"""Signing in and out: by password and second factor or by passkey, and again before something sensitive."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.http.runtime import address_in_mail
from hearthpay.http.statuses import status_of
from hearthpay.languages.catalogue import mark
from hearthpay.people import passkeys, sessions, sign_in, sign_in_links
from hearthpay.people.sign_in import SignInResult
from hearthpay.people.sign_in_links import SIGN_IN_LINK_PATH
from hearthpay.web.framework import go, message, page_of, problems_of, show
from hearthpay.web.pending_form import forget_form, pending_form
from hearthpay.web.visitor import Visitor, keeps_cookies, let_in, let_out, remember_device

router: Final = APIRouter(include_in_schema=False)

_LINK_SENT: Final = mark(
    "If there is an account with that address, we'll email it a link. Open it in the browser that you want to sign in "
    "from."
)
_LABELS: Final = {
    "email": mark("Email address"),
    "name": mark("Name"),
    "role": mark("Role"),
    "expires_at": mark("Last day"),
}
"""The names of fields in kept forms; others are shown by their own name."""


@page_of(router, "GET", "/sign-in", "anyone")
async def show_sign_in(visitor: Visitor) -> Response:
    """The form for address and password, and the button for a passkey."""
    if visitor.who is not None:
        return go(visitor.next_page())
    return _form(visitor)


@page_of(router, "POST", "/sign-in", "anyone")
async def take_password(visitor: Visitor) -> Response:
    """Begin a session, or ask for the second factor."""
    try:
        form_values = await sign_in.sign_in(
            visitor.people_context,
            visitor.form.get("email", ""),
            visitor.form.get("password", ""),
            visitor.visit,
        )
    except Refusal as error:
        if error.code not in ("authentication_required", "rate_limited"):
            raise
        return _form(visitor, notice=error)
    return await _onward(visitor, form_values)


@page_of(router, "POST", SIGN_IN_LINK_PATH, "anyone")
async def send_link(visitor: Visitor) -> Response:
    """Send a link by which a browser that has to wait may try to sign in."""
    try:
        await sign_in_links.ask_for_sign_in_link(
            visitor.people_context,
            visitor.form.get("email", ""),
            address_in_mail(visitor.request),
            visitor.visit,
        )
    except Refusal as error:
        if error.code not in ("validation_error", "rate_limited"):
            raise
        return _form(visitor, notice=error)
    return message(visitor, visitor.say(mark("Check your email")), visitor.say(_LINK_SENT))


@page_of(router, "GET", f"{SIGN_IN_LINK_PATH}/{{token}}", "anyone")
async def show_link(visitor: Visitor) -> Response:
    """Ask before the link is used up: programs that scan mail open links too."""
    await sign_in_links.look_at_sign_in_link(visitor.people_context, _token(visitor))
    facts = {
        "title": visitor.say(mark("Sign in from this browser")),
        "text": visitor.say(mark("For the next hour, you can sign in here with your password.")),
        "button": visitor.say(mark("Continue to sign in")),
        "may_accept": True,
        "signed_in_as": None,
    }
    return show(visitor, "accept.html", facts)


@page_of(router, "POST", f"{SIGN_IN_LINK_PATH}/{{token}}", "anyone")
async def take_link(visitor: Visitor) -> Response:
    """Let the browser try to sign in, however often strangers fail."""
    cookie = await sign_in_links.admit_browser(visitor.people_context, _token(visitor), visitor.visit)
    return remember_device(go("/sign-in"), cookie)


@page_of(router, "POST", "/sign-in/passkey/options", "anyone")
async def passkey_question(visitor: Visitor) -> Response:
    """Return the browser's passkey challenge, as JSON."""
    options = await passkeys.sign_in_options(visitor.people_context, visitor.site, visitor.cookie)
    return Response(options, media_type="application/json")


@page_of(router, "POST", "/sign-in/passkey", "anyone")
async def take_passkey(visitor: Visitor) -> Response:
    """Begin a session with a passkey's response."""
    try:
        form_values = await passkeys.sign_in_with_passkey(
            visitor.people_context,
            visitor.site,
            visitor.cookie,
            visitor.form.get("answer", ""),
            visitor.visit,
        )
    except Refusal as error:
        if error.code not in ("authentication_required", "rate_limited"):
            raise
        return _form(visitor, notice=error)
    return await _onward(visitor, form_values)


@page_of(router, "GET", "/sign-in/second-factor", "anyone")
async def show_second_factor(visitor: Visitor) -> Response:
    """The form for a code of the app, or a recovery code."""
    return show(visitor, "second_factor.html", {"next": visitor.next_page(), "offer_link": False})


@page_of(router, "POST", "/sign-in/second-factor", "anyone")
async def take_second_factor(visitor: Visitor) -> Response:
    """Complete a session that is pending a second factor."""
    try:
        form_values = await sign_in.sign_in_with_code(
            visitor.people_context, visitor.cookie, visitor.form.get("code", ""), visitor.visit
        )
    except Refusal as error:
        if error.code == "gone":
            return go("/sign-in")
        if error.code not in ("authentication_required", "rate_limited"):
            raise
        waits = error.code == "rate_limited" and visitor.people_context.writes_mail
        facts = {"next": visitor.next_page(), "notice": error.message, "offer_link": waits}
        return show(visitor, "second_factor.html", facts, status=status_of(error))
    return await let_in(visitor, go(visitor.next_page()), form_values)


@page_of(router, "GET", "/sign-in/again", "signed_in")
async def show_again(visitor: Visitor) -> Response:
    """Ask the person to re-authenticate."""
    return await _again(visitor, {})


@page_of(router, "POST", "/sign-in/again", "signed_in")
async def take_again(visitor: Visitor) -> Response:
    """Mark the session as fresh."""
    form = visitor.form
    try:
        await sign_in.prove_again(
            visitor.people_context,
            visitor.signed_in,
            form.get("password", ""),
            form.get("code", ""),
            visitor.visit,
        )
    except Refusal as error:
        return await _again(visitor, problems_of(error))
    return _go_on(visitor)


@page_of(router, "POST", "/sign-in/again/passkey", "signed_in")
async def take_passkey_again(visitor: Visitor) -> Response:
    """Mark the session as fresh, by a passkey."""
    await passkeys.prove_again_with_passkey(
        visitor.people_context,
        visitor.signed_in,
        visitor.site,
        visitor.cookie,
        visitor.form.get("answer", ""),
        visitor.visit,
    )
    return _go_on(visitor)


@page_of(router, "POST", "/sign-out", "signed_in")
async def take_sign_out(visitor: Visitor) -> Response:
    """End the session; a person who signs out to use a link as someone else comes back to it."""
    who = visitor.signed_in
    await sessions.end_session(visitor.people_context, who, who.session_id, visitor.visit)
    return let_out(go(visitor.next_page("/sign-in")))


async def _onward(visitor: Visitor, form_values: SignInResult) -> Response:
    if not form_values.needs_second_factor:
        return await let_in(visitor, go(visitor.next_page()), form_values)
    return await let_in(visitor, go(f"/sign-in/second-factor?next={visitor.next_page()}"), form_values)


def _form(visitor: Visitor, *, notice: Refusal | None = None) -> Response:
    facts = {
        "next": visitor.next_page(),
        "open": visitor.people_context.takes_sign_ups,
        "cost_page": visitor.people_context.cost_page_open,
        "secure": keeps_cookies(visitor.request),
        "notice": None if notice is None else notice.message,
        "offer_link": _offers_link(visitor, notice),
        "form_values": {"email": visitor.form.get("email", "")},
    }
    response = show(
        visitor, "sign_in.html", facts, status=200 if notice is None else status_of(notice), extra="script"
    )
    if notice is not None and notice.headers is not None and "Retry-After" in notice.headers:
        response.headers["Retry-After"] = notice.headers["Retry-After"]
    return response


def _offers_link(visitor: Visitor, notice: Refusal | None) -> bool:
    """Return whether the visitor has to wait, and a link could be mailed to them."""
    waits = notice is not None and notice.code == "rate_limited"
    return waits and visitor.people_context.writes_mail and bool(visitor.form.get("email", "").strip())


def _token(visitor: Visitor) -> str:
    return str(visitor.request.path_params["token"])


def _go_on(visitor: Visitor) -> Response:
    """Return what follows re-authentication: the kept form, to be sent or not; otherwise the page."""
    requested = visitor.next_page()
    kept = pending_form(visitor, requested)
    if kept is not None and kept.asked_again:
        return go(requested)
    response = (
        go(requested) if kept is None else show(visitor, "kept.html", {"kept": kept, "labels": _LABELS})
    )
    return forget_form(response)


async def _again(visitor: Visitor, problems: dict[str, str]) -> Response:
    facts = {
        "next": visitor.next_page(),
        "problems": problems,
        "proofs": await sign_in.proofs_of(visitor.people_context, visitor.signed_in),
    }
    return show(visitor, "again.html", facts, status=400 if problems else 200, extra="script")
