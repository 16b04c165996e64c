"""Reconciliation: opens every bank file and compares it with what the database says was sent, and that with payrolls.

Nothing is changed. A finding names the row, what was expected and what was found, in cents for money.
"""

import datetime
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.doctor.exposure import KINDS, open_cases
from hearthpay.security.file_seal import SealedFile, open_file
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import (
    OwnerKind,
    SealedNumber,
    SecretOwner,
    UnreadableSecretError,
    unseal,
)

TellFiles = Callable[[int, int], None]
"""Called after each file with the files compared so far, and the total."""


class _FilesRow(NamedTuple):
    id: UUID
    name: str
    entries: int
    debit_total: int
    credit_total: int
    sha256: bytes
    nonce: bytes
    key_id: str


_FILES: Final = query(
    _FilesRow,
    "SELECT id, name, entries, debit_total, credit_total, sha256, nonce, key_id FROM bank_files ORDER BY cut_off",
)
_CONTENT: Final = text("SELECT sealed_content FROM bank_files WHERE id = :id")


class _EntriesRow(NamedTuple):
    id: UUID
    trace_number: str
    amount: int
    kind: str
    status: str
    effective_date: datetime.date | None
    organization_id: UUID
    employer_id: UUID
    bank_account_id: UUID
    holder: UUID | None
    last_four: str
    replaced: bool
    ciphertext: bytes | None
    nonce: bytes | None
    key_id: str | None


_ENTRIES: Final = query(
    _EntriesRow,
    "SELECT e.id, e.trace_number, e.amount, e.kind, e.status, e.effective_date, e.organization_id, e.employer_id, "
    "e.bank_account_id, b.employee_id AS holder, b.last_four, b.status = 'replaced' AS replaced, v.ciphertext, "
    "v.nonce, v.key_id "
    "FROM bank_entries e JOIN bank_accounts b ON b.id = e.bank_account_id LEFT JOIN vault v ON v.kind = 'bank_account' "
    "AND v.owner_kind = CASE WHEN b.employee_id IS NULL THEN 'employer' ELSE 'employee' END "
    "AND v.owner_id = coalesce(b.employee_id, b.employer_id) WHERE e.file_id = :id ORDER BY e.trace_number",
)


class _CorrectedRow(NamedTuple):
    subject_id: UUID
    latest: str


# What the bank has corrected since then differs from the file, and rightly so.
_CORRECTED: Final = query(
    _CorrectedRow,
    "SELECT subject_id, max(id::text) AS latest FROM audit_log "
    "WHERE action = 'bank_account.correct' GROUP BY subject_id",
)
_COUNT: Final = text("SELECT count(*) FROM bank_entries")


@dataclass(frozen=True, slots=True)
class _Check:
    """A law, and a query of subject, expected and found for everything that differs."""

    name: str
    law: str
    query: str


_CHECKS: Final = (
    _Check(
        "debit_differs",
        "a payroll's debit is the net pay and set-asides of its paychecks by direct deposit",
        "SELECT e.id, sum(c.net_pay + c.set_aside)::bigint, e.amount FROM bank_entries e "
        "LEFT JOIN paychecks c ON c.payroll_id = e.payroll_id AND c.reverses IS NULL "
        "AND c.payment_method = 'direct_deposit' WHERE e.kind = 'debit' "
        "GROUP BY e.id, e.amount HAVING sum(c.net_pay + c.set_aside) IS DISTINCT FROM e.amount",
    ),
    _Check(
        "credit_differs",
        "a credit is the net pay of its paycheck",
        "SELECT e.id, c.net_pay, e.amount FROM bank_entries e JOIN paychecks c ON c.id = e.paycheck_id "
        "WHERE e.kind = 'credit' AND (e.amount <> c.net_pay OR c.payment_method <> 'direct_deposit')",
    ),
    _Check(
        "reversal_differs",
        "a reversal takes back all of a direct deposit that was paid, from the same account",
        "SELECT e.id, c.amount, e.amount FROM bank_entries e JOIN bank_entries c ON c.id = e.reverses "
        "WHERE e.kind = 'reversal' AND (e.amount <> c.amount OR e.bank_account_id <> c.bank_account_id "
        "OR c.kind <> 'credit' OR c.paycheck_id <> e.paycheck_id)",
    ),
    _Check(
        "refund_differs",
        "a paycheck's refunds are what was collected for it, but for the set-aside where it is paid by check",
        "SELECT c.id, c.net_pay + CASE WHEN r.id IS NULL THEN 0 ELSE c.set_aside END, e.amount "
        "FROM (SELECT paycheck_id, sum(amount)::bigint AS amount FROM bank_entries "
        "WHERE kind = 'refund' AND status IN ('pending', 'sent', 'settled') GROUP BY paycheck_id) e "
        "JOIN paychecks c ON c.id = e.paycheck_id LEFT JOIN paychecks r ON r.reverses = c.id "
        "WHERE e.amount <> c.net_pay + CASE WHEN r.id IS NULL THEN 0 ELSE c.set_aside END",
    ),
    _Check(
        "payout_differs",
        "a payout is what was taken from the set-aside",
        "SELECT e.id, -m.amount, e.amount FROM bank_entries e JOIN escrow_movements m ON m.id = e.escrow_movement_id "
        "WHERE e.kind = 'payout' AND (e.amount <> -m.amount OR m.kind <> 'payout')",
    ),
    _Check(
        "paid_more_than_collected",
        "what was paid out is covered by what was collected; where a debit came back, it is open until it is settled",
        "SELECT payroll_id, collected, paid FROM (SELECT payroll_id, "
        "coalesce(sum(amount) FILTER (WHERE kind IN ('debit', 'reversal')), 0)::bigint AS collected, "
        "coalesce(sum(amount) FILTER (WHERE kind NOT IN ('debit', 'reversal')), 0)::bigint AS paid "
        "FROM bank_entries WHERE payroll_id IS NOT NULL AND status IN ('sent', 'settled') "
        "GROUP BY payroll_id) t WHERE paid > collected AND NOT EXISTS (SELECT FROM bank_entries r "
        "WHERE r.payroll_id = t.payroll_id AND r.kind = 'debit' AND r.status = 'returned') ORDER BY payroll_id",
    ),
    _Check(
        "collected_twice",
        "a payroll is collected once",
        "SELECT payroll_id, 1, count(*) FROM bank_entries WHERE kind = 'debit' "
        "AND status IN ('pending', 'sent', 'settled') GROUP BY payroll_id HAVING count(*) > 1",
    ),
    _Check(
        "not_sent",
        "nothing that is in a file still waits to be sent",
        "SELECT id, 0, 1 FROM bank_entries WHERE file_id IS NOT NULL AND status IN ('pending', 'cancelled')",
    ),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference."""

    check: str
    subject_id: UUID
    message: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What was compared, and everything that differs."""

    files: int
    entries: int
    findings: tuple[Finding, ...]

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The differences; the other findings are known open matters."""
        return tuple(each for each in self.findings if each.check not in KINDS)


async def reconcile(
    session: AsyncSession, ring: KeyRing, now: datetime.datetime, progress: TellFiles | None = None
) -> Reconciliation:
    """Compare everything; the session is the schema owner's, who sees every tenant's rows.

    Open cases of the exposure register at ``now`` are findings as well.
    """
    findings: list[Finding] = []
    corrected = {row.subject_id: UUID(row.latest) for row in await fetch_all(session, _CORRECTED)}
    files = await fetch_all(session, _FILES)
    for number, file in enumerate(files, start=1):
        findings += await _compare_file(session, ring, file, corrected)
        if progress is not None:
            progress(number, len(files))
    for check in _CHECKS:
        findings += [
            Finding(check.name, row[0], check.law, str(row[1]), str(row[2]))
            for row in await session.execute(text(check.query))
        ]
    findings += [
        Finding(case.kind, case.id, f"{case.state}. {case.next_step}", "0", str(case.amount))
        for case in await open_cases(session, now)
    ]
    entries = await session.scalar(_COUNT) or 0
    return Reconciliation(len(files), entries, tuple(findings))


async def _compare_file(
    session: AsyncSession, ring: KeyRing, file: _FilesRow, corrected: Mapping[UUID, UUID]
) -> list[Finding]:
    """Compare the file's bytes with its row, and its payments with its entries, one by one."""
    sealed = SealedFile(await session.scalar(_CONTENT, {"id": file.id}), file.nonce, file.key_id)
    try:
        content = open_file(ring, file.id, file.name, sealed)
        nacha = parse_nacha(content)
    except (KeyRingError, UnreadableSecretError, NachaError) as error:
        return [Finding("file_unreadable", file.id, str(error), "a readable file", "none")]
    findings: list[Finding] = []

    def same(check: str, expected: object, found: object, subject: UUID = file.id) -> None:
        if expected != found:
            findings.append(Finding(check, subject, f"of the file {file.name}", str(expected), str(found)))

    same("file_changed", file.sha256.hex(), hashlib.sha256(content).hexdigest())
    same("debit_total", file.debit_total, sum(batch.total_debit_cents for batch in nacha.batches))
    same("credit_total", file.credit_total, sum(batch.total_credit_cents for batch in nacha.batches))
    recorded = {
        entry.trace: (entry.amount_cents, entry.code.is_debit, batch.effective_date)
        for batch in nacha.batches
        for entry in batch.entries
    }
    numbers = {entry.trace: entry.account for batch in nacha.batches for entry in batch.entries}
    same("entry_count", file.entries, len(recorded))
    for row in await fetch_all(session, _ENTRIES, {"id": file.id}):
        debit = row.kind in ("debit", "reversal") or (row.kind == "prenote" and row.holder is None)
        requested = (row.amount, debit, row.effective_date)
        same("entry_differs", _spell(requested), _spell(recorded.pop(row.trace_number, None)), row.id)
        since = corrected.get(row.bank_account_id)
        if (
            (since is None or since < file.id)
            and row.trace_number in numbers
            and not _is_its_account(ring, row, numbers[row.trace_number])
        ):
            same("account_differs", f"the account …{row.last_four}", "another account", row.id)
    for trace, entry in recorded.items():
        same("entry_unknown", "nothing", f"{trace}: {_spell(entry)}")
    return findings


def _is_its_account(ring: KeyRing, row: _EntriesRow, number: str) -> bool:
    """Return whether the file's number is that of the entry's account: in full while the vault keeps it, otherwise
    its last four.

    A number is decrypted in memory only and shown to nobody.
    """
    if not number.endswith(row.last_four):
        return False
    if row.replaced or row.ciphertext is None or row.nonce is None or row.key_id is None:
        return True
    kind: OwnerKind = "employer" if row.holder is None else "employee"
    owner = SecretOwner(row.organization_id, row.employer_id, False, kind, row.holder or row.employer_id)
    sealed = SealedNumber(row.ciphertext, row.nonce, row.key_id)
    try:
        return unseal(ring, owner, "bank_account", sealed).reveal() == number
    except (KeyRingError, UnreadableSecretError):
        return False


def _spell(entry: tuple[int, bool, Any] | None) -> str:
    if entry is None:
        return "nothing"
    amount, debit, effective_date = entry
    return f"{'debit' if debit else 'credit'} of {amount} on {effective_date}"
