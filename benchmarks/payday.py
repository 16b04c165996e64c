"""A payday: many scheduled payrolls due at once, fired by two worker processes, without and with a year behind them.

The baseline is the same rows, sent to the same tables by COPY as fast as two connections can: what was fired is taken
out again, and put back bare. Run by itself, since it fills gigabytes: `python -m benchmarks.payday`. With `--small` it
ends in under a minute on a quiet machine, for use before each change of the ledger.
"""

import argparse
import asyncio
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from benchmarks.event_loop import new_event_loop
from benchmarks.payday_data import Payday, make_payday
from benchmarks.report import Aim, Row, print_table
from hearthpay.database.startup import Addresses, open_database
from hearthpay.security.key_ring import EncryptionKey, KeyRing

WORKERS: Final = 2
_SMALL: Final = (2_000, 10)
"""Households and weeks of a short run."""
RATE: Final = Aim(1_000, at_least=True)
GROWTH: Final = Aim(1.2, at_least=False)

#: What firing writes, in the order in which it can be put back.
_WRITTEN: Final = {
    "payroll_transitions": "to_status <> 'scheduled' AND payroll_id = ANY(%(payrolls)s)",
    "paychecks": "payroll_id = ANY(%(payrolls)s)",
    "bank_entries": "payroll_id = ANY(%(payrolls)s)",
    "escrow_movements": "paycheck_id IN (SELECT id FROM paychecks WHERE payroll_id = ANY(%(payrolls)s))",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One payday: how long it took from the first to the last, what the workers told, and the bare rows' time."""

    payrolls: int
    seconds: float
    workers: list[dict[str, Any]]
    bare_seconds: float
    database_size: int

    @property
    def rate(self) -> float:
        return self.payrolls / self.seconds

    def share(self, of: str) -> float:
        return sum(worker[of] for worker in self.workers) / sum(worker["seconds"] for worker in self.workers)


async def payday(households: int, history: int) -> Outcome:
    """Make a payday in a database of its own, fire it, and put its rows back bare."""
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-payday-"))
    try:
        async with open_database(folder, Addresses()) as opened:
            assert opened.embedded is not None
            ring = KeyRing((EncryptionKey.generate(),))
            print(f"{households:,} households with {history} earlier paychecks each …", flush=True)
            began = time.monotonic()
            due = await make_payday(
                opened.owner_url,
                opened.embedded.service_url(),
                ring,
                households=households,
                history=history,
            )
            with _connect(opened.owner_url) as owner:
                owner.execute("VACUUM ANALYZE")
                owner.execute("CHECKPOINT")
            print(f"  made in {time.monotonic() - began:.0f} s; firing …", flush=True)
            seconds, told = await fire(opened.owner_url, due, WORKERS)
            print(f"  {households / seconds:,.0f} payrolls/s; putting the same rows back bare …", flush=True)
            with _connect(opened.owner_url) as owner:
                fired = _count(owner, "SELECT count(*) FROM payrolls WHERE status = 'pending_funding'")
                size = _count(owner, "SELECT pg_database_size(current_database())")
            if fired != households or sum(worker["fired"] for worker in told) != households:
                raise RuntimeError(f"{fired} of {households} payrolls were fired")
            bare = await asyncio.to_thread(_put_back, opened.owner_url, due)
            return Outcome(households, seconds, told, bare, size)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def fire(owner_url: str, due: Payday, number: int) -> tuple[float, list[dict[str, Any]]]:
    """Let so many workers fire everything; the time from the word go to the last one's end."""
    command = [sys.executable, "-m", "benchmarks.payday_worker", owner_url, due.due_at.isoformat()]
    workers = [
        await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(number)
    ]
    for worker in workers:
        assert worker.stdout is not None
        await worker.stdout.readline()
    began = time.perf_counter()
    answers = await asyncio.gather(*(worker.communicate(b"\n") for worker in workers))
    seconds = time.perf_counter() - began
    told = [json.loads(output.splitlines()[-1]) for output, _ in answers]
    return max(worker["seconds"] for worker in told) if told else seconds, told


def _put_back(owner_url: str, due: Payday) -> float:
    """Take out what firing wrote and send it back by COPY, half of the households on each of two connections."""
    from concurrent.futures import ThreadPoolExecutor

    halves = [due.households[start::WORKERS] for start in range(WORKERS)]
    with _connect(owner_url) as owner:
        taken = [
            [(table, _take(owner, table, [home.payroll_id for home in half])) for table in _WRITTEN]
            for half in halves
        ]
        payrolls = [home.payroll_id for home in due.households]
        for table in reversed(_WRITTEN):
            condition = sql.SQL(_WRITTEN[table])  # type: ignore[arg-type]
            owner.execute(
                sql.SQL("DELETE FROM {} WHERE {}").format(sql.Identifier(table), condition),
                {"payrolls": payrolls},
            )
        owner.execute("VACUUM")
        owner.execute("CHECKPOINT")

    def send(half: list[tuple[str, bytes]]) -> None:
        with _connect(owner_url, autocommit=False) as connection:
            for table, content in half:
                into = sql.SQL("COPY {} FROM STDIN (FORMAT binary)").format(_with_columns(connection, table))
                with connection.cursor().copy(into) as copy:
                    copy.write(content)
            connection.commit()

    began = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as threads:
        list(threads.map(send, taken))
    return time.perf_counter() - began


def _take(owner: psycopg.Connection, table: str, payrolls: list[Any]) -> bytes:
    statement = sql.SQL("COPY (SELECT {} FROM {} WHERE {}) TO STDOUT (FORMAT binary)").format(
        sql.SQL(", ").join(map(sql.Identifier, stored_columns(owner, table))),
        sql.Identifier(table),
        sql.SQL(_WRITTEN[table]),  # type: ignore[arg-type]
    )
    with owner.cursor().copy(statement, {"payrolls": payrolls}) as copy:
        return b"".join(bytes(part) for part in copy)


def _with_columns(connection: psycopg.Connection, table: str) -> sql.Composed:
    columns = sql.SQL(", ").join(map(sql.Identifier, stored_columns(connection, table)))
    return sql.SQL("{} ({})").format(sql.Identifier(table), columns)


def stored_columns(connection: psycopg.Connection, table: str) -> list[str]:
    """Return the names of the columns that COPY can fill: all but the generated ones."""
    query = (
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s "
        "AND is_generated = 'NEVER' ORDER BY ordinal_position"
    )
    return [name for (name,) in connection.execute(query, (table,)).fetchall()]


def _count(connection: psycopg.Connection, query: str) -> int:
    row = connection.execute(query).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return int(row[0])


def _connect(owner_url: str, *, autocommit: bool = True) -> psycopg.Connection:
    return psycopg.connect(owner_url.replace("+psycopg", "", 1), autocommit=autocommit)


def _rows(outcome: Outcome, history: int) -> list[Row]:
    name = f"payday of {outcome.payrolls:,}, {outcome.payrolls * history:,} paychecks behind"
    return [
        Row(
            f"{name}: payrolls fired by {WORKERS} workers",
            f"{outcome.rate:,.0f} /s",
            f"its rows by COPY, {outcome.payrolls / outcome.bare_seconds:,.0f} /s",
            outcome.bare_seconds / outcome.seconds,
            RATE,
            outcome.rate,
        ),
        Row("  of the workers' time: tax arithmetic", f"{outcome.share('taxes'):.0%}"),
        Row("  of the workers' time: waiting for SQL", f"{outcome.share('sql'):.0%}"),
        Row("  size of the database", f"{outcome.database_size / 2**20:,.0f} MB"),
    ]


async def main(arguments: argparse.Namespace) -> None:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores{load}")
    bare = await payday(arguments.households, 0)
    behind = await payday(arguments.households, arguments.history)
    growth = behind.seconds / bare.seconds
    print()
    print_table(
        [
            *_rows(bare, 0),
            *_rows(behind, arguments.history),
            Row(
                "cost of a payroll with that history",
                f"{1000 * behind.seconds / behind.payrolls:.2f} ms",
                f"without any, {1000 * bare.seconds / bare.payrolls:.2f} ms",
                growth,
                GROWTH,
                growth,
            ),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=20_000)
    parser.add_argument("--history", type=int, default=50, help="earlier weekly paychecks of each employee")
    parser.add_argument("--small", action="store_const", const=_SMALL, help="2,000 households, 10 weeks")
    requested = parser.parse_args()
    if requested.small is not None:
        requested.households, requested.history = requested.small
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main(requested))
