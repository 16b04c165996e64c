"""Codes and refresh tokens, exchanged for tokens: each once. One sent a second time was stolen, and ends the grant."""

import base64
import datetime
import hashlib
import hmac
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor, Role
from hearthpay.access.permissions import SCOPES as API_SCOPES
from hearthpay.access.plans import terms_of
from hearthpay.database.statements import Fragment, column_list, statement
from hearthpay.database.typed_rows import fetch_one, fetch_optional, query
from hearthpay.oauth.agent_tokens import LASTS, AgentSecret, new_secret, read_secret
from hearthpay.oauth.authorization_requests import refuse_other_resource
from hearthpay.oauth.refusals import OAuthError
from hearthpay.oauth.revocation import RequestOrigin, record_revocation
from hearthpay.oauth.scopes import allows_changes, scopes_of

_COLUMNS: Final = Fragment(
    ":shown, :client, :now, :access_id, :access, :access_until, :refresh_id, :refresh, :refresh_until"
)
_EXCHANGE: Final[dict[Literal["code", "refresh"], TextClause]] = {
    "code": statement("SELECT exchange_agent_code({columns})", columns=_COLUMNS),
    "refresh": statement("SELECT exchange_agent_refresh({columns})", columns=_COLUMNS),
}


class _FindCodeRow(NamedTuple):
    client_id: str
    redirect_uri: str
    redirect_given: bool
    code_challenge: str
    resource: str
    expires_at: datetime.datetime
    used_at: datetime.datetime | None


_FIND_CODE: Final = query(
    _FindCodeRow,
    "SELECT {columns} FROM find_agent_code(:shown)",
    columns=column_list(_FindCodeRow._fields),
)


class _FindRefreshRow(NamedTuple):
    client_id: str
    tools: list[str]
    resource: str
    expires_at: datetime.datetime


_FIND_REFRESH: Final = query(
    _FindRefreshRow,
    "SELECT {columns} FROM find_agent_refresh(:shown)",
    columns=column_list(_FindRefreshRow._fields),
)


class _FindAccessRow(NamedTuple):
    grant_id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    tools: list[str]
    demands_preview: bool
    resource: str
    client_name: str
    role: Role
    plan: str
    lifted_limits: dict[str, int | None]
    person_id: UUID


_FIND_ACCESS: Final = query(
    _FindAccessRow,
    "SELECT {columns} FROM find_agent_token(:shown, :now)",
    columns=column_list(_FindAccessRow._fields),
)
_REVOKE: Final = text("SELECT revoke_agent_token(:shown, :client, :now)")
_NOT_GOOD: Final = (
    "This code is not good: it is unknown, was used, has expired, or belongs to another program."
)
_NOT_GOOD_TOKEN: Final = (
    "This refresh token is not good: it is unknown, was used, has expired, or was taken back."  # noqa: S105
)


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The tokens for an agent; `expires_in` is the access token's, in seconds."""

    access: AgentSecret
    refresh: AgentSecret
    scopes: tuple[str, ...]
    expires_in: int


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """The access that a token gives: the actor, what it may call, whether runs must match a preview."""

    actor: Actor
    tools: frozenset[str]
    demands_preview: bool
    resource: str
    client_name: str


async def exchange_code(
    session: AsyncSession,
    now: datetime.datetime,
    *,
    client_id: str,
    code: str,
    verifier: str,
    redirect_uri: str | None,
    resource: str | None,
    origin: RequestOrigin,
) -> IssuedTokens | None:
    """Return the tokens for a code; None if it is invalid: its effect on the grant remains, and is recorded.

    Raises OAuthError for an error that the right agent could fix: `invalid_grant`, `invalid_target`.
    """
    shown = read_secret("code", code)
    row = None if shown is None else await fetch_optional(session, _FIND_CODE, {"shown": shown.hash})
    if shown is None or row is None or row.client_id != client_id:
        raise OAuthError("invalid_grant", _NOT_GOOD)
    if row.used_at is None:
        if redirect_uri != row.redirect_uri and not (redirect_uri is None and not row.redirect_given):
            raise OAuthError("invalid_grant", "redirect_uri is not the one that the code was asked with.")
        if not _proves(verifier, row.code_challenge):
            raise OAuthError("invalid_grant", "code_verifier does not fit the challenge.")
        refuse_other_resource(resource, row.resource)
    return await _exchange(session, now, "code", shown, client_id, origin)


async def exchange_refresh(
    session: AsyncSession,
    now: datetime.datetime,
    *,
    client_id: str,
    refresh: str,
    scope: str | None,
    resource: str | None,
    origin: RequestOrigin,
) -> IssuedTokens | None:
    """Return new tokens for a refresh token, as `exchange_code` does for a code.

    Narrowing the scope is not supported: tokens have the scope of the grant.
    """
    shown = read_secret("refresh", refresh)
    row = None if shown is None else await fetch_optional(session, _FIND_REFRESH, {"shown": shown.hash})
    if shown is None or row is None or row.client_id != client_id:
        raise OAuthError("invalid_grant", _NOT_GOOD_TOKEN)
    refuse_other_resource(resource, row.resource)
    if scope is not None and not set(scope.split()) <= set(scopes_of(row.tools)):
        raise OAuthError("invalid_scope", "scope has more than the person gave.")
    return await _exchange(session, now, "refresh", shown, client_id, origin)


async def revoke(
    session: AsyncSession, now: datetime.datetime, *, client_id: str, token: str, origin: RequestOrigin
) -> None:
    """End the grant of a token, access or refresh, if it is this program's (RFC 7009); otherwise do nothing."""
    shown = read_secret("access", token) or read_secret("refresh", token)
    if shown is None:
        return
    values = {"shown": shown.hash, "client": client_id, "now": now}
    if (await session.execute(_REVOKE, values)).scalar_one():
        await record_revocation(session, now, origin, shown=shown.hash, client_id=client_id)


async def find_access(
    session: AsyncSession, now: datetime.datetime, presented: str, request_id: str
) -> AgentAccess | None:
    """Return the access for this access token; None if it is no longer valid.

    It reaches the grant's household. It may do no more than its person currently may, and only read if nothing else
    was granted.
    """
    shown = read_secret("access", presented)
    row = (
        None
        if shown is None
        else await fetch_optional(session, _FIND_ACCESS, {"shown": shown.hash, "now": now})
    )
    if row is None:
        return None
    actor = Actor.token(
        row.grant_id,
        row.organization_id,
        frozenset(API_SCOPES),
        sandbox=row.sandbox,
        request_id=request_id,
        terms=terms_of(row.plan, row.lifted_limits),
        households=(row.employer_id,),
        role=_role(row.role, row.tools),
        person_id=row.person_id,
    )
    return AgentAccess(actor, frozenset(row.tools), row.demands_preview, row.resource, row.client_name)


def _role(role: Role, tools: list[str]) -> Role:
    if role == "viewer" or not allows_changes(tools):
        return "viewer"
    return "admin"


async def _exchange(
    session: AsyncSession,
    now: datetime.datetime,
    kind: Literal["code", "refresh"],
    shown: AgentSecret,
    client_id: str,
    origin: RequestOrigin,
) -> IssuedTokens | None:
    access, refresh = new_secret("access"), new_secret("refresh")
    values: dict[str, str | bytes | datetime.datetime | UUID] = {
        "shown": shown.hash,
        "client": client_id,
        "now": now,
        "access_id": uuid7(),
        "access": access.hash,
        "access_until": now + LASTS["access"],
        "refresh_id": uuid7(),
        "refresh": refresh.hash,
        "refresh_until": now + LASTS["refresh"],
    }
    outcome: str = (await session.execute(_EXCHANGE[kind], values)).scalar_one()
    if outcome == "ended":
        await record_revocation(session, now, origin, shown=shown.hash, client_id=client_id)
    if outcome != "issued":
        return None
    row = await fetch_one(session, _FIND_REFRESH, {"shown": refresh.hash})
    lasts = min(LASTS["access"], row.expires_at - now)
    return IssuedTokens(access, refresh, scopes_of(row.tools), int(lasts.total_seconds()))


def _proves(verifier: str, challenge: str) -> bool:
    hashed = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode("utf-8")).digest()).rstrip(b"=")
    return hmac.compare_digest(hashed, challenge.encode("ascii"))
