"""A `hearthpay serve` process that is attacked, and a bystander who goes on using it meanwhile."""

import http.client
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx
import psutil

from hearthpay.database.embedded import EmbeddedServer
from tests.worlds.commands import hearthpay_says, start
from tests.worlds.installations import install

START_WITHIN = 60
DESCRIPTORS = 1024
"""What `ulimit -n` grants the service: the usual number, and no way to raise it."""
PATIENCE = 0.5
"""Seconds within which a health check answers; the median counts, since the machine does other work too."""
LONGEST = 3.0
"""Seconds of its processor time that the service spends, on whatever, until a single answer is there: a machine that is
busy with something else doesn't count against it.
"""
ANSWERED_WITHIN = 30
"""Seconds in which every answer comes in any case."""

FEWEST = 10
"""Answers by which an attack is judged; a short one is over before."""

CALCULATION = {"state": "CA", "annual_wages": 35_000}
"""What attackers send; whether the year has rules makes no difference to them."""
THRESHOLD = "/api/v1/threshold?state=CA&annual_wages=35000&tax_year=2026"
"""What the bystander asks: of a year that has rules."""


class Service:
    """A running `hearthpay serve`, by itself or with its `worker`, with few descriptors."""

    def __init__(self, data_dir: Path, *, worker: bool = False, **settings: str) -> None:
        self._data_dir = data_dir
        self.log: list[str] = []
        self._process = start(
            *("serve", "--port", 0, "--data-dir", data_dir, *(() if worker else ("--no-worker",))),
            environment=os.environ | settings,
            files=(DESCRIPTORS, DESCRIPTORS),
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.address = self._wait_for_address()
        parts = urlsplit(self.address)
        assert parts.hostname is not None
        assert parts.port is not None
        self.endpoint = (parts.hostname, parts.port)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.log.append(line)

    def _wait_for_address(self) -> str:
        deadline = time.monotonic() + START_WITHIN
        while time.monotonic() < deadline and self._process.poll() is None:
            for line in self.log:
                if "is ready at " in line:
                    return line.split("is ready at ")[1].split()[0]
            time.sleep(0.02)
        raise AssertionError("".join(self.log))

    @property
    def processor_seconds(self) -> float:
        """The processor time that the process has spent."""
        spent = psutil.Process(self._process.pid).cpu_times()
        return float(spent.user + spent.system)

    @property
    def megabytes(self) -> float:
        """The memory of the process."""
        return float(psutil.Process(self._process.pid).memory_info().rss) / 1e6

    def connect(self) -> socket.socket:
        """A raw connection."""
        return socket.create_connection(self.endpoint, timeout=10)

    def client(self, key: str | None = None) -> httpx.Client:
        """A client that keeps its connection."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=30)

    def new_key(self, organization: str, *options: str) -> str:
        """A live key, its organization's requests a day lifted."""
        key = self.run("keys", "create", "--organization", organization, "--mode", "live", *options).strip()
        self.run("organizations", "lift", organization, "requests_per_day=none")
        return key

    def run(self, *command: str) -> str:
        """One of the operator's commands."""
        done = hearthpay_says(*command, "--data-dir", self._data_dir)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        """Stop it in order."""
        self._process.terminate()
        self._process.wait(timeout=30)


@contextmanager
def service(*, worker: bool = False, **settings: str) -> Iterator[Service]:
    """A service on a database of its own."""
    data_dir = Path(tempfile.mkdtemp(prefix="hearthpay-attack-"))
    install(data_dir)
    try:
        running = Service(data_dir, worker=worker, **settings)
        try:
            yield running
        finally:
            running.stop()
    finally:
        EmbeddedServer(data_dir).stop()
        shutil.rmtree(data_dir, ignore_errors=True)


@dataclass
class Bystander:
    """Asks for a health check and a calculation again and again, on new connections."""

    service: Service
    key: str
    health: list[float] = field(default_factory=list)
    calculations: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Go on for as long as the block takes; then whatever failed or took too long fails the test."""
        stopped = threading.Event()

        def go_on() -> None:
            while not stopped.wait(0.02) or len(self.health) < FEWEST:
                self._time(self.health, "GET", "/healthz", None)
                self._time(self.calculations, "GET", THRESHOLD, None)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()
        assert not self.failures, self.failures[:5]
        assert median(self.health) < PATIENCE, sorted(self.health)[-5:]
        assert max(self.spent) < LONGEST, sorted(self.spent)[-5:]

    def _time(self, times: list[float], method: str, path: str, body: str | None) -> None:
        began, spent = time.monotonic(), self.service.processor_seconds
        connection = http.client.HTTPConnection(*self.service.endpoint, timeout=ANSWERED_WITHIN)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.key}"})
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.failures.append(repr(error))
            return
        finally:
            connection.close()
        times.append(time.monotonic() - began)
        self.spent.append(self.service.processor_seconds - spent)
        if response.status != 200:
            self.failures.append(answer.decode())
