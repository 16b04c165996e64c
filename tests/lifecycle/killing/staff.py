"""The processes of an installation under a service manager of few words, and somebody who kills them at random."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg

from hearthpay.database.embedded import EmbeddedServer
from tests.conftest import plain_url
from tests.lifecycle.killing.place import Place
from tests.worlds.commands import StartedProcess, start

ROOT = Path(__file__).parents[3]
PATIENCE = 300.0
NAMES = ("api", "worker-1", "worker-2")
VICTIMS = ("worker", "postmaster", "all", "worker", "api")


class Books:
    """The owner's view of the database, which it asks again until it answers."""

    def __init__(self, owner_url: str) -> None:
        self._url = plain_url(owner_url)
        self._connection: psycopg.Connection | None = None

    def ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if self._connection is None:
                    self._connection = psycopg.connect(self._url, autocommit=True)
                return self._connection.execute(query, parameters).fetchall()
            except psycopg.OperationalError:
                self.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def one(self, query: str, *parameters: Any) -> Any:
        return self.ask(query, *parameters)[0][0]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@dataclass
class _Running:
    process: StartedProcess
    log: Path

    def has_said(self, words: str) -> bool:
        return words in self.log.read_text()


@dataclass
class Staff:
    """An API and two workers. Whoever dies is started again, after a while of which the killer may have a say."""

    place: Place
    running: dict[str, _Running] = field(default_factory=dict)
    starts: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    #: Those who ended though nobody killed them: a database that dies while they start is reason enough.
    ended: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._killed: set[int] = set()
        self._not_before: dict[str, float] = {}
        self._last_words = ""
        self._closing = threading.Event()
        self._manager = threading.Thread(target=self._manage, name="service-manager")

    def __enter__(self) -> Self:
        for name in NAMES:
            self._start(name)
        self._manager.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._manager.join()
        for each in self.running.values():
            if each.process.poll() is None:
                each.process.kill()
            each.process.wait()

    def _start(self, name: str) -> None:
        self.starts[name] += 1
        log = self.place.root / f"{name}.{self.starts[name]}.log"
        with log.open("wb") as output:
            process = start(
                *(name.partition("-")[0], self.place.root),
                module="tests.lifecycle.killing.process",
                folder=ROOT,
                output=output,
            )
        self.running[name] = _Running(process, log)

    def _manage(self) -> None:
        while not self._closing.wait(0.1):
            with self._lock:
                for name, each in list(self.running.items()):
                    status = each.process.poll()
                    if status is None or time.monotonic() < self._not_before.get(name, 0):
                        continue
                    if each.process.pid not in self._killed:
                        self.ended[name] += 1
                        self._last_words = each.log.read_text()[-2000:]
                    self._start(name)

    def require_health(self) -> None:
        """Raise AssertionError where processes end by themselves more often than kills explain."""
        assert self.ended.total() <= 3 + self.kills.total(), self._last_words

    @property
    def address(self) -> str | None:
        """Where the API answers; None while it starts."""
        with self._lock:
            log = self.running["api"].log
        words = log.read_text().partition("is ready at ")[2].split()
        return words[0] if words else None

    def has_worker(self) -> bool:
        """Whether a worker is at work."""
        self.require_health()
        with self._lock:
            workers = [each for name, each in self.running.items() if name != "api"]
            return any(each.process.poll() is None and each.has_said("at work") for each in workers)

    def everybody_is_at_work(self) -> bool:
        """Whether the API and every worker run and can be told to stop: who still starts dies of the telling."""
        self.require_health()
        with self._lock:
            return all(
                each.process.poll() is None and each.has_said("is ready at " if name == "api" else "at work")
                for name, each in self.running.items()
            )

    def kill(self, victim: str, chance: random.Random) -> None:
        """Kill a worker, the API, the database, or all of them at once."""
        wait_until(self.has_worker)
        self.kills[victim] += 1
        with self._lock:
            if victim == "worker":
                self._kill(chance.choice(NAMES[1:]), chance)
            if victim in ("api", "all"):
                self._kill("api", chance)
            if victim == "all":
                self._kill("worker-1", chance)
                self._kill("worker-2", chance)
            if victim in ("postmaster", "all"):
                postmaster = EmbeddedServer(self.place.data).postmaster_pid
                if postmaster is not None:
                    os.kill(postmaster, signal.SIGKILL)

    def _kill(self, name: str, chance: random.Random) -> None:
        process = self.running[name].process
        self._killed.add(process.pid)
        process.kill()
        self._not_before[name] = time.monotonic() + chance.uniform(0, 0.5)

    def stop(self) -> dict[str, int]:
        """Stop everybody in good order; returns how each of them ended."""
        self._closing.set()
        self._manager.join()
        for each in self.running.values():
            each.process.send_signal(signal.SIGTERM)
        return {name: each.process.wait(timeout=PATIENCE) for name, each in self.running.items()}


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, condition
        time.sleep(0.1)
