"""Puts entries between the headers and controls of a file, and takes apart a file after checking that it is complete.

This is what every file has in common, whether it carries payments or returns: the order of the records, counts, entry
hashes, totals, and blocks of ten. Callers never pass the fields that this module calculates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from hearthpay.banking.nacha.errors import NachaError, placed
from hearthpay.banking.nacha.layout import (
    ADDENDA,
    BATCH_CONTROL,
    BATCH_HEADER,
    BLOCKING_FACTOR,
    ENTRY,
    FILE_CONTROL,
    FILE_HEADER,
    FILLER,
)
from hearthpay.banking.nacha.splitting import split_records

MIXED: Final = 200
CREDITS_ONLY: Final = 220
DEBITS_ONLY: Final = 225

_HASH_MODULUS: Final = 10**10
_CREDIT_DIGITS: Final = frozenset("1234")
_DEBIT_DIGITS: Final = frozenset("6789")

Values = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class FramedAddenda:
    """An addenda record: its type (05, 98, 99), its fields, and its position in a file that was read.

    With a `problem`, it couldn't be read, and `record` is all that there is of it.
    """

    kind: str
    values: Values
    line: int = 0
    problem: NachaError | None = None
    record: str = field(default="", repr=False)

    def text(self, name: str) -> str:
        """Return a field as it was read."""
        return str(self.values[name])


@dataclass(frozen=True, slots=True)
class FramedEntry:
    """An entry with its addenda."""

    values: Values
    addenda: tuple[FramedAddenda, ...] = ()
    line: int = 0

    def text(self, name: str) -> str:
        """Return a field as it was read."""
        return str(self.values[name])

    @property
    def cents(self) -> int:
        """The amount in cents."""
        return int(self.values["amount"])

    @property
    def is_debit(self) -> bool:
        """Whether the transaction code is a debit: its second digit says so."""
        return str(self.values["transaction_code"])[-1] in _DEBIT_DIGITS

    @property
    def is_credit(self) -> bool:
        """Whether the transaction code is a credit."""
        return str(self.values["transaction_code"])[-1] in _CREDIT_DIGITS


@dataclass(frozen=True, slots=True)
class FramedBatch:
    """The fields of a batch header, except the service class, and its entries."""

    values: Values
    entries: tuple[FramedEntry, ...]
    line: int = 0

    def text(self, name: str) -> str:
        """Return a field as it was read."""
        return str(self.values[name])


@dataclass(frozen=True, slots=True)
class FramedFile:
    """The fields of a file header, and the batches."""

    values: Values
    batches: tuple[FramedBatch, ...]

    def text(self, name: str) -> str:
        """Return a field as it was read."""
        return str(self.values[name])


@dataclass(frozen=True, slots=True)
class _Sums:
    """What a control record states about the entries above it."""

    count: int
    hash: int
    debit: int
    credit: int

    @classmethod
    def of(cls, entries: Sequence[FramedEntry]) -> _Sums:
        return cls(
            count=sum(1 + len(entry.addenda) for entry in entries),
            hash=sum(int(entry.values["rdfi"]) for entry in entries) % _HASH_MODULUS,
            debit=sum(entry.cents for entry in entries if entry.is_debit),
            credit=sum(entry.cents for entry in entries if entry.is_credit),
        )

    def values(self) -> dict[str, str | int]:
        return {
            "entry_addenda_count": self.count,
            "entry_hash": self.hash,
            "total_debit": self.debit,
            "total_credit": self.credit,
        }


def service_class(entries: Sequence[FramedEntry]) -> int:
    """Return 220 for credits only, 225 for debits only, 200 for both; raises NachaError if there is no entry."""
    if not entries:
        raise NachaError("must hold at least one entry", field="entries")
    if all(entry.is_credit for entry in entries):
        return CREDITS_ONLY
    return DEBITS_ONLY if all(entry.is_debit for entry in entries) else MIXED


def assemble(file: FramedFile) -> bytes:
    """Return the file's bytes: ASCII, a line feed after each record, padded to blocks of ten with nines.

    The same file always gives the same bytes. Raises NachaError for whatever doesn't fit its field.
    """
    if not file.batches:
        raise NachaError("must hold at least one batch", field="batches")
    records = [FILE_HEADER.write(file.values)]
    for position, batch in enumerate(file.batches):
        with placed(position):
            records.extend(_batch_records(batch, position))
    sums = _Sums.of(list(chain.from_iterable(batch.entries for batch in file.batches)))
    counts = {"batch_count": len(file.batches), "block_count": _blocks(len(records) + 1)}
    records.append(FILE_CONTROL.write({**counts, **sums.values(), "reserved": ""}))
    records.extend([FILLER] * (-len(records) % BLOCKING_FACTOR))
    return "".join(f"{record}\n" for record in records).encode("ascii")


def _batch_records(batch: FramedBatch, position: int) -> Iterator[str]:
    header = {**batch.values, "service_class": service_class(batch.entries)}
    yield BATCH_HEADER.write(header)
    for entry_position, entry in enumerate(batch.entries):
        with placed(position, entry_position):
            records = list(_entry_records(entry))
        yield from records
    blank = {"message_authentication": "", "reserved": ""}
    yield BATCH_CONTROL.write({**header, **_Sums.of(batch.entries).values(), **blank})


def _entry_records(entry: FramedEntry) -> Iterator[str]:
    yield ENTRY.write({**entry.values, "has_addenda": int(bool(entry.addenda))})
    for addenda in entry.addenda:
        yield ADDENDA[addenda.kind].write(addenda.values)


def _blocks(records: int) -> int:
    return -(-records // BLOCKING_FACTOR)


def disassemble(content: bytes, *, lenient: bool = False) -> FramedFile:
    """Return the parts of a file, each with its line, after checking every count, hash and total.

    `split_records` says in which forms a file may come. The padding of the last block may be missing, as with some
    banks. Raises NachaError that names the line of the first error: nothing in such a file can be trusted. `lenient`:
    an addenda record that can't be read is one with a `problem`, as the counts and totals around it still hold.
    """
    return _Cursor(split_records(content), lenient=lenient).file()


class _Cursor:
    """Reads records one after the other, checking that each type is allowed at its position."""

    def __init__(self, records: list[str], *, lenient: bool) -> None:
        self._records = records
        self._at = 0
        self._lenient = lenient

    @property
    def _line(self) -> int:
        return self._at + 1

    def _type(self, awaited: str) -> str:
        if self._at == len(self._records):
            raise NachaError(f"the file ends where {awaited} must stand", line=self._line)
        return self._records[self._at][0]

    def _take(self) -> tuple[str, int]:
        line = self._line
        record = self._records[self._at]
        self._at += 1
        return record, line

    def _unexpected(self, awaited: str) -> NachaError:
        found = self._records[self._at][0]
        return NachaError(f"a record of type {found!r} stands where {awaited} must stand", line=self._line)

    def file(self) -> FramedFile:
        if self._type("a file header") != "1":
            raise self._unexpected("a file header")
        values = FILE_HEADER.read(*self._take())
        batches = []
        while (kind := self._type("a batch or the file control")) == "5":
            batches.append(self._batch())
        if kind != "9":
            raise self._unexpected("a batch or the file control")
        self._file_control(batches)
        return FramedFile(values, tuple(batches))

    def _batch(self) -> FramedBatch:
        record, line = self._take()
        values = BATCH_HEADER.read(record, line)
        entries = []
        while (kind := self._type("an entry or the batch control")) == "6":
            entries.append(self._entry())
        if kind != "8":
            raise self._unexpected("an entry or the batch control")
        if not entries:
            raise NachaError("the batch holds no entry", line=line)
        self._batch_control(values, entries)
        return FramedBatch(values, tuple(entries), line)

    def _entry(self) -> FramedEntry:
        record, line = self._take()
        values = ENTRY.read(record, line)
        addenda = []
        while self._type("an entry or the batch control") == "7":
            addenda.append(self._addenda())
        if values["has_addenda"] != str(int(bool(addenda))):
            raise NachaError(
                f"states {values['has_addenda']!r}, but {len(addenda)} addenda follow",
                line=line,
                field="has_addenda",
            )
        entry = FramedEntry(values, tuple(addenda), line)
        if not (entry.is_debit or entry.is_credit):
            raise NachaError("is no transaction code", line=line, field="transaction_code")
        return entry

    def _addenda(self) -> FramedAddenda:
        record, line = self._take()
        kind = record[1:3]
        try:
            if kind not in ADDENDA:
                raise NachaError(
                    f"{kind!r} is no type of addenda that belongs here", line=line, field="addenda_type"
                )
            return FramedAddenda(kind, ADDENDA[kind].read(record, line), line, record=record)
        except NachaError as error:
            if not self._lenient:
                raise
            return FramedAddenda(kind, {}, line, error, record)

    def _batch_control(self, header: Mapping[str, str], entries: Sequence[FramedEntry]) -> None:
        record, line = self._take()
        control = BATCH_CONTROL.read(record, line)
        for name in ("service_class", "company_id", "odfi", "number"):
            stated = control[name].strip()
            # Some banks leave the company's number out here, or align it to the other side.
            if stated != header[name].strip() and (stated or name != "company_id"):
                raise NachaError("differs from the header of the batch", line=line, field=name)
        if int(header["service_class"]) not in (MIXED, service_class(entries)):
            raise NachaError("does not fit the entries of the batch", line=line, field="service_class")
        _compare(control, _Sums.of(entries).values(), line)

    def _file_control(self, batches: Sequence[FramedBatch]) -> None:
        record, line = self._take()
        control = FILE_CONTROL.read(record, line)
        sums = _Sums.of(list(chain.from_iterable(batch.entries for batch in batches)))
        counts = {"batch_count": len(batches), "block_count": _blocks(line)}
        _compare(control, {**counts, **sums.values()}, line)
        filling = self._records[self._at :]
        for below, filler in enumerate(filling, start=line + 1):
            if filler != FILLER:
                raise NachaError("only lines of nines may follow the file control", line=below)
        if filling and len(filling) != -line % BLOCKING_FACTOR:
            raise NachaError(
                f"the last block holds {len(self._records) % BLOCKING_FACTOR} of {BLOCKING_FACTOR} records",
                line=len(self._records),
            )


def _compare(stated: Mapping[str, str], found: Values, line: int) -> None:
    for name, value in found.items():
        if int(stated[name]) != value:
            raise NachaError(f"states {int(stated[name])}, the file holds {value}", line=line, field=name)
