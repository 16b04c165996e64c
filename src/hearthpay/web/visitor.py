"""The visitor of a page: the session's cookie, the form token, the language, and the origin.

There are three cookies, all `__Host-`, so that no other host can set one: the session's, a visit's before there is a
session, and the device's, by which the browser is recognized. A form's token is made from whichever of the first two
the browser has; a page of another site can't read it. It also names the organization and mode in which the form was
shown, so that a form of another browser tab isn't taken for what the visitor is viewing now.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.http.envelope import request_id_of
from hearthpay.http.runtime import address_of
from hearthpay.http.statuses import FORBIDDEN, HttpRefusal
from hearthpay.languages.catalogue import Say, preferred, say_in
from hearthpay.people.context import PeopleContext
from hearthpay.people.dependencies import people_context_of
from hearthpay.people.devices import KEPT_FOR
from hearthpay.people.events import Visit
from hearthpay.people.passkeys import Site
from hearthpay.people.sessions import LASTS, SignedIn, find_session, replace_session
from hearthpay.people.sign_in import SignInResult
from hearthpay.security.portal_tokens import generate_token, parse_token

SESSION_COOKIE: Final = "__Host-hearthpay"
DEVICE_COOKIE: Final = "__Host-hearthpay-device"
VISIT_COOKIE: Final = "__Host-hearthpay-visit"
FORM_TOKEN: Final = "form_token"  # noqa: S105 - the name of a field
FORM_ID: Final = "form_id"
"""Distinguishes a form that is sent twice from two forms, for those that must be booked once."""

_NOWHERE: Final = "-"
"""The place of somebody who is in no organization."""

# Each character can be matched in one way only: a crafted `next` must not keep the service searching.
_PATH: Final = re.compile(r"/(?:[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*/?)?")


@dataclass(frozen=True, slots=True)
class Visitor:
    """The sender of this request. `form` is what they sent, once its token was checked."""

    request: Request
    people_context: PeopleContext
    who: SignedIn | None
    cookie: str
    new_visit: bool
    language: str
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def say(self) -> Say:
        """Translates a sentence into the visitor's language."""
        return say_in(self.language)

    @property
    def place(self) -> str:
        """The organization and mode that the visitor is viewing, as forms carry it."""
        if self.who is None or self.who.here is None:
            return _NOWHERE
        return f"{self.who.here.organization_id}.{'test' if self.who.sandbox else 'live'}"

    @property
    def form_token(self) -> str:
        """The token for the visitor's forms, with the place in which they are shown."""
        return f"{self._form_secret}.{self.place}"

    @property
    def _form_secret(self) -> str:
        return hashlib.sha256(f"form {self.cookie}".encode()).hexdigest()

    @property
    def form_place(self) -> str:
        """The place in which the form was shown that they sent."""
        return self.form.get(FORM_TOKEN, "").partition(".")[2]

    @property
    def visit(self) -> Visit:
        """Where the visitor comes from, as far as it is recorded."""
        client = self.request.client
        return Visit(
            None if client is None else client.host,
            self.request.headers.get("user-agent"),
            request_id_of(self.request),
            self.request.cookies.get(DEVICE_COOKIE),
        )

    @property
    def site(self) -> Site:
        """The site as the visitor's browser sees it."""
        parts = urlsplit(address_of(self.request))
        return Site(f"{parts.scheme}://{parts.netloc}")

    @property
    def signed_in(self) -> SignedIn:
        """The signed-in person. Raises `authentication_required`."""
        if self.who is None:
            raise Refusal("authentication_required", "Sign in to continue.")
        return self.who

    def actor(self, *, of_both_modes: bool = False) -> Actor:
        """Return the visitor as an actor in the organization that they are viewing."""
        return self.signed_in.actor(request_id_of(self.request), of_both_modes=of_both_modes)

    def next_page(self, otherwise: str = "/home") -> str:
        """Return where the visitor wanted to go: one of our paths, never another site's address."""
        return own_path(self.form.get("next") or self.request.query_params.get("next"), otherwise)

    def check_form(self) -> None:
        """Refuse a form without the visitor's token (`invalid_state`, 403)."""
        secret = self.form.get(FORM_TOKEN, "").partition(".")[0]
        if not hmac.compare_digest(secret.encode(), self._form_secret.encode()):
            raise HttpRefusal(
                "invalid_state", "This page is out of date. Reload it and try again.", status=FORBIDDEN
            )


async def visitor_of(request: Request) -> Visitor:
    """Return the sender of the request. Raises DatabaseUnavailable."""
    people_context = people_context_of(request)
    session = _token_in(request, SESSION_COOKIE)
    who = await find_session(people_context, session)
    cookie = session or _token_in(request, VISIT_COOKIE)
    language = who.language if who is not None else preferred(request.headers.get("accept-language"))
    return Visitor(
        request,
        people_context,
        who,
        cookie or generate_token().text,
        new_visit=cookie is None,
        language=language,
    )


async def let_in(visitor: Visitor, response: Response, form_values: SignInResult) -> Response:
    """Give the browser the new session; its earlier cookies lose their effect."""
    if visitor.who is not None:
        await replace_session(visitor.people_context, visitor.who, visitor.visit)
    _set(response, SESSION_COOKIE, form_values.token.text, int(LASTS.total_seconds()))
    if form_values.device_cookie is not None:
        remember_device(response, form_values.device_cookie)
    response.delete_cookie(VISIT_COOKIE, path="/", secure=True, httponly=True, samesite="lax")
    return response


def let_out(response: Response) -> Response:
    """Remove the session's cookie."""
    response.delete_cookie(SESSION_COOKIE, path="/", secure=True, httponly=True, samesite="lax")
    return response


def remember_device(response: Response, device_cookie: str) -> Response:
    """Give the browser the cookie by which it is recognized later."""
    _set(response, DEVICE_COOKIE, device_cookie, int(KEPT_FOR.total_seconds()))
    return response


def remember_visit(response: Response, visitor: Visitor) -> Response:
    """Give a browser without a cookie one, so that its forms can be distinguished from others'."""
    if visitor.new_visit:
        _set(response, VISIT_COOKIE, visitor.cookie, None)
    return response


def own_path(requested: str | None, otherwise: str) -> str:
    """Return the path if it is one of ours, never another site's address."""
    return (
        requested
        if requested is not None and len(requested) <= 200 and _PATH.fullmatch(requested)
        else otherwise
    )


def refuse_foreign_forms(request: Request) -> None:
    """Refuse a form that none of our pages sent (`invalid_state`, 403), including from browsers that don't say."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        own = site == "same-origin"
    else:
        ours = {_origin(address_of(request)), _origin(str(request.base_url))}
        own = request.headers.get("origin") in ours
    if not own:
        raise HttpRefusal("invalid_state", "This form was sent from another site.", status=FORBIDDEN)


def keeps_cookies(request: Request) -> bool:
    """Return whether a browser keeps our cookies here: over https, or on the machine itself."""
    if request.url.scheme == "https" or address_of(request).startswith("https:"):
        return True
    host = request.url.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _token_in(request: Request, name: str) -> str | None:
    text = request.cookies.get(name)
    return None if text is None or parse_token(text) is None else text


def _set(response: Response, name: str, value: str, lasts: int | None) -> None:
    response.set_cookie(name, value, max_age=lasts, path="/", secure=True, httponly=True, samesite="lax")


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
