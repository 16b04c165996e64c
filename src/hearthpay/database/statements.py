"""Statements put together from fragments: SQL that the product's own code contains, and nothing else.

A template is a literal text with a `{name}` for each fragment. A fragment is a literal text too, or made by a function
of this module, so nothing of a request gets into a statement but as a parameter (`:name`); the types say so, and
`tests/database/test_statement_sources.py` holds that both are written as literals.
"""

import re
from collections.abc import Iterable
from typing import Final, NewType

from sqlalchemy import TextClause, text

Fragment = NewType("Fragment", str)
"""A part of a statement. Made of a literal alone: `Fragment("status = 'scheduled'")`."""

_PLACE: Final = re.compile(r"\{([a-z]\w*)\}")
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")


def compose(template: str, /, **fragments: Fragment | int) -> Fragment:
    """Return the template with a fragment, or a whole number, in each place that has its name.

    Braces around anything but a lower-case name stay as they are: `'{}'` is an empty array.
    Raises ValueError where a place has no fragment, or a fragment no place.
    """
    names = set(_PLACE.findall(template))
    if names != fragments.keys():
        raise ValueError(f"a statement's places and fragments differ: {sorted(names ^ fragments.keys())}")
    return Fragment(_PLACE.sub(lambda place: str(fragments[place[1]]), template))


def statement(template: str, /, **fragments: Fragment | int) -> TextClause:
    """Return the statement that the template makes with these fragments; raises as `compose` does."""
    return text(compose(template, **fragments))


def joined(fragments: Iterable[Fragment], separator: str = ", ") -> Fragment:
    """Return fragments one after another."""
    return Fragment(separator.join(fragments))


def column_list(names: Iterable[str], alias: str = "") -> Fragment:
    """Return the names of columns, each of the relation with this alias if there is one, as `SELECT` takes them.

    Raises ValueError at what is no plain name.
    """
    prefix = f"{identifier(alias)}." if alias else ""
    return Fragment(", ".join(prefix + identifier(name) for name in names))


def identifier(name: str) -> Fragment:
    """Return the name of a table, a column or an alias; raises ValueError where it is no plain one."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"not the name of a table or column: {name!r}")
    return Fragment(name)


def literal(value: str) -> Fragment:
    """Return the text as an SQL literal, in a form that SQLAlchemy takes no parameter from."""
    return Fragment("'" + value.replace("'", "''").replace(":", r"\:") + "'")
