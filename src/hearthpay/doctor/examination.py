"""Runs every check over one frozen view of the database, and tells what differs."""

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.session import Database
from hearthpay.doctor.checks import CHECKS, Check
from hearthpay.doctor.year_checks import OPEN

#: How many differences of one check are told one by one; the others are counted.
MOST_TOLD: Final = 100

# One snapshot for every check, so that what is paid in the meantime cannot look like a difference; and reading only,
# so that a look at the books cannot change them. Hashes of millions of lines may take some memory, but not all of it.
_SETTINGS: Final = {"statement_timeout": "0", "idle_in_transaction_session_timeout": "0", "work_mem": "64MB"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure that is not what it is proved to be; amounts in dollars."""

    subject: str
    id: UUID
    what: str
    recorded: str | None
    expected: str | None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found: how many differences, the first of them, and how long it took."""

    name: str
    law: str
    found: int
    differences: tuple[Difference, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class OpenTax:
    """Tax of a year that paychecks have charged too little of, or, negative, too much; the amount in dollars.

    No difference in the books: the next paycheck moves it, or else the year's documents must tell it.
    """

    employee_id: UUID
    employer_id: UUID
    tax_year: int
    code: str
    amount: str


Progress = Callable[[int, int, str], None]
"""Told before each check: how many are done, how many there are, and the name of the next."""


def open_for_reading(owner_url: str, owner: str) -> Database:
    """Return the database as the schema's owner sees it: every tenant, frozen at a moment, and nothing can be written.

    `owner` is the role that owns the tables. Each transaction is one view. To be disposed of by the caller.
    """
    return Database(owner_url, role=owner, pool_size=1, settings=_SETTINGS, frozen_view=True)


async def examine(
    session: AsyncSession, now: datetime.datetime, progress: Progress, checks: Sequence[Check] = CHECKS
) -> list[CheckResult]:
    """Run the checks in the session's transaction; it must see every tenant. Only queries are sent."""
    results = []
    for position, check in enumerate(checks):
        progress(position, len(checks), check.__name__)
        started = time.monotonic()
        rows = (await session.execute(_statement(check), {"now": now, "most": MOST_TOLD})).all()
        results.append(
            CheckResult(
                name=check.__name__,
                law=(check.__doc__ or "").strip(),
                found=rows[0].found if rows else 0,
                differences=tuple(
                    Difference(row.subject, row.id, row.what, row.recorded, row.expected) for row in rows
                ),
                seconds=time.monotonic() - started,
            )
        )
    return results


async def open_taxes(session: AsyncSession) -> list[OpenTax]:
    """Return what the years of all employees still owe or were charged too much, by employee, year and line."""
    rows = await session.execute(text(OPEN))
    return [OpenTax(row.employee_id, row.employer_id, row.tax_year, row.code, row.amount) for row in rows]


def _statement(check: Check) -> TextClause:
    query = check()
    return text(
        f"WITH d (subject, id, what, recorded, expected) AS ({query}) "
        "SELECT *, count(*) OVER () AS found FROM d ORDER BY id, what LIMIT :most"
    )
