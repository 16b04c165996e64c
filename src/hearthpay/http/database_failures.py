"""The messages for a database that is currently unavailable: the cause from its SQLSTATE, without any value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_POST_IS_SAFE: Final = "Try again; a POST is safe to repeat with its Idempotency-Key."


@dataclass(frozen=True, slots=True)
class DatabaseFailure:
    """A kind of failure: its name in the log, the message for the client, and when to retry, in seconds."""

    kind: str
    message: str
    retry_after: int


OUT_OF_REACH: Final = DatabaseFailure(
    "unreachable", f"The database cannot be reached just now. {_POST_IS_SAFE}", retry_after=2
)
_RECOVERING: Final = DatabaseFailure(
    "restarting", f"The database is being restarted just now. {_POST_IS_SAFE}", retry_after=2
)
_RESOURCES: Final = DatabaseFailure(
    "out_of_resources", f"The database has run out of resources. {_POST_IS_SAFE}", retry_after=10
)
_FILES: Final = DatabaseFailure(
    "storage_failure", f"The database has trouble with its storage. {_POST_IS_SAFE}", retry_after=60
)
_CONTENTION: Final = DatabaseFailure(
    "contention", f"Another request was in the way for too long. {_POST_IS_SAFE}", retry_after=1
)

# By SQLSTATE, or by its two-character class (PostgreSQL 18, appendix A).
_TROUBLES: Final = {
    "08": OUT_OF_REACH,
    "53": _RESOURCES,
    "53100": DatabaseFailure(
        "disk_full", f"The database's disk is full: nothing was saved. {_POST_IS_SAFE}", retry_after=60
    ),
    "53200": DatabaseFailure(
        "out_of_memory", f"The database is out of memory. {_POST_IS_SAFE}", retry_after=10
    ),
    "53300": DatabaseFailure(
        "too_many_connections", f"The database has no connection left. {_POST_IS_SAFE}", retry_after=2
    ),
    "25006": DatabaseFailure(
        "read_only", f"The database takes no writes just now: nothing was saved. {_POST_IS_SAFE}", 30
    ),
    "25P03": DatabaseFailure("transaction_too_long", f"The transaction took too long. {_POST_IS_SAFE}", 2),
    "40001": _CONTENTION,
    "40P01": _CONTENTION,
    "55P03": _CONTENTION,
    "57014": DatabaseFailure(
        "statement_too_long", f"A statement took too long and was given up. {_POST_IS_SAFE}", 2
    ),
    "57P01": _RECOVERING,
    "57P02": _RECOVERING,
    "57P03": _RECOVERING,
    "57P05": OUT_OF_REACH,
    "58": _FILES,
    "XX001": _FILES,
    "XX002": _FILES,
    "HP001": DatabaseFailure(
        "replaced_key",
        "This process would have encrypted with a key that has been replaced: nothing was saved. Its key ring is "
        "outdated.",
        retry_after=60,
    ),
}


def sqlstate_of(failure: BaseException) -> str | None:
    """Return PostgreSQL's code in the failure or in its causes; None if it gave none, as when it is out of reach."""
    seen: set[int] = set()
    found: BaseException | None = failure
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        for bearer in (found, getattr(found, "orig", None)):
            state = getattr(bearer, "sqlstate", None)
            if isinstance(state, str):
                return state
        found = found.__cause__ or found.__context__
    return None


def database_failure_of(failure: BaseException) -> DatabaseFailure | None:
    """Return the kind of a database failure; None if the statement is at fault, or nothing is known."""
    state = sqlstate_of(failure)
    return None if state is None else _TROUBLES.get(state, _TROUBLES.get(state[:2]))
