"""Splits a bank's file into its records of 94 characters, in the forms in which banks and mainframes write them.

Lines may end with LF, CRLF or CR, be padded or trimmed, hold a whole block, or not end at all. The characters may be
ASCII or EBCDIC, and records may begin with the length word of a mainframe.
"""

from __future__ import annotations

import re
from typing import Final

from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.layout import RECORD_LENGTH

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_EBCDIC: Final = "cp037"
# "101", with which every file begins, in EBCDIC.
_EBCDIC_START: Final = "101".encode(_EBCDIC)
# A record's length word: its length with the word itself, in two bytes, and two zero bytes.
_LENGTH_WORD: Final = (RECORD_LENGTH + 4).to_bytes(2, "big") + b"\0\0"
_LINE_ENDS: Final = re.compile("\r\n|\n|\r|\x85")
_END_OF_FILE: Final = b"\x00\x1a"
# The records whose last field is text: only they can have lost blanks at their end.
_TRIMMABLE: Final = ("1", "9")


def split_records(content: bytes) -> list[str]:
    """Return the records, each of 94 printable ASCII characters; at least one.

    Raises NachaError, with the line, for a character that no file has and for a line of another length.
    """
    text = _decode(content)
    lines = _LINE_ENDS.split(text)
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    records: list[str] = []
    for line in lines:
        records += _records_of(line, len(records) + 1)
    for number, record in enumerate(records, start=1):
        if not record.isascii():
            raise NachaError("holds a character that is not ASCII", line=number)
        if not record.isprintable():
            raise NachaError("holds a control character", line=number)
    return records


def _decode(content: bytes) -> str:
    plain = content.removeprefix(_BYTE_ORDER_MARK)
    if plain.startswith(_LENGTH_WORD):
        plain = _without_length_words(plain)
    if plain.startswith(_EBCDIC_START):
        return plain.decode(_EBCDIC).rstrip("\0\x1a")
    # Each byte becomes one character, so that a wrong one is found at its line.
    return plain.rstrip(_END_OF_FILE).decode("latin-1")


def _without_length_words(content: bytes) -> bytes:
    stride = RECORD_LENGTH + len(_LENGTH_WORD)
    parts = [content[at : at + stride] for at in range(0, len(content), stride)]
    for number, part in enumerate(parts, start=1):
        if len(part) != stride or not part.startswith(_LENGTH_WORD):
            raise NachaError(f"does not begin with the length of {RECORD_LENGTH} characters", line=number)
    end = "\n".encode(_EBCDIC) if parts[0][len(_LENGTH_WORD) :].startswith(_EBCDIC_START) else b"\n"
    return end.join(part[len(_LENGTH_WORD) :] for part in parts)


def _records_of(line: str, number: int) -> list[str]:
    """Return the records of one line: usually one."""
    if len(line) == RECORD_LENGTH:
        return [line]
    if len(line) < RECORD_LENGTH:
        if line.startswith(_TRIMMABLE) and line.strip():
            return [line.ljust(RECORD_LENGTH)]
        raise _length_of(line, number)
    first, rest = line[:RECORD_LENGTH], line[RECORD_LENGTH:]
    if not rest.strip():
        return [first]
    records = [line[at : at + RECORD_LENGTH] for at in range(0, len(line), RECORD_LENGTH)]
    while not records[-1].strip():
        records.pop()
    last = records[-1]
    if len(last) < RECORD_LENGTH:
        if not last.startswith(_TRIMMABLE):
            raise _length_of(line, number)
        records[-1] = last.ljust(RECORD_LENGTH)
    return records


def _length_of(line: str, number: int) -> NachaError:
    return NachaError(f"has {len(line)} characters instead of {RECORD_LENGTH}", line=number)
