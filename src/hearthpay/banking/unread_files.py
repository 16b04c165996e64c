"""Files of the bank that can't be read, as a whole or in part, and the payments that they hold.

While such a file is open, no debit that it could return counts as collected, and nothing is paid from one. A whole file
holds every debit that was presented before it was first seen. A record in a file whose counts hold says its trace
number, or at least the amount, and holds what these fit.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.banking.return_codes import return_codes
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query

UnreadCode = Literal[
    "not_opened",
    "not_processed",
    "damaged",
    "record_unknown",
    "return_disputed",
    "trace_unknown",
    "amount_differs",
    "account_differs",
    "company_differs",
    "direction_differs",
]
"""Why a file, or one of its records, couldn't be used; the first three are of whole files."""

IN_QUESTION: Final = Fragment(
    "EXISTS (SELECT FROM bank_intake i WHERE i.ended_at IS NULL AND (e.id = ANY(i.held_entries) "
    "OR i.held_entries IS NULL AND e.kind IN ('debit', 'reversal') AND EXISTS (SELECT FROM bank_files f "
    "WHERE f.id = e.file_id AND f.created_at <= i.received_at)))"
)
"""SQL: whether an unread file may hold a return of the sent payment `e`; the session is the worker's."""

DEBIT_IN_QUESTION: Final = Fragment(
    "EXISTS (SELECT FROM bank_entries d JOIN bank_intake i ON i.ended_at IS NULL AND (d.id = ANY(i.held_entries) "
    "OR i.held_entries IS NULL AND EXISTS (SELECT FROM bank_files f "
    "WHERE f.id = d.file_id AND f.created_at <= i.received_at)) "
    "WHERE d.payroll_id = e.payroll_id AND d.kind = 'debit' AND d.status IN ('sent', 'settled'))"
)
"""SQL: whether an unread file may hold a return of the debit from which the payment `e` is paid."""

LONGEST_REASON: Final = 200
"""The most characters of the reason for which a file is set aside."""

_IDS_TO_SPARE: Final = 100


class _OpenRow(NamedTuple):
    id: UUID
    name: str
    received_at: datetime.datetime
    problem: str | None
    unread: list[dict[str, Any]]
    holds_all: bool
    payments: int
    households: int
    amount: int


_OPEN: Final = query(
    _OpenRow,
    "SELECT i.id, i.name, i.received_at, i.problem, i.unread, i.held_entries IS NULL AS holds_all, "
    "count(h.entry_id) AS payments, count(DISTINCT h.employer_id) AS households, "
    "coalesce(sum(h.amount), 0)::bigint AS amount "
    "FROM bank_intake i LEFT JOIN held_by_bank_files() h ON h.file_id = i.id WHERE i.ended_at IS NULL "
    "GROUP BY i.id ORDER BY i.received_at, i.id",
)
_OPEN_FOR_OPERATOR: Final = query(
    _OpenRow,
    "SELECT id, name, received_at, problem, unread, holds_all, payments, households, amount FROM unread_bank_files()",
)
_END_FOR_OPERATOR: Final = text(
    "SELECT set_bank_file_aside(:file, :why, :at, :person, :request, CAST(:ids AS uuid[]))"
)


@dataclass(frozen=True, slots=True)
class Unread:
    """What couldn't be used: a code with its parameters, and the payments that it holds.

    `line` is that of the record, `code` the bank's, `trace` the number under which the payment was sent; each None
    if it isn't known. `stated` and `sent` are cents, the bank's and ours, where the amount differs. `detail` is the
    reader's own words for the operator.
    """

    kind: UnreadCode
    line: int | None = None
    code: str | None = None
    trace: str | None = None
    stated: int | None = None
    sent: int | None = None
    detail: str | None = None
    entries: frozenset[UUID] = field(default=frozenset(), compare=False)

    def stored(self) -> dict[str, str | int]:
        """Return what is kept of it, as JSON."""
        names = ("kind", "line", "code", "trace", "stated", "sent", "detail")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file of the bank that is open: what couldn't be used of it, and what it holds; `amount` is cents.

    `holds_all`: every debit that was presented before it was first seen.
    """

    id: UUID
    name: str
    received_at: datetime.datetime
    problem: str | None
    unread: tuple[Unread, ...]
    holds_all: bool
    payments: int
    households: int
    amount: int

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is open, for the operator's log and terminal, in English."""
        return tuple(describe(each) for each in self.unread) or (self.problem or "it could not be read",)


def describe(unread: Unread) -> str:
    """Return what couldn't be used and why, for the operator's log and terminal, in English."""
    of_trace = f" of trace {unread.trace}" if unread.trace else ""
    what = f"{unread.code}{of_trace}" if unread.code else f"the record{of_trace or f' on line {unread.line}'}"
    detail = unread.detail or ""
    sentences: Mapping[UnreadCode, str] = {
        "not_opened": detail,
        "not_processed": f"it could not be processed: {detail}",
        "damaged": detail,
        "record_unknown": f"{what}: {detail}",
        "return_disputed": f"{what}: {detail}: {return_codes().disputes.get(unread.code or '', '')}",
        "trace_unknown": f"{what}: no entry was sent under this number",
        "amount_differs": f"{what}: the entry was sent with {unread.sent} cents, not {unread.stated}",
        "account_differs": f"{what}: the entry was sent to another account",
        "company_differs": f"{what}: the entry was sent under another company identification",
        "direction_differs": f"{what}: the entry went the other way",
    }
    return sentences[unread.kind]


async def unread_files(session: AsyncSession) -> list[UnreadFile]:
    """Return the open files, oldest first; the session is the owner's or the worker's."""
    return [_file(row) for row in await fetch_all(session, _OPEN)]


async def unread_files_for_operator(session: AsyncSession) -> list[UnreadFile]:
    """Return the open files, oldest first; none unless the session's person is an operator."""
    return [_file(row) for row in await fetch_all(session, _OPEN_FOR_OPERATOR)]


async def set_aside_for_operator(
    session: AsyncSession,
    file: UnreadFile,
    reason: str,
    now: datetime.datetime,
    person: UUID,
    request_id: str | None,
) -> int | None:
    """Set the file aside: it holds nothing any more. Return how many payments it held; None if it isn't open.

    None as well unless the session's person is an operator. Each payment that it held gets an entry in the audit log.
    """
    ending = values_of_ending(file, reason, now, person, request_id)
    ended: int | None = await session.scalar(_END_FOR_OPERATOR, ending)
    return ended


def values_of_ending(
    file: UnreadFile, reason: str, now: datetime.datetime, person: UUID | None, request_id: str | None
) -> dict[str, object]:
    """Return the parameters of the functions that set a file aside, with an id for each entry in the audit log."""
    return {
        "file": file.id,
        "why": reason,
        "at": now,
        "person": person,
        "request": request_id,
        "ids": [uuid7() for _ in range(file.payments + _IDS_TO_SPARE)],
    }


def read_stored(values: Sequence[Mapping[str, Any]]) -> tuple[Unread, ...]:
    """Return what was kept as JSON."""
    return tuple(Unread(**value) for value in values)


def _file(row: _OpenRow) -> UnreadFile:
    return UnreadFile(
        row.id,
        row.name,
        row.received_at,
        row.problem,
        read_stored(row.unread),
        row.holds_all,
        row.payments,
        row.households,
        row.amount,
    )
