"""A difference of the schema in words for administrators: what it is, what it must be, and what mends it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from hearthpay.database.catalog.differences import DifferenceCode, SchemaDifference
from hearthpay.database.installation import Roles

_LONGEST: Final = 200
"""How much of a definition is shown; the whole one is in `catalog/schema.txt`."""

_ROLE: Final = re.compile(r"<([\w-]+)>")
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")


class ToldDifference(NamedTuple):
    """A difference in words, with the names of this database's roles."""

    subject: str
    what: str
    recorded: str
    expected: str
    remedy: str
    """The SQL that mends it, for the schema's owner or a superuser; empty if there is no single statement."""

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        told = f"{self.subject}: {self.what} is {self.recorded}, must be {self.expected}"
        return f"{told} ({self.remedy})" if self.remedy else told


def role_names(roles: Roles, owner: str) -> Mapping[str, str]:
    """Return the names of this database's roles by those of the catalog."""
    return {"owner": owner, "service": roles.service, "worker": roles.worker}


def describe(difference: SchemaDifference, names: Mapping[str, str]) -> ToldDifference:
    """Return the difference in words; `names` are those of `role_names`."""
    what, recorded, expected = _PHRASES[difference.code]
    told = ToldDifference(
        f"{difference.kind} {difference.name}",
        what,
        recorded or _shorten(difference.found),
        expected or _shorten(difference.expected),
        _remedy(difference),
    )
    return ToldDifference(*(_ROLE.sub(lambda role: _role(role[1], names), part) for part in told))


def _role(name: str, names: Mapping[str, str]) -> str:
    name = names.get(name, name)
    return name if _PLAIN.fullmatch(name) else f'"{name}"'


_PHRASES: Final = {
    DifferenceCode.MISSING: ("it", "missing", ""),
    DifferenceCode.ADDITIONAL: ("it", "", "absent: it is no part of the schema"),
    DifferenceCode.CHANGED: ("it", "", ""),
    DifferenceCode.ROW_SECURITY_OFF: ("row security", "off", "on"),
    DifferenceCode.ROW_SECURITY_NOT_FORCED: ("row security for the owner", "not forced", "forced"),
    DifferenceCode.OWNER_CHANGED: ("the owner", "", ""),
    DifferenceCode.RIGHT_MISSING: ("the right", "missing", ""),
    DifferenceCode.RIGHT_ADDITIONAL: ("the right", "", "not given"),
    DifferenceCode.ROLE_ATTRIBUTES: ("the role", "", ""),
    DifferenceCode.TRIGGER_OFF: ("it", "off", "on"),
    DifferenceCode.INDEX_INVALID: ("it", "invalid", "valid"),
    DifferenceCode.CONSTRAINT_NOT_VALIDATED: ("it", "not validated", "validated"),
    DifferenceCode.CONSTRAINT_NOT_ENFORCED: ("it", "not enforced", "enforced"),
}
"""Of each code: what differs, how it is and how it must be; empty for what the difference says."""


def _shorten(value: str | None) -> str:
    value = value or "absent"
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


_REMEDIES: Final = {
    (DifferenceCode.ROW_SECURITY_OFF, "table"): "ALTER TABLE {whole} ENABLE ROW LEVEL SECURITY",
    (DifferenceCode.ROW_SECURITY_NOT_FORCED, "table"): "ALTER TABLE {whole} FORCE ROW LEVEL SECURITY",
    (DifferenceCode.OWNER_CHANGED, "table"): "ALTER TABLE {whole} OWNER TO <owner>",
    (DifferenceCode.OWNER_CHANGED, "view"): "ALTER VIEW {whole} OWNER TO <owner>",
    (DifferenceCode.OWNER_CHANGED, "function"): "ALTER FUNCTION {whole} OWNER TO <owner>",
    (DifferenceCode.OWNER_CHANGED, "sequence"): "ALTER SEQUENCE {whole} OWNER TO <owner>",
    (DifferenceCode.ROLE_ATTRIBUTES, "role"): (
        "ALTER ROLE {whole} NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB NOREPLICATION"
    ),
    (DifferenceCode.TRIGGER_OFF, "trigger"): "ALTER TABLE {table} ENABLE TRIGGER {name}",
    (DifferenceCode.INDEX_INVALID, "index"): "REINDEX INDEX CONCURRENTLY {name}",
    (DifferenceCode.CONSTRAINT_NOT_VALIDATED, "constraint"): "ALTER TABLE {table} VALIDATE CONSTRAINT {name}",
    (DifferenceCode.CONSTRAINT_NOT_ENFORCED, "constraint"): "ALTER TABLE {table} ENABLE TRIGGER ALL",
    (DifferenceCode.ADDITIONAL, "policy"): "DROP POLICY {name} ON {table}",
    (DifferenceCode.ADDITIONAL, "trigger"): "DROP TRIGGER {name} ON {table}",
    (DifferenceCode.ADDITIONAL, "rule"): "DROP RULE {name} ON {table}",
    (DifferenceCode.ADDITIONAL, "constraint"): "ALTER TABLE {table} DROP CONSTRAINT {name}",
    (DifferenceCode.ADDITIONAL, "membership"): "REVOKE {role} FROM {member}",
    (DifferenceCode.MISSING, "index"): "{expected}",
    (DifferenceCode.MISSING, "trigger"): "{expected}",
    (DifferenceCode.MISSING, "constraint"): "ALTER TABLE {table} ADD CONSTRAINT {name} {expected}",
    (DifferenceCode.MISSING, "policy"): "CREATE POLICY {name} ON {table} AS {expected}",
    (DifferenceCode.CHANGED, "policy"): (
        "DROP POLICY {name} ON {table}; CREATE POLICY {name} ON {table} AS {expected}"
    ),
}
"""The statement for a code and kind, where there is one."""


def _remedy(difference: SchemaDifference) -> str:
    if difference.kind == "right":
        return _remedy_of_right(difference)
    name, _, table = difference.name.rpartition(" on ")
    member, _, role = difference.name.partition(" in ")
    return _REMEDIES.get((difference.code, difference.kind), "").format(
        whole=difference.name,
        name=name,
        table=table,
        member=member,
        role=role,
        expected=difference.expected,
    )


def _remedy_of_right(difference: SchemaDifference) -> str:
    """Return the GRANT or REVOKE; a right of a column names its privileges with it."""
    subject, _, grantee = difference.name.rpartition(" to ")
    kind, _, target = subject.partition(" ")
    if kind in ("future", "database"):
        return ""
    gives = difference.code == DifferenceCode.RIGHT_MISSING
    told = (difference.expected if gives else difference.found) or ""
    privileges = [each.removesuffix(" WITH GRANT OPTION") for each in told.split(", ")]
    place = subject
    if kind == "column":
        place, _, column = target.rpartition(".")
        privileges = [f"{each} ({column})" for each in privileges]
    word, way = ("GRANT", "TO") if gives else ("REVOKE", "FROM")
    return f"{word} {', '.join(privileges)} ON {place} {way} {grantee}"
