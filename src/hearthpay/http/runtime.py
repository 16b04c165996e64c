"""What the running service hands to its routes: database, clock and the authenticator of keys."""

from dataclasses import dataclass

from fastapi import FastAPI
from starlette.requests import Request

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.http.key_lookup import KeyLookup


@dataclass(frozen=True, slots=True)
class Runtime:
    """The service's parts; `public_url` is its address as clients see it (None: as they call it)."""

    database: Database
    clock: Clock
    keys: KeyLookup
    public_url: str | None = None


def install(app: FastAPI, runtime: Runtime) -> None:
    """Make `runtime` known to every request of `app`."""
    app.state.runtime = runtime


def runtime_of(request: Request) -> Runtime:
    """The parts of the service that answers `request`."""
    runtime: Runtime = request.app.state.runtime
    return runtime
