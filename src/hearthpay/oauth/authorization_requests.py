"""An agent's authorization request: checked, stored for a while, opened by one person in one browser, and answered.

RFC 6749, section 4.1, as OAuth 2.1 narrows it: a code only, with a proof key of S256 (RFC 7636), for this service
only (RFC 8707), and the answer names its issuer (RFC 9207).
"""

import datetime
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import UUID

from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_AGENTS, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.accounts.freezing import refuse_frozen
from hearthpay.database.relations import EMPLOYERS
from hearthpay.database.statements import column_list, statement
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.languages.catalogue import mark
from hearthpay.oauth.agent_tokens import LASTS, new_secret
from hearthpay.oauth.clients import Client
from hearthpay.oauth.models import AgentGrant, AgentRequest
from hearthpay.oauth.redirects import is_registered, place_of, refused_redirect
from hearthpay.oauth.refusals import OAuthError
from hearthpay.oauth.scopes import RUNNING, SCOPES, tools_of
from hearthpay.security.portal_tokens import PortalToken, generate_token, parse_token

ASKS_FOR: Final = datetime.timedelta(minutes=30)
"""How long a request can be answered, until it expires."""
OF_NETWORK: Final = 30
"""How many requests from one network may be pending at once: anybody can make them."""
REQUESTS_PER_CLIENT: Final = 300
"""The same for one program; the first request of a network is accepted anyway."""
GRANT_LIFETIMES: Final = (
    datetime.timedelta(days=1),
    datetime.timedelta(days=30),
    datetime.timedelta(days=90),
    datetime.timedelta(days=365),
)
"""How long an agent's access can last."""

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_STATE: Final = 2000
MOST_AGENTS: Final = 20
"""How many agents may act in one person's name at once, in one organization and mode."""

_TOO_MANY: Final = mark(
    "You've connected 20 apps here. Disconnect one first, under Settings, Connected apps."
)
_IN_FORCE: Final = text(
    "SELECT count(*) FROM agent_grants WHERE person_id = :person AND ended_at IS NULL AND expires_at > :now"
)
_ROOM: Final = text("SELECT room_for_agent_request(:address, :client, :now, :of_address, :of_client)")


class _OpenRow(NamedTuple):
    client_id: str
    redirect_uri: str
    scopes: list[str]
    resource: str
    state: str | None


_OPEN: Final = query(
    _OpenRow,
    "SELECT {columns} FROM open_agent_request(:asked, :session, :now)",
    columns=column_list(_OpenRow._fields),
)
_HOUSEHOLD: Final = statement("SELECT id FROM {employers} h WHERE id = :household", employers=EMPLOYERS)
_ANSWER: Final = text("SELECT answer_agent_request(:asked, :session, :now, :given, :code, :code_until)")


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """What an agent requests, after validation."""

    client: Client
    redirect_uri: str
    redirect_given: bool
    state: str | None
    code_challenge: str
    scopes: tuple[str, ...]
    resource: str


@dataclass(frozen=True, slots=True)
class PendingAuthorization:
    """The request as the person who answers it sees it."""

    client_id: str
    redirect_uri: str
    scopes: tuple[str, ...]
    resource: str
    state: str | None


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person grants: one household, permissions there, whether runs must match a preview, and how long."""

    employer_id: UUID
    scopes: frozenset[str]
    demands_preview: bool
    lasts: datetime.timedelta


def redirect_of(client: Client, asked: Mapping[str, str]) -> tuple[str, bool]:
    """Return where the answer goes, and whether the agent named it.

    Raises OAuthError for an address that isn't the agent's, or one that never gets an answer: nothing is sent there,
    not even the error.
    """
    named = asked.get("redirect_uri")
    if named is None:
        if len(client.redirect_uris) != 1:
            raise OAuthError("invalid_request", "redirect_uri must be given: this program has several.")
    elif not is_registered(named, client.redirect_uris):
        raise OAuthError("invalid_request", "redirect_uri is not one that this program has registered.")
    address = client.redirect_uris[0] if named is None else named
    why = refused_redirect(address)
    if why is not None:
        raise OAuthError("invalid_request", f"redirect_uri {why}.")
    return address, named is not None


def read_authorization_request(
    client: Client, asked: Mapping[str, str], resource: str
) -> AuthorizationRequest:
    """Return a program's validated request; `resource` is the address of the tools here. Raises OAuthError."""
    redirect_uri, given = redirect_of(client, asked)
    if asked.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type must be 'code'.")
    if asked.get("code_challenge_method") != "S256":
        raise OAuthError("invalid_request", "code_challenge_method must be 'S256'.")
    challenge = asked.get("code_challenge", "")
    if not _CHALLENGE.fullmatch(challenge):
        raise OAuthError("invalid_request", "code_challenge must be the base64url SHA-256 of the verifier.")
    refuse_other_resource(asked.get("resource"), resource)
    scopes = tuple(dict.fromkeys(asked.get("scope", "").split())) or SCOPES
    if not set(scopes) <= set(SCOPES):
        raise OAuthError("invalid_scope", f"scope may have {', '.join(SCOPES)}.")
    state = asked.get("state")
    if state is not None and len(state) > _LONGEST_STATE:
        raise OAuthError("invalid_request", "state is too long.")
    if state is not None and _CONTROL.search(state):
        raise OAuthError("invalid_request", "state must not have control characters.")
    return AuthorizationRequest(client, redirect_uri, given, state, challenge, scopes, resource)


def refuse_other_resource(named: str | None, resource: str) -> None:
    """Refuse a token intended for another service (RFC 8707). Raises OAuthError `invalid_target`."""
    try:
        other = named is not None and _normal(named) != _normal(resource)
    except ValueError:
        other = True
    if other:
        raise OAuthError("invalid_target", f"resource must be {resource}.")


async def store_authorization_request(
    session: AsyncSession, now: datetime.datetime, question: AuthorizationRequest, came_from: str
) -> PortalToken:
    """Store the request until somebody answers it, and return the secret that opens it.

    Raises `rate_limited` if too many of this program, or from the network that it `came_from`, are pending.
    """
    address = hashlib.sha256(came_from.encode()).digest()
    client_id = question.client.client_id
    values = {"address": address, "client": client_id, "now": now}
    later = await session.scalar(
        _ROOM, {**values, "of_address": OF_NETWORK, "of_client": REQUESTS_PER_CLIENT}
    )
    if later is not None:
        raise _too_many_requests(later - now)
    token = generate_token()
    await session.execute(
        insert(AgentRequest).values(
            id=uuid7(),
            token_hash=token.hash,
            client_id=client_id,
            address_hash=address,
            redirect_uri=question.redirect_uri,
            redirect_given=question.redirect_given,
            state=question.state,
            code_challenge=question.code_challenge,
            scopes=list(question.scopes),
            resource=question.resource,
            created_at=now,
            expires_at=now + ASKS_FOR,
        )
    )
    return token


async def open_authorization_request(
    session: AsyncSession, now: datetime.datetime, presented: str, session_id: UUID
) -> PendingAuthorization:
    """Return the request, which belongs to the session that opened it; the transaction is its person's.

    Raises `gone` for one that was answered, has expired, was opened by somebody else, or never existed.
    """
    token = parse_token(presented)
    values = {"asked": None if token is None else token.hash, "session": session_id, "now": now}
    row = None if token is None else await fetch_optional(session, _OPEN, values)
    if row is None:
        raise _expired()
    return PendingAuthorization(row.client_id, row.redirect_uri, tuple(row.scopes), row.resource, row.state)


async def approve(
    session: AsyncSession,
    actor: Actor,
    now: datetime.datetime,
    presented: str,
    session_id: UUID,
    client: Client,
    consent: Consent,
) -> str:
    """Grant the agent what the person has chosen, and return the address that carries the code to it.

    The actor is the person in the mode of the household. Raises `validation_error`, `scope_required` without the
    right, `not_found` for a household out of reach, and `gone` if the request has ended.
    """
    allow(actor, KEEP_AGENTS, consent.employer_id)
    if await session.scalar(_HOUSEHOLD, {"household": consent.employer_id}) is None:
        raise Refusal("not_found", "No household has this id.")
    question = await open_authorization_request(session, now, presented, session_id)
    if consent.lasts not in GRANT_LIFETIMES:
        raise invalid("lasts", "Choose an option from the list.")
    if not consent.scopes <= set(SCOPES):
        raise invalid("scopes", "must be among the choices")
    await refuse_frozen(session, actor, now, consent.employer_id)
    if await session.scalar(_IN_FORCE, {"person": actor.id, "now": now}) >= MOST_AGENTS:
        raise invalid("", _TOO_MANY)
    grant_id, expires_at = uuid7(), now + consent.lasts
    returns_to, previews = (
        place_of(question.redirect_uri),
        consent.demands_preview and RUNNING in consent.scopes,
    )
    await session.execute(
        insert(AgentGrant).values(
            id=grant_id,
            organization_id=actor.organization_id,
            employer_id=consent.employer_id,
            sandbox=actor.sandbox,
            person_id=actor.id,
            client_id=client.client_id,
            client_name=client.name,
            returns_to=returns_to,
            tools=list(tools_of(consent.scopes)),
            demands_preview=previews,
            resource=question.resource,
            created_at=now,
            expires_at=expires_at,
        )
    )
    code = new_secret("code")
    await _answer(session, now, presented, session_id, grant_id, code.hash)
    await record_audit(
        session,
        actor,
        "agent.connect",
        employer_id=consent.employer_id,
        subject_id=grant_id,
        details={
            "client": client.name,
            "returns_to": returns_to,
            "person_id": actor.id,
            "client_id": client.client_id,
            "tools": list(tools_of(consent.scopes)),
            "scopes": sorted(consent.scopes),
            "demands_preview": previews,
            "expires_at": expires_at.isoformat(),
        },
    )
    return with_answer(question.redirect_uri, {"code": code.text, "state": question.state})


async def deny(
    session: AsyncSession,
    now: datetime.datetime,
    presented: str,
    session_id: UUID,
    question: PendingAuthorization,
) -> str:
    """Refuse the agent, and return the address that carries the refusal. Raises `gone` if the request was answered."""
    await _answer(session, now, presented, session_id, None, None)
    return with_answer(question.redirect_uri, {"error": "access_denied", "state": question.state})


def with_answer(redirect_uri: str, answer: Mapping[str, str | None]) -> str:
    """Return the agent's address with the answer added to its query."""
    parts = urlsplit(redirect_uri)
    added = urlencode({name: value for name, value in answer.items() if value is not None})
    return urlunsplit(parts._replace(query=f"{parts.query}&{added}" if parts.query else added))


async def _answer(
    session: AsyncSession,
    now: datetime.datetime,
    presented: str,
    session_id: UUID,
    grant_id: UUID | None,
    code_hash: bytes | None,
) -> None:
    token = parse_token(presented)
    values = {
        "asked": None if token is None else token.hash,
        "session": session_id,
        "now": now,
        "given": grant_id,
        "code": code_hash,
        "code_until": None if code_hash is None else now + LASTS["code"],
    }
    if not (await session.execute(_ANSWER, values)).scalar_one():
        raise _expired()


def _too_many_requests(wait: datetime.timedelta) -> Refusal:
    seconds = max(1, math.ceil(wait.total_seconds()))
    return Refusal(
        "rate_limited",
        "Too many questions of programs wait for an answer.",
        details={"retry_after": seconds},
        headers={"Retry-After": str(seconds)},
    )


def _expired() -> Refusal:
    return Refusal(
        "gone", "This question is over: it was answered, it has waited too long, or another browser has it."
    )


def _normal(address: str) -> tuple[str, str, str, str]:
    parts = urlsplit(address)
    return parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query
