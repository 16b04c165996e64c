"""A paycheck's tax lines as they are stored: figures in arrays of its row, and what names them in `line_sets`.

A set of lines is stored once for all paychecks that have it. Its id is calculated from its contents, so a program never
reads ids from the database, and a set with an id always has the same contents.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

from hearthpay.database.statements import Fragment, column_list, compose, statement
from hearthpay.payroll.ledger.columns import array_text, arrays, columns_of, quoted_array
from hearthpay.payroll.ledger.rows import LineRow


class LineNames(NamedTuple):
    """What names a line, as it was named when the paycheck was written."""

    code: str
    name: str
    payer: str
    agency: str
    category: str


_NAMES: Final = len(LineNames._fields)

FIGURE_TYPES: Final = dict.fromkeys(
    ("line_subject_wages", "line_taxable_wages", "line_rates", "line_amounts", "line_ytd_amounts"), "text"
)
"""The columns of `paychecks` with one figure for each line. They are sent as text, since unnest would flatten an array
of arrays."""

FIGURE_VALUES: Final = Fragment(
    "CAST(r.line_subject_wages AS bigint[]), CAST(r.line_taxable_wages AS bigint[]), CAST(r.line_rates AS numeric[]), "
    "CAST(r.line_amounts AS bigint[]), CAST(r.line_ytd_amounts AS bigint[])"
)
"""These columns of the rows `r` of a statement that takes them."""

_SET_TYPES: Final = {
    "id": "bigint",
    "codes": "text",
    "names": "text",
    "payers": "text",
    "agencies": "text",
    "categories": "text",
}
INSERT_SETS: Final = statement(
    "INSERT INTO line_sets ({columns}) SELECT r.id, CAST(r.codes AS text[]), CAST(r.names AS text[]), "
    "CAST(r.payers AS text[]), CAST(r.agencies AS text[]), CAST(r.categories AS text[]) "
    "FROM unnest({arrays}) AS r({columns}) ORDER BY r.id ON CONFLICT DO NOTHING",
    columns=column_list(_SET_TYPES),
    arrays=arrays(_SET_TYPES),
)
"""In the order of the ids, so that two transactions that add the same sets cannot deadlock."""

ALL_SETS_STORED: Final = Fragment(
    "(SELECT count(*) FROM line_sets WHERE id = ANY(CAST(:line_sets AS bigint[]))) = :line_set_count"
)
"""A condition on the whole of an INSERT: without it a paycheck might name a set that is not there."""

LINES: Final = Fragment(
    "JOIN line_sets s ON s.id = c.line_set_id CROSS JOIN LATERAL unnest(s.codes) WITH ORDINALITY AS n(code, number) "
    "CROSS JOIN LATERAL (SELECT n.code, s.names[n.number] AS name, s.payers[n.number] AS payer, "
    "s.agencies[n.number] AS agency, s.categories[n.number] AS category, "
    "c.line_subject_wages[n.number] AS subject_wages, c.line_taxable_wages[n.number] AS taxable_wages, "
    "c.line_rates[n.number] AS rate, c.line_amounts[n.number] AS amount, "
    "c.line_ytd_amounts[n.number] AS ytd_amount, n.number AS position) AS l"
)
"""Joins each paycheck `c` with its lines `l`."""

LINE_ARRAYS: Final = compose(
    "s.codes, s.names, s.payers, s.agencies, s.categories, {figures}", figures=column_list(FIGURE_TYPES, "c")
)
"""The columns that `lines_of` takes, of a paycheck `c` left-joined with its set `s`: those of `LineRow` as arrays."""


@lru_cache(maxsize=4096)
def line_set_id(names: tuple[LineNames, ...]) -> int:
    """Return the id of a set; the database's function of the same name has the same result."""
    content = "\n".join(part for column in zip(*names, strict=True) for part in column)
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "big", signed=True)


def names_of(lines: Sequence[LineRow]) -> tuple[LineNames, ...]:
    """Return what names a paycheck's lines."""
    return tuple([tuple.__new__(LineNames, line[:_NAMES]) for line in lines])


def figures_of(lines: Sequence[LineRow]) -> tuple[str, ...]:
    """Return the values of the columns of `FIGURE_TYPES`."""
    if not lines:
        return ("{}",) * len(FIGURE_TYPES)
    return tuple(map(array_text, list(zip(*lines, strict=True))[_NAMES:]))


def stored_sets(sets: Mapping[int, object]) -> dict[str, object]:
    """Return the parameters of `ALL_SETS_STORED`."""
    return {"line_sets": array_text(sets), "line_set_count": len(sets)}


def set_values(sets: Mapping[int, tuple[LineNames, ...]]) -> dict[str, str]:
    """Return the parameters of `INSERT_SETS`, for sets by their ids."""
    rows = []
    for each, names in sets.items():
        columns = [quoted_array(column) for column in zip(*names, strict=True)] or ["{}"] * _NAMES
        rows.append((each, *columns))
    return columns_of(_SET_TYPES, rows)


def lines_of(columns: Sequence[object]) -> tuple[LineRow, ...]:
    """Return the lines, in their order, of a row that ends with the columns of `LINE_ARRAYS`.

    They are all NULL for a paycheck without lines that an earlier version wrote.
    """
    arrays_of_lines = cast("Sequence[Sequence[Any] | None]", columns[-len(LineRow._fields) :])
    filled = [array for array in arrays_of_lines if array is not None]
    return tuple(map(LineRow._make, zip(*filled, strict=True)))
