"""Distinguishes a database that temporarily can't work from a faulty statement."""

from __future__ import annotations

from typing import Final

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

_LOST: Final = "the database connection was lost"
_UNREACHABLE: Final = "the database cannot be reached"
_TAKEN_AWAY: Final = (
    "a prepared statement is gone: with a pooler of transactions, set DATABASE_PREPARED_STATEMENTS=off"
)
# By SQLSTATE, or by its class of two characters; the errors of PostgreSQL 18, appendix A.
_REASONS: Final = {
    "08": _LOST,
    "53": "the database's server has run out of resources",
    "58": "the database's server has trouble with its files",
    "53100": "the disk of the database's server is full",
    "53200": "the database's server is out of memory",
    "53300": "the database has no connection left",
    "25006": "the database takes no writes: it is read-only, or no longer the primary server",
    "25P03": "the transaction was idle for too long",
    "26000": _TAKEN_AWAY,
    "42P05": _TAKEN_AWAY,
    "40001": "the transaction met another one and has to be repeated",
    "40P01": "the transaction met another one and has to be repeated",
    "55P03": "another transaction held a lock for too long",
    "57014": "a statement took too long",
    "57P01": "the database's server is being stopped or restarted",
    "57P02": "the database's server is recovering from a crash",
    "57P03": "the database's server is starting, stopping or recovering",
    "57P05": "the connection was idle for too long",
}


class DatabaseUnavailable(Exception):  # noqa: N818 - the name says what the caller sees
    """The database couldn't be reached, couldn't do its work, or was lost during a transaction.

    If it is lost at the commit, the outcome is unknown: the caller may only repeat what is idempotent.
    """

    def __init__(self, message: str = _UNREACHABLE, sqlstate: str | None = None) -> None:
        """`message` says what is known, without a value; `sqlstate` is PostgreSQL's code, if there is one."""
        super().__init__(message)
        self.sqlstate = sqlstate


class WrongRoleError(DatabaseUnavailable):
    """The connection doesn't act as the required role: nothing may be read or written through it."""


def outage_of(error: DBAPIError | PoolTimeoutError) -> DatabaseUnavailable | None:
    """Return the error to raise if the server or the connection is at fault, so that the same work may succeed later.

    None for a fault of the statement itself.
    """
    if isinstance(error, PoolTimeoutError):
        return DatabaseUnavailable("every connection to the database is in use")
    state = sqlstate_of(error)
    reason = None if state is None else _REASONS.get(state, _REASONS.get(state[:2]))
    if reason is not None:
        return DatabaseUnavailable(reason, state)
    if error.connection_invalidated or (
        state is None and isinstance(error, OperationalError | InterfaceError)
    ):
        return DatabaseUnavailable(_LOST, state)
    return None


def sqlstate_of(error: DBAPIError) -> str | None:
    """Return PostgreSQL's code of the error; None if it came from the driver or the network."""
    state: str | None = getattr(error.orig, "sqlstate", None)
    return state
