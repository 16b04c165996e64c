"""How a place in a list of households is written as a cursor: one of a list isn't accepted for another."""

import datetime
from contextlib import suppress
from typing import Final, Literal

from hearthpay.employers.commands import ListPlace
from hearthpay.wire.paging import decode_cursor, encode_cursor

_WITHOUT_DAY: Final = "-"
_Part = Literal["name", "paid", "unpaid", "found"]
_LETTERS: Final[dict[_Part, str]] = {"name": "n", "paid": "p", "unpaid": "u", "found": "f"}
_PARTS: Final = {letter: part for part, letter in _LETTERS.items()}


def write_place(place: ListPlace) -> str:
    """Return the cursor of a place; newest first, it is the household's id alone."""
    if place.part == "newest":
        return encode_cursor(place.after)
    day = "" if place.part in ("name", "unpaid") else f"{place.day or _WITHOUT_DAY}."
    return f"{_LETTERS[place.part]}.{day}{encode_cursor(place.after)}"


def read_place(cursor: str) -> ListPlace:
    """Return the place that a cursor is of. Raises ValueError for text that isn't one of our cursors."""
    place = None
    with suppress(ValueError):
        match cursor.split("."):
            case [after]:
                place = ListPlace("newest", decode_cursor(after))
            case [("n" | "u") as letter, after]:
                place = ListPlace(_PARTS[letter], decode_cursor(after))
            case [("p" | "f") as letter, day, after]:
                on = None if (letter, day) == ("f", _WITHOUT_DAY) else datetime.date.fromisoformat(day)
                place = ListPlace(_PARTS[letter], decode_cursor(after), on)
    # Dates have other ISO forms, which aren't ours.
    if place is None or write_place(place) != cursor:
        raise ValueError("not a cursor")
    return place
