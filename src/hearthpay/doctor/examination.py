"""Runs every check over one frozen view of the database, and reports what differs."""

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, cast
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import Query, fetch_all
from hearthpay.doctor.checks import CHECKS, CHECKS_BY_ID, Check
from hearthpay.doctor.closed_years import to_file
from hearthpay.doctor.difference import Difference
from hearthpay.doctor.proofs import PROOFS, PROOFS_BY_ID, Proof
from hearthpay.doctor.year_checks import OPEN
from hearthpay.security.key_ring import KeyRing

MOST_TOLD: Final = 100
"""How many differences of one check are listed; the others are counted."""

# One snapshot for every check, so that payments made during the run can't look like differences; and
# read-only, so that checking the books can't change them. Hashes of millions of lines may take some memory,
# but not all of it.
SNAPSHOT_SECONDS: Final = 12 * 3600
"""The longest that an examination holds its snapshot, which keeps vacuum from removing rows."""

IDLE_SECONDS: Final = 1800
"""The longest time between two of its statements."""

_SETTINGS: Final = {
    "statement_timeout": f"{SNAPSHOT_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
    "work_mem": "64MB",
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found: how many differences, the first of them, and how long it took.

    `name` is the law's id, which stays; `law` is what it says, for people, and may be reworded.
    """

    name: str
    law: str
    found: int
    differences: tuple[Difference, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class OpenTax:
    """Tax of a year that paychecks have charged too little of, or, negative, too much; the amount in dollars.

    It is no difference in the books: the next paycheck of the year corrects it. For a closed year none does, and
    `next_step` says what to file.
    """

    employee_id: UUID
    employer_id: UUID
    tax_year: int
    code: str
    amount: str
    closed: bool
    next_step: str


class _OpenRow(NamedTuple):
    employee_id: UUID
    employer_id: UUID
    tax_year: int
    code: str
    cents: int
    amount: str
    closed: bool


_OPEN: Final = Query(_OpenRow, text(OPEN))

OPEN_MATTERS: Final = "open_money"
"""The check whose differences are known open matters, money that somebody still owes: nothing in the books is wrong."""


_IDS: Final = {law: each for each, law in (*CHECKS_BY_ID.items(), *PROOFS_BY_ID.items())}


def count_wrong(results: Sequence[CheckResult]) -> int:
    """Return how many figures are wrong; open matters don't count."""
    return sum(result.found for result in results if result.name != OPEN_MATTERS)


TellChecks = Callable[[int, int, str], None]
"""Called before each check with how many are done, how many there are, and the name of the next."""


def open_for_reading(owner_url: str, owner: str) -> Database:
    """Return the database as the schema's owner sees it: every tenant, frozen at one moment, read-only.

    `owner` is the role that owns the tables. Each transaction is one view. The caller disposes of it.
    """
    return Database(owner_url, role=owner, pool_size=1, settings=_SETTINGS, frozen_view=True)


async def examine(
    session: AsyncSession,
    now: datetime.datetime,
    progress: TellChecks,
    laws: Sequence[Check | Proof] = (*CHECKS, *PROOFS),
    *,
    ring: KeyRing | None = None,
) -> list[CheckResult]:
    """Prove the laws in the session's transaction; it must see every tenant. Only queries are sent.

    Without the keys, the vault's numbers are compared only with their displayed digits. Raises DatabaseUnavailable
    after SNAPSHOT_SECONDS.
    """
    results = []
    ends = time.monotonic() + SNAPSHOT_SECONDS
    for position, law in enumerate(laws):
        progress(position, len(laws), _IDS[law])
        started = time.monotonic()
        if started > ends:
            raise DatabaseUnavailable(
                f"the examination was ended: it held its snapshot for {SNAPSHOT_SECONDS // 3600} hours"
            )
        if law in PROOFS:
            differences = await law(session, ring)
            found = len(differences)
        else:
            found, differences = await _query(session, now, cast("Check", law))
        results.append(
            CheckResult(
                name=_IDS[law],
                law=(law.__doc__ or "").strip(),
                found=found,
                differences=tuple(differences[:MOST_TOLD]),
                seconds=time.monotonic() - started,
            )
        )
    return results


async def _query(session: AsyncSession, now: datetime.datetime, check: Check) -> tuple[int, list[Difference]]:
    rows = (await session.execute(_statement(check), {"now": now, "most": MOST_TOLD})).all()
    differences = [Difference(row.subject, row.id, row.what, row.recorded, row.expected) for row in rows]
    return (rows[0].found if rows else 0), differences


async def open_taxes(session: AsyncSession, now: datetime.datetime) -> list[OpenTax]:
    """Return what the years of all employees still owe or were overcharged, by employee, year and line."""
    rows = await fetch_all(session, _OPEN, {"now": now})
    return [
        OpenTax(
            row.employee_id, row.employer_id, row.tax_year, row.code, row.amount, row.closed, _next_step(row)
        )
        for row in rows
    ]


def _next_step(row: _OpenRow) -> str:
    if row.closed:
        return f"the year is closed: {to_file(row.code)}"
    return "the next paycheck gives it back" if row.cents < 0 else "the next paycheck charges it"


def _statement(check: Check) -> TextClause:
    return _counted(check())


@lru_cache(maxsize=256)
def _counted(query: str) -> TextClause:
    """Return the statement of a check's query; kept, since to parse it takes as long as to send it."""
    return text(
        f"WITH d (subject, id, what, recorded, expected) AS ({query}) "
        "SELECT *, count(*) OVER () AS found FROM d ORDER BY id, what LIMIT :most"
    )
