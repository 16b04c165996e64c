"""The records of a Nacha file by position: every field, its width, and whether it holds digits.

Source: Nacha Operating Rules, Appendix Three (ACH Record Format Specifications).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.banking.nacha.errors import NachaError

RECORD_LENGTH: Final = 94
BLOCKING_FACTOR: Final = 10
FILLER: Final = "9" * RECORD_LENGTH

FieldKind = Literal["text", "digits", "constant"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field: text is left-aligned and padded with blanks, digits are right-aligned and padded with zeros."""

    name: str
    length: int
    kind: FieldKind
    constant: str = ""


class Layout:
    """The fields of one kind of record, in order."""

    def __init__(self, name: str, *fields: Field) -> None:
        if sum(field.length for field in fields) != RECORD_LENGTH:
            raise ValueError(f"the fields of a {name} must fill {RECORD_LENGTH} positions")
        self.name: Final = name
        self._fields: Final = fields

    def write(self, values: Mapping[str, str | int]) -> str:
        """Return the record; raises NachaError for a value that its field cannot hold, KeyError for a missing one."""
        return "".join(
            field.constant if field.kind == "constant" else _write(field, values[field.name])
            for field in self._fields
        )

    def read(self, record: str, line: int) -> dict[str, str]:
        """Return the fields of a record of 94 characters: text without padding, digits as they are.

        Raises NachaError, with the line, for missing digits or a different constant.
        """
        values = {}
        start = 0
        for field in self._fields:
            value = record[start : start + field.length]
            start += field.length
            if field.kind == "constant":
                if value != field.constant:
                    raise NachaError(f"must read {field.constant!r}", line=line, field=field.name)
                continue
            if field.kind == "digits" and not _all_digits(value):
                raise NachaError(f"must hold {field.length} digits", line=line, field=field.name)
            values[field.name] = value.rstrip(" ") if field.kind == "text" else value
        return values


def _all_digits(value: str) -> bool:
    return value.isascii() and value.isdigit()


def _write(field: Field, value: str | int) -> str:
    text = str(value)
    if len(text) > field.length:
        raise NachaError(f"has room for {field.length} characters, not {len(text)}", field=field.name)
    if field.kind == "digits":
        if not _all_digits(text):
            raise NachaError("must hold digits only", field=field.name)
        return text.rjust(field.length, "0")
    if any(not " " <= character <= "~" for character in text):
        raise NachaError("must hold printable ASCII characters only", field=field.name)
    return text.ljust(field.length)


def _text(name: str, length: int) -> Field:
    return Field(name, length, "text")


def _digits(name: str, length: int) -> Field:
    return Field(name, length, "digits")


def _constant(name: str, value: str) -> Field:
    return Field(name, len(value), "constant", value)


FILE_HEADER: Final = Layout(
    "file header",
    _constant("record_type", "1"),
    _constant("priority", "01"),
    _text("destination", 10),
    _text("origin", 10),
    _digits("creation_date", 6),
    _text("creation_time", 4),
    _text("modifier", 1),
    _constant("record_size", f"{RECORD_LENGTH:03}"),
    _constant("blocking_factor", f"{BLOCKING_FACTOR:02}"),
    _constant("format", "1"),
    _text("destination_name", 23),
    _text("origin_name", 23),
    _text("reference", 8),
)

BATCH_HEADER: Final = Layout(
    "batch header",
    _constant("record_type", "5"),
    _digits("service_class", 3),
    _text("company_name", 16),
    _text("discretionary_data", 20),
    _text("company_id", 10),
    _text("sec", 3),
    _text("description", 10),
    _text("descriptive_date", 6),
    _text("effective_date", 6),
    _text("settlement", 3),
    _text("originator_status", 1),
    _digits("odfi", 8),
    _digits("number", 7),
)

ENTRY: Final = Layout(
    "entry",
    _constant("record_type", "6"),
    _digits("transaction_code", 2),
    _digits("rdfi", 8),
    _text("check_digit", 1),
    _text("account", 17),
    _digits("amount", 10),
    _text("identification", 15),
    _text("name", 22),
    _text("discretionary_data", 2),
    _digits("has_addenda", 1),
    _digits("trace", 15),
)

PAYMENT_ADDENDA: Final = Layout(
    "payment addenda",
    _constant("record_type", "7"),
    _constant("addenda_type", "05"),
    _text("information", 80),
    _digits("sequence", 4),
    _digits("entry_sequence", 7),
)

CHANGE_ADDENDA: Final = Layout(
    "notification of change",
    _constant("record_type", "7"),
    _constant("addenda_type", "98"),
    _text("code", 3),
    _digits("original_trace", 15),
    _text("reserved", 6),
    _digits("original_rdfi", 8),
    _text("corrected_data", 29),
    _text("reserved_too", 15),
    _digits("trace", 15),
)

RETURN_ADDENDA: Final = Layout(
    "return",
    _constant("record_type", "7"),
    _constant("addenda_type", "99"),
    _text("code", 3),
    _digits("original_trace", 15),
    _text("date_of_death", 6),
    _digits("original_rdfi", 8),
    _text("information", 44),
    _digits("trace", 15),
)

ADDENDA: Final = {"05": PAYMENT_ADDENDA, "98": CHANGE_ADDENDA, "99": RETURN_ADDENDA}

BATCH_CONTROL: Final = Layout(
    "batch control",
    _constant("record_type", "8"),
    _digits("service_class", 3),
    _digits("entry_addenda_count", 6),
    _digits("entry_hash", 10),
    _digits("total_debit", 12),
    _digits("total_credit", 12),
    _text("company_id", 10),
    _text("message_authentication", 19),
    _text("reserved", 6),
    _digits("odfi", 8),
    _digits("number", 7),
)

FILE_CONTROL: Final = Layout(
    "file control",
    _constant("record_type", "9"),
    _digits("batch_count", 6),
    _digits("block_count", 6),
    _digits("entry_addenda_count", 8),
    _digits("entry_hash", 10),
    _digits("total_debit", 12),
    _digits("total_credit", 12),
    _text("reserved", 39),
)
