"""What a household entered about its duties, as its calendar counts it, with one statement besides its payments."""

import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import FILINGS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.duties.household import ClosedAccount, Filing, RecordedFiling
from hearthpay.duties.ledger_records import read_payments
from hearthpay.duties.records import DutyFacts
from hearthpay.duties.rules import duties_of


class _EntryRow(NamedTuple):
    kind: Literal["mark", "choice", "closing", "filing"]
    jurisdiction: str
    name: str
    frequency: str
    year: int
    day: datetime.date
    total: int | None
    id: UUID


_ENTRIES: Final = query(
    _EntryRow,
    "SELECT 'mark' AS kind, '' AS jurisdiction, item_key AS name, '' AS frequency, 0 AS year, done_on AS day, "
    "CAST(NULL AS bigint) AS total, id FROM duty_marks WHERE employer_id = :employer AND done_on IS NOT NULL "
    "UNION ALL SELECT 'choice', jurisdiction, account, frequency, since_year, DATE '2000-01-01', NULL, id "
    "FROM filing_choices WHERE employer_id = :employer AND frequency IS NOT NULL "
    "UNION ALL SELECT 'closing', jurisdiction, account, '', 0, closed_on, NULL, id "
    "FROM closed_accounts WHERE employer_id = :employer AND closed_on IS NOT NULL "
    "UNION ALL SELECT 'filing', '', f.item_key, '', 0, f.filed_on, CAST(f.figures ->> 'total' AS bigint), f.id "
    "FROM {filings} f WHERE f.employer_id = :employer AND f.reverses IS NULL "
    "AND NOT EXISTS (SELECT FROM {filings} r WHERE r.reverses = f.id) ORDER BY kind, jurisdiction, name, year, id",
    filings=FILINGS,
)
"""In order of their ids, so that of several filings of an item the last that was recorded counts."""


async def read_facts(session: AsyncSession, employer_id: UUID) -> DutyFacts:
    """Return what a household marked as done, chose, closed, filed and paid."""
    entries: dict[str, list[_EntryRow]] = {"mark": [], "choice": [], "closing": [], "filing": []}
    for row in await fetch_all(session, _ENTRIES, {"employer": employer_id}):
        entries[row.kind].append(row)
    return DutyFacts(
        done={row.name: row.day for row in entries["mark"]},
        filings=tuple(
            Filing(row.jurisdiction, row.name, row.frequency, row.year)
            for row in entries["choice"]
            if not _is_retired(row.jurisdiction, row.name, row.frequency)
        ),
        closed=tuple(ClosedAccount(row.jurisdiction, row.name, row.day) for row in entries["closing"]),
        payments=await read_payments(session, employer_id),
        filed={row.name: RecordedFiling(row.day, row.total) for row in entries["filing"]},
    )


def _is_retired(jurisdiction: str, account: str, frequency: str) -> bool:
    """Return whether a chosen frequency is one that was once listed but the agency doesn't have."""
    return any(
        frequency in known.retired for known in duties_of(jurisdiction).accounts if known.name == account
    )
