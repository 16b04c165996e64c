"""What may stand between the service and its server: PgBouncer, and something that keeps half of what it is told."""

from __future__ import annotations

import contextlib
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from hearthpay.database.embedded import DATABASE, OWNER_ROLE, ROLES, EmbeddedServer
from hearthpay.database.service_account import account_for

PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
NO_PGBOUNCER = "PgBouncer is not installed (Debian: apt-get install pgbouncer)"

_SSL_REQUEST, _GSS_REQUEST, _CANCEL = 80877103, 80877104, 80877102


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def through(port: int, role: str = OWNER_ROLE, **query: str) -> str:
    """The embedded database's URL by way of a port of this machine."""
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return f"postgresql://{role}@127.0.0.1:{port}/{DATABASE}" + (f"?{asked}" if asked else "")


@contextmanager
def forgetful_proxy(server: EmbeddedServer) -> Iterator[int]:
    """Passes everything on but the connection's `options`, as PgBouncer with `ignore_startup_parameters` does."""
    upstream = str(server.socket)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=_serve, args=(client, upstream), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]


def _serve(client: socket.socket, upstream: str) -> None:
    with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
        server.connect(upstream)
        while True:
            head = _exactly(client, 8)
            length, code = struct.unpack("!II", head)
            if code not in (_SSL_REQUEST, _GSS_REQUEST):
                break
            client.sendall(b"N")
        body = _exactly(client, length - 8)
        if code != _CANCEL:
            words = body.split(b"\0")[:-2]
            kept = [
                word
                for pair in zip(words[::2], words[1::2], strict=True)
                if pair[0] != b"options"
                for word in pair
            ]
            body = b"\0".join(kept) + b"\0\0"
        server.sendall(struct.pack("!II", len(body) + 8, code) + body)
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        _pump(client, server)
        back.join()


def _exactly(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise OSError("closed")
        data += more
    return data


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def pgbouncer(
    server: EmbeddedServer, folder: Path, mode: str, *, connections: int = 6, ignore: str = "options"
) -> Iterator[int]:
    """PgBouncer before the embedded server; yields its port."""
    assert PGBOUNCER is not None
    account = account_for(server.data_dir / "server" / "data")
    home = folder / "pgbouncer"
    home.mkdir(mode=0o755)
    account.own(home)
    port = free_port()
    users = "".join(f'"{role}" ""\n' for role in (OWNER_ROLE, ROLES.service, ROLES.worker))
    (home / "users").write_text(users)
    (home / "pgbouncer.ini").write_text(
        f"""[databases]
{DATABASE} = host={server.socket.parent} port=5432 dbname={DATABASE}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {home}/users
pool_mode = {mode}
default_pool_size = {connections}
max_client_conn = 500
query_wait_timeout = 20
ignore_startup_parameters = {ignore}
logfile = {home}/log
"""
    )
    with subprocess.Popen(
        **account.popen_arguments([PGBOUNCER, "-q", str(home / "pgbouncer.ini")]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    ) as process:
        try:
            _wait_for(through(port))
            yield port
        finally:
            process.kill()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
