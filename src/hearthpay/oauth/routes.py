"""What programs request from the authorization server without a person: metadata, registration, tokens, revocation.

Responses are OAuth's own, not the API's envelope. The request to a person is a page (`web/agents`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hearthpay.http.connection_limits import network_of
from hearthpay.http.envelope import request_id_of
from hearthpay.http.hosts import is_known_host, misdirected
from hearthpay.http.json_body import read_json
from hearthpay.http.runtime import Runtime, address_of, runtime_of
from hearthpay.oauth.clients import register
from hearthpay.oauth.refusals import OAuthError
from hearthpay.oauth.revocation import RequestOrigin
from hearthpay.oauth.scopes import SCOPES
from hearthpay.oauth.tokens import IssuedTokens, exchange_code, exchange_refresh, revoke
from hearthpay.people.dependencies import people_context_of

AUTHORIZE_PATH: Final = "/oauth/authorize"
TOKEN_PATH: Final = "/oauth/token"  # noqa: S105 - an address
REGISTER_PATH: Final = "/oauth/register"
REVOKE_PATH: Final = "/oauth/revoke"
SERVER_METADATA_PATH: Final = "/.well-known/oauth-authorization-server"
RESOURCE_METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
TOOLS_PATH: Final = "/mcp"

router: Final = APIRouter(include_in_schema=False)

_LARGEST: Final = 20_000
_MOST_FIELDS: Final = 30
_NEVER_KEPT: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_FOR_A_WHILE: Final = {"Cache-Control": "public, max-age=3600"}


def resource_of(request: Request) -> str:
    """Return the address of the tools, as agents see it: what a token is for."""
    return address_of(request) + TOOLS_PATH


def challenge_of(request: Request, *, invalid: bool = False) -> str:
    """Return the header that tells an agent without a good token where to get one (RFC 9728, section 5.1)."""
    metadata = f"{address_of(request)}{RESOURCE_METADATA_PATH}{TOOLS_PATH}"
    error = 'error="invalid_token", ' if invalid else ""
    return f'Bearer realm="hearthpay", {error}resource_metadata="{metadata}", scope="{" ".join(SCOPES)}"'


def came_from(request: Request) -> str:
    """Return the network that a request comes from: of IPv6 all that one subscriber can choose addresses of."""
    return "" if request.client is None else network_of(request.client.host)


@router.get(SERVER_METADATA_PATH)
@router.get(SERVER_METADATA_PATH + TOOLS_PATH)
async def get_server_metadata(request: Request) -> Response:
    """What this authorization server can do, and where (RFC 8414).

    Raises `invalid_state` (421) for a host that the service cannot know for its own.
    """
    _require_known_host(request)
    issuer = address_of(request)
    return JSONResponse(
        {
            "issuer": issuer,
            "authorization_endpoint": issuer + AUTHORIZE_PATH,
            "token_endpoint": issuer + TOKEN_PATH,
            "registration_endpoint": issuer + REGISTER_PATH,
            "revocation_endpoint": issuer + REVOKE_PATH,
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        },
        headers=_kept(request),
    )


@router.get(RESOURCE_METADATA_PATH)
@router.get(RESOURCE_METADATA_PATH + TOOLS_PATH)
async def get_resource_metadata(request: Request) -> Response:
    """What the tools are, and who gives tokens for them (RFC 9728). Raises as `get_server_metadata` does."""
    _require_known_host(request)
    return JSONResponse(
        {
            "resource": resource_of(request),
            "resource_name": "Hearthpay",
            "authorization_servers": [address_of(request)],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
        },
        headers=_kept(request),
    )


def _require_known_host(request: Request) -> None:
    """Metadata names addresses that programs send codes and tokens to: no stranger chooses their host."""
    if not is_known_host(request):
        raise misdirected()


def _kept(request: Request) -> Mapping[str, str]:
    """How long metadata may be kept: not at all where it is made from what the client calls the service."""
    return _NEVER_KEPT if runtime_of(request).public_url is None else _FOR_A_WHILE


@router.post(REGISTER_PATH)
async def post_registration(request: Request) -> Response:
    """Remember a program that introduces itself."""
    runtime = runtime_of(request)
    try:
        metadata = await read_json(request)
        if not isinstance(metadata, dict):
            raise OAuthError("invalid_client_metadata", "The metadata must be a JSON object.")
        now = runtime.clock.now()
        async with runtime.database.transaction(None) as session:
            client = await register(session, now, metadata, came_from(request))
    except OAuthError as error:
        return _refused(error)
    return JSONResponse(
        {
            "client_id": client.client_id,
            "client_id_issued_at": int(now.timestamp()),
            "client_name": client.name,
            "redirect_uris": list(client.redirect_uris),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": " ".join(SCOPES),
        },
        201,
        _NEVER_KEPT,
    )


@router.post(TOKEN_PATH)
async def post_token(request: Request) -> Response:
    """Change a code, or a refresh token, for tokens."""
    runtime = runtime_of(request)
    try:
        form = await _form(request)
        issued = await _exchange(runtime, form, _request_origin(request))
    except OAuthError as error:
        return _refused(error)
    return JSONResponse(
        {
            "access_token": issued.access.text,
            "token_type": "Bearer",
            "expires_in": issued.expires_in,
            "refresh_token": issued.refresh.text,
            "scope": " ".join(issued.scopes),
        },
        headers=_NEVER_KEPT,
    )


@router.post(REVOKE_PATH)
async def post_revocation(request: Request) -> Response:
    """Revoke the grant of a token; an unknown token gets the same response (RFC 7009)."""
    runtime = runtime_of(request)
    try:
        form = await _form(request)
        client_id, token = _needed(form, "client_id"), _needed(form, "token")
    except OAuthError as error:
        return _refused(error)
    async with runtime.database.transaction(None) as session:
        await revoke(
            session, runtime.clock.now(), client_id=client_id, token=token, origin=_request_origin(request)
        )
    return Response(status_code=200, headers=_NEVER_KEPT)


async def _exchange(runtime: Runtime, form: Mapping[str, str], origin: RequestOrigin) -> IssuedTokens:
    client_id, kind = _needed(form, "client_id"), _needed(form, "grant_type")
    now = runtime.clock.now()
    async with runtime.database.transaction(None) as session:
        if kind == "authorization_code":
            issued = await exchange_code(
                session,
                now,
                client_id=client_id,
                code=_needed(form, "code"),
                verifier=_needed(form, "code_verifier"),
                redirect_uri=form.get("redirect_uri"),
                resource=form.get("resource"),
                origin=origin,
            )
        elif kind == "refresh_token":
            issued = await exchange_refresh(
                session,
                now,
                client_id=client_id,
                refresh=_needed(form, "refresh_token"),
                scope=form.get("scope"),
                resource=form.get("resource"),
                origin=origin,
            )
        else:
            raise OAuthError(
                "unsupported_grant_type", "grant_type may be authorization_code or refresh_token."
            )
    if issued is None:
        raise OAuthError("invalid_grant", "It was used before, has expired, or was taken back. Ask anew.")
    return issued


async def _form(request: Request) -> Mapping[str, str]:
    """Return the fields of the form, each sent once (RFC 6749, section 3.2). Raises OAuthError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind != "application/x-www-form-urlencoded" or len(body) > _LARGEST:
        raise OAuthError("invalid_request", "Send the fields as application/x-www-form-urlencoded.")
    try:
        pairs = parse_qsl(body.decode("ascii"), max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise OAuthError("invalid_request", "The form could not be read.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise OAuthError("invalid_request", "A field was sent twice.")
    return fields


def _needed(form: Mapping[str, str], name: str) -> str:
    value = form.get(name)
    if value is None:
        error = "invalid_client" if name == "client_id" else "invalid_request"
        raise OAuthError(error, f"{name} is missing.")
    if "\x00" in value:
        raise OAuthError("invalid_request", f"{name} could not be read.")
    return value


def _request_origin(request: Request) -> RequestOrigin:
    return RequestOrigin(people_context_of(request), request_id_of(request))


def _refused(error: OAuthError) -> Response:
    return Response(orjson.dumps(error.body), error.status, {**_NEVER_KEPT}, media_type="application/json")
