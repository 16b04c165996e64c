"""One record of a wage file: 512 characters, written and read field by field according to the layout."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.documents.efw2.layout import RECORD_LENGTH, Efw2Field, Efw2Layout

Efw2Value = str | int


class Efw2Error(ValueError):
    """An invalid wage file: which record (counted from 1), which field, and why."""

    def __init__(self, number: int, record: str, field: str, reason: str) -> None:
        super().__init__(f"record {number} ({record}), {field}: {reason}")
        self.number = number
        self.record = record
        self.field = field
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Efw2Record:
    """A record that was read: its values by the keys of the layout, amounts in cents."""

    number: int
    kind: str
    values: Mapping[str, Efw2Value]

    def amount(self, key: str) -> int:
        """Return an amount in cents, or a count."""
        value = self.values[key]
        if not isinstance(value, int):
            raise TypeError(f"{self.kind} {key} is no amount")
        return value

    def text(self, key: str) -> str:
        """Return the text of a field."""
        return str(self.values[key])


def write_record(layout: Efw2Layout, record: str, values: Mapping[str, Efw2Value]) -> str:
    """Return a record's 512 characters; missing values are blank, or zeros for amounts.

    Raises `ValueError` for a key that the record doesn't have, and for a value that doesn't fit.
    """
    fields = layout.records[record]
    unknown = values.keys() - {field.key for field in fields}
    if unknown:
        raise ValueError(f"{record} has no {min(unknown)}")
    return "".join(_written(record, field, values.get(field.key)) for field in fields)


def _written(record: str, field: Efw2Field, value: Efw2Value | None) -> str:
    if field.kind == "constant":
        return field.allowed[0]
    if field.kind in ("money", "count"):
        amount = value or 0
        if not isinstance(amount, int) or amount < 0 or len(str(amount)) > field.length:
            raise ValueError(f"{record} {field.name}: {amount} does not fit")
        return f"{amount:0{field.length}d}"
    text = "" if value is None else str(value)
    return text[: field.length].ljust(field.length)


def read_record(layout: Efw2Layout, number: int, line: str) -> Efw2Record:
    """Return the values of a record; raises `Efw2Error` naming the wrong field."""
    kind = line[:2]
    if kind not in layout.records:
        raise Efw2Error(number, kind or "?", "Record Identifier", "names no record")
    if len(line) != RECORD_LENGTH:
        raise Efw2Error(number, kind, "length", f"{len(line)} characters instead of {RECORD_LENGTH}")
    values: dict[str, Efw2Value] = {}
    for field in layout.records[kind]:
        raw = line[field.first - 1 : field.last]
        reason = _wrong(field, raw)
        if reason is not None:
            raise Efw2Error(number, kind, field.name, reason)
        if field.kind in ("money", "count"):
            values[field.key] = int(raw)
        elif field.kind != "blank":
            values[field.key] = raw if field.kind in ("choice", "constant") else raw.rstrip()
    return Efw2Record(number, kind, values)


def _is_number(raw: str) -> bool:
    return raw.isascii() and raw.isdigit()


def _wrong(field: Efw2Field, raw: str) -> str | None:
    """Return what is wrong with a field's characters, or None."""
    blank = not raw.strip(" ")
    reasons = {
        "blank": None if blank else "must be blank",
        "constant": None if raw in field.allowed else f"must be {' or '.join(field.allowed)}",
        "choice": None if raw in field.allowed else f"must be one of {', '.join(field.allowed)}",
        "money": None if _is_number(raw) else "must be cents with zeros before them",
        "count": None if _is_number(raw) else "must be a number with zeros before it",
        "digits": None if _is_number(raw) else "must be digits",
        "digits_or_blank": None if blank or _is_number(raw) else "must be digits or blank",
        "text": _wrong_text(raw, capitals=True),
        "mixed": _wrong_text(raw, capitals=False),
    }
    return reasons[field.kind]


def _wrong_text(raw: str, *, capitals: bool) -> str | None:
    if not (raw.isascii() and raw.isprintable()):
        return "holds a character that the file does not know"
    if raw.startswith(" ") and raw.strip(" "):
        return "must begin on the left"
    if capitals and raw != raw.upper():
        return "must be in capitals"
    return None
