"""What differs between a database's catalog and the one that the migrations make, and whether it is looser.

Looser is what allows more than this schema does: row security off, a policy changed or added, a
right too many, a role that bypasses the policies, a guard removed. What else is missing, changed or additional is
listed, and hinders nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hearthpay.database.catalog.facts import Facts

_ACTING: Final = ("<service>", "<worker>", "PUBLIC")
"""Those for whom a right too many is one that requests have."""

_OF_A_TABLE: Final = frozenset({"column", "constraint", "index", "policy", "trigger", "rule"})


_ACT_ON_ROWS: Final = frozenset({"policy", "trigger", "rule", "constraint", "setting", "inheritance"})
"""What changes or refuses rows of the schema's tables, also where an administrator added it."""


class DifferenceCode(StrEnum):
    """The kinds of differences."""

    MISSING = "missing"
    ADDITIONAL = "additional"
    CHANGED = "changed"
    ROW_SECURITY_OFF = "row_security_off"
    ROW_SECURITY_NOT_FORCED = "row_security_not_forced"
    OWNER_CHANGED = "owner_changed"
    RIGHT_MISSING = "right_missing"
    RIGHT_ADDITIONAL = "right_additional"
    ROLE_ATTRIBUTES = "role_attributes"
    TRIGGER_OFF = "trigger_off"
    INDEX_INVALID = "index_invalid"
    CONSTRAINT_NOT_VALIDATED = "constraint_not_validated"
    CONSTRAINT_NOT_ENFORCED = "constraint_not_enforced"


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """Something of the schema that isn't as the migrations make it; roles are `<owner>`, `<service>`, `<worker>`."""

    code: DifferenceCode
    kind: str
    """`table`, `column`, `constraint`, `index`, `policy`, `trigger`, `function`, `right`, `role` and so on."""
    name: str
    found: str | None
    expected: str | None
    looser: bool
    """Whether somebody can see or do more than the schema allows."""

    @property
    def harmless(self) -> bool:
        """Whether it is an administrator's own addition, beside the schema: an index, a table, another role's right."""
        additions = (DifferenceCode.ADDITIONAL, DifferenceCode.RIGHT_ADDITIONAL)
        return self.code in additions and self.kind not in _ACT_ON_ROWS and not self.looser


def compare_facts(expected: Facts, found: Facts) -> list[SchemaDifference]:
    """Return what differs, first what is looser; of a table that is missing or additional, not what is its."""
    told: list[SchemaDifference] = []
    for kind, name in sorted(expected.keys() | found.keys()):
        was, now = expected.get((kind, name)), found.get((kind, name))
        if was == now or _goes_with_another(kind, name, expected, found):
            continue
        if kind == "right":
            told += _rights(name, was, now, expected, found)
        elif was is None:
            assert now is not None
            code = DifferenceCode.ADDITIONAL
            told.append(SchemaDifference(code, kind, name, now, None, _adds_freedom(kind, now)))
        elif now is None:
            told.append(SchemaDifference(DifferenceCode.MISSING, kind, name, None, was, _is_guard(kind, was)))
        else:
            told += _changes(kind, name, was, now)
    return sorted(told, key=lambda each: not each.looser)


def _goes_with_another(kind: str, name: str, expected: Facts, found: Facts) -> bool:
    """Return whether it is missing or additional because its table is, or as the index of a constraint that is."""
    if kind not in _OF_A_TABLE:
        return False
    constraint = (
        "constraint",
        name.rpartition(" on ")[0].rpartition(".")[2] + " on " + name.rpartition(" on ")[2],
    )
    if kind == "index" and (constraint in found) != (constraint in expected):
        return True
    table = name.rpartition(".")[0] if kind == "column" else name.rpartition(" on ")[2]
    here, there = ("table", table) in found, ("table", table) in expected
    return here != there


def _adds_freedom(kind: str, value: str) -> bool:
    """Return whether something additional allows more."""
    match kind:
        case "policy":
            return value.startswith("PERMISSIVE") and any(role in value for role in _ACTING)
        case "membership":
            return True
        case _:
            return False


def _is_guard(kind: str, value: str) -> bool:
    """Return whether what is missing, off or changed refuses something while it stands."""
    if kind == "policy":
        return value.startswith("RESTRICTIVE")
    return kind == "trigger" and (" BEFORE " in value or " INSTEAD OF " in value)


def _changes(kind: str, name: str, was: str, now: str) -> Iterator[SchemaDifference]:
    """Yield how something that stands differs from what it must be."""
    before, after = _parts(kind, was), _parts(kind, now)
    codes = {
        code: looser or _is_guard(kind, was)
        for mark, (code, looser) in _MARKS.items()
        if mark in (before.marks - after.marks if code in _LOST else after.marks - before.marks)
    }
    if before.owner != after.owner:
        codes[DifferenceCode.OWNER_CHANGED] = True
    if before.rest != after.rest:
        if kind == "role":
            codes[DifferenceCode.ROLE_ATTRIBUTES] = True
        else:
            codes[DifferenceCode.CHANGED] = _is_looser(kind, was, now)
    for code, looser in codes.items():
        yield SchemaDifference(code, kind, name, now, was, looser)


def _is_looser(kind: str, was: str, now: str) -> bool:
    """Return whether a changed definition may allow more; a plain trigger's function doesn't."""
    match kind:
        case "policy" | "view":
            return True
        case "function":
            return not ("returns trigger" in was and "security definer" not in was + now)
        case _:
            return _is_guard(kind, was)


_MARKS: Final = {
    "row security on": (DifferenceCode.ROW_SECURITY_OFF, True),
    "forced": (DifferenceCode.ROW_SECURITY_NOT_FORCED, True),
    "off": (DifferenceCode.TRIGGER_OFF, False),
    "off but on a replica": (DifferenceCode.TRIGGER_OFF, False),
    "invalid": (DifferenceCode.INDEX_INVALID, False),
    "not validated": (DifferenceCode.CONSTRAINT_NOT_VALIDATED, False),
    "not enforced": (DifferenceCode.CONSTRAINT_NOT_ENFORCED, False),
}
"""Parts of a value with a code of their own, and whether they alone are looser."""

_LOST: Final = frozenset({DifferenceCode.ROW_SECURITY_OFF, DifferenceCode.ROW_SECURITY_NOT_FORCED})
"""Told where the part is gone; the others, where it came."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a value."""

    owner: str
    marks: frozenset[str]
    rest: tuple[str, ...]


def _parts(kind: str, value: str) -> _Parts:
    if kind == "constraint":
        value = value.replace(" NOT VALID", "")
    tokens = value.split(", ")
    owner = next((token for token in tokens if token.startswith("owner <")), "")
    marks = frozenset(_MARKS.keys() & set(tokens))
    return _Parts(owner, marks, tuple(token for token in tokens if token not in marks and token != owner))


def _rights(
    name: str, was: str | None, now: str | None, expected: Facts, found: Facts
) -> Iterator[SchemaDifference]:
    """Yield the rights that somebody has too many, and those that are missing."""
    given = frozenset() if now is None else frozenset(now.split(", "))
    meant = frozenset() if was is None else frozenset(was.split(", "))
    if given - meant:
        extra = ", ".join(sorted(given - meant))
        looser = _is_loose_right(name, expected, found)
        yield SchemaDifference(DifferenceCode.RIGHT_ADDITIONAL, "right", name, extra, None, looser)
    if meant - given:
        missing = ", ".join(sorted(meant - given))
        yield SchemaDifference(DifferenceCode.RIGHT_MISSING, "right", name, None, missing, looser=False)


def _is_loose_right(name: str, expected: Facts, found: Facts) -> bool:
    """Return whether a right that the schema gives nobody is one that requests have.

    An administrator's own tables and functions are theirs, unless they show or do what their owner may. So are the
    rights of their own roles: row security hides every row from a role that no policy names. PUBLIC may connect to a
    database that isn't ours to close.
    """
    subject, _, grantee = name.rpartition(" to ")
    kind, _, target = subject.partition(" ")
    if grantee not in _ACTING:
        return False
    if grantee != "PUBLIC":
        return True
    if kind == "function":
        own = "security definer" not in found.get(("function", target), "")
        return not (own and ("function", target) not in expected)
    if kind in ("table", "column"):
        table = target.rpartition(".")[0] if kind == "column" else target
        return ("table", table) in expected or ("view", table) in found
    return kind != "database"
