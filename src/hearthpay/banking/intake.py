"""Processes the bank's files of returns and notifications of change, each once, told apart by their content."""

import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.banking.corrections import correct_account
from hearthpay.banking.gateways.gateway import IncomingFile
from hearthpay.banking.matching import SentPayment, match_file
from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.returns import ChangeNotice, ReturnFile, parse_returns
from hearthpay.banking.return_codes import return_codes
from hearthpay.banking.return_handling import ReturnedEntry, mark_returned
from hearthpay.banking.unread_files import Unread, describe, read_stored
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.security.key_ring import KeyRing

READER: Final = 1
"""Raised when the reader learns to use more of a file: open files are then read again."""

_TURN: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('hearthpay bank intake', 0))")


class _KnownRow(NamedTuple):
    id: UUID
    status: str
    unread: list[dict[str, Any]]
    problem: str | None
    reader: int
    is_open: bool
    end_code: str | None


_KNOWN: Final = query(
    _KnownRow,
    "SELECT id, status, unread, problem, reader, ended_at IS NULL AS is_open, end_code FROM bank_intake "
    "WHERE sha256 = CAST(:sha256 AS bytea) OR CAST(:sha256 AS bytea) IS NULL AND sha256 IS NULL AND name = :name",
)
_STORE: Final = text(
    "INSERT INTO bank_intake (id, name, sha256, size, status, returns, changes, problem, unread, held_entries, "
    "reader, received_at, ended_at, end_code) "
    "VALUES (:id, :name, :sha256, :size, :status, :returns, :changes, :problem, "
    "CAST(:unread AS jsonb), CAST(:held AS uuid[]), :reader, :now, "
    "CASE WHEN CAST(:status AS text) = 'processed' THEN CAST(:now AS timestamptz) END, "
    "CASE WHEN CAST(:status AS text) = 'processed' THEN 'read' END)"
)
# What it holds was presented before it was first seen.
_STORE_AGAIN: Final = text(
    "UPDATE bank_intake SET name = :name, size = :size, status = :status, returns = :returns, changes = :changes, "
    "problem = :problem, unread = CAST(:unread AS jsonb), held_entries = CAST(:held AS uuid[]), "
    "reader = :reader, ended_at = CASE WHEN CAST(:status AS text) = 'processed' THEN CAST(:now AS timestamptz) END, "
    "end_code = CASE WHEN CAST(:status AS text) = 'processed' THEN 'read' END, end_reason = NULL WHERE id = :id"
)


class _EarlierRow(NamedTuple):
    id: UUID
    sha256: bytes | None
    size: int | None


_EARLIER: Final = query(
    _EarlierRow,
    "SELECT id, sha256, size FROM bank_intake WHERE name = :name AND ended_at IS NULL AND id <> :id",
)
_REPLACED: Final = text(
    "UPDATE bank_intake SET ended_at = :now, end_code = 'replaced' WHERE id = ANY(CAST(:ids AS uuid[]))"
)
# A record that held one payment has its answer once another file returns this payment.
_RETURNED: Final = text(
    "UPDATE bank_intake i SET ended_at = :now, end_code = 'returned' WHERE i.ended_at IS NULL AND i.id <> :id "
    "AND i.held_entries && CAST(:entries AS uuid[]) AND NOT EXISTS (SELECT FROM bank_entries e "
    "WHERE e.id = ANY(i.held_entries) AND e.status IN ('sent', 'settled'))"
)


@dataclass(frozen=True, slots=True)
class Intake:
    """The result of processing a file.

    `duplicate`: its content is known, and nothing was changed now. `refused`: why the whole file can't be read.
    `unread`: what of it holds payments until it is dealt with. `problems`: which single records couldn't be used, and
    why. `finished`: nothing of it is open, so it may be put away.
    """

    name: str
    duplicate: bool = False
    refused: str | None = None
    returned: tuple[ReturnedEntry, ...] = ()
    changes: int = 0
    problems: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether the file may be put away."""
        return self.refused is None and not self.unread


async def take_in(
    session: AsyncSession,
    ring: KeyRing,
    incoming: IncomingFile,
    now: datetime.datetime,
    *,
    company_id: str | None = None,
) -> Intake:
    """Process a file that the bank has sent, and record it; acknowledge it only after the commit, and only if it is
    finished.

    A file whose counts or totals are wrong changes nothing, and holds every debit that was presented before. In any
    other, the good records are used at once, and the others hold what they may concern. The same content counts once,
    under whatever name; an open file is read again by a newer reader. `company_id` is
    ours: a return of another company that fits none of our entries isn't taken. Without it every company is ours.
    """
    await session.execute(_TURN)
    digest = None if incoming.problem else hashlib.sha256(incoming.content).digest()
    name = incoming.printable_name
    known = await fetch_optional(session, _KNOWN, {"sha256": digest, "name": name})
    if known is not None and known.end_code not in (None, "upgraded"):
        return Intake(name, duplicate=True)
    if known is not None and known.is_open and known.reader == READER:
        return Intake(name, duplicate=True, refused=known.problem, unread=read_stored(known.unread))
    file, whole = _read(incoming)
    if file is None:
        assert whole is not None
        return await _store_unread(session, incoming, digest, known, whole, now)
    return await _process(session, ring, incoming, digest, known, file, now, company_id)


async def note_unprocessed(
    session: AsyncSession, incoming: IncomingFile, error: Exception, now: datetime.datetime
) -> Intake:
    """Record that processing the file failed, so that it holds what it may concern like one that can't be read."""
    await session.execute(_TURN)
    digest = None if incoming.problem else hashlib.sha256(incoming.content).digest()
    known = await fetch_optional(session, _KNOWN, {"sha256": digest, "name": incoming.printable_name})
    whole = Unread("not_processed", detail=type(error).__name__)
    return await _store_unread(session, incoming, digest, known, whole, now)


def _read(incoming: IncomingFile) -> tuple[ReturnFile | None, Unread | None]:
    if incoming.problem is not None:
        return None, Unread("not_opened", detail=incoming.problem)
    try:
        return parse_returns(incoming.content), None
    except NachaError as error:
        return None, Unread("damaged", line=error.line, detail=str(error))


async def _store_unread(
    session: AsyncSession,
    incoming: IncomingFile,
    digest: bytes | None,
    known: _KnownRow | None,
    whole: Unread,
    now: datetime.datetime,
) -> Intake:
    """Record a file of which nothing can be used."""
    intake = Intake(
        incoming.printable_name, duplicate=known is not None, refused=describe(whole), unread=(whole,)
    )
    if known is None or not known.is_open or known.unread != [whole.stored()]:
        # What failed, or couldn't be opened, is tried again by every round.
        reader = READER if whole.kind == "damaged" else 0
        await _store(session, incoming, digest, known, intake, (0, 0), None, now, reader)
    return intake


async def _process(
    session: AsyncSession,
    ring: KeyRing,
    incoming: IncomingFile,
    digest: bytes | None,
    known: _KnownRow | None,
    file: ReturnFile,
    now: datetime.datetime,
    company_id: str | None,
) -> Intake:
    matched = await match_file(session, ring, file, company_id)
    # What an older reader could use of the file was used, and told, then.
    used_before = known is not None and known.status == "partly"
    returned = await mark_returned(session, now, matched.codes)
    problems = [] if used_before else list(matched.problems)
    missing = matched.codes.keys() - {each.entry_id for each in returned}
    problems += [f"entry {entry_id}: is not on its way" for entry_id in missing]
    changes = 0
    for notice in () if used_before else file.changes:
        entry = matched.changed.get(notice.original_trace)
        problem = await _change(session, ring, notice, entry, now)
        if problem is None:
            changes += 1
        else:
            problems.append(f"{notice.code} of trace {notice.original_trace}: {problem}")
    intake = Intake(
        incoming.printable_name,
        returned=returned,
        changes=changes,
        problems=tuple(problems),
        unread=matched.unread,
    )
    counts = (len(file.returns), len(file.changes))
    held = sorted({entry for each in matched.unread for entry in each.entries})
    row_id = await _store(session, incoming, digest, known, intake, counts, held, now)
    if returned:
        entries = [each.entry_id for each in returned]
        await session.execute(_RETURNED, {"id": row_id, "entries": entries, "now": now})
    await _end_earlier(session, incoming, row_id, now)
    return intake


async def _store(
    session: AsyncSession,
    incoming: IncomingFile,
    digest: bytes | None,
    known: _KnownRow | None,
    intake: Intake,
    counts: tuple[int, int],
    held: Sequence[UUID] | None,
    now: datetime.datetime,
    reader: int = READER,
) -> UUID:
    row_id = uuid7() if known is None else known.id
    status = "refused" if intake.refused is not None else "partly" if intake.unread else "processed"
    values = {
        "id": row_id,
        "name": incoming.printable_name,
        "size": None if digest is None else len(incoming.content),
        "status": status,
        "returns": counts[0],
        "changes": counts[1],
        "problem": intake.refused,
        "unread": orjson.dumps([each.stored() for each in intake.unread]).decode(),
        "held": None if held is None else list(held),
        "reader": reader,
        "now": now,
    }
    if known is None:
        await session.execute(_STORE, {**values, "sha256": digest})
    else:
        await session.execute(_STORE_AGAIN, values)
    return row_id


async def _end_earlier(
    session: AsyncSession, incoming: IncomingFile, row_id: UUID, now: datetime.datetime
) -> None:
    """End what the file, now that it is read, shows to have been a part of it: an upload seen halfway.

    A file of the same name that couldn't be opened is this one. Another content of the same name stays open: the bank
    may have put a new file in the place of one that nobody has read.
    """
    earlier = await fetch_all(session, _EARLIER, {"name": incoming.printable_name, "id": row_id})
    covered = [
        row.id
        for row in earlier
        if row.sha256 is None
        or (
            row.size is not None
            and hashlib.sha256(incoming.content[: row.size]).digest() == bytes(row.sha256)
        )
    ]
    if covered:
        await session.execute(_REPLACED, {"ids": covered, "now": now})


async def _change(
    session: AsyncSession,
    ring: KeyRing,
    notice: ChangeNotice,
    entry: SentPayment | str | None,
    now: datetime.datetime,
) -> str | None:
    """Correct the account as the bank says; return why that wasn't possible."""
    if entry is None:
        return "no entry was sent under this number"
    if isinstance(entry, str):
        return entry
    if notice.correction is None:
        what = return_codes().changes.get(notice.code, "").lower()
        refusal = f": it is to be refused as {notice.refusal}" if notice.refusal else ""
        return f"corrects no account{f' but the {what}' if what and not refusal else ''}{refusal}"
    return await correct_account(session, ring, entry.bank_account_id, notice.code, notice.correction, now)
