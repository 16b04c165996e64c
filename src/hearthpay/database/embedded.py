"""The embedded PostgreSQL: a private server in the data directory, shared by the processes that use it.

Layout of the data directory (`server/` belongs to the account the server runs as, the rest to the account
that starts it)::

    server/data/        the cluster
    server/run/         the Unix socket, unless its path is too long for one; where root starts the server, the
                        server's group may pass to it, and with it the web process
    server/server.log   what PostgreSQL reports
    socket-dir          where the socket is instead
    programs/           a copy of the programs, only where the account cannot read the installed ones
    start.lock          held while somebody starts or stops the server
    users.lock          held, shared, by every process that uses the server
    restoring/          a separate data directory, only while it is being restored from a backup
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import platformdirs
import psycopg
from psycopg import sql

from hearthpay.database.binaries import postgres_programs
from hearthpay.database.client_authentication import changed_at, knows_its_user, write_rules
from hearthpay.database.file_lock import FileLock, exclusively
from hearthpay.database.installation import roles_of
from hearthpay.database.postmaster import PID_FILE, read_postmaster, remove_misleading_locks
from hearthpay.database.service_account import ServiceAccount, account_for

OWNER_ROLE = "hearthpay_owner"
DATABASE = "hearthpay"
ROLES = roles_of(DATABASE)
DATA_DIR_VARIABLE = "HEARTHPAY_DATA_DIR"

RESTORING = "restoring"
"""The subdirectory in which a restore builds a data directory; it exists only until the restore has succeeded."""

_MAJOR_VERSION = "18"
_PORT = 5432
# A socket's path may have at most 107 bytes; PostgreSQL appends "/.s.PGSQL.5432.lock" to the directory's.
_LONGEST_SOCKET_DIR = 88
_OUR_FILES = frozenset({"start.lock", "users.lock", "socket-dir", "server", "programs", RESTORING})
_UNQUOTABLE = frozenset("\"'`$\\,\n\r")
_LOCK_SECONDS = 120.0
_RECOVERY_SECONDS = 300
_ORPHAN_SECONDS = 30.0
_PAUSE_SECONDS = 0.1
_LARGEST_LOG = 5_000_000
# Backends that outlive a killed postmaster, and a server that another process is starting: both pass.
_PASSING_TROUBLE = ("pre-existing shared memory block", f'lock file "{PID_FILE}" already exists')

_SETTINGS = {
    "listen_addresses": "",
    "port": str(_PORT),
    "max_connections": "100",
    "shared_buffers": "128MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "summarize_wal": "on",  # records what has changed, for incremental backups
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A refused statement is the application's to report, and may hold names: only the server's own messages
    # are logged.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
}


class EmbeddedServerError(Exception):
    """The embedded PostgreSQL could not be set up, started or stopped; the message says why."""


def default_data_dir() -> Path:
    """Return the data directory: `HEARTHPAY_DATA_DIR`; by default /var/lib/hearthpay for root, otherwise the user's
    own.
    """
    if chosen := os.environ.get(DATA_DIR_VARIABLE):
        return Path(chosen)
    if os.geteuid() == 0:
        return Path("/var/lib/hearthpay")
    return platformdirs.user_data_path("hearthpay")


class EmbeddedServer:
    """One process's use of the PostgreSQL server in a data directory."""

    def __init__(self, data_dir: Path) -> None:
        """Do nothing yet. Raises EmbeddedServerError if PostgreSQL can't be started with such a path."""
        self.data_dir = data_dir.expanduser().resolve()
        if _UNQUOTABLE & set(str(self.data_dir)):
            raise EmbeddedServerError(
                f"the data directory's path must not hold quotes, $, \\ or commas: {self.data_dir}"
            )
        self._home = self.data_dir / "server"
        self._data = self._home / "data"
        self._log = self._home / "server.log"
        self._start_lock = self.data_dir / "start.lock"
        self._users = FileLock(self.data_dir / "users.lock")
        self._socket_dir: Path | None = None

    def start(self) -> None:
        """Use the server: attach to it if it runs, otherwise start it, creating it first if needed.

        Safe to call from several processes at once, repeatedly, and after the server or its user was killed. Raises
        EmbeddedServerError.
        """
        try:
            self._make_data_dir()
            if (self.data_dir / RESTORING / "server").exists():
                raise EmbeddedServerError(
                    f"a restore into {self.data_dir} has not been finished: remove the directory and restore again"
                )
            with self._exclusively():
                account = self._prepare()
                programs = postgres_programs(account, self.data_dir / "programs")
                if not self.holds_database():
                    self._initialize(programs, account)
                self._check_version()
                rewritten = write_rules(self._data, account, ROLES.service)
                self._bring_up(programs, account)
                self._ensure_database(rules_changed=rewritten)
                self._open_socket(account)
                self._users.share()
        except (OSError, psycopg.Error) as error:
            raise EmbeddedServerError(
                f"the embedded PostgreSQL in {self.data_dir} cannot be used: {error}"
            ) from error

    def stop(self) -> None:
        """Stop using the server, and stop it if nobody else uses it. Raises EmbeddedServerError.

        Blocks until a `start` in progress in another thread has ended, and undoes it.
        """
        if not self._start_lock.exists():
            return
        try:
            with self._exclusively():
                if not self._users.held:
                    return
                self._users.release()
                if self._users.try_exclusive():
                    try:
                        self._shut_down()
                    finally:
                        self._users.release()
        except OSError as error:
            raise EmbeddedServerError(
                f"the embedded PostgreSQL in {self.data_dir} cannot be stopped: {error}"
            ) from error

    def holds_database(self) -> bool:
        """Return whether the data directory has a database, running or not."""
        return (self._data / "PG_VERSION").exists()

    def account(self) -> ServiceAccount:
        """Return the system account that the server runs as."""
        return account_for(self._data)

    def is_alive(self) -> bool:
        """Return whether the server runs and accepts connections; cheap enough to poll."""
        postmaster = read_postmaster(self._data)
        return postmaster is not None and postmaster.ready and postmaster.is_running()

    def owner_url(self) -> str:
        """Return the URL of the role that owns the schema and sees every row: for migrations and the operator."""
        return self._url(OWNER_ROLE)

    def service_url(self) -> str:
        """Return the URL of the service's role, which is bound by row-level security."""
        return self._url(ROLES.service)

    def worker_url(self) -> str:
        """Return the URL of the worker's role, which may write only what its duties need."""
        return self._url(ROLES.worker)

    @property
    def postmaster_pid(self) -> int | None:
        """The process number of the running server, or None."""
        postmaster = read_postmaster(self._data)
        return postmaster.pid if postmaster is not None and postmaster.is_running() else None

    @property
    def socket(self) -> Path:
        """The Unix socket of the started server. Raises EmbeddedServerError before the start."""
        if self._socket_dir is None:
            raise EmbeddedServerError("the embedded PostgreSQL has not been started")
        return self._socket_dir / f".s.PGSQL.{_PORT}"

    def _url(self, role: str) -> str:
        # Quoted by hand: SQLAlchemy writes a space as "+", which PostgreSQL's own programs don't read as one.
        host = quote(str(self.socket.parent), safe="")
        return f"postgresql+psycopg://{role}@/{DATABASE}?host={host}&port={_PORT}"

    def _exclusively(self) -> contextlib.AbstractContextManager[None]:
        return exclusively(self._start_lock, timeout=_LOCK_SECONDS)

    def _make_data_dir(self) -> None:
        """Create the data directory, private to its owner and the server's account."""
        if not self.data_dir.exists():
            self.data_dir.parent.mkdir(parents=True, exist_ok=True)
            self.data_dir.mkdir(mode=0o700, exist_ok=True)

    def _prepare(self) -> ServiceAccount:
        """Choose the server's account and give it its directories."""
        account = account_for(self._data if self._data.exists() else self._home)
        if account.borrowed and not account.can("-x", self.data_dir):
            self._open_to(account)
        for directory in (self._home, self._home / "run"):
            directory.mkdir(mode=0o700, exist_ok=True)
            account.own(directory)
            _let_group_pass(directory, account)
        self._socket_dir = self._choose_socket_dir(account)
        return account

    def _open_to(self, account: ServiceAccount) -> None:
        """Let the server's group pass through the data directory, if it is ours to open."""
        foreign = {entry.name for entry in self.data_dir.iterdir()} - _OUR_FILES
        if self.data_dir.stat().st_uid == os.geteuid() and not foreign:
            os.chown(self.data_dir, -1, account.gid)
            self.data_dir.chmod(0o710)
        if not account.can("-x", self.data_dir):
            raise EmbeddedServerError(
                f"PostgreSQL does not run as root, and the user it would run as (number {account.uid}) "
                f"cannot reach {self.data_dir}: choose a data directory which every user may enter, "
                "such as one below /var/lib"
            )

    def _choose_socket_dir(self, account: ServiceAccount) -> Path:
        """Return a private directory for the socket: in the data directory, otherwise a temporary one, recorded
        there.
        """
        preferred = self._home / "run"
        if len(os.fsencode(preferred)) <= _LONGEST_SOCKET_DIR:
            return preferred
        note = self.data_dir / "socket-dir"
        if note.exists():
            remembered = Path(note.read_text().strip())
            # Another user may have taken the name after a reboot emptied the temporary directory.
            with contextlib.suppress(FileNotFoundError):
                status = remembered.lstat()
                if (
                    stat.S_ISDIR(status.st_mode)
                    and status.st_uid == account.uid
                    and not status.st_mode & 0o067
                ):
                    _let_group_pass(remembered, account)
                    return remembered
        made = Path(tempfile.mkdtemp(prefix="hearthpay-", dir="/tmp"))
        account.own(made)
        _let_group_pass(made, account)
        note.write_text(f"{made}\n")
        return made

    def _initialize(self, programs: Path, account: ServiceAccount) -> None:
        """Create the cluster elsewhere and move it into place when complete, so that a kill leaves nothing
        half done.
        """
        for abandoned in self._home.glob("initdb-*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        unfinished = Path(tempfile.mkdtemp(prefix="initdb-", dir=self._home))
        account.own(unfinished)
        try:
            self._run(
                account,
                programs / "initdb",
                f"--pgdata={unfinished}",
                f"--username={OWNER_ROLE}",
                "--auth-local=peer",
                "--auth-host=reject",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
            )
            unfinished.rename(self._data)
            _sync_directory(self._home)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _check_version(self) -> None:
        version = (self._data / "PG_VERSION").read_text().strip()
        if version != _MAJOR_VERSION:
            raise EmbeddedServerError(
                f"{self._data} was made by PostgreSQL {version}; this is {_MAJOR_VERSION}"
            )

    def _bring_up(self, programs: Path, account: ServiceAccount) -> None:
        """Make sure a server accepts connections, waiting for orphans of a killed one and for crash recovery."""
        deadline = time.monotonic() + _ORPHAN_SECONDS
        while True:
            if self._attach_if_running():
                return
            postmaster = read_postmaster(self._data)
            trouble = "backends of the killed server still run"
            if postmaster is None or not postmaster.memory_in_use():
                remove_misleading_locks(self._data, self.socket)
                trouble = self._launch(programs, account)
                if trouble and not any(sign in trouble for sign in _PASSING_TROUBLE):
                    raise EmbeddedServerError(f"PostgreSQL did not start: {trouble}")
                if not trouble and self._attach_if_running():
                    return
            if time.monotonic() >= deadline:
                raise EmbeddedServerError(
                    f"PostgreSQL did not start within {_ORPHAN_SECONDS:.0f} s: {trouble}"
                )
            time.sleep(_PAUSE_SECONDS)

    def _attach_if_running(self) -> bool:
        """Wait until the running server accepts connections; False if none runs, or it stops instead."""
        deadline = time.monotonic() + _RECOVERY_SECONDS
        while time.monotonic() < deadline:
            postmaster = read_postmaster(self._data)
            if postmaster is None or not postmaster.is_running():
                return False
            if postmaster.socket_dir:
                self._socket_dir = Path(postmaster.socket_dir)
                with contextlib.suppress(psycopg.OperationalError):
                    self._connect("postgres").close()
                    return True
            time.sleep(_PAUSE_SECONDS)
        raise EmbeddedServerError(
            f"PostgreSQL accepts no connections after {_RECOVERY_SECONDS} s: {self._log}"
        )

    def _launch(self, programs: Path, account: ServiceAccount) -> str:
        """Start the server; return an empty string, or its report if it didn't start."""
        if self._log.exists() and self._log.stat().st_size > _LARGEST_LOG:
            self._log.replace(self._log.with_suffix(".log.1"))
        log_size = self._log.stat().st_size if self._log.exists() else 0
        settings = _SETTINGS | {
            "unix_socket_directories": str(self._socket_dir),
            "unix_socket_permissions": "0770" if account.borrowed else "0700",
        }
        options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
        try:
            self._run(
                account,
                programs / "pg_ctl",
                "start",
                "--wait",
                f"--timeout={_RECOVERY_SECONDS}",
                f"--pgdata={self._data}",
                f"--log={self._log}",
                f"--options={options}",
            )
        except EmbeddedServerError as error:
            if not self._log.exists():
                return str(error)
            with self._log.open("rb") as log:
                log.seek(log_size)
                return log.read()[-2000:].decode(errors="replace").strip() or str(error)
        return ""

    def _shut_down(self) -> None:
        """Stop the server in an orderly way; connected clients are disconnected."""
        postmaster = read_postmaster(self._data)
        if postmaster is None or not postmaster.is_running():
            return
        account = account_for(self._data)
        programs = postgres_programs(account, self.data_dir / "programs")
        self._run(
            account,
            programs / "pg_ctl",
            "stop",
            "--mode=fast",
            "--wait",
            "--timeout=60",
            f"--pgdata={self._data}",
        )

    def _open_socket(self, account: ServiceAccount) -> None:
        """Let the server's group use the socket of a server that an earlier version started."""
        if account.borrowed and self.socket.lstat().st_mode & 0o070 != 0o070:
            # As the account itself: in its own directory it could mislead root.
            self._run(account, Path("/bin/chmod"), "0770", str(self.socket))

    def _ensure_database(self, *, rules_changed: bool) -> None:
        """Create the database and the logins of its roles in a new cluster, and confine them to it.

        A running server is made to reload changed rules, including those whose writer was killed before the reload.
        """
        with self._connect("postgres") as connection:
            loaded = connection.execute("SELECT extract(epoch FROM pg_conf_load_time())::float8").fetchone()
            assert loaded is not None
            if rules_changed or changed_at(self._data) + 1 > float(str(loaded[0])):
                connection.execute("SELECT pg_reload_conf()")
            for role in (ROLES.service, ROLES.worker):
                if not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", role):
                    connection.execute(sql.SQL("CREATE ROLE {} LOGIN NOINHERIT").format(sql.Identifier(role)))
                elif not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s AND rolcanlogin", role):
                    connection.execute(sql.SQL("ALTER ROLE {} LOGIN").format(sql.Identifier(role)))
            if not _exists(connection, "SELECT FROM pg_database WHERE datname = %s", DATABASE):
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
            connection.execute("REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC")

    def _connect(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=str(self.socket.parent),
            port=_PORT,
            user=OWNER_ROLE,
            dbname=database,
            connect_timeout=10,
            autocommit=True,
        )

    def _run(self, account: ServiceAccount, program: Path, *arguments: str) -> None:
        """Run one of PostgreSQL's programs as the account; raises EmbeddedServerError with its output if it fails."""
        # We choose its environment: a PGPORT or PGDATA of ours must not reach the server.
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        # Output goes to a file: the server would inherit a pipe, and reading it to the end would never
        # finish.
        with tempfile.TemporaryFile() as output:
            finished = subprocess.run(
                **account.popen_arguments([program, *arguments]),
                cwd=self._home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if finished.returncode != 0:
                output.seek(0)
                report = output.read().decode(errors="replace").strip()
                raise EmbeddedServerError(f"{program.name} failed ({finished.returncode}): {report}")


def _exists(connection: psycopg.Connection[tuple[object, ...]], query: str, name: str) -> bool:
    return connection.execute(query.encode(), (name,)).fetchone() is not None


def _let_group_pass(directory: Path, account: ServiceAccount) -> None:
    """Let the web process, which is in the server's group, reach root's server; that of a user without a name is
    closed to all.
    """
    if account.borrowed or not knows_its_user():
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchmod(descriptor, 0o710 if account.borrowed else 0o700)
        finally:
            os.close(descriptor)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
