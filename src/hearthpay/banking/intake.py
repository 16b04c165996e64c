"""Processes the bank's files of returns and notifications of change, each once and completely or not at all."""

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.banking.corrections import correct_account
from hearthpay.banking.gateways.gateway import IncomingFile
from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.returns import ChangeNotice, Return, ReturnFile, parse_returns
from hearthpay.banking.return_handling import ReturnedEntry, mark_returned
from hearthpay.database.typed_rows import fetch_all, fetch_one, query
from hearthpay.security.key_ring import KeyRing


class _KnownRow(NamedTuple):
    sha256: bytes
    problem: str | None


_KNOWN: Final = query(_KnownRow, "SELECT sha256, problem FROM bank_intake WHERE name = :name")
_CLAIM: Final = text(
    "INSERT INTO bank_intake (id, name, sha256, status, returns, changes, problem, received_at) "
    "VALUES (:id, :name, :sha256, :status, :returns, :changes, :problem, :now) "
    "ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, status = excluded.status, returns = excluded.returns, "
    "changes = excluded.changes, problem = excluded.problem, received_at = excluded.received_at "
    "WHERE bank_intake.status = 'refused' AND bank_intake.sha256 <> excluded.sha256 RETURNING id"
)


class _FindRow(NamedTuple):
    id: UUID
    trace_number: str
    kind: str
    amount: int
    status: str
    return_code: str | None
    bank_account_id: UUID


# Trace numbers restart at some point: the newest entry with the number is meant.
_FIND: Final = query(
    _FindRow,
    "SELECT DISTINCT ON (trace_number) id, trace_number, kind, amount, status, return_code, bank_account_id "
    "FROM bank_entries WHERE trace_number = ANY(CAST(:traces AS bpchar[])) "
    "ORDER BY trace_number, effective_date DESC, id DESC",
)


@dataclass(frozen=True, slots=True)
class Intake:
    """The result of processing a file.

    `duplicate`: it had been processed before, and changed nothing now; `refused`: why the whole file was rejected;
    `problems`: which single records couldn't be used, and why.
    """

    name: str
    duplicate: bool = False
    refused: str | None = None
    returned: tuple[ReturnedEntry, ...] = ()
    changes: int = 0
    problems: tuple[str, ...] = ()


async def take_in(
    session: AsyncSession, ring: KeyRing, incoming: IncomingFile, now: datetime.datetime
) -> Intake:
    """Process a file that the bank has sent, and record it; acknowledge it only after the commit, and only if not
    refused.

    A file with any error changes nothing and is recorded as refused; it may be a partial upload, so the same name is
    checked again once its content differs. A file with a name that was already processed changes nothing: with the
    same content it is a duplicate, with other content it is refused.
    """
    digest = hashlib.sha256(incoming.content).digest()
    try:
        file = parse_returns(incoming.content)
    except NachaError as error:
        refused: str | None = str(error)
        file = None
    else:
        refused = None
    claimed = await session.scalar(
        _CLAIM,
        {
            "id": uuid7(),
            "name": incoming.name,
            "sha256": digest,
            "status": "refused" if refused else "processed",
            "returns": len(file.returns) if file else 0,
            "changes": len(file.changes) if file else 0,
            "problem": refused,
            "now": now,
        },
    )
    if claimed is None:
        return await _seen_before(session, incoming, digest)
    if file is None:
        return Intake(incoming.name, refused=refused)
    return await _process(session, ring, incoming.name, file, now)


async def _seen_before(session: AsyncSession, incoming: IncomingFile, digest: bytes) -> Intake:
    known = await fetch_one(session, _KNOWN, {"name": incoming.name})
    if known.sha256 == digest:
        return Intake(incoming.name, duplicate=True, refused=known.problem)
    return Intake(incoming.name, refused="another file of this name has been taken in before")


async def _process(
    session: AsyncSession, ring: KeyRing, name: str, file: ReturnFile, now: datetime.datetime
) -> Intake:
    traces = [each.original_trace for each in file.returns]
    traces += [each.original_trace for each in file.changes]
    entries = {row.trace_number: row for row in await fetch_all(session, _FIND, {"traces": traces})}
    codes, problems = _match_returns(file.returns, entries)
    returned = await mark_returned(session, now, codes)
    problems += [
        f"entry {entry_id}: is not on its way" for entry_id in codes.keys() - {e.entry_id for e in returned}
    ]
    changes = 0
    for notice in file.changes:
        problem = await _change(session, ring, notice, entries, now)
        if problem is None:
            changes += 1
        else:
            problems.append(f"{notice.code} of trace {notice.original_trace}: {problem}")
    return Intake(name, returned=returned, changes=changes, problems=tuple(problems))


def _match_returns(
    returns: Sequence[Return], entries: Mapping[str, _FindRow]
) -> tuple[dict[UUID, str], list[str]]:
    """Return the code of each returned entry, and what doesn't match anything we sent."""
    codes: dict[UUID, str] = {}
    problems: list[str] = []
    for each in returns:
        entry = entries.get(each.original_trace)
        problem = _mismatch(each, entry, codes)
        if entry is not None and problem is None:
            codes[entry.id] = each.code
        else:
            problems.append(f"{each.code} of trace {each.original_trace}: {problem}")
    return codes, problems


def _mismatch(each: Return, entry: _FindRow | None, codes: dict[UUID, str]) -> str | None:
    if entry is None:
        return "no entry was sent under this number"
    if entry.amount != each.amount_cents:
        return f"the entry was sent with {entry.amount} cents, not {each.amount_cents}"
    if entry.kind != "prenote" and each.is_debit != (entry.kind in ("debit", "reversal")):
        return "the entry went the other way"
    if entry.status == "returned":
        return f"the entry has come back before, as {entry.return_code}"
    if entry.id in codes:
        return "the file returns the entry twice"
    return None


async def _change(
    session: AsyncSession,
    ring: KeyRing,
    notice: ChangeNotice,
    entries: Mapping[str, _FindRow],
    now: datetime.datetime,
) -> str | None:
    """Correct the account as the bank says; return why that wasn't possible."""
    entry = entries.get(notice.original_trace)
    if entry is None:
        return "no entry was sent under this number"
    if notice.correction is None:
        refusal = f": it is to be refused as {notice.refusal}" if notice.refusal else ""
        return f"corrects no account{refusal}"
    return await correct_account(session, ring, entry.bank_account_id, notice.code, notice.correction, now)
