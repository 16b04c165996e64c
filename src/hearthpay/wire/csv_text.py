"""Tables as CSV by RFC 4180, to open in a spreadsheet or to upload to a state.

Each text that a spreadsheet could take for a formula gets an apostrophe in front. Amounts are plain numbers of
dollars with two decimals.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

_STARTS_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in spreadsheets; the last four are the wide ones of East Asian keyboards."""

Cell = str | int | Decimal | None


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV: commas, lines ending in CRLF, quotes if needed; None is an empty cell."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return written.getvalue()


def _safe(cell: Cell) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return str(cell)
    return f"'{cell}" if cell.lstrip(" \u00a0").startswith(_STARTS_A_FORMULA) else cell
