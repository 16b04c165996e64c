"""Reads the bank's return files: returned payments, and notices that an account's numbers have changed.

Counts, hashes and totals must hold for the whole file. A record in it that isn't known is named beside the others. The
same module builds such files for the simulated bank.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hearthpay.banking.nacha.checks import check_account, check_routing
from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.framing import (
    FramedAddenda,
    FramedBatch,
    FramedEntry,
    FramedFile,
    Values,
    assemble,
    disassemble,
)
from hearthpay.banking.nacha.reader import read_date
from hearthpay.banking.nacha.records import AccountType, Batch, Entry, NachaFile, TransactionCode
from hearthpay.banking.nacha.text import NAME_LENGTH, ach_text
from hearthpay.banking.nacha.writer import batch_values, entry_values, file_values

_CHANGES: Final = "COR"
_RETURNABLE: Final = ("PPD", "CCD", "WEB", "TEL")
_RETURN_CODE: Final = re.compile(r"R[0-9]{2}")
_CHANGE_CODE: Final = re.compile(r"C[0-9]{2}")
BETWEEN_BANKS: Final = range(61, 78)
"""The numbers of the codes with which banks dispute returns among themselves: R61 to R70 refuse a return, R71 to R77
insist on it. Their records have another layout, with the original trace number in the same place.
"""

_NO_TRACE: Final = re.compile(r"0{15}")
_TRACE: Final = re.compile(r"[0-9]{15}")
_REFUSED_CHANGES: Final = range(61, 70)
_RETURNED_CODES: Final = {
    21: (False, "checking"),
    26: (True, "checking"),
    31: (False, "savings"),
    36: (True, "savings"),
}
# Some banks answer a prenote under its own code.
_PRENOTE_CODES: Final = (23, 28, 33, 38)
_DATE: Final = "%y%m%d"


@dataclass(frozen=True, slots=True)
class Return:
    """A returned payment. `amount_cents` is zero for a prenote; `transaction_code` is 21, 26, 31 or 36, or
    a prenote's own.

    `original_trace` is the trace number under which the payment was sent, `original_rdfi` the first eight digits of
    its routing number; `trace` is the bank's own number of the return.
    """

    original_trace: str
    code: str
    amount_cents: int
    transaction_code: int
    entry_class: str
    company_id: str
    original_rdfi: str
    trace: str
    account: str = field(repr=False)
    identification: str = ""
    information: str = ""
    date_of_death: datetime.date | None = None

    @property
    def is_debit(self) -> bool:
        """Whether the payment debited the account."""
        return self.transaction_code % 10 in (6, 8)


@dataclass(frozen=True, slots=True)
class AccountCorrection:
    """The bank's corrections; None for what isn't corrected."""

    routing: str | None = field(default=None, repr=False)
    account: str | None = field(default=None, repr=False)
    account_type: AccountType | None = None
    name: str | None = None
    identification: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeNotice:
    """A notice that later payments to this account must change (the payment itself went through).

    `correction` is None if the bank's data can't be right; `refusal` is then the code (C65 to C69) with which to
    refuse the notice within 15 days. A code that corrects no account (C13) has neither.
    """

    original_trace: str
    code: str
    correction: AccountCorrection | None
    refusal: str | None
    company_id: str
    original_rdfi: str
    trace: str


@dataclass(frozen=True, slots=True)
class UnreadRecord:
    """An entry of the bank that isn't known, in a file whose counts and totals hold.

    `problem` says what is unknown and where. `code` and `original_trace` are those of its addenda, None if there are
    none that can be read. The amount, the direction and the first eight digits of the routing number are certain: the
    controls of the file cover them. `moves_money` is False for a notification of change.
    """

    problem: NachaError
    code: str | None
    original_trace: str | None
    amount_cents: int
    is_debit: bool
    entry_class: str
    company_id: str
    rdfi: str
    account: str = field(repr=False)
    moves_money: bool = True

    @property
    def disputes(self) -> bool:
        """Whether one bank disputes the return with another."""
        return self.code is not None and is_dispute(self.code)


@dataclass(frozen=True, slots=True)
class ReturnFile:
    """The contents of one file from the bank."""

    created_on: datetime.date
    modifier: str
    returns: tuple[Return, ...]
    changes: tuple[ChangeNotice, ...]
    unread: tuple[UnreadRecord, ...] = ()


def is_dispute(code: str) -> bool:
    """Return whether banks use the return code only to dispute a return among themselves."""
    return _RETURN_CODE.fullmatch(code) is not None and int(code[1:]) in BETWEEN_BANKS


def parse_returns(content: bytes) -> ReturnFile:
    """Return the contents of the bank's file, after checking every count, hash and total.

    Raises NachaError with the line and the reason for a file that was altered or truncated; no part of such a file
    counts. `unread` has the entries that are neither returns (addenda 99) nor notifications of change (addenda 98).
    """
    framed = disassemble(content, lenient=True)
    returns: list[Return] = []
    changes: list[ChangeNotice] = []
    unread: list[UnreadRecord] = []
    for batch in framed.batches:
        for entry in batch.entries:
            try:
                addenda = _only_addenda(entry)
                if batch.text("sec") == _CHANGES:
                    changes.append(_change(batch, entry, addenda))
                else:
                    returns.append(_return(batch, entry, addenda))
            except NachaError as error:
                unread.append(_unread(batch, entry, error))
    created_on = read_date(framed.text("creation_date"), 1, "creation_date")
    return ReturnFile(created_on, framed.text("modifier"), tuple(returns), tuple(changes), tuple(unread))


def _unread(batch: FramedBatch, entry: FramedEntry, problem: NachaError) -> UnreadRecord:
    """Return what can be said of an entry whose kind isn't known."""
    last = entry.addenda[-1] if entry.addenda else None
    answers = last is not None and last.kind in ("98", "99")
    record = last.record if last is not None and answers else ""
    trace = record[6:21]
    of_change = last is not None and last.kind == "98" and entry.cents == 0
    of_change = of_change and (batch.text("sec") == _CHANGES or record[3:4] == "C")
    return UnreadRecord(
        problem=problem,
        code=record[3:6] if record[3:6].isalnum() else None,
        original_trace=trace if _TRACE.fullmatch(trace) and not _NO_TRACE.fullmatch(trace) else None,
        amount_cents=entry.cents,
        is_debit=entry.is_debit,
        entry_class=batch.text("sec"),
        company_id=batch.text("company_id"),
        rdfi=entry.text("rdfi"),
        account=entry.text("account"),
        moves_money=not of_change,
    )


def _only_addenda(entry: FramedEntry) -> FramedAddenda:
    code = int(entry.text("transaction_code"))
    if code not in _RETURNED_CODES and (code not in _PRENOTE_CODES or entry.cents):
        raise NachaError("is no code of a returned entry", line=entry.line, field="transaction_code")
    if len(entry.addenda) != 1:
        raise NachaError(f"must have one addenda record, not {len(entry.addenda)}", line=entry.line)
    [addenda] = entry.addenda
    if addenda.problem is not None:
        raise addenda.problem
    return addenda


def _return(batch: FramedBatch, entry: FramedEntry, addenda: FramedAddenda) -> Return:
    if batch.text("sec") not in _RETURNABLE:
        raise NachaError(
            f"must be {_CHANGES} or one of {', '.join(_RETURNABLE)}", line=batch.line, field="sec"
        )
    if addenda.kind != "99":
        raise NachaError("a returned entry has an addenda record of type 99", line=addenda.line)
    code = addenda.text("code")
    if _RETURN_CODE.fullmatch(code) is None or code == "R00":
        raise NachaError("is no return reason code", line=addenda.line, field="code")
    if is_dispute(code):
        raise NachaError(f"{code} disputes a return, which only banks do", line=addenda.line, field="code")
    return Return(
        original_trace=addenda.text("original_trace"),
        code=code,
        amount_cents=entry.cents,
        transaction_code=int(entry.text("transaction_code")),
        entry_class=batch.text("sec"),
        company_id=batch.text("company_id"),
        original_rdfi=addenda.text("original_rdfi"),
        trace=addenda.text("trace"),
        account=entry.text("account"),
        identification=entry.text("identification"),
        information=addenda.text("information"),
        date_of_death=_date_of_death(addenda),
    )


def _date_of_death(addenda: FramedAddenda) -> datetime.date | None:
    text = addenda.text("date_of_death")
    # Some banks fill the field with zeros when nobody has died.
    if not text.strip("0"):
        return None
    if len(text) != 6 or not text.isdigit():
        raise NachaError("must be a date as YYMMDD", line=addenda.line, field="date_of_death")
    return read_date(text, addenda.line, "date_of_death")


def _change(batch: FramedBatch, entry: FramedEntry, addenda: FramedAddenda) -> ChangeNotice:
    if addenda.kind != "98":
        raise NachaError("a notification of change has an addenda record of type 98", line=addenda.line)
    if entry.cents != 0:
        raise NachaError("a notification of change moves no money", line=entry.line, field="amount")
    code = addenda.text("code")
    if _CHANGE_CODE.fullmatch(code) is None or code == "C00":
        raise NachaError("is no change code", line=addenda.line, field="code")
    if int(code[1:]) in _REFUSED_CHANGES:
        raise NachaError(f"{code} refuses a notice, which only we do", line=addenda.line, field="code")
    correction, refusal = _read_correction(code, addenda.text("corrected_data"), debit=entry.is_debit)
    return ChangeNotice(
        original_trace=addenda.text("original_trace"),
        code=code,
        correction=correction,
        refusal=refusal,
        company_id=batch.text("company_id"),
        original_rdfi=addenda.text("original_rdfi"),
        trace=addenda.text("trace"),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One piece of the 29 characters of corrected data, and the code that refuses it."""

    name: str
    start: int
    end: int
    refusal: str


_ROUTING: Final = _Part("routing", 0, 9, "C67")
_CORRECTED: Final = {
    "C01": (_Part("account", 0, 17, "C68"),),
    "C02": (_ROUTING,),
    "C03": (_ROUTING, _Part("account", 12, 29, "C68")),
    "C04": (_Part("name", 0, 22, "C65"),),
    "C05": (_Part("account_type", 0, 2, "C69"),),
    "C06": (_Part("account", 0, 17, "C68"), _Part("account_type", 20, 22, "C69")),
    "C07": (_ROUTING, _Part("account", 9, 26, "C68"), _Part("account_type", 26, 28, "C69")),
    "C09": (_Part("identification", 0, 22, "C65"),),
}
"""Where the corrected data is (Nacha Operating Rules, Appendix Five)."""


def _read_correction(code: str, data: str, *, debit: bool) -> tuple[AccountCorrection | None, str | None]:
    parts = _CORRECTED.get(code)
    if parts is None:
        return None, None
    rest = data.ljust(29)
    values: dict[str, str] = {}
    for part in parts:
        value = rest[part.start : part.end].strip()
        if not _is_correct(part.name, value, debit=debit):
            return None, part.refusal
        values[part.name] = value
        rest = rest[: part.start] + " " * (part.end - part.start) + rest[part.end :]
    if rest.strip():
        # A field that must be empty isn't: the data was written for another code.
        return None, "C65"
    kind = values.pop("account_type", None)
    return AccountCorrection(
        **values, account_type=TransactionCode(int(kind)).account_type if kind else None
    ), None


def _is_correct(name: str, value: str, *, debit: bool) -> bool:
    checks: dict[str, Callable[[str, str], None]] = {"routing": check_routing, "account": check_account}
    if name == "account_type":
        return value.isdigit() and int(value) in _codes(debit=debit)
    if name not in checks:
        return bool(value)
    try:
        checks[name](value, name)
    except NachaError:
        return False
    return True


def _codes(*, debit: bool) -> list[int]:
    return [code for code in TransactionCode if code.is_debit == debit]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The bank's response to the entry of this trace number: returned for the reason `code`."""

    trace: str
    code: str
    information: str = ""
    date_of_death: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The bank's response to the entry of this trace number: it went through, but `correction` applies from now on."""

    trace: str
    code: str
    correction: AccountCorrection = AccountCorrection()


def build_returns(
    file: NachaFile,
    answers: Sequence[Rejection | Change],
    *,
    created_at: datetime.datetime,
    modifier: str = "A",
    first_sequence: int = 1,
) -> bytes:
    """Return the file with which the bank responds to entries of `file`, as banks write it.

    The bank of `file.destination` sends it to `file.origin`; its own trace numbers count from `first_sequence`.
    Raises NachaError for a trace number that the file doesn't have, a correction that doesn't belong to its code, and
    no response at all.
    """
    if created_at.utcoffset() is None:
        raise NachaError("must have a timezone", field="created_at")
    values = file_values(
        destination=file.origin,
        destination_name=file.origin_name,
        origin=file.destination,
        origin_name=file.destination_name,
        created_at=created_at,
        modifier=modifier,
    )
    sent = {entry.trace: (batch, entry) for batch in file.batches for entry in batch.entries}
    groups: dict[tuple[int, bool], list[FramedEntry]] = {}
    for sequence, answer in enumerate(answers, start=first_sequence):
        if answer.trace not in sent:
            raise NachaError(f"the file holds no entry {answer.trace}", field="trace")
        batch, entry = sent[answer.trace]
        trace = f"{file.destination[:8]}{sequence:07}"
        group = groups.setdefault((batch.number, isinstance(answer, Change)), [])
        group.append(_answer(entry, answer, trace))
    batches = {batch.number: batch for batch in file.batches}
    framed = tuple(
        _answer_batch(batches[number], position, changes, entries, file.destination[:8])
        for position, ((number, changes), entries) in enumerate(sorted(groups.items()), start=1)
    )
    return assemble(FramedFile(values, framed))


def _answer_batch(
    batch: Batch, number: int, changes: bool, entries: Sequence[FramedEntry], bank: str
) -> FramedBatch:
    values: dict[str, str | int] = {**batch_values(batch), "number": number, "odfi": bank}
    if changes:
        values["sec"] = _CHANGES
    return FramedBatch(values, tuple(entries))


def _answer(entry: Entry, answer: Rejection | Change, trace: str) -> FramedEntry:
    code = next(
        code
        for code, (debit, kind) in _RETURNED_CODES.items()
        if debit == entry.code.is_debit and kind == entry.code.account_type
    )
    amount = 0 if isinstance(answer, Change) else entry.amount_cents
    values: Values = {**entry_values(entry), "transaction_code": code, "amount": amount, "trace": trace}
    common: dict[str, str | int] = {
        "code": answer.code,
        "original_trace": entry.trace,
        "original_rdfi": entry.routing[:8],
        "trace": trace,
    }
    if isinstance(answer, Change):
        corrected = _write_correction(entry, answer)
        blank = {"reserved": "", "reserved_too": ""}
        return FramedEntry(values, (FramedAddenda("98", {**common, **blank, "corrected_data": corrected}),))
    death = answer.date_of_death.strftime(_DATE) if answer.date_of_death else ""
    reason = {"date_of_death": death, "information": answer.information}
    return FramedEntry(values, (FramedAddenda("99", {**common, **reason}),))


def _write_correction(entry: Entry, change: Change) -> str:
    correction = change.correction
    kind = correction.account_type
    code = (
        TransactionCode.of(kind, debit=entry.code.is_debit, prenote=entry.code.is_prenote) if kind else None
    )
    given = {
        "routing": correction.routing,
        "account": correction.account,
        "account_type": str(int(code)) if code else None,
        "name": ach_text(correction.name, NAME_LENGTH) if correction.name else None,
        "identification": correction.identification,
    }
    given = {name: value for name, value in given.items() if value is not None}
    parts = _CORRECTED.get(change.code, ())
    if given.keys() != {part.name for part in parts}:
        raise NachaError(f"does not correct what {change.code} corrects", field="correction")
    data = " " * 29
    for part in parts:
        width = part.end - part.start
        data = data[: part.start] + str(given[part.name])[:width].ljust(width) + data[part.end :]
    return data.rstrip()
