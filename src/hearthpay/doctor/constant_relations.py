"""Rows of the law as a relation of a query: an array literal for each column.

PostgreSQL reads such literals in a fraction of the time that it takes for as many rows of `VALUES`, where each figure
is an expression.
"""

import datetime
import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Final

_PLAIN: Final = re.compile(r"[\w .,/()&-]*")

Value = int | str | bool | Decimal | datetime.date | None


def constant_relation(
    name: str, columns: Mapping[str, str], rows: Collection[Sequence[Value]], *, materialized: bool = False
) -> str:
    """Return the common table expression `name` with these rows, for a WITH clause.

    `columns` has the SQL type of each column; a row has a value for each of them. Raises ValueError for text that would
    have to be quoted within an array.
    """
    literals = ", ".join(
        f"'{{{','.join(_element(row[position]) for row in rows)}}}'::{of_type}[]"
        for position, of_type in enumerate(columns.values())
    )
    kept = "MATERIALIZED " if materialized else ""
    return f"{name} ({', '.join(columns)}) AS {kept}(SELECT * FROM unnest({literals}))"


def _element(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, Decimal):
        return f"{value:f}"
    text = str(value)
    if not _PLAIN.fullmatch(text):
        raise ValueError(f"not plain text: {text!r}")
    return f'"{text}"' if isinstance(value, str) else text
