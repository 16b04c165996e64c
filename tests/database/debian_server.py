"""PostgreSQL 15 of Debian's package, as an operator might have it: beside the service, with a primary and a replica."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psycopg

from hearthpay.database.service_account import account_for
from tests.database.poolers import free_port

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
NO_DEBIAN_SERVER = "PostgreSQL 15 is not installed (Debian: apt-get install postgresql-15)"


@dataclass
class DebianServer:
    """One server in a folder of its own; `landlord` may make roles and databases and is no superuser."""

    folder: Path
    port: int

    @classmethod
    def make(cls, folder: Path) -> DebianServer:
        server = cls(folder, free_port())
        folder.mkdir(mode=0o700)
        account_for(Path("/nonexistent")).own(folder)
        server.run("initdb", "-D", str(server.data), "-A", "trust", "-U", "postgres", "-E", "UTF8")
        server.start()
        with server.connect() as connection:
            connection.execute("CREATE ROLE landlord LOGIN CREATEROLE CREATEDB")
        return server

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def run(self, program: str, *arguments: str) -> None:
        account = account_for(self.data if self.data.exists() else Path("/nonexistent"))
        finished = subprocess.run(
            **account.popen_arguments([PROGRAMS / program, *arguments]),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder.parent / "errors").open("ab"),
        )
        assert finished.returncode == 0, (self.folder.parent / "errors").read_text()

    def start(self) -> None:
        options = f"-p {self.port} -k '' -c listen_addresses=127.0.0.1 -c fsync=off"
        self.run("pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", options, "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def replica(self, folder: Path) -> DebianServer:
        """A hot standby, kept up to date as the primary commits."""
        standby = DebianServer(folder, free_port())
        folder.mkdir(mode=0o700)
        account_for(Path("/nonexistent")).own(folder)
        source = f"host=127.0.0.1 port={self.port} user=postgres application_name=standby"
        standby.run(
            "pg_basebackup", "-d", source, "-D", str(standby.data), "-R", "-X", "stream", "-c", "fast"
        )
        standby.start()
        with self.connect() as primary:
            primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            primary.execute("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
            primary.execute("SELECT pg_reload_conf()")
        return standby

    def promote(self) -> None:
        with self.connect() as connection:
            connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
        self.run("pg_ctl", "-D", str(self.data), "-w", "promote")

    def connect(self, database: str = "postgres", user: str = "postgres") -> psycopg.Connection:
        url = f"postgresql://{user}@127.0.0.1:{self.port}/{database}"
        return psycopg.connect(url, autocommit=True, connect_timeout=5)

    def create_database(self, name: str) -> str:
        """A database of the landlord's; returns its URL."""
        with self.connect(user="landlord") as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return f"postgresql://landlord@127.0.0.1:{self.port}/{name}"

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
