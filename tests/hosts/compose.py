"""The compose file's services as processes of this machine, with Debian's PostgreSQL and PgBouncer and a Valkey."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import yaml

from hearthpay.database.service_account import account_for
from tests.database.debian_server import PROGRAMS, DebianServer
from tests.database.poolers import PGBOUNCER, free_port

FOLDER = Path(__file__).parents[2] / "packaging" / "hosts"
DATABASE = "hearthpay"
START_WITHIN = 120
_VARIABLE = re.compile(r"\$\{(\w+)(?::[?-])?\}")


def compose_file() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    return found


class Machine:
    """Where each of the compose file's names is here, and the processes that were started."""

    def __init__(self, folder: Path, server: DebianServer, valkey: str, secrets: Mapping[str, str]) -> None:
        self.folder = folder
        self.server = server
        self.pooler_port = free_port()
        self._file = compose_file()
        self._secrets = secrets
        self._places = {
            "@pgbouncer:6432": f"@127.0.0.1:{self.pooler_port}",
            "@postgres:5432": f"@127.0.0.1:{server.port}",
            "host=postgres port=5432": f"host=127.0.0.1 port={server.port}",
            "listen_port = 6432": f"listen_port = {self.pooler_port}",
            "listen_addr = 0.0.0.0": "listen_addr = 127.0.0.1",
            "redis://valkey:6379": valkey,
            "/run/hearthpay/seal": str(folder / "seal"),
            "/etc/pgbouncer/": f"{folder / 'pgbouncer'}/",
            "0.0.0.0": "127.0.0.1",
        }

    def local(self, text: str) -> str:
        """The text with this machine's places, and the secrets of its `.env`."""
        for there, here in self._places.items():
            text = text.replace(there, here)
        return _VARIABLE.sub(lambda found: self._secrets.get(found[1], ""), text)

    def environment(self, service: str) -> dict[str, str]:
        given = self._file["services"][service]["environment"]
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DATABASE_", "HEARTHPAY_"))
        }
        return clean | {name: self.local(str(value)) for name, value in given.items()}

    def command(self, service: str) -> list[str]:
        """The service's command; a port of the machine's choice for the API."""
        words = [self.local(str(word)) for word in self._file["services"][service]["command"]]
        return [sys.executable, "-m", "hearthpay.cli", *("0" if word == "8000" else word for word in words)]

    def make_roles(self) -> None:
        """What PostgreSQL's image does with roles.sql."""
        with self.server.connect() as connection:
            connection.execute("DROP ROLE IF EXISTS landlord")
            connection.execute(f"CREATE DATABASE {DATABASE}")
        finished = subprocess.run(
            [
                *(PROGRAMS / "psql", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.server.port)),
                *("-U", "postgres", "-d", DATABASE, "-f", str(FOLDER / "roles.sql")),
            ],
            env=os.environ | dict(self._secrets),
            capture_output=True,
            text=True,
        )
        assert finished.returncode == 0, finished.stderr

    @contextmanager
    def pooler(self) -> Iterator[None]:
        """PgBouncer with the compose file's settings."""
        assert PGBOUNCER is not None
        account = account_for(self.server.data)
        home = self.folder / "pgbouncer"
        home.mkdir(mode=0o755)
        account.own(home)
        for name, file in (("pgbouncer", "pgbouncer.ini"), ("logins", "logins")):
            (home / file).write_text(self.local(self._file["configs"][name]["content"]))
        process = subprocess.Popen(
            [PGBOUNCER, "-q", str(home / "pgbouncer.ini")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **account.process_options(),
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def wait_for_pooler(self) -> None:
        url = self.environment("api")["DATABASE_SERVICE_URL"]
        deadline = time.monotonic() + START_WITHIN
        while True:
            try:
                psycopg.connect(url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def migrate(self) -> str:
        done = subprocess.run(
            self.command("migrate"), env=self.environment("migrate"), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


class ApiHost:
    """One API host, which may be killed and started again."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.log = (machine.folder / f"api-{free_port()}.log").open("w+")
        self.start()

    def start(self) -> None:
        self.log.seek(0)
        self.log.truncate()
        self.process = subprocess.Popen(
            self._machine.command("api"),
            env=self._machine.environment("api"),
            stdout=self.log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        deadline = time.monotonic() + START_WITHIN
        while "is ready at " not in (said := Path(self.log.name).read_text()):
            assert self.process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.05)
        self.address = said.split("is ready at ")[1].split()[0]
        while httpx.get(f"{self.address}/readyz", timeout=30).status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.2)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def api_hosts(machine: Machine, number: int) -> Iterator[list[ApiHost]]:
    hosts: list[ApiHost] = []
    try:
        while len(hosts) < number:
            hosts.append(ApiHost(machine))
        yield hosts
    finally:
        for host in hosts:
            host.kill()
