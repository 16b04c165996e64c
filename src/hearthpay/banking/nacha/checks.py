"""What a payment must satisfy before it is written, besides fitting its fields."""

from __future__ import annotations

import datetime
import re
import string
from typing import Final

from hearthpay.banking.nacha.errors import NachaError, placed
from hearthpay.banking.nacha.records import Batch, Entry, NachaFile
from hearthpay.banking.nacha.text import COMPANY_NAME_LENGTH, NAME_LENGTH, ach_text
from hearthpay.clock import BUSINESS_TIME
from hearthpay.security.vault_numbers import InvalidNumberError, parse_number

_MODIFIERS: Final = string.ascii_uppercase + string.digits
_ROUTING: Final = re.compile(r"[0-9]{9}")
_ODFI: Final = re.compile(r"[0-9]{8}")
_TRACE: Final = re.compile(r"[0-9]{15}")
_ACCOUNT: Final = re.compile(r"[0-9A-Za-z-]{1,17}")
_COMPANY_ID: Final = re.compile(r"[0-9A-Z]{1,10}")
_ORIGIN: Final = re.compile(r"[0-9A-Z]{9,10}")
_PLAIN: Final = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_ENTRY_CLASSES: Final = ("PPD", "CCD")
_LARGEST_AMOUNT: Final = 10**10 - 1
_LARGEST_TOTAL: Final = 10**12 - 1
_LARGEST_NUMBER: Final = 10**7 - 1
_CENTURY: Final = range(2000, 2100)


def check_file(file: NachaFile) -> None:
    """Raise NachaError for the first thing in the file that the format or the network doesn't accept."""
    check_routing(file.destination, "destination")
    _match(_ORIGIN, file.origin, "origin", "must be nine digits or ten characters, as the bank assigned it")
    if len(file.modifier) != 1 or file.modifier not in _MODIFIERS:
        raise NachaError("must be one of A to Z or 0 to 9", field="modifier")
    if file.created_at.utcoffset() is None:
        raise NachaError("must have a timezone", field="created_at")
    _check_year(file.created_at, "created_at")
    _check_year(file.created_at.astimezone(BUSINESS_TIME), "created_at")
    check_plain(file.reference, "reference")
    number = 0
    traces: set[str] = set()
    for position, batch in enumerate(file.batches):
        with placed(position):
            _check_batch(batch, number)
        number = batch.number
        _check_entries(batch, position, traces)
    for total in ("total_debit_cents", "total_credit_cents"):
        if sum(getattr(batch, total) for batch in file.batches) > _LARGEST_TOTAL:
            raise NachaError(f"must not exceed {_LARGEST_TOTAL} in a file", field=total)


def _check_batch(batch: Batch, number_before: int) -> None:
    if not number_before < batch.number <= _LARGEST_NUMBER:
        raise NachaError(f"must ascend from batch to batch, from 1 to {_LARGEST_NUMBER}", field="number")
    _check_name(batch.company_name, COMPANY_NAME_LENGTH, "company_name")
    _match(_COMPANY_ID, batch.company_id, "company_id", "must be up to ten digits or upper-case letters")
    if batch.entry_class not in _ENTRY_CLASSES:
        raise NachaError(f"must be one of {', '.join(_ENTRY_CLASSES)}", field="entry_class")
    if not batch.description:
        raise NachaError("must not be empty", field="description")
    for name in ("description", "discretionary_data", "descriptive_date"):
        check_plain(getattr(batch, name), name)
    _check_year(batch.effective_date, "effective_date")
    _match(_ODFI, batch.odfi, "odfi", "must be the first eight digits of a routing number")
    if not batch.entries:
        raise NachaError("must hold at least one entry", field="entries")


def _check_entries(batch: Batch, batch_position: int, traces: set[str]) -> None:
    trace_before = ""
    for position, entry in enumerate(batch.entries):
        with placed(batch_position, position):
            _check_entry(entry, batch.odfi)
            if entry.trace <= trace_before:
                raise NachaError("must ascend within a batch", field="trace")
            if entry.trace in traces:
                raise NachaError("must be another for each entry of the file", field="trace")
        trace_before = entry.trace
        traces.add(entry.trace)


def _check_entry(entry: Entry, odfi: str) -> None:
    check_routing(entry.routing, "routing")
    check_account(entry.account, "account")
    _check_name(entry.name, NAME_LENGTH, "name")
    if not 0 <= entry.amount_cents <= _LARGEST_AMOUNT:
        raise NachaError(f"must lie from 0 to {_LARGEST_AMOUNT} cents", field="amount_cents")
    if entry.code.is_prenote != (entry.amount_cents == 0):
        raise NachaError("must be zero for a prenote, and more for a payment", field="amount_cents")
    check_plain(entry.identification, "identification")
    if entry.information is not None:
        check_plain(entry.information, "information")
        if not entry.information:
            raise NachaError("must not be empty", field="information")
    check_trace(entry.trace, "trace")
    if not entry.trace.startswith(odfi):
        raise NachaError("must begin with the batch's odfi", field="trace")


def _check_name(name: str, length: int, field: str) -> None:
    if not any(character.isalnum() for character in ach_text(name, length)):
        raise NachaError("must have a letter that can be spelled in A to Z", field=field)


def check_routing(routing: str, field: str) -> None:
    """Raise NachaError unless this is a bank's routing number with a valid check digit."""
    try:
        parse_number("bank_routing", routing)
    except InvalidNumberError as error:
        raise NachaError(str(error), field=field) from None
    _match(_ROUTING, routing, field, "must be nine digits")


def check_account(account: str, field: str) -> None:
    """Raise NachaError unless this is a possible account number."""
    _match(_ACCOUNT, account, field, "must be 1 to 17 digits, letters or hyphens")


def check_trace(trace: str, field: str) -> None:
    """Raise NachaError unless this is a trace number."""
    _match(_TRACE, trace, field, "must be fifteen digits")


def check_plain(text: str, field: str) -> None:
    """Raise NachaError unless the text is ASCII that survives padding with blanks."""
    _match(_PLAIN, text, field, "must be printable ASCII without blanks at either end")


def _match(pattern: re.Pattern[str], text: str, field: str, message: str) -> None:
    if pattern.fullmatch(text) is None:
        raise NachaError(message, field=field)


def _check_year(day: datetime.date, field: str) -> None:
    if day.year not in _CENTURY:
        raise NachaError(
            f"must lie from {_CENTURY[0]} to {_CENTURY[-1]}, as years have two digits", field=field
        )
