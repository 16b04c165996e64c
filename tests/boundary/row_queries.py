"""The statements that read every row of every table with the world it belongs to: an organization and a mode."""

from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import psycopg

_COLUMNS: Final = """
    SELECT relname, array_agg(attname::text ORDER BY attnum)
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
     GROUP BY relname ORDER BY relname
"""

_NO_WORLDS: Final = frozenset(
    {
        "vault_keys",
        "audit_ends",
        "audit_seals",
        "audit_unsealed",
        "mail_register",
        "record_versions",
        "row_register",
        "failed_attempts",
    }
)
"""The installation's keys: the first number makes one current. The audit log's seals: of both modes together. The
registers repeat what the outbox and other tables say, without the household; versions of records repeat
what the records say. Failed attempts are counted by digests of
addresses and accounts; a refused key is one."""


class RowQueries(NamedTuple):
    """Both are about all rows; those of an organization itself have no mode."""

    fingerprint: str
    """Organization, mode and table; how many rows, and a checksum over all that stands in them."""
    ids: str
    """Table, organization, mode and id, in the order of the ids; organizations themselves are left out."""


_KNOWN: WeakKeyDictionary[psycopg.Connection, RowQueries] = WeakKeyDictionary()


def row_queries(owner: psycopg.Connection) -> RowQueries:
    """Return the statements for the tables that the connection's database has when it asks first."""
    if owner not in _KNOWN:
        contents, ids = [], []
        for table, columns in owner.execute(_COLUMNS).fetchall():
            bucket = _bucket(columns)
            if table not in _NO_WORLDS:
                content = ", ".join(f"t.{each}" for each in columns if each != "last_used_at")
                contents.append(
                    f"SELECT '{table}' AS name, {bucket}, ROW({content})::text AS content FROM {table} t"
                )
            if "id" in columns and table != "organizations":
                ids.append(f"SELECT '{table}' AS name, {bucket}, t.id::text AS id FROM {table} t")
        fingerprint = (
            "SELECT organization, mode, name, count(*), md5(string_agg(content, '\n' ORDER BY content)) "
            f"FROM ({' UNION ALL '.join(contents)}) AS everything GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )
        _KNOWN[owner] = RowQueries(fingerprint, f"{' UNION ALL '.join(ids)} ORDER BY 1, 4")
    return _KNOWN[owner]


def _bucket(columns: list[str]) -> str:
    """The two columns that say whose a row is; the organization's own row is its own."""
    whose = [f"t.{each}::text" for each in ("organization_id", "id") if each in columns]
    modes = ["t.sandbox::text"] if "sandbox" in columns else []
    if "mode" in columns:
        modes.append("CASE t.mode WHEN 'test' THEN 'true' WHEN 'live' THEN 'false' END")
    organization, mode = ", ".join([*whose, "''"]), ", ".join([*modes, "''"])
    return f"coalesce({organization}) AS organization, coalesce({mode}) AS mode"
