"""Migrations that landed below newer ones: a database that had run the newer ones would never run them.

In November 2026 some migrations were put before others that had landed. A database of such a day names a revision that
it has, and lacks one below it; the next upgrade stopped where something built on that, or went on without it. They are
run first, in their order. `tests/database/test_upgrades.py` refuses another migration that isn't above all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import psycopg

from hearthpay.database.installation import Roles


@dataclass(frozen=True, slots=True)
class _LateMigration:
    """A migration that landed late."""

    revision: str
    last_without: str
    """The newest revision of a database that may lack it."""
    mark: str
    """What its having run is seen by: a table, `table.column`, or a condition in SQL."""


_RESTRICTIONS_EXCEPT_OWNER: Final = """
    EXISTS (SELECT FROM pg_policy
             WHERE polname = 'made_in_its_mode' AND pg_get_expr(polwithcheck, polrelid) ~ 'relowner')
"""
_WORKER_READS_INVITATIONS: Final = (
    "has_column_privilege(%(worker)s, 'public.invitations', 'created_at', 'SELECT')"
)

_LATE: Final = (
    _LateMigration("0011", "0012", "vault_keys"),
    _LateMigration("0017", "0022", "employers.threshold_bases"),
    _LateMigration("0019", "0022", "paycheck_remedies"),
    _LateMigration("0020", "0022", "bank_accounts.simulated_answer"),
    _LateMigration("0021", "0022", "employers.address"),
    _LateMigration("0031", "0033", "employee_links"),
    _LateMigration("0050", "0056", _RESTRICTIONS_EXCEPT_OWNER),
    _LateMigration("0052", "0056", "document_packages"),
    _LateMigration("0054", "0056", "wage_settlements"),
    _LateMigration("0065", "0070", "line_sets"),
    _LateMigration("0066", "0070", "month_balances"),
    _LateMigration("0068", "0070", "employers.last_name_key"),
    _LateMigration("0069", "0070", "failed_attempts"),
    _LateMigration("0071", "0078", _WORKER_READS_INVITATIONS),
    _LateMigration("0073", "0078", "employers.time_zone"),
    _LateMigration("0076", "0078", "invitations.tax_number_at"),
)

_HAS_TABLE: Final = "to_regclass('public.' || %(table)s) IS NOT NULL"
_HAS_COLUMN: Final = """
    EXISTS (SELECT FROM pg_attribute
             WHERE attrelid = to_regclass('public.' || %(table)s) AND attname = %(column)s)
"""


def find_passed_over(
    connection: psycopg.Connection[tuple[object, ...]], revision: str, roles: Roles
) -> list[str]:
    """Return the migrations below the database's revision that it lacks, the oldest first.

    Only a database of those days can lack one. In any other, what is missing was removed, and isn't made again empty.
    """
    return [
        late.revision
        for late in _LATE
        if late.revision < revision <= late.last_without and not _has(connection, late.mark, roles)
    ]


def _has(connection: psycopg.Connection[tuple[object, ...]], mark: str, roles: Roles) -> bool:
    table, _, column = mark.partition(".")
    condition = mark if "(" in mark else _HAS_COLUMN if column else _HAS_TABLE
    asked = f"SELECT {condition}".encode()
    return connection.execute(
        asked, {"table": table, "column": column, "worker": roles.worker}
    ).fetchone() == (True,)
