"""The throughput of `POST /calculate` as a share of what a route that does nothing reaches on the same server."""

import asyncio
import itertools
import json
import os
import random
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

import psutil

from benchmarks.calculate_server import NO_OP_PATH
from benchmarks.event_loop import NAME
from benchmarks.installation import Installation
from benchmarks.load_client import drive
from benchmarks.report import Aim, Row
from hearthpay.clock import SystemClock
from hearthpay.taxes import TaxInputError, estimate_year, rulebook_for
from hearthpay.taxes.federal import STATUSES
from hearthpay.taxes.paycheck import PAY_FREQUENCIES

ROUNDS = 5
"""How many undisturbed rounds each route should have."""
MOST_ROUNDS = 10
FEWEST_ROUNDS = 3
BUSY = 0.9
"""The share of a core that the server under full load uses where nothing takes it away."""
SECONDS = 3.0
CONNECTIONS = 16
REQUESTS_A_STATE = 200
AIM = Aim(0.5, at_least=True)


@dataclass(frozen=True, slots=True)
class Round:
    """One stretch of load on one route."""

    per_second: float
    server_microseconds: float
    """The server's CPU per answer."""
    server_share: float
    client_share: float

    @property
    def undisturbed(self) -> bool:
        """Whether the server had its core to itself; else the clock tells of other work on the machine."""
        return self.server_share >= BUSY


async def measure(installation: Installation) -> list[Row]:
    """Load the routes in turns, A B C C B A, from this process; the server is a process of its own."""
    print(
        f"POST /calculate against a no-op: {CONNECTIONS} connections, "
        f"{ROUNDS} to {MOST_ROUNDS} rounds of {SECONDS:g} s each …",
        flush=True,
    )
    routes = {  # each round goes on where the last one ended: what comes again has long been forgotten by then
        "different": itertools.cycle(different_requests(installation.key)),
        "repeated": itertools.repeat(_calculate(installation.key, {"state": "CA", "annual_wages": 35_000})),
        "no-op": itertools.repeat(request_of("GET", NO_OP_PATH, installation.key, b"")),
    }
    rounds: dict[str, list[Round]] = {name: [] for name in routes}
    async with running_server(installation.service_url) as (address, process):
        for requests in routes.values():
            await asyncio.to_thread(drive, address, requests, connections=CONNECTIONS, seconds=2.0)
        for number in range(MOST_ROUNDS):
            order = list(routes) if number % 2 == 0 else list(reversed(routes))
            for name in order:
                rounds[name].append(await _load(address, process, routes[name]))
            if all(len(_undisturbed(done)) >= ROUNDS for done in rounds.values()):
                break
    for name, done in rounds.items():
        good = _undisturbed(done)
        rates = [load.per_second for load in good or done]
        print(
            f"  {name}: {median(rates):,.0f} answers a second (from {min(rates):,.0f} to {max(rates):,.0f}), "
            f"{median(load.server_microseconds for load in done):.0f} µs of the server's CPU each; "
            f"{len(good)} of {len(done)} rounds undisturbed; server busy "
            f"{median(load.server_share for load in done):.0%} of a core, client "
            f"{median(load.client_share for load in done):.0%}"
        )
    print(
        f"  Server ({NAME}, httptools, one process) and client (one thread of this process) are not pinned: they share "
        f"{os.cpu_count()} cores with whatever else runs. A round in which the server got less than {BUSY:.0%} of a "
        f"core counts as disturbed and is left out by the clock."
    )
    return [
        *_rows("POST /calculate, every request different", rounds["different"], rounds["no-op"], AIM),
        *_rows("POST /calculate, one request repeated", rounds["repeated"], rounds["no-op"], None),
    ]


def _rows(measure: str, calculate: list[Round], no_op: list[Round], aim: Aim | None) -> list[Row]:
    """By the clock, from undisturbed rounds alone, and by the server's CPU, which other work hardly touches."""
    rows = []
    good = [load.per_second for load in _undisturbed(calculate)]
    good_no_op = [load.per_second for load in _undisturbed(no_op)]
    if min(len(good), len(good_no_op)) >= FEWEST_ROUNDS:
        ratio = median(good) / median(good_no_op)
        against = f"no-op route: {median(good_no_op):,.0f} /s"
        rows.append(Row(measure, f"{median(good):,.0f} /s", against, ratio, aim, ratio))
    else:
        rows.append(Row(measure, "disturbed", "too few undisturbed rounds", None, aim))
    cpu = median(load.server_microseconds for load in calculate)
    idle = median(load.server_microseconds for load in no_op)
    rows.append(
        Row("  the same by the server's CPU", f"{cpu:.0f} µs", f"no-op route: {idle:.0f} µs", idle / cpu)
    )
    return rows


def _undisturbed(rounds: list[Round]) -> list[Round]:
    return [load for load in rounds if load.undisturbed]


def different_requests(key: str) -> list[bytes]:
    """Requests for every state that the calculator answers, so many that remembered answers are of no use."""
    states = [state for state in rulebook_for(SystemClock().today()).supported_states if _is_answered(state)]
    chance = random.Random(2026)
    requests = [
        _calculate(
            key,
            {
                "state": state,
                "annual_wages": chance.randrange(1_000_00, 120_000_00) / 100,
                "pay_frequency": chance.choice(PAY_FREQUENCIES),
                "filing_status": chance.choice(STATUSES),
            },
        )
        for _ in range(REQUESTS_A_STATE)
        for state in states
    ]
    print(f"  {len(requests):,} different requests over {len(states)} states")
    return requests


def _is_answered(state: str) -> bool:
    """Whether the calculator knows the state's household thresholds as well as its taxes."""
    try:
        estimate_year(state, Decimal(35_000), on=SystemClock().today())
    except TaxInputError as error:
        if error.code != "unsupported_jurisdiction":
            raise
        return False
    return True


def _calculate(key: str, body: dict[str, object]) -> bytes:
    return request_of("POST", "/api/v1/calculate", key, json.dumps(body).encode())


def request_of(method: str, path: str, key: str, body: bytes) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nAccept: */*\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode("ascii") + b"\r\n" + body


async def _load(address: str, process: psutil.Process, requests: Iterator[bytes]) -> Round:
    before = process.cpu_times()
    load = await asyncio.to_thread(drive, address, requests, connections=CONNECTIONS, seconds=SECONDS)
    after = process.cpu_times()
    busy = after.user + after.system - before.user - before.system
    return Round(
        per_second=load.per_second,
        server_microseconds=busy / load.answers * 1e6,
        server_share=busy / load.seconds,
        client_share=load.client_cpu_seconds / load.seconds,
    )


@asynccontextmanager
async def running_server(*urls: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    """The server's address and process, with the database's URL and perhaps the owner's; it is stopped by the end of
    its standard input.
    """
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.calculate_server",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        server.stdin.write(f"{' '.join(urls)}\n".encode())
        address = (await server.stdout.readline()).decode().strip()
        if not address:
            raise RuntimeError("the server under load did not start")
        yield address, psutil.Process(server.pid)
    finally:
        server.stdin.close()
        try:
            await asyncio.wait_for(server.wait(), timeout=15)
        except TimeoutError:
            server.kill()
            await server.wait()
