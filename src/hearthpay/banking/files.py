"""Bank files: one for each business day's cut-off, with everything that is due, delivered as often as needed.

A file is built in one transaction and stored, encrypted, before anything is sent. Whatever crashes in between, the
same bytes are sent under the same name. An entry that can't be sent waits, is named, and delays nothing else.
"""

import asyncio
import datetime
import hashlib
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.banking.authorizations import covers
from hearthpay.banking.calendar import (
    CUT_OFF,
    banking_day_on_or_after,
    is_banking_day,
    next_banking_day,
    previous_banking_day,
)
from hearthpay.banking.entries import business_date, follow_accounts
from hearthpay.banking.holds import HoldCode, PaymentHold, note_file_holds
from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.records import (
    PAYROLL,
    RETRY,
    REVERSAL,
    AccountType,
    Batch,
    Entry,
    TransactionCode,
)
from hearthpay.banking.nacha.text import NAME_LENGTH, ach_text
from hearthpay.banking.nacha.writer import write_nacha
from hearthpay.banking.originator import Originator
from hearthpay.banking.unread_files import DEBIT_IN_QUESTION
from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.database.relations import EMPLOYEES, EMPLOYERS, PAYCHECKS, PAYROLLS, VAULT
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.vault_store import log_readings
from hearthpay.security.file_seal import SealedFile, open_file, seal_file
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import (
    OwnerKind,
    SealedNumber,
    SecretOwner,
    UnreadableSecretError,
    unseal,
)

PURPOSE: Final = "banking.nacha_file"
"""The purpose recorded in the audit log for reading the numbers."""

_FUNDING: Final = "FUNDING"
_REFUND: Final = "REFUND"
_SET_ASIDE: Final = "SET ASIDE"
_DESCRIPTIONS: Final = {"credit": PAYROLL, "refund": _REFUND, "payout": _SET_ASIDE}
_LAST_SEQUENCE: Final = 9_999_999
_MODIFIERS: Final = string.ascii_uppercase + string.digits
"""Modifiers that distinguish the files of one day, in this order (Nacha Operating Rules, Appendix Three: File ID
Modifier).
"""
_IDENTIFICATION_LENGTH: Final = 15

_TURN: Final = text("SELECT pg_try_advisory_xact_lock(hashtextextended('hearthpay bank file', 0))")
# Processing a hundred thousand entries takes longer than the usual transaction limit.
_PATIENCE: Final = (
    text("SET LOCAL statement_timeout = '5min'"),
    text("SET LOCAL idle_in_transaction_session_timeout = '5min'"),
)
_BUILT: Final = text("SELECT EXISTS (SELECT FROM bank_files WHERE cut_off = :cut_off)")
_MADE_TODAY: Final = text(
    "SELECT count(*) FROM bank_files WHERE created_at >= :midnight AND created_at < :next_midnight"
)
_LOCK: Final = text(
    "SELECT id FROM bank_entries WHERE status = 'pending' AND NOT sandbox AND send_on <= :cut_off "
    "ORDER BY id FOR UPDATE"
)


class _ReadRow(NamedTuple):
    id: UUID
    kind: str
    amount: int
    attempt: int
    settle_on: datetime.date
    organization_id: UUID
    employer_id: UUID
    holder: UUID | None
    status: str
    account_type: AccountType
    tax_year: int | None
    authorized: bool
    in_question: bool
    first_name: str
    last_name: str
    routing_id: UUID | None
    routing: bytes | None
    routing_nonce: bytes | None
    routing_key: str | None
    account_id: UUID | None
    account: bytes | None
    account_nonce: bytes | None
    account_key: str | None


# One statement, so that an account's status and numbers are from one moment.
_READ: Final = query(
    _ReadRow,
    "SELECT e.id, e.kind, e.amount, e.attempt, e.settle_on, e.organization_id, e.employer_id, "
    "b.employee_id AS holder, b.status, b.account_type, c.tax_year, "
    "e.kind <> 'debit' OR {covers} AS authorized, "
    "e.kind IN ('credit', 'refund') AND (NOT :heard OR {in_question}) AS in_question, "
    "coalesce(p.first_name, h.first_name) AS first_name, coalesce(p.last_name, h.last_name) AS last_name, "
    "r.id AS routing_id, r.ciphertext AS routing, r.nonce AS routing_nonce, r.key_id AS routing_key, "
    "a.id AS account_id, a.ciphertext AS account, a.nonce AS account_nonce, a.key_id AS account_key "
    "FROM bank_entries e JOIN bank_accounts b ON b.id = e.bank_account_id "
    "JOIN {employers} h ON h.id = e.employer_id "
    "LEFT JOIN {paychecks} c ON c.id = e.paycheck_id AND e.kind = 'credit' "
    "LEFT JOIN {payrolls} d ON d.id = e.payroll_id AND e.kind = 'debit' "
    "LEFT JOIN {employees} p ON p.id = b.employee_id "
    "LEFT JOIN {vault} r ON r.owner_kind = CASE WHEN b.employee_id IS NULL THEN 'employer' ELSE 'employee' END "
    "AND r.owner_id = coalesce(b.employee_id, b.employer_id) AND r.kind = 'bank_routing' "
    "LEFT JOIN {vault} a ON a.owner_kind = r.owner_kind AND a.owner_id = r.owner_id AND a.kind = 'bank_account' "
    "WHERE e.id = ANY(:ids) ORDER BY e.id",
    covers=covers(account="b", payroll="d"),
    in_question=DEBIT_IN_QUESTION,
    employers=EMPLOYERS,
    paychecks=PAYCHECKS,
    payrolls=PAYROLLS,
    employees=EMPLOYEES,
    vault=VAULT,
)
_SEQUENCE: Final = text(
    "INSERT INTO bank_trace_numbers (originating_bank, last_used) VALUES (:odfi, 0) "
    "ON CONFLICT (originating_bank) DO UPDATE SET last_used = bank_trace_numbers.last_used RETURNING last_used"
)
_USE_SEQUENCE: Final = text("UPDATE bank_trace_numbers SET last_used = :last WHERE originating_bank = :odfi")
_INSERT: Final = text(
    "INSERT INTO bank_files (id, name, cut_off, status, entries, debit_total, credit_total, sha256, sealed_content, "
    "nonce, key_id, created_at) VALUES (:id, :name, :cut_off, 'built', :entries, :debit_total, :credit_total, "
    ":sha256, :sealed_content, :nonce, :key_id, :now)"
)
_SEND: Final = text(
    "UPDATE bank_entries e SET status = 'sent', file_id = :file, trace_number = r.trace, "
    "effective_date = r.effective_date, updated_at = :now "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:traces AS text[]), CAST(:dates AS date[])) "
    "AS r(id, trace, effective_date) WHERE e.id = r.id"
)


class _UndeliveredRow(NamedTuple):
    id: UUID
    name: str
    sealed_content: bytes
    nonce: bytes
    key_id: str


_UNDELIVERED: Final = query(
    _UndeliveredRow,
    "SELECT id, name, sealed_content, nonce, key_id FROM bank_files WHERE status = 'built' ORDER BY cut_off",
)


class FileSummary(NamedTuple):
    """A bank file as the operator's list shows it: totals in cents, and how many of its entries came back."""

    name: str
    status: str
    entries: int
    debit_total: int
    credit_total: int
    returned: int


_LIST: Final = query(
    FileSummary,
    "SELECT f.name, f.status, f.entries, f.debit_total, f.credit_total, "
    "(SELECT count(*) FROM bank_entries e WHERE e.file_id = f.id AND e.status = 'returned') AS returned "
    "FROM bank_files f ORDER BY f.cut_off DESC",
)
_DELIVERED: Final = text(
    "UPDATE bank_files SET status = 'delivered', delivered_at = :now WHERE id = :id AND status = 'built'"
)


class Outbox(Protocol):
    """The destination of files for the bank; a bank gateway is one."""

    async def deliver(self, name: str, content: bytes) -> None:
        """Deliver the whole file; repeating it with the same content is harmless."""
        ...


@dataclass(frozen=True, slots=True)
class HeldEntry:
    """An entry that was due but couldn't be sent; it is on hold until the next cut-off."""

    entry_id: UUID
    hold: PaymentHold


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """A bank file, totals in cents; `id` is None if everything that was due had to wait."""

    id: UUID | None
    name: str
    cut_off: datetime.date
    entries: int
    debit_total: int
    credit_total: int
    held: tuple[HeldEntry, ...]


@dataclass(frozen=True, slots=True)
class _Payment:
    """An entry as it goes into the file."""

    id: UUID
    entry: Entry
    description: str
    effective_date: datetime.date


def current_cut_off(now: datetime.datetime) -> datetime.date:
    """Return the business day whose cut-off, 15:00 Eastern, was the last to pass."""
    eastern = now.astimezone(BUSINESS_TIME)
    if eastern.time() >= CUT_OFF and is_banking_day(eastern.date()):
        return eastern.date()
    return previous_banking_day(eastern.date())


def earliest_settlement(now: datetime.datetime) -> datetime.date:
    """Return the first day on which a file built now can move money: after the day on which the bank processes it.

    That is the cut-off's own day, or, for a late file, the first business day from today on.
    """
    today = business_date(now)
    if current_cut_off(now) == today:
        return next_banking_day(today)
    return next_banking_day(banking_day_on_or_after(today))


async def build_file(
    database: Database,
    ring: KeyRing,
    originator: Originator,
    clock: Clock,
    *,
    cut_off: datetime.date | None = None,
    heard: bool = True,
) -> BuiltFile | None:
    """Build the file of the last cut-off that passed from every real entry that is due, and mark these as sent.

    `cut_off` is the one that the caller prepared, in case another has passed since. Without having `heard` what the
    bank returns, nothing that is paid from a debit is sent. None if there is nothing to send,
    the file exists, or another worker is building it.
    """
    now = clock.now()
    cut_off = cut_off or current_cut_off(now)
    async with database.transaction(None) as session:
        if not await session.scalar(_TURN) or await session.scalar(_BUILT, {"cut_off": cut_off}):
            return None
        for setting in _PATIENCE:
            await session.execute(setting)
        await follow_accounts(session, now, cut_off, sandbox=False)
        due = list(await session.scalars(_LOCK, {"cut_off": cut_off}))
        if not due:
            return None
        payments, held = await _read_payments(session, ring, due, now, heard=heard)
        built = await _write_file(session, ring, originator, now, cut_off, payments, held)
        await note_file_holds(session, now, {each.entry_id: each.hold for each in built.held})
    return built


async def deliver_files(database: Database, ring: KeyRing, gateway: Outbox, clock: Clock) -> tuple[str, ...]:
    """Deliver every file that the bank doesn't have yet, oldest first; return their names.

    After a crash between the delivery and its record, the same file is sent again, and the gateway recognizes it.
    Raises what the gateway raises, UnknownKeyError and UnreadableSecretError; the files before are delivered by then.
    """
    async with database.transaction(None) as session:
        rows = await fetch_all(session, _UNDELIVERED)
    for row in rows:
        content = open_file(ring, row.id, row.name, SealedFile(row.sealed_content, row.nonce, row.key_id))
        await gateway.deliver(row.name, content)
        async with database.transaction(None) as session:
            await session.execute(_DELIVERED, {"id": row.id, "now": clock.now()})
    return tuple(row.name for row in rows)


async def list_files(session: AsyncSession) -> list[FileSummary]:
    """Return every bank file, newest first: name, status, entries, totals in cents, and how many entries came back."""
    return await fetch_all(session, _LIST)


async def _read_payments(
    session: AsyncSession, ring: KeyRing, due: Sequence[UUID], now: datetime.datetime, *, heard: bool
) -> tuple[list[_Payment], list[HeldEntry]]:
    """Decrypt what the entries need, noting in the audit log which numbers were read."""
    rows = await fetch_all(session, _READ, {"ids": list(due), "now": now, "heard": heard})
    # In a thread, so that this process keeps answering and sending its heartbeat.
    payments, held, read = await asyncio.to_thread(_decrypt, ring, rows, earliest_settlement(now))
    await log_readings(session, read, purpose=PURPOSE)
    return payments, held


def _decrypt(
    ring: KeyRing, rows: Sequence[_ReadRow], earliest: datetime.date
) -> tuple[list[_Payment], list[HeldEntry], list[UUID]]:
    """Return the payments, the entries that cannot become one, and the vault's rows that were read."""
    payments: list[_Payment] = []
    held: list[HeldEntry] = []
    numbers: dict[UUID | None, str] = {}
    for row in rows:
        obstacle = _obstacle(row, earliest)
        if obstacle is None:
            try:
                _read_numbers(ring, row, numbers)
            except (KeyRingError, UnreadableSecretError) as error:
                obstacle = PaymentHold("internal", str(error))
        if obstacle is None:
            payments.append(_payment(row, numbers, earliest))
        else:
            held.append(HeldEntry(row.id, obstacle))
    return payments, held, [each for each in numbers if each is not None]


def _obstacle(row: _ReadRow, earliest: datetime.date) -> PaymentHold | None:
    arrives = max(row.settle_on, earliest)
    if row.tax_year is not None and arrives.year != row.tax_year:
        return PaymentHold(
            "arrives_in_other_year",
            f"it would arrive on {arrives}, but its paycheck belongs to {row.tax_year}",
            {"day": arrives.isoformat(), "year": row.tax_year},
        )
    requested = "verifying" if row.kind == "prenote" else "active"
    if row.status != requested:
        codes: dict[str, HoldCode] = {"failed": "account_failed", "verifying": "account_verifying"}
        return PaymentHold(codes.get(row.status, "account_not_usable"), f"the bank account is {row.status}")
    if not row.authorized:
        return PaymentHold(
            "not_authorized", "the household has not authorized debits of this account for the payroll"
        )
    if row.in_question:
        return PaymentHold("internal", "a file of the bank that is not read may return the debit")
    if row.routing is None or row.account is None:
        return PaymentHold("internal", "the vault holds no number of the bank account")
    if not ach_text(f"{row.first_name} {row.last_name}", NAME_LENGTH):
        return PaymentHold("name_not_readable", "the name has no letter that banks can read")
    return None


def _read_numbers(ring: KeyRing, row: _ReadRow, numbers: dict[UUID | None, str]) -> None:
    """Decrypt the numbers of the entry's account into `numbers`, by the vault's rows, each once."""
    kind: OwnerKind = "employer" if row.holder is None else "employee"
    owner = SecretOwner(row.organization_id, row.employer_id, False, kind, row.holder or row.employer_id)
    if row.routing_id not in numbers:
        sealed = _sealed(row.routing, row.routing_nonce, row.routing_key)
        numbers[row.routing_id] = unseal(ring, owner, "bank_routing", sealed).reveal()
    if row.account_id not in numbers:
        sealed = _sealed(row.account, row.account_nonce, row.account_key)
        numbers[row.account_id] = unseal(ring, owner, "bank_account", sealed).reveal()


def _sealed(ciphertext: bytes | None, nonce: bytes | None, key_id: str | None) -> SealedNumber:
    assert ciphertext is not None, "the entry is held without a number"
    assert nonce is not None
    assert key_id is not None
    return SealedNumber(ciphertext, nonce, key_id)


def _payment(row: _ReadRow, numbers: Mapping[UUID | None, str], earliest: datetime.date) -> _Payment:
    prenote = row.kind == "prenote"
    debit = row.kind in ("debit", "reversal") or (prenote and row.holder is None)
    return _Payment(
        id=row.id,
        entry=Entry(
            code=TransactionCode.of(row.account_type, debit=debit, prenote=prenote),
            routing=numbers[row.routing_id],
            account=numbers[row.account_id],
            amount_cents=row.amount,
            name=f"{row.first_name} {row.last_name}",
            trace="",
            identification=row.id.hex[-_IDENTIFICATION_LENGTH:].upper(),
        ),
        description=_description(row.kind, row.attempt, debit=debit),
        effective_date=max(row.settle_on, earliest),
    )


def _description(kind: str, attempt: int, *, debit: bool) -> str:
    """Return what the batch is called. A prenote goes by the name of the payments that shall follow it."""
    if kind == "reversal":
        return REVERSAL
    if debit:
        return RETRY if attempt > 1 else _FUNDING
    return _DESCRIPTIONS.get(kind, PAYROLL)


async def _write_file(
    session: AsyncSession,
    ring: KeyRing,
    originator: Originator,
    now: datetime.datetime,
    cut_off: datetime.date,
    payments: list[_Payment],
    held: list[HeldEntry],
) -> BuiltFile:
    file_id, name = uuid7(), f"hearthpay-{cut_off:%Y%m%d}.ach"
    last_used = await session.scalar(_SEQUENCE, {"odfi": originator.odfi}) or 0
    modifier = await _modifier(session, now)
    sent, batches, content, refused = await asyncio.to_thread(
        _assemble, originator, now, payments, last_used, modifier
    )
    held += refused
    if not sent:
        return BuiltFile(None, name, cut_off, 0, 0, 0, tuple(held))
    sealed = seal_file(await key_for_writing(session, ring), file_id, name, content)
    debits = sum(batch.total_debit_cents for batch in batches)
    credits_ = sum(batch.total_credit_cents for batch in batches)
    last = int(sent[-1].entry.trace[len(originator.odfi) :])
    await session.execute(_USE_SEQUENCE, {"odfi": originator.odfi, "last": last})
    await session.execute(
        _INSERT,
        {
            "id": file_id,
            "name": name,
            "cut_off": cut_off,
            "entries": len(sent),
            "debit_total": debits,
            "credit_total": credits_,
            "sha256": hashlib.sha256(content).digest(),
            "sealed_content": sealed.ciphertext,
            "nonce": sealed.nonce,
            "key_id": sealed.key_id,
            "now": now,
        },
    )
    await session.execute(
        _SEND,
        {
            "file": file_id,
            "now": now,
            "ids": [payment.id for payment in sent],
            "traces": [payment.entry.trace for payment in sent],
            "dates": [payment.effective_date for payment in sent],
        },
    )
    return BuiltFile(file_id, name, cut_off, len(sent), debits, credits_, tuple(held))


async def _modifier(session: AsyncSession, now: datetime.datetime) -> str:
    """Return the next file's modifier: A for the first file made on the day of its header, an Eastern one, then B and
    so on.

    There is one file for a cut-off, so a day that makes up for some that were missed has few.
    """
    day = business_date(now)
    midnights = [
        datetime.datetime.combine(each, datetime.time(), BUSINESS_TIME)
        for each in (day, day + datetime.timedelta(days=1))
    ]
    made = await session.scalar(_MADE_TODAY, dict(zip(("midnight", "next_midnight"), midnights, strict=True)))
    return _MODIFIERS[made or 0]


def _assemble(
    originator: Originator,
    now: datetime.datetime,
    payments: Sequence[_Payment],
    last_used: int,
    modifier: str,
) -> tuple[list[_Payment], list[Batch], bytes, list[HeldEntry]]:
    """Return the payments with their trace numbers, their batches and the file's bytes; and what the format can't
    carry.

    Trace numbers continue from the last one used, and restart before they would run out within the file.
    """
    waiting = sorted(payments, key=lambda each: (each.effective_date, each.description, each.id))
    refused: list[HeldEntry] = []
    while waiting:
        first = last_used + 1 if last_used + len(waiting) <= _LAST_SEQUENCE else 1
        numbered = [
            replace(each, entry=replace(each.entry, trace=f"{originator.odfi}{sequence:07}"))
            for sequence, each in enumerate(waiting, start=first)
        ]
        batches = _batches(originator, numbered)
        try:
            content = write_nacha(originator.file(now, tuple(batches), modifier))
        except NachaError as error:
            if error.batch is None or error.entry is None:
                raise
            position = sum(len(batch.entries) for batch in batches[: error.batch]) + error.entry
            refused.append(
                HeldEntry(waiting.pop(position).id, PaymentHold("internal", f"{error.field}: {error.reason}"))
            )
        else:
            return numbered, batches, content, refused
    return [], [], b"", refused


def _batches(originator: Originator, payments: Sequence[_Payment]) -> list[Batch]:
    groups = groupby(payments, key=lambda each: (each.effective_date, each.description))
    return [
        originator.batch(number, description, effective_date, tuple(each.entry for each in group))
        for number, ((effective_date, description), group) in enumerate(groups, start=1)
    ]
