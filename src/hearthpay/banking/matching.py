"""Matches the records of a bank's file with the payments that were sent: what came back, and what can't be decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.nacha.returns import ChangeNotice, Return, ReturnFile, UnreadRecord
from hearthpay.banking.sent_entries import SentEntry, read_sent
from hearthpay.banking.unread_files import Unread, UnreadCode
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.security.key_ring import KeyRing

_OF_DEBITS: Final = ("debit", "reversal")


class SentPayment(NamedTuple):
    """A payment that was sent under a trace number; `amount` is cents."""

    id: UUID
    trace_number: str
    kind: str
    amount: int
    status: str
    return_code: str | None
    bank_account_id: UUID
    file_id: UUID | None


# Trace numbers restart at some point: the newest entry with the number is meant.
_FIND: Final = query(
    SentPayment,
    "SELECT DISTINCT ON (trace_number) id, trace_number, kind, amount, status, return_code, bank_account_id, file_id "
    "FROM bank_entries WHERE trace_number = ANY(CAST(:traces AS bpchar[])) "
    "ORDER BY trace_number, effective_date DESC, id DESC",
)


class _CandidateRow(NamedTuple):
    id: UUID
    kind: str
    amount: int


# Of a debit that has settled, a return matters until everything that was paid from it has left.
_CANDIDATES: Final = query(
    _CandidateRow,
    "SELECT e.id, e.kind, e.amount FROM bank_entries e WHERE NOT e.sandbox AND e.amount = ANY(:amounts) "
    "AND (e.status = 'sent' OR e.status = 'settled' AND e.kind = 'debit' AND EXISTS (SELECT FROM bank_entries c "
    "WHERE c.payroll_id = e.payroll_id AND c.kind IN ('credit', 'refund') AND c.status = 'pending')) ORDER BY e.id",
)


@dataclass(slots=True)
class Matched:
    """What a file says of our payments.

    `codes`: the return code of each payment that came back. `changed`: the payment of each notification of change by
    its trace number, or why it isn't taken. `problems`: what fits nothing of ours, in words. `unread`: what can't be
    decided, with what it holds.
    """

    codes: dict[UUID, str] = field(default_factory=dict)
    changed: dict[str, SentPayment | str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: tuple[Unread, ...] = ()


class _Claim(NamedTuple):
    """What a return, or a record that can't be read, says of the payment that it concerns."""

    kind: UnreadCode
    line: int | None
    code: str | None
    trace: str | None
    amount: int
    is_debit: bool
    entry: SentPayment | None
    detail: str | None = None
    certain: bool = False
    """Whether everything else that it says fits the entry."""


async def match_file(
    session: AsyncSession, ring: KeyRing, file: ReturnFile, company_id: str | None
) -> Matched:
    """Return what the file says of our payments; `company_id` is ours, without it every company is."""
    traces = [each.original_trace for each in file.returns]
    traces += [each.original_trace for each in file.changes]
    traces += [each.original_trace for each in file.unread if each.original_trace is not None]
    entries = {row.trace_number: row for row in await fetch_all(session, _FIND, {"traces": traces})}
    sent = await read_sent(
        session, ring, {row.file_id for row in entries.values() if row.file_id is not None}
    )
    matched = Matched()
    claims: list[_Claim] = []
    for each in file.returns:
        _match_return(each, entries.get(each.original_trace), sent, company_id, matched, claims)
    for record in file.unread:
        _match_unread(record, entries, sent, company_id, matched, claims)
    for notice in file.changes:
        _match_change(notice, entries.get(notice.original_trace), sent, company_id, matched)
    matched.unread = await _unread(session, claims, matched)
    return matched


def _sent_as(entry: SentPayment, sent: Mapping[tuple[UUID, str], SentEntry]) -> SentEntry | None:
    return None if entry.file_id is None else sent.get((entry.file_id, entry.trace_number))


def _is_ours(stated: str, company_id: str | None) -> bool:
    return company_id is None or stated.strip() in ("", company_id)


def _match_return(
    each: Return,
    entry: SentPayment | None,
    sent: Mapping[tuple[UUID, str], SentEntry],
    company_id: str | None,
    matched: Matched,
    claims: list[_Claim],
) -> None:
    what = f"{each.code} of trace {each.original_trace}"
    if entry is None:
        if _is_ours(each.company_id, company_id):
            claims.append(_claim("trace_unknown", each, None))
        else:
            matched.problems.append(f"{what}: it is for another company, {each.company_id}")
    elif entry.status == "returned":
        matched.problems.append(f"{what}: the entry has come back before, as {entry.return_code}")
    elif entry.id in matched.codes:
        matched.problems.append(f"{what}: the file returns the entry twice")
    elif entry.status not in ("sent", "settled"):
        matched.problems.append(f"{what}: the entry is {entry.status}")
    elif (kind := _difference(each, entry, _sent_as(entry, sent))) is not None:
        claims.append(_claim(kind, each, entry))
    else:
        matched.codes[entry.id] = each.code


def _difference(each: Return, entry: SentPayment, sent: SentEntry | None) -> UnreadCode | None:
    if entry.amount != each.amount_cents:
        return "amount_differs"
    if entry.kind != "prenote" and each.is_debit != (entry.kind in _OF_DEBITS):
        return "direction_differs"
    if sent is not None and not sent.is_of(each.company_id):
        return "company_differs"
    if sent is not None and not sent.goes_to(each.account):
        return "account_differs"
    return None


def _claim(kind: UnreadCode, each: Return, entry: SentPayment | None) -> _Claim:
    return _Claim(kind, None, each.code, each.original_trace, each.amount_cents, each.is_debit, entry)


def _match_unread(
    record: UnreadRecord,
    entries: Mapping[str, SentPayment],
    sent: Mapping[tuple[UUID, str], SentEntry],
    company_id: str | None,
    matched: Matched,
    claims: list[_Claim],
) -> None:
    entry = None if record.original_trace is None else entries.get(record.original_trace)
    reason = str(record.problem)
    what = f"{record.code or 'a record'} of trace {record.original_trace or 'unknown'}"
    if not record.moves_money:
        matched.problems.append(f"{what}: {reason}")
        return
    if entry is None and not _is_ours(record.company_id, company_id):
        matched.problems.append(f"{what}: it is for another company, {record.company_id}: {reason}")
        return
    as_sent = None if entry is None else _sent_as(entry, sent)
    certain = (
        entry is not None
        and entry.amount == record.amount_cents
        and (entry.kind == "prenote" or record.is_debit == (entry.kind in _OF_DEBITS))
        and (as_sent is None or (as_sent.is_of(record.company_id) and as_sent.goes_to(record.account)))
    )
    claims.append(
        _Claim(
            "return_disputed" if record.disputes else "record_unknown",
            record.problem.line,
            record.code,
            record.original_trace,
            record.amount_cents,
            record.is_debit,
            entry,
            record.problem.reason,
            certain,
        )
    )


def _match_change(
    notice: ChangeNotice,
    entry: SentPayment | None,
    sent: Mapping[tuple[UUID, str], SentEntry],
    company_id: str | None,
    matched: Matched,
) -> None:
    """A notice moves no money and holds nothing: one that isn't ours is only told."""
    if entry is None:
        if not _is_ours(notice.company_id, company_id):
            matched.changed[notice.original_trace] = f"it is for another company, {notice.company_id}"
        return
    as_sent = _sent_as(entry, sent)
    if as_sent is not None and not as_sent.is_of(notice.company_id):
        matched.changed[notice.original_trace] = f"it is for another company, {notice.company_id}"
    else:
        matched.changed[notice.original_trace] = entry


async def _unread(session: AsyncSession, claims: Sequence[_Claim], matched: Matched) -> tuple[Unread, ...]:
    """Return what can't be decided; a return that fits nothing of ours at all is a problem only."""
    amounts = sorted({each.amount for each in claims if not each.certain})
    rows = await fetch_all(session, _CANDIDATES, {"amounts": amounts}) if amounts else []
    unread = []
    for claim in claims:
        held = set() if claim.entry is None else {claim.entry.id}
        if not claim.certain:
            # The amount is certain, the trace number isn't: it may be that of any payment of this amount.
            held |= {
                row.id
                for row in rows
                if row.amount == claim.amount
                and (row.kind == "prenote" or claim.is_debit == (row.kind in _OF_DEBITS))
                and row.id not in matched.codes
            }
        if claim.kind == "trace_unknown" and not held:
            matched.problems.append(
                f"{claim.code} of trace {claim.trace}: no entry was sent under this number"
            )
            continue
        differs = claim.kind == "amount_differs" and claim.entry is not None
        unread.append(
            Unread(
                claim.kind,
                claim.line,
                claim.code,
                claim.trace,
                claim.amount if differs else None,
                claim.entry.amount if differs and claim.entry is not None else None,
                claim.detail,
                frozenset(held),
            )
        )
    return tuple(unread)
