"""The facts behind a document as one canonical text, so that comparing documents is comparing texts."""

import datetime
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson

from hearthpay.documents.figures.figure import Figure


def facts_of(content: object, *, parts: bool = False) -> bytes:
    """Return the text of dataclasses, tuples, mappings and plain values; raises TypeError for anything else.

    With ``parts``, the ledger rows behind a figure count too, for documents that show them. Equal values have equal
    texts, even across processes and versions of Python: nothing depends on hashes or order.
    """
    return orjson.dumps(_plain(content, parts), option=orjson.OPT_SORT_KEYS)


def read_facts(text: bytes) -> Any:
    """Return the plain values of such a text: mappings, lists, texts and whole numbers."""
    return orjson.loads(text)


def _plain(value: object, parts: bool) -> object:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Decimal | UUID | datetime.date):
        return str(value)
    if isinstance(value, Figure) and not parts:
        return {"cents": value.cents, "formula": value.formula}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name), parts) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: _plain(getattr(value, name), parts) for name in value._fields}
    if isinstance(value, Mapping):
        return {str(name): _plain(each, parts) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each, parts) for each in value]
    if isinstance(value, frozenset | set):
        return sorted(str(_plain(each, parts)) for each in value)
    raise TypeError(f"{type(value).__name__} is nothing that a paper tells")
