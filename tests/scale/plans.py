"""How the database would find the rows of a statement: which tables it would read whole, others' rows included."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

TENANT_TABLES = (
    "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' "
    "AND column_name = 'employer_id' UNION VALUES ('employers'), ('security_alerts')"
)
"""The tables with rows of households. Those that have rows of people are read by person."""


@dataclass(frozen=True, slots=True)
class ReadWhole:
    """A table that a plan reads from one end to the other, and the index by which it does; None without one."""

    table: str
    index: str | None


@contextlib.contextmanager
def without_partial_indexes(connection: psycopg.Connection, *, unique: bool) -> Iterator[None]:
    """Let no plan use a partial index in the block; with `unique`, none that is unique.

    A partial index of which the copies have no rows costs nothing to read whole: the planner then prefers it to the
    index that it would use if there were rows.
    """
    with connection.transaction(force_rollback=True):
        connection.execute(
            "UPDATE pg_index SET indisvalid = false FROM pg_class t WHERE t.oid = indrelid "
            "AND indpred IS NOT NULL AND (indisunique OR NOT %s) AND t.relnamespace = 'public'::regnamespace",
            (unique,),
        )
        yield


def read_whole(
    connection: psycopg.Connection, role: str, tenant: str, statement: str, tables: frozenset[str]
) -> frozenset[ReadWhole] | None:
    """Return which of the tables the role's plan of the statement reads whole; None if the role may not run it.

    The plan is the one for any parameters. Rows are made expensive and lookups cheap, so that a sequential scan, or an
    index that is read without a condition, means that the planner found no index for a condition of the statement.
    """
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(
                "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), "
                "set_config('enable_seqscan', 'off', true), set_config('enable_mergejoin', 'off', true), "
                "set_config('enable_hashjoin', 'off', true), set_config('jit', 'off', true), "
                "set_config('seq_page_cost', '1000', true), set_config('random_page_cost', '0.01', true), "
                "set_config('cpu_tuple_cost', '100', true), set_config('cpu_index_tuple_cost', '10', true), "
                "set_config('hearthpay.tenant', %s, true), set_config('hearthpay.person', '', true)",
                (tenant,),
            )
            connection.execute(f"SET LOCAL ROLE {role}")
            connection.execute(f"PREPARE planned AS {statement}".encode(), prepare=False)
            [(count,)] = connection.execute(
                "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'planned'",
                prepare=False,
            ).fetchall()
            values = f"({', '.join(['NULL'] * count)})" if count else ""
            [(plan,)] = connection.execute(
                f"EXPLAIN (FORMAT JSON) EXECUTE planned{values}", prepare=False
            ).fetchall()
    except psycopg.Error:
        return None
    finally:
        # A prepared statement outlives its transaction.
        with contextlib.suppress(psycopg.errors.InvalidSqlStatementName):
            connection.execute("DEALLOCATE planned", prepare=False)
    return frozenset(_whole(plan[0]["Plan"], tables))


def _whole(node: Mapping[str, Any], tables: frozenset[str]) -> Iterator[ReadWhole]:
    kind = node["Node Type"]
    table = node.get("Relation Name")
    if kind == "Seq Scan" and table in tables:
        yield ReadWhole(table, None)
    elif kind.startswith("Index ") and table in tables and "Index Cond" not in node:
        yield ReadWhole(table, node["Index Name"])
    for each in node.get("Plans", ()):
        yield from _whole(each, tables)
