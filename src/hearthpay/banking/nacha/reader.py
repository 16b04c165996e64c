"""Reads our own files back for reconciliation, and refuses any that differ by one character from what we write."""

from __future__ import annotations

import datetime
from typing import cast

from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.framing import FramedBatch, FramedEntry, FramedFile, disassemble
from hearthpay.banking.nacha.records import Batch, Entry, EntryClass, NachaFile, TransactionCode
from hearthpay.banking.nacha.writer import write_nacha
from hearthpay.clock import BUSINESS_TIME


def parse_nacha(content: bytes) -> NachaFile:
    """Return the payments of a file that `write_nacha` has written.

    Checks every count, hash and total, then every character by writing the file again. Raises NachaError that names
    the first wrong line.
    """
    framed = disassemble(content)
    file = NachaFile(
        destination=framed.text("destination").strip(),
        destination_name=framed.text("destination_name"),
        origin=framed.text("origin").strip(),
        origin_name=framed.text("origin_name"),
        created_at=_instant(framed.text("creation_date"), framed.text("creation_time")),
        modifier=framed.text("modifier"),
        batches=tuple(_batch(batch) for batch in framed.batches),
        reference=framed.text("reference"),
    )
    try:
        _compare(content, write_nacha(file))
    except NachaError as error:
        if error.line is not None:
            raise
        raise NachaError(error.reason, field=error.field, line=_line_of(error, framed)) from None
    return file


def _line_of(error: NachaError, framed: FramedFile) -> int:
    if error.batch is None:
        return 1
    batch = framed.batches[error.batch]
    return batch.line if error.entry is None else batch.entries[error.entry].line


def read_date(text: str, line: int, field: str) -> datetime.date:
    """Return the date that six digits spell; raises NachaError if there is no such day."""
    try:
        return datetime.date(2000 + int(text[:2]), int(text[2:4]), int(text[4:6]))
    except ValueError:
        raise NachaError("must be a date as YYMMDD", line=line, field=field) from None


def _instant(date: str, time: str) -> datetime.datetime:
    day = read_date(date, 1, "creation_date")
    try:
        clock = datetime.time(int(time[:2]), int(time[2:4]))
    except ValueError:
        raise NachaError("must be a time as HHMM", line=1, field="creation_time") from None
    return datetime.datetime.combine(day, clock, BUSINESS_TIME).astimezone(datetime.UTC)


def _batch(batch: FramedBatch) -> Batch:
    return Batch(
        number=int(batch.text("number")),
        company_name=batch.text("company_name"),
        company_id=batch.text("company_id"),
        # Any other class is refused when the file is written again.
        entry_class=cast("EntryClass", batch.text("sec")),
        description=batch.text("description"),
        effective_date=read_date(batch.text("effective_date"), batch.line, "effective_date"),
        odfi=batch.text("odfi"),
        entries=tuple(_entry(entry) for entry in batch.entries),
        discretionary_data=batch.text("discretionary_data"),
        descriptive_date=batch.text("descriptive_date"),
    )


def _entry(entry: FramedEntry) -> Entry:
    try:
        code = TransactionCode(int(entry.text("transaction_code")))
    except ValueError:
        raise NachaError("is no code of ours", line=entry.line, field="transaction_code") from None
    return Entry(
        code=code,
        routing=entry.text("rdfi") + entry.text("check_digit"),
        account=entry.text("account"),
        amount_cents=entry.cents,
        name=entry.text("name"),
        trace=entry.text("trace"),
        identification=entry.text("identification"),
        information=_information(entry),
    )


def _information(entry: FramedEntry) -> str | None:
    if not entry.addenda:
        return None
    first, *more = entry.addenda
    if first.kind != "05" or more:
        raise NachaError("our entries have one addenda record at most, of type 05", line=entry.line)
    return first.text("information")


def _compare(content: bytes, expected: bytes) -> None:
    if content == expected:
        return
    pairs = zip(content.split(b"\n"), expected.split(b"\n"), strict=False)
    differing = (line for line, (found, requested) in enumerate(pairs, start=1) if found != requested)
    raise NachaError("is not as this service writes it", line=next(differing, content.count(b"\n") + 1))
