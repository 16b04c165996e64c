"""The authorization of an agent: from its request to the consent page, and back to it with a code.

The consent page is answered in the browser that opened it, by a person who manages the household and has just
re-authenticated. Its form may lead only to the agent's own address.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import KEEP_AGENTS
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.session import become_person
from hearthpay.http.runtime import address_of
from hearthpay.http.statuses import status_of
from hearthpay.languages.catalogue import mark
from hearthpay.oauth import authorization_requests
from hearthpay.oauth.clients import Client, find_client
from hearthpay.oauth.redirects import is_on_the_same_machine, place_of, source_of
from hearthpay.oauth.refusals import OAuthError
from hearthpay.oauth.routes import AUTHORIZE_PATH, came_from, resource_of
from hearthpay.oauth.scopes import OFFERS, RUNNING
from hearthpay.web.framework import go, message, page_of, problems_of, show
from hearthpay.web.household.comparison import HouseholdLine, households_as
from hearthpay.web.pending_form import forget_form, pending_form
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_UNTIL: Final = ((1, mark("One day")), (30, mark("30 days")), (90, mark("90 days")), (365, mark("One year")))
_USUAL: Final = "30"
_UNKNOWN: Final = mark("This program is not known here. Start again from the program itself.")
_PROGRAM: Final = mark("{scheme} (a program on your computer)")
_WAIT: Final = mark("Wait a moment")
_TOO_MANY: Final = mark(
    "Too many apps are waiting for an answer. Try again from the app in {minutes} minutes."
)
_CHOOSE: Final = mark("Choose an option from the list.")


@dataclass(frozen=True, slots=True)
class _Reached:
    """A household that can be granted to an agent."""

    household: HouseholdLine
    sandbox: bool

    @property
    def value(self) -> str:
        return f"{'test' if self.sandbox else 'live'}:{self.household.id}"


@page_of(router, "GET", AUTHORIZE_PATH, "anyone")
async def authorize(visitor: Visitor) -> Response:
    """Check an agent's authorization request and redirect to the consent page.

    An error, such as a scope of OpenID Connect, is sent to a program on the person's own machine (RFC 6749, 4.1.2.1).
    To a website it is shown with a link back that reports it. Nobody is redirected there unasked: anyone can register
    as an agent, and would get an open redirect under our address (RFC 9700, 4.11.2).
    """
    people_context, asked = visitor.people_context, dict(visitor.request.query_params)
    twice = len(visitor.request.query_params.multi_items()) != len(asked)
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        client = await find_client(session, now, asked.get("client_id", "").replace("\x00", ""))
        if client is None:
            raise Refusal("validation_error", _UNKNOWN)
        try:
            redirect_uri, _ = authorization_requests.redirect_of(client, asked)
        except OAuthError as error:
            raise Refusal("validation_error", error.description) from None
        try:
            if twice:
                raise OAuthError("invalid_request", "A field was sent twice.")
            question = authorization_requests.read_authorization_request(
                client, asked, resource_of(visitor.request)
            )
        except OAuthError as error:
            told = {**error.body, "state": asked.get("state")}
            if is_on_the_same_machine(redirect_uri):
                return _sent(visitor, redirect_uri, authorization_requests.with_answer(redirect_uri, told))
            return _wrong(visitor, redirect_uri, told)
        try:
            token = await authorization_requests.store_authorization_request(
                session, now, question, came_from(visitor.request)
            )
        except Refusal as error:
            return _later(visitor, error)
    return go(f"/connect/{token.text}")


@page_of(router, "GET", "/connect/{token}", "member", permission=KEEP_AGENTS, fresh=True)
async def ask(visitor: Visitor) -> Response:
    """Show the consent page: which household, what the agent may do there, for how long.

    A person who answers too long after re-authenticating finds their choices again, and confirms them.
    """
    client, question = await _opened(visitor)
    kept = pending_form(visitor, visitor.request.url.path)
    if kept is None or not kept.asked_again:
        return await _ask(visitor, client, question, {}, {})
    return forget_form(await _ask(visitor, client, question, {}, kept.fields))


@page_of(router, "POST", "/connect/{token}", "member", permission=KEEP_AGENTS, fresh=True, asked_again=True)
async def answer(visitor: Visitor) -> Response:
    """Grant or deny access as the form says, and redirect the answer to the agent.

    A form without a decision is no answer: the consent page is shown again.
    """
    client, question = await _opened(visitor)
    people_context, who = visitor.people_context, visitor.signed_in
    now, token = people_context.clock.now(), visitor.request.path_params["token"]
    decision = visitor.form.get("decision")
    if decision not in ("yes", "no"):
        return await _ask(visitor, client, question, {"decision": _CHOOSE}, visitor.form)
    if decision == "no":
        async with people_context.database.transaction(None) as session:
            await become_person(session, who.person_id)
            address = await authorization_requests.deny(session, now, token, who.session_id, question)
        return _sent(visitor, question.redirect_uri, address)
    try:
        chosen, consent = _chosen(visitor, await _reached(visitor))
        actor = _actor(visitor, sandbox=chosen.sandbox)
        async with people_context.database.transaction(actor.tenant) as session:
            await become_person(session, who.person_id)
            address = await authorization_requests.approve(
                session, actor, now, token, who.session_id, client, consent
            )
    except Refusal as error:
        return await _ask(visitor, client, question, problems_of(error), visitor.form)
    return _sent(visitor, question.redirect_uri, address)


async def _opened(visitor: Visitor) -> tuple[Client, authorization_requests.PendingAuthorization]:
    people_context, who = visitor.people_context, visitor.signed_in
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        question = await authorization_requests.open_authorization_request(
            session, now, visitor.request.path_params["token"], who.session_id
        )
        client = await find_client(session, now, question.client_id)
    if client is None:
        raise Refusal("gone", _UNKNOWN)
    return client, question


async def _ask(
    visitor: Visitor,
    client: Client,
    question: authorization_requests.PendingAuthorization,
    problems: Mapping[str, str],
    form_values: Mapping[str, str],
) -> Response:
    facts = {
        "client": client,
        "place": _place(visitor, question.redirect_uri),
        "households": await _reached(visitor),
        "offers": [offer for offer in OFFERS if offer.changes and offer.scope in question.scopes],
        "reading": OFFERS[0],
        "until": _UNTIL,
        "usual": _USUAL,
        "problems": problems,
        "form_values": form_values,
        "again": bool(form_values) and not problems,
    }
    response = show(visitor, "consent.html", facts, status=422 if problems else 200)
    return _may_go_to(response, question.redirect_uri)


async def _reached(visitor: Visitor) -> Sequence[_Reached]:
    """Return the households of both modes that the person could grant, real ones first."""
    who = visitor.signed_in
    assert who.here is not None, "a member is somewhere"
    modes = (False, True) if "test_keys" in who.here.terms.features else (False,)
    found: list[_Reached] = []
    for sandbox in modes:
        actor = _actor(visitor, sandbox=sandbox)
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            found += [_Reached(each, sandbox) for each in await households_as(session, actor)]
    return found


def _chosen(visitor: Visitor, reached: Sequence[_Reached]) -> tuple[_Reached, authorization_requests.Consent]:
    form = visitor.form
    chosen = next((each for each in reached if each.value == form.get("household")), None)
    if chosen is None:
        raise invalid("household", _CHOOSE)
    days = next((days for days, _ in _UNTIL if str(days) == form.get("lasts")), None)
    if days is None:
        raise invalid("lasts", _CHOOSE)
    scopes = frozenset(
        offer.scope for offer in OFFERS if not offer.changes or form.get(f"scope_{offer.scope}") == "on"
    )
    previews = RUNNING in scopes and form.get("demands_preview") == "on"
    return chosen, authorization_requests.Consent(
        UUID(str(chosen.household.id)), scopes, previews, datetime.timedelta(days=days)
    )


def _actor(visitor: Visitor, *, sandbox: bool) -> Actor:
    """Return the person as an actor in this mode, whichever they are viewing."""
    who = visitor.signed_in
    assert who.here is not None, "a member is somewhere"
    now = visitor.actor(of_both_modes=True)
    return Actor.session(
        who.person_id,
        who.here.organization_id,
        who.here.role,
        sandbox=sandbox,
        request_id=now.request_id,
        terms=who.here.terms,
    )


def _later(visitor: Visitor, error: Refusal) -> Response:
    """Return the page that says when to come back. Raises the error itself if it is another one."""
    if error.code != "rate_limited" or error.headers is None:
        raise error
    wait = error.headers["Retry-After"]
    response = message(
        visitor,
        visitor.say(_WAIT),
        visitor.say(_TOO_MANY, minutes=math.ceil(int(wait) / 60)),
        status=status_of(error),
    )
    response.headers["Retry-After"] = wait
    return response


def _wrong(visitor: Visitor, redirect_uri: str, parameters: Mapping[str, str | None]) -> Response:
    facts = {
        "wrong": parameters["error_description"],
        "place": _place(visitor, redirect_uri),
        "back": authorization_requests.with_answer(
            redirect_uri, {**parameters, "iss": address_of(visitor.request)}
        ),
    }
    return show(visitor, "wrong_question.html", facts, status=400)


def _place(visitor: Visitor, redirect_uri: str) -> str:
    """Return a description of where the agent's answer goes."""
    place = place_of(redirect_uri)
    return visitor.say(_PROGRAM, scheme=place) if place.endswith(":") else place


def _sent(visitor: Visitor, redirect_uri: str, address: str) -> Response:
    response = RedirectResponse(
        authorization_requests.with_answer(address, {"iss": address_of(visitor.request)}),
        303,
        {"Cache-Control": "no-store"},
    )
    return _may_go_to(response, redirect_uri)


def _may_go_to(response: Response, redirect_uri: str) -> Response:
    """Let the form's answer redirect to the agent: browsers apply the page's policy to a redirect after a form as
    well.
    """
    policy = response.headers.get("Content-Security-Policy")
    if policy is not None:
        source = source_of(redirect_uri)
        response.headers["Content-Security-Policy"] = policy.replace(
            "form-action 'self'", f"form-action 'self' {source}"
        )
    return response
