"""What the running service provides to its routes: database, clock, keys, limits, and how money and mail are sent."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request

from hearthpay.access.deferred_audit import DeferredAudit
from hearthpay.clock import Clock
from hearthpay.database.replica import ReadReplica
from hearthpay.database.session import Database, Tenant
from hearthpay.http.key_lookup import KeyLookup
from hearthpay.http.rate_limit import RateLimits
from hearthpay.mail.limits import USUAL_LIMITS, MailLimits
from hearthpay.mail.mailer import Mailer
from hearthpay.security.key_ring import KeyRing

if TYPE_CHECKING:  # they refuse requests, and a refusal tells the address that is found here
    from hearthpay.http.attempts import FailedAttempts
    from hearthpay.http.fair_share import FairShare


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Runtime:
    """The service's parts; `public_url` is its address as clients see it (None: as they call it).

    Without a `ring` nothing can be stored in the vault and nobody invited; without a `mailer` no email is sent.
    `mail_limits` is how much email may be sent per day. `direct_deposit` says whether this installation has a bank to
    send real households' payrolls to. `replica` is what reports are read from.
    """

    database: Database
    clock: Clock
    keys: KeyLookup
    rate_limits: RateLimits
    attempts: FailedAttempts
    fair_share: FairShare
    deferred_audit: DeferredAudit
    public_url: str | None = None
    ring: KeyRing | None = None
    mailer: Mailer | None = None
    mail_limits: MailLimits = USUAL_LIMITS
    direct_deposit: bool = False
    replica: ReadReplica | None = None

    async def read(self, tenant: Tenant, work: Callable[[AsyncSession], Awaitable[_T]]) -> _T:
        """Return what `work` reads for a report: from the replica if there is one that has everything.

        `work` must only read. Raises what it raises, and DatabaseUnavailable.
        """
        if self.replica is not None:
            return await self.replica.read(tenant, work)
        async with self.database.transaction(tenant) as session:
            return await work(session)


def install(app: FastAPI, runtime: Runtime) -> None:
    """Make `runtime` available to every request of `app`."""
    app.state.runtime = runtime


def runtime_of(request: Request) -> Runtime:
    """Return the parts of the service that is answering `request`."""
    runtime: Runtime = request.app.state.runtime
    return runtime


def address_of(request: Request) -> str:
    """Return the service's address as this client sees it, without a trailing slash; only for use in its own
    response.

    Without HEARTHPAY_PUBLIC_URL it is made from the request's `Host`. What is sent to others begins with
    `address_in_mail`.
    """
    return (runtime_of(request).public_url or str(request.base_url)).rstrip("/")


def address_in_mail(request: Request) -> str:
    """Return the start of links that are sent or passed on, without a trailing slash; never from a header.

    Without HEARTHPAY_PUBLIC_URL it is where the connection arrived; on the local machine, the name that passkeys work
    with.
    """
    public = runtime_of(request).public_url
    if public is not None:
        return public.rstrip("/")
    host, port = request.scope.get("server") or ("localhost", None)
    name = "localhost" if _is_here(host) else f"[{host}]" if ":" in host else host
    return f"{request.scope['scheme']}://{name}" + ("" if port in (None, 80, 443) else f":{port}")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return "/" in host  # a socket in the file system
