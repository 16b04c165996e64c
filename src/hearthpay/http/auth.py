"""Authentication: turns an API key into an `Actor`.

A route declares `actor: Annotated[Actor, Depends(require(RUN_PAYROLL))]`. The key comes as `Authorization: Bearer
hp_…` or as `X-API-Key: hp_…`.

The order of the refusals: 401 without a valid key (429 after too many attempts with invalid ones); 429 beyond its
requests of the day (every request with a valid key counts, even one that is refused or replayed); 403
`subscription_required` for what the organization's plan doesn't include; 403 `scope_required` for what the key was
not given.
"""

from typing import Final

from starlette.requests import Request

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import ANY_KEY, Permission, Scope, allow
from hearthpay.access.plans import Feature
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.http.daily_limit import refuse_over_daily_limit
from hearthpay.http.envelope import request_id_of
from hearthpay.http.key_lookup import Credential
from hearthpay.http.metrics import metrics_of
from hearthpay.http.request_log import note_actor
from hearthpay.http.runtime import runtime_of
from hearthpay.security.api_keys import parse

INSIDE_KEY: Final = "hearthpay.inside"
"""The ASGI scope key for an internal call's actor; nothing that comes over a connection can set it."""

_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="hearthpay"'}


class require:  # noqa: N801 - reads as a verb where a route declares it
    """The dependency that accepts a request only with a key that has `permission` (if omitted: any key in force)."""

    def __init__(self, permission: Permission = ANY_KEY) -> None:
        self.permission = permission

    @property
    def scope(self) -> Scope | None:
        """The scope that the key must have; None if any key will do."""
        return self.permission.scope

    @property
    def feature(self) -> Feature | None:
        """What the organization's plan must include; None if any plan will do."""
        return self.permission.feature

    async def __call__(self, request: Request) -> Actor:
        """Return the actor making the request.

        Raises `authentication_required`, `rate_limited`, `subscription_required` or `scope_required`.
        """
        actor = await authenticate(request)
        allow(actor, self.permission)
        return actor


async def authenticate(request: Request) -> Actor:
    """Return the actor whose API key the request carries; count the request against the key's daily limit.

    An internal call (`inner_call`) brings its actor along. Raises what `identify` raises, and `rate_limited`.
    """
    inside: Actor | None = request.scope.get(INSIDE_KEY)
    actor = await identify(request) if inside is None else inside
    await refuse_over_daily_limit(request, actor)
    return actor


async def identify(request: Request) -> Actor:
    """Return the actor whose API key the request carries, and count nothing.

    Raises `authentication_required` if the key is missing, malformed, unknown, expired or revoked; the client learns
    only whether there was a key at all. Raises `rate_limited` after too many attempts with such keys.
    """
    presented = _presented_key(request)
    if presented is None:  # a mistake, not an attempt
        raise _unauthenticated(
            "This endpoint needs an API key. Send it as the header 'Authorization: Bearer hp_…'."
        )
    credential = await _credential_of(request, presented)
    actor = Actor.key(
        credential.key_id,
        credential.organization_id,
        credential.mode,
        credential.scopes,
        request_id=request_id_of(request),
        terms=credential.terms,
        employer_id=credential.employer_id,
        employer_sandbox=credential.employer_sandbox,
        confined=credential.confined,
    )
    note_actor(request, actor)
    return actor


async def _credential_of(request: Request, presented: str) -> Credential:
    """Return the credential of a key. Raises `authentication_required`, and `rate_limited` after too many failures."""
    runtime = runtime_of(request)
    remembered = runtime.keys.remembered(presented)
    if remembered is not None:  # so it is well-formed, and among the good ones
        return remembered
    address = None if request.client is None else request.client.host
    key = parse(presented)
    key_hash = None if key is None else key.hash
    due = runtime.attempts.wait(address, key_hash)
    if key is not None and key_hash is not None:
        async with runtime.attempts.turn(address, due):
            credential = await runtime.keys.find(key)
        if credential is not None:
            runtime.attempts.succeeded(key_hash)
            return credential
    if not due:
        due = await runtime.attempts.failed(address, presented, key_hash)
    metrics_of(request.app).count_failed_authentication(throttled=due > 0)
    if due:
        raise Refusal(
            "rate_limited",
            "Too many requests with keys that are not valid. Check the key, and wait.",
            details={"retry_after": due},
            headers={"Retry-After": str(due)},
        )
    raise _unauthenticated("This API key is not valid. It may be mistyped, expired or revoked.")


def _presented_key(request: Request) -> str | None:
    """Return the key as it was sent. An `Authorization` header of another kind counts as none.

    Raises `validation_error` for two such headers: it isn't known here which one a proxy has checked.
    """
    bearer = other = None
    if sum(name == b"authorization" for name, _ in request.scope["headers"]) > 1:
        raise invalid("Authorization", "is sent twice: send one")
    for name, value in request.scope["headers"]:
        if name == b"authorization":
            kind, _, token = value.partition(b" ")
            if kind.lower() == b"bearer":
                bearer = token.strip().decode("latin-1")
        elif name == b"x-api-key":
            other = value.strip().decode("latin-1")
    return bearer or other or None


def _unauthenticated(message: str) -> Refusal:
    return Refusal("authentication_required", message, headers=_CHALLENGE)
