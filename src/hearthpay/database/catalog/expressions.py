"""Writes a definition in one form, whichever way PostgreSQL read it.

PostgreSQL keeps `a AND b AND c` as it was read, and writes it with parentheses that it leaves out once it has read that
again: so a constraint differs from itself after a dump and a restore.
"""

from __future__ import annotations

import re
from typing import Final, Union

_LITERAL: Final = re.compile(r"('(?:[^']|'')*')")
_PARTS: Final = re.compile(r"'(?:[^']|'')*'|[()]|[^'()]+")
_CONNECTIVE: Final = re.compile(r" (AND|OR) ")
_ESCAPES: Final = str.maketrans(
    {"\\": r"\\", "\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
)

_Node = Union[str, "_Group"]


class _Group:
    """What a pair of parentheses holds."""

    def __init__(self) -> None:
        self.parts: list[_Node] = []


def normalize(definition: str) -> str:
    """Return the definition without line breaks and without parentheses that only group AND with AND, or OR with OR."""
    parts = _LITERAL.split(definition)
    line = "".join(
        part.translate(_ESCAPES) if place % 2 else re.sub(r"\s+", " ", part)
        for place, part in enumerate(parts)
    )
    if not ("((" in line and _CONNECTIVE.search(line)):
        return line
    whole = _parse(line)
    return line if whole is None else _write(whole)


def _parse(line: str) -> _Group | None:
    """Return the line as groups in groups; None if its parentheses don't match."""
    open_groups = [_Group()]
    for part in _PARTS.findall(line):
        if part == "(":
            open_groups.append(_Group())
        elif part == ")":
            if len(open_groups) == 1:
                return None
            closed = open_groups.pop()
            open_groups[-1].parts.append(closed)
        else:
            open_groups[-1].parts.append(part)
    return open_groups[0] if len(open_groups) == 1 else None


def _write(group: _Group) -> str:
    connective = _connective(group)
    written = []
    for place, part in enumerate(group.parts):
        if isinstance(part, str):
            written.append(part)
            continue
        before = group.parts[place - 1] if place else ""
        after = group.parts[place + 1] if place + 1 < len(group.parts) else ""
        same = connective is not None and _connective(part) == connective
        stands_alone = before in ("", f" {connective} ") and after in ("", f" {connective} ")
        told = _write(part)
        written.append(told if same and stands_alone else f"({told})")
    return "".join(written)


def _connective(group: _Group) -> str | None:
    """Return what connects the operands of a group; None if nothing does, or both."""
    found = {
        each
        for part in group.parts
        if isinstance(part, str) and part[:1] != "'"
        for each in _CONNECTIVE.findall(part)
    }
    return found.pop() if len(found) == 1 else None
