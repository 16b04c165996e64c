"""Many rows in one statement: one array per column, each as text in PostgreSQL's array format."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hearthpay.database.statements import Fragment, compose, identifier, joined

_QUOTED: Final = frozenset({"text", "jsonb", "daterange", "timestamptz", "bytea"})


def arrays(types: Mapping[str, str], prefix: str = "") -> Fragment:
    """Return the parameters of a statement that takes an array for each column of these types.

    A statement that fills several tables tells their parameters apart by a prefix.
    """
    return joined(
        compose("CAST(:{name} AS {kind}[])", name=identifier(f"{prefix}{name}"), kind=identifier(kind))
        for name, kind in types.items()
    )


def columns_of(
    types: Mapping[str, str], rows: Sequence[tuple[object, ...]], prefix: str = ""
) -> dict[str, str]:
    """Turn rows into one array per column, named as the parameters of `arrays`.

    The driver's own way takes several times as long as the rest of a payroll, since it checks every element.
    """
    columns = zip(*rows, strict=True) if rows else ((),) * len(types)
    return {
        f"{prefix}{name}": array_of(kind, values)
        for (name, kind), values in zip(types.items(), columns, strict=True)
    }


def array_of(kind: str, values: Iterable[object]) -> str:
    """Return the text of an array of this type."""
    return quoted_array(values) if kind in _QUOTED else array_text(values)


def array_text(values: Iterable[object]) -> str:
    """Return the text of an array whose elements need no quotes: numbers, ids, booleans, line codes."""
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def quoted_array(values: Iterable[object]) -> str:
    """Return the text of an array of texts."""
    quoted = [
        "NULL" if value is None else '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
        for value in values
    ]
    return "{" + ",".join(quoted) + "}"
