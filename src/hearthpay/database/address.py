"""Addresses of PostgreSQL servers: URLs as operators write them, prepared for the driver."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

PREPARED_STATEMENTS_VARIABLE: Final = "DATABASE_PREPARED_STATEMENTS"
"""`off` for a pooler that gives each transaction another connection, which doesn't know earlier prepared statements."""

CONNECT_SECONDS: Final = 10
"""The time limit of one connection attempt, in seconds."""

_THRESHOLD: Final = "prepare_threshold"
_USUAL_THRESHOLD: Final = 5  # the driver's own: a statement is prepared when it is sent for the sixth time
# libpq's own way to name several servers: user:password@host1:port1,host2:port2/database?parameters
_SEVERAL_HOSTS: Final = re.compile(
    r"(?P<scheme>[a-z0-9+]+)://(?P<login>[^/?#]*@)?(?P<hosts>[^/?#@]*,[^/?#@]*)(?P<rest>[/?#].*)?",
    re.IGNORECASE,
)


class DatabaseAddressError(ValueError):
    """The URL isn't that of a PostgreSQL database; the message says why and never repeats the URL."""


def psycopg_url(url: str | URL) -> URL:
    """Return the URL with this project's driver; several servers may be named as `host1:5432,host2:5432`.

    Raises DatabaseAddressError when it is not a PostgreSQL URL.
    """
    try:
        target = make_url(_one_host_each(url) if isinstance(url, str) else url)
    except (ArgumentError, ValueError):
        raise DatabaseAddressError(
            "this is no database URL, such as postgresql://user:password@host:5432/database"
        ) from None
    if target.get_backend_name() not in ("postgresql", "postgres"):
        raise DatabaseAddressError(f"Hearthpay needs a PostgreSQL URL, not {target.get_backend_name()}")
    return target.set(drivername="postgresql+psycopg")


def engine_arguments(
    url: str | URL, environment: Mapping[str, str] = os.environ
) -> tuple[URL, dict[str, Any]]:
    """Return the URL and the connection arguments for SQLAlchemy's engine.

    Prepared statements are off if the URL says `prepare_threshold=0` (or `none`) or the environment
    DATABASE_PREPARED_STATEMENTS=off. Raises DatabaseAddressError.
    """
    target = psycopg_url(url)
    arguments = {"connect_timeout": CONNECT_SECONDS, _THRESHOLD: _prepare_threshold(target, environment)}
    return target.difference_update_query([_THRESHOLD]), arguments


def prepares_statements(url: str | URL, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether connections of this URL keep prepared statements: with a transaction pooler they don't."""
    return _prepare_threshold(psycopg_url(url), environment) is not None


def _prepare_threshold(target: URL, environment: Mapping[str, str]) -> int | None:
    switch = environment.get(PREPARED_STATEMENTS_VARIABLE, "").strip().lower()
    if switch not in ("", "on", "off"):
        raise DatabaseAddressError(f"{PREPARED_STATEMENTS_VARIABLE} must be on or off, not {switch!r}")
    asked = target.query.get(_THRESHOLD)
    if asked is None:
        return None if switch == "off" else _USUAL_THRESHOLD
    text = asked if isinstance(asked, str) else asked[-1]
    if text.lower() == "none":
        return None
    if not text.isdecimal():
        raise DatabaseAddressError(
            f"{_THRESHOLD} in the database's URL must be a whole number or none, not {text!r}"
        )
    return int(text) or None


def _one_host_each(url: str) -> str:
    """SQLAlchemy's way to name several servers: a `host` parameter for each."""
    several = _SEVERAL_HOSTS.fullmatch(url)
    if several is None:
        return url
    hosts = several["hosts"].split(",")
    if not all(hosts):
        raise DatabaseAddressError("the database's URL names a server without a name")
    ported = [host if re.search(r":\d+$", host) else f"{host}:5432" for host in hosts]
    path, question, query = (several["rest"] or "/").partition("?")
    parameters = "&".join([*(f"host={host}" for host in ported), *([query] if question and query else [])])
    return f"{several['scheme']}://{several['login'] or ''}{path}?{parameters}"
