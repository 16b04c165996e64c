"""Writes payments as a Nacha file; the same payments give the same bytes."""

from __future__ import annotations

import datetime
from typing import Final

from hearthpay.banking.nacha.checks import check_file
from hearthpay.banking.nacha.framing import (
    FramedAddenda,
    FramedBatch,
    FramedEntry,
    FramedFile,
    Values,
    assemble,
)
from hearthpay.banking.nacha.records import Batch, Entry, NachaFile
from hearthpay.banking.nacha.text import BANK_NAME_LENGTH, COMPANY_NAME_LENGTH, NAME_LENGTH, ach_text
from hearthpay.clock import BUSINESS_TIME

_DATE: Final = "%y%m%d"
# Not an agency of the federal government, the only originator with another value.
_ORIGINATOR_STATUS: Final = "1"


def write_nacha(file: NachaFile) -> bytes:
    """Return the file in the bank's format: lines of 94 characters, each ended by a line feed, in blocks of ten.

    Names are spelled in upper-case ASCII and cut to their fields; nothing else is altered. Raises NachaError for
    whatever the format can't carry. Source: Nacha Operating Rules, Appendix Three.
    """
    check_file(file)
    return assemble(
        FramedFile(
            file_values(
                destination=file.destination,
                destination_name=file.destination_name,
                origin=file.origin,
                origin_name=file.origin_name,
                created_at=file.created_at,
                modifier=file.modifier,
                reference=file.reference,
            ),
            tuple(_batch(batch) for batch in file.batches),
        )
    )


def file_values(
    *,
    destination: str,
    destination_name: str,
    origin: str,
    origin_name: str,
    created_at: datetime.datetime,
    modifier: str,
    reference: str = "",
) -> dict[str, str | int]:
    """Return the fields of a file header; a routing number is right-aligned in its ten positions."""
    created = created_at.astimezone(BUSINESS_TIME)
    return {
        "destination": destination.rjust(10),
        "origin": origin.rjust(10),
        "creation_date": created.strftime(_DATE),
        "creation_time": created.strftime("%H%M"),
        "modifier": modifier,
        "destination_name": ach_text(destination_name, BANK_NAME_LENGTH),
        "origin_name": ach_text(origin_name, BANK_NAME_LENGTH),
        "reference": reference,
    }


def batch_values(batch: Batch) -> dict[str, str | int]:
    """Return the fields of a batch header."""
    return {
        "company_name": ach_text(batch.company_name, COMPANY_NAME_LENGTH),
        "discretionary_data": batch.discretionary_data,
        "company_id": batch.company_id,
        "sec": batch.entry_class,
        "description": batch.description,
        "descriptive_date": batch.descriptive_date,
        "effective_date": batch.effective_date.strftime(_DATE),
        "settlement": "",
        "originator_status": _ORIGINATOR_STATUS,
        "odfi": batch.odfi,
        "number": batch.number,
    }


def entry_values(entry: Entry) -> dict[str, str | int]:
    """Return the fields of an entry."""
    return {
        "transaction_code": int(entry.code),
        "rdfi": entry.routing[:8],
        "check_digit": entry.routing[8:],
        "account": entry.account,
        "amount": entry.amount_cents,
        "identification": entry.identification,
        "name": ach_text(entry.name, NAME_LENGTH),
        "discretionary_data": "",
        "trace": entry.trace,
    }


def _batch(batch: Batch) -> FramedBatch:
    return FramedBatch(batch_values(batch), tuple(_entry(entry) for entry in batch.entries))


def _entry(entry: Entry) -> FramedEntry:
    if entry.information is None:
        return FramedEntry(entry_values(entry))
    addenda: Values = {"information": entry.information, "sequence": 1, "entry_sequence": entry.trace[-7:]}
    return FramedEntry(entry_values(entry), (FramedAddenda("05", addenda),))
