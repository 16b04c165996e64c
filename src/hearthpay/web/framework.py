"""The framework of pages for signed-in people: layout, navigation, language, and error pages.

Each page declares with `page_of` who may view it: anyone, anyone signed in, or members with a permission. A test
makes its table of roles and pages from these rules, so that no page lacks one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from uuid import UUID

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import DBAPIError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hearthpay.access.permissions import Permission, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import household_time
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.http.database_failures import database_failure_of, sqlstate_of
from hearthpay.http.envelope import request_id_of
from hearthpay.http.request_log import describe_failure, note_actor
from hearthpay.http.statuses import status_of
from hearthpay.languages.catalogue import mark, moment_in, preferred
from hearthpay.people.dependencies import people_context_of
from hearthpay.security.key_ring import KeyRingError
from hearthpay.time_zones import shown_in
from hearthpay.web.form_place import facts_of_other_place
from hearthpay.web.form_problems import FormProblems
from hearthpay.web.forms import read_form, values_to_repeat
from hearthpay.web.navigation import NavigationItem
from hearthpay.web.pages import page
from hearthpay.web.pending_form import forget_form, store_pending_form
from hearthpay.web.refusal_words import problem_on_page, refusal_on_page
from hearthpay.web.visitor import (
    Visitor,
    keeps_cookies,
    refuse_foreign_forms,
    remember_visit,
    visitor_of,
)

Audience = Literal["anyone", "signed_in", "member"]
Look = Callable[[Visitor], Awaitable[Response]]
Extra = Literal["script"]

_log = structlog.get_logger("hearthpay.web")
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "manifest-src 'self'; img-src 'self' data:"
)
_KEYS: Final = "; script-src 'self'"
_PASSKEYS: Final = "; script-src 'self'; connect-src 'self'"
_MY_PAY: Final = NavigationItem("/my", mark("Employee portal"), "pay")
_PROFILE: Final = NavigationItem("/settings/profile", mark("Profile"), "person")
_NAVIGATION: Final = (
    NavigationItem("/home", mark("Home"), "home"),
    NavigationItem("/app/payrolls", mark("Payroll"), "pay", "narrow"),
    NavigationItem("/app/employees", mark("Employees"), "people", "narrow"),
    NavigationItem("/app/taxes", mark("Taxes"), "paper", "narrow"),
    NavigationItem("/settings/profile", mark("Profile"), "person", "wide"),
    NavigationItem("/settings/employees", mark("Employees"), "people", "wide"),
    NavigationItem("/settings/members", mark("Members"), "badge", "wide"),
    NavigationItem("/settings/keys", mark("API keys"), "key", "wide"),
    NavigationItem("/settings/agents", mark("Connected apps"), "plug", "wide"),
    NavigationItem("/settings/audit", mark("History"), "clock", "wide"),
    NavigationItem("/more", mark("More"), "more", "narrow"),
)
_OUTSIDE: Final = mark("Something is not working on our side right now: nothing was saved.")
_ELSEWHERE: Final[Mapping[int, str]] = {
    404: mark("Check the address."),
    405: mark("This address only takes forms: please begin with the page that has it."),
    408: mark("What you sent took too long to arrive, so nothing was saved. Send it again."),
    503: _OUTSIDE,
}
_OF_PROFILE: Final = frozenset(
    {"/settings/security", "/settings/passkeys", "/settings/sessions", "/settings/secure"}
)
_HEADINGS: Final[Mapping[int, str]] = {
    401: mark("Sign in"),
    403: mark("You don't have access"),
    404: mark("Page not found"),
    405: mark("Page not found"),
    408: mark("This took too long"),
    410: mark("This link no longer works"),
    429: mark("Wait a moment"),
    500: mark("Something went wrong"),
    503: mark("Not working right now"),
}
_DID_NOT_WORK: Final = mark("That did not work")
_NOT_FOUND: Final = frozenset({"Page not found.", "Page not found. Check the address."})
"""Sentences of refusals that repeat their page's heading."""

_NO_LINK: Final = mark("Link not found.")
_LINK_HEADING: Final = mark("This link doesn't work")
_WHOLE_LINK: Final = mark("Check that you opened the complete link. A link can also be used up or replaced.")
_NEW_LINKS: Final[Mapping[str, tuple[str, str]]] = {
    "sign-up": ("/sign-up", mark("Ask for a new link")),
    "reset": ("/reset", mark("Ask for a new link")),
}
"""Where to get a new link after one has expired, by the first part of the link's path."""
_SHOWN_AT: Final[set[str]] = set()
"""The paths, as routes have them, that can be viewed with GET."""
_UNFORESEEN: Final = mark("Nothing was saved. If you contact your administrator, give them the number below.")


@dataclass(frozen=True, slots=True)
class PageRule:
    """Who may view a page; `fresh`: only people who re-authenticated recently.

    A form that arrives too late for that is offered for sending after re-authentication; one with `asked_again` is
    filled in on its own page again, and the pressed button is forgotten.
    """

    audience: Audience
    permission: Permission | None = None
    fresh: bool = False
    asked_again: bool = False


def page_of(
    router: APIRouter,
    method: Literal["GET", "POST"],
    path: str,
    audience: Audience,
    *,
    permission: Permission | None = None,
    fresh: bool = False,
    asked_again: bool = False,
) -> Callable[[Look], Look]:
    """Register `look` as the page at `path` for its audience; a form is read and checked before it is called."""
    rule = PageRule(audience, permission, fresh, asked_again)

    if method == "GET":
        _SHOWN_AT.add(path)

    def register(look: Look) -> Look:
        async def endpoint(request: Request) -> Response:
            return await _answered(request, look, rule, path)

        endpoint.__doc__ = look.__doc__
        endpoint.page_rule = rule  # type: ignore[attr-defined]
        router.add_api_route(
            path, endpoint, methods=[method], include_in_schema=False, name=look.__qualname__
        )
        return look

    return register


def show(
    visitor: Visitor,
    template: str,
    facts: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
    extra: Extra | None = None,
    folder: str = "people",
) -> Response:
    """Return the page that the folder's `template` makes of the facts, in the visitor's language and layout."""
    say, language = visitor.say, visitor.language
    script = "passkeys.js" if extra == "script" else "keys.js" if visitor.who is not None else None
    frame = {
        "_": say,
        "language": language,
        "when": lambda moment: moment_in(language, moment),
        "script": script,
        "who": visitor.who,
        "form_token": visitor.form_token,
        "path": visitor.request.url.path,
        "section": _section_of(visitor.request.url.path),
        "navigation": _navigation(visitor),
        "search_address": "/search",
        "form_values": {},
        "notice": None,
    }
    shown: dict[str, Any] = frame | dict(facts or {})
    shown["problems"] = FormProblems(shown.get("problems") or {})
    shown["form_values"] = values_to_repeat(shown["form_values"])
    policy = _POLICY
    if script is not None:
        policy += _PASSKEYS if extra == "script" else _KEYS
    headers = {"Content-Security-Policy": policy, "Vary": "Cookie, Accept-Language"}
    response = page(f"{folder}/{template}", shown, status=status, headers=headers)
    return remember_visit(response, visitor)


def _section_of(path: str) -> str:
    """Return the navigation entry that a page belongs to; the profile for pages of one's own account.

    None for pages of a household: there it follows from the path, whose first three parts are its home page.
    """
    if path.startswith("/app/"):
        return ""
    section = "/".join(path.split("/")[:3])
    return "/settings/profile" if section in _OF_PROFILE else section


def _navigation(visitor: Visitor) -> tuple[NavigationItem, ...]:
    """Return the navigation: an employee who belongs to no organization sees only their pay."""
    who = visitor.who
    if who is None or not who.employed:
        return _NAVIGATION
    return (_MY_PAY, _PROFILE) if who.here is None else (_MY_PAY, *_NAVIGATION)


def id_in_path(visitor: Visitor, name: str) -> UUID:
    """Return the id from the path. Raises `not_found` for an invalid one."""
    try:
        return UUID(visitor.request.path_params[name])
    except ValueError:
        raise Refusal("not_found", "Page not found. Check the address.") from None


def go(path: str) -> Response:
    """Return a redirect to one of our pages, after a form."""
    return RedirectResponse(path, 303, {"Cache-Control": "no-store"})


def problems_of(error: Refusal) -> dict[str, str]:
    """Return the problems by field; raises the error itself if it concerns no field."""
    if error.code != "validation_error" or not isinstance(error.details, list):
        raise error
    return {each.field: problem_on_page(each) for each in error.details}


def message(
    visitor: Visitor,
    title: str,
    text: str,
    *,
    status: int = 200,
    way_on: tuple[str, str] | None = None,
    request_id: str | None = None,
) -> Response:
    """Return a page with one message; `way_on` is a link's address and text."""
    facts = {"title": title, "text": text, "way_on": way_on, "request_id": request_id}
    return show(visitor, "message.html", facts, status=status)


async def _answered(request: Request, look: Look, rule: PageRule, path: str) -> Response:
    try:
        visitor = await visitor_of(request)
    except (DatabaseUnavailable, DBAPIError) as error:
        return _unavailable(_nobody(request), error)
    try:
        if request.method == "POST":
            refuse_foreign_forms(request)
            visitor = replace(visitor, form=await read_form(request))
            visitor.check_form()
        turned_away = _turned_away(visitor, rule, path)
        if turned_away is not None:
            return turned_away
        with household_time(), shown_in():  # at real time, until the page finds which household it is about
            return await look(visitor)
    except Refusal as error:
        return _refused(visitor, error)
    except (DatabaseUnavailable, DBAPIError, KeyRingError) as error:
        if isinstance(error, DBAPIError) and database_failure_of(error) is None:
            return _failed(visitor, error)
        return _unavailable(visitor, error)
    except Exception as error:  # noqa: BLE001 - a failure is a page as well
        return _failed(visitor, error)


def _turned_away(visitor: Visitor, rule: PageRule, path: str) -> Response | None:
    """Return where the visitor has to go first; None if they may view the page. Raises Refusal if they may not."""
    if rule.audience == "anyone":
        return None
    if visitor.who is None:
        if not keeps_cookies(visitor.request):
            return go("/sign-in")
        return go(f"/sign-in?next={_page_before(visitor, path)}")
    if rule.audience == "member":
        if visitor.form and visitor.form_place != visitor.place and visitor.who.here is not None:
            elsewhere = facts_of_other_place(visitor, visitor.who.here, _page_before(visitor, path))
            return show(visitor, "other_place.html", elsewhere, status=409)
        actor = visitor.actor(of_both_modes=True)
        note_actor(visitor.request, actor)
        if rule.permission is not None:
            allow(actor, rule.permission)
    if rule.fresh and not visitor.who.is_fresh(visitor.people_context.clock.now()):
        page_before = _page_before(visitor, path)
        again = go(f"/sign-in/again?next={page_before}")
        if not visitor.form:
            return forget_form(again)
        return store_pending_form(visitor, again, page_before, asked_again=rule.asked_again)
    return None


def _page_before(visitor: Visitor, path: str) -> str:
    """Return the page to come back to; for a form without its own page, the section it belongs to."""
    here = visitor.request.url.path
    if path in _SHOWN_AT:
        return here
    return "/".join(here.split("/")[:3])


def _refused(visitor: Visitor, error: Refusal) -> Response:
    title = visitor.say(_HEADINGS.get(status_of(error), _DID_NOT_WORK))
    way_on = ("/home", mark("Home")) if visitor.who is not None else ("/sign-in", mark("Sign in"))
    text = refusal_on_page(error)
    if text in _NOT_FOUND:
        text = _ELSEWHERE[404]
    if text == _NO_LINK:
        title, text = visitor.say(_LINK_HEADING), _WHOLE_LINK
    if error.code == "gone" or text == _WHOLE_LINK:
        way_on = _NEW_LINKS.get(visitor.request.url.path.split("/")[1], way_on)
    response = message(
        visitor,
        title,
        visitor.say(text),
        status=status_of(error),
        way_on=way_on,
        request_id=request_id_of(visitor.request),
    )
    if error.headers is not None:
        response.headers.update({k: v for k, v in error.headers.items() if k == "Retry-After"})
    return response


def _unavailable(visitor: Visitor, error: Exception) -> Response:
    _log.error("page unavailable", cause=type(error).__name__, sqlstate=sqlstate_of(error))
    response = _failure_page(visitor, 503, _OUTSIDE)
    response.headers["Retry-After"] = "5"
    return response


def _failed(visitor: Visitor, error: Exception) -> Response:
    _log.error(
        "page failed",
        request_id=request_id_of(visitor.request),
        method=visitor.request.method,
        exception=describe_failure(error),
    )
    return _failure_page(visitor, 500, _UNFORESEEN)


def _failure_page(visitor: Visitor, status: int, text: str) -> Response:
    return message(
        visitor,
        visitor.say(_HEADINGS[status]),
        visitor.say(text),
        status=status,
        way_on=(visitor.request.url.path, mark("Try again")) if visitor.request.method == "GET" else None,
        request_id=request_id_of(visitor.request),
    )


def failure_page(request: Request, error: Refusal) -> Response:
    """Return the page for unknown addresses, a lost database, or an internal error.

    It reads only the request's headers, so that it can be shown whatever is broken.
    """
    visitor = _nobody(request)
    otherwise = (
        (_DID_NOT_WORK, refusal_on_page(error)) if status_of(error) < 500 else (_HEADINGS[500], _UNFORESEEN)
    )
    response = message(
        visitor,
        visitor.say(_HEADINGS.get(status_of(error), otherwise[0])),
        visitor.say(_ELSEWHERE.get(status_of(error), otherwise[1])),
        status=status_of(error),
        way_on=("/", mark("Home")),
        request_id=request_id_of(request),
    )
    response.headers["Vary"] = "Accept, Accept-Language"
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


def _nobody(request: Request) -> Visitor:
    """Return what is known of the visitor without the database."""
    return Visitor(
        request,
        people_context_of(request),
        None,
        "",
        new_visit=False,
        language=preferred(request.headers.get("accept-language")),
    )
