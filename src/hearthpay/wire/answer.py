"""The answer of an operation, and the one way in which anything becomes JSON."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import orjson

_OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS


def _encode(value: object) -> object:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise TypeError("a number that is not finite has no JSON form")
        return orjson.Fragment(str(value))
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def render(value: object) -> bytes:
    """`value` as JSON: decimals digit by digit as numbers, UUIDs and dates as text, timestamps in UTC with `Z`.

    Dataclasses and mappings become objects. Raises TypeError for a value without JSON form.
    """
    return orjson.dumps(value, default=_encode, option=_OPTIONS)


@dataclass(frozen=True, slots=True)
class Answer:
    """An operation's answer: `data` for the envelope; a list also has its next cursor.

    What changes from day to day says for which day it holds.
    """

    data: object
    status: int = 200
    is_list: bool = False
    next_cursor: str | None = None
    as_of: datetime.date | None = None

    def body(self, request_id: str) -> bytes:
        """Return the answer in its envelope, rendered."""
        meta: dict[str, object] = {"requestId": request_id}
        if self.is_list:
            meta["next_cursor"] = self.next_cursor
        if self.as_of is not None:
            meta["as_of"] = self.as_of
        return render({"success": True, "data": self.data, "meta": meta})
