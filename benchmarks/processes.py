"""What 1, 2 and 4 API processes, and 1, 2 and 4 workers, do in a second, each against one of them in the same run.

Run by itself: `python -m benchmarks.processes`. All processes, the database and the clients share the machine: where
the cores are full, more processes do no more. Beside each rate of the API stands how many cores its processes used.

Processes of the API run payrolls of one employee, paid by check, and calculate; all of them are started first, and the
numbers take turns. Each number of workers sends a payday of its own, made anew.
"""

import argparse
import asyncio
import itertools
import json
import os
import platform
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Final

import psutil
import psycopg

from benchmarks.calculate_route import different_requests, request_of, running_server
from benchmarks.event_loop import new_event_loop
from benchmarks.installation import Installation, installation
from benchmarks.load_client import drive
from benchmarks.payday import fire
from benchmarks.payday_data import make_payday
from benchmarks.report import Row, print_table
from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES
from hearthpay.access.plans import terms_of
from hearthpay.clock import SystemClock
from hearthpay.database.startup import Addresses, open_database
from hearthpay.employees.commands import AddEmployee
from hearthpay.employees.service import create_employee
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.service import create_employer
from hearthpay.security.key_ring import EncryptionKey, KeyRing

NUMBERS: Final = (1, 2, 4)
CONNECTIONS: Final = 16
HOUSEHOLDS: Final = 64
DAYS: Final = 330
"""The days of last year on which each household may be paid once: more than a run needs."""
_WARM_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Load:
    """One stretch of load on some processes together."""

    per_second: float
    cores: float
    """How many cores the processes used together."""


async def of_the_api(rounds: int, seconds: float) -> list[Row]:
    """Load the first 1, 2 and 4 of the API processes in turns."""
    async with installation() as installed, AsyncExitStack() as stack:
        households = await _households(installed)
        urls = (installed.service_url, installed.owner_url)
        servers = [await stack.enter_async_context(running_server(*urls)) for _ in range(max(NUMBERS))]
        routes = {
            "payrolls run": _Shared(_payrolls(installed.key, households)),
            "POST /calculate": _Shared(itertools.cycle(different_requests(installed.key))),
        }
        rows = []
        for name, requests in routes.items():
            loads: dict[int, list[Load]] = {number: [] for number in NUMBERS}
            await _load(servers, requests, _WARM_SECONDS)
            for turn in range(rounds):
                for number in NUMBERS if turn % 2 == 0 else reversed(NUMBERS):
                    loads[number].append(await _load(servers[:number], requests, seconds))
            rates = {number: median(load.per_second for load in done) for number, done in loads.items()}
            cores = {number: median(load.cores for load in done) for number, done in loads.items()}
            rows += [
                _row(name, "API process", number, rates, f", {cores[number]:.1f} cores used")
                for number in NUMBERS
            ]
        return rows


async def _load(servers: list[tuple[str, psutil.Process]], requests: Iterator[bytes], seconds: float) -> Load:
    """Share the connections among the servers; each has a client thread of its own."""
    before = _processor_time(servers)
    loads = await asyncio.gather(
        *(
            asyncio.to_thread(
                drive, address, requests, connections=CONNECTIONS // len(servers), seconds=seconds
            )
            for address, _ in servers
        )
    )
    used = _processor_time(servers) - before
    return Load(sum(load.per_second for load in loads), used / max(load.seconds for load in loads))


def _processor_time(servers: list[tuple[str, psutil.Process]]) -> float:
    times = [process.cpu_times() for _, process in servers]
    return sum(each.user + each.system for each in times)


async def _households(installed: Installation) -> list[tuple[str, str]]:
    """Add the households, each with an employee; return their ids."""
    clock = SystemClock()
    actor = Actor(
        kind="key",
        id=installed.key_id,
        organization_id=installed.organization_id,
        mode="live",
        scopes=frozenset(SCOPES),
        request_id="benchmark",
        terms=terms_of("professional", {"households": None}),
    )
    made = []
    for number in range(HOUSEHOLDS):
        household = CreateEmployer(
            first_name="Maria", last_name=f"Lopez {number}", email="maria@example.com", state="CA"
        )
        async with installed.database.transaction(actor.tenant) as session:
            employer = await create_employer(session, actor, clock, household)
            rosa = AddEmployee(
                employer_id=employer.id,
                first_name="Rosa",
                last_name="Diaz",
                pay_rate=Decimal("28.50"),
                pay_frequency="weekly",
                start_date=date(2020, 1, 6),
            )
            added = await create_employee(session, actor, clock, rosa)
            made.append((str(employer.id), str(added.employee.id)))
    return made


class _Shared(Iterator[bytes]):
    """Requests from which several threads take; a generator alone may not run in two at once."""

    def __init__(self, requests: Iterator[bytes]) -> None:
        self._requests = requests
        self._one = threading.Lock()

    def __next__(self) -> bytes:
        with self._one:
            return next(self._requests)


def _payrolls(key: str, households: list[tuple[str, str]]) -> Iterator[bytes]:
    """A payroll of one day for each household, then of the next day."""
    first = SystemClock().today() - timedelta(days=DAYS)
    for number in range(DAYS):
        day = (first + timedelta(days=number)).isoformat()
        for employer_id, employee_id in households:
            body = {
                "employer_id": employer_id,
                "pay_period_start": day,
                "pay_period_end": day,
                "pay_date": day,
                "pay_frequency": "weekly",
                "notes": "catch-up",
                "employees": [{"employee_id": employee_id, "regular_hours": 8, "payment_method": "check"}],
            }
            yield request_of("POST", "/api/v1/payroll/run", key, json.dumps(body).encode())
    raise RuntimeError("every household has been paid for every day: measure for a shorter time")


async def of_the_workers(payrolls: int) -> list[Row]:
    """Let 1, 2 and 4 workers send as many payrolls, each number in a database of its own."""
    rates = {}
    for number in NUMBERS:
        folder = Path(tempfile.mkdtemp(prefix="hearthpay-workers-"))
        try:
            async with open_database(folder, Addresses()) as opened:
                assert opened.embedded is not None
                ring = KeyRing((EncryptionKey.generate(),))
                service_url = opened.embedded.service_url()
                due = await make_payday(opened.owner_url, service_url, ring, households=payrolls)
                owner_url = opened.owner_url.replace("+psycopg", "", 1)
                with psycopg.connect(owner_url, autocommit=True) as owner:
                    owner.execute("VACUUM ANALYZE")
                    owner.execute("CHECKPOINT")
                seconds, told = await fire(opened.owner_url, due, number)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        fired = sum(worker["fired"] for worker in told)
        if fired != payrolls:
            raise RuntimeError(f"{fired} of {payrolls} payrolls were sent")
        rates[number] = payrolls / seconds
        print(f"  {number} workers: {rates[number]:,.0f} payrolls a second", flush=True)
    return [_row("payrolls sent", "worker", number, rates) for number in NUMBERS]


def _row(measure: str, process: str, number: int, rates: dict[int, float], more: str = "") -> Row:
    plural = "" if number == 1 else "es" if process.endswith("s") else "s"
    name = f"{measure}, {number} {process}{plural}"
    against, ratio = "", None
    if number > 1:
        against, ratio = f"one: {rates[1]:,.0f} /s", rates[number] / rates[1]
    return Row(name, f"{rates[number]:,.0f} /s{more}", against, ratio)


async def main(arguments: argparse.Namespace) -> None:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores{load}")
    rows = await of_the_api(arguments.rounds, arguments.seconds)
    rows += await of_the_workers(arguments.payrolls)
    print()
    print_table(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=4, help="how often each number of API processes takes its turn"
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="how long a turn is")
    parser.add_argument("--payrolls", type=int, default=4_000, help="how many payrolls the workers send")
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main(parser.parse_args()))
