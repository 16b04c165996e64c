"""Who may log in to a server that root started: root and the server's account as anybody, the web as one role."""

from __future__ import annotations

import os
import pwd
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from hearthpay.database.binaries import postgres_programs
from hearthpay.database.embedded import DATABASE, OWNER_ROLE, ROLES, EmbeddedServer
from hearthpay.database.service_account import ServiceAccount, web_user
from tests.conditions import PATIENCE
from tests.conftest import plain_url

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root lends accounts to others")

Visit = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def web(mortal: EmbeddedServer) -> ServiceAccount:
    """The web process's user, in the server's group."""
    entry = web_user()
    if entry is None:
        pytest.skip("this machine has no useradd, and no user hearthpay-web")
    return ServiceAccount(entry.pw_uid, entry.pw_gid, borrowed=True, groups=(mortal.account().gid,))


@pytest.fixture
def visit(mortal: EmbeddedServer, web: ServiceAccount) -> Visit:
    """Logs in over the socket with psql, as the web's user if nobody else is named."""
    psql = postgres_programs(web, mortal.data_dir / "programs") / "psql"

    def log_in(role: str, account: ServiceAccount = web) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            **account.popen_arguments(
                [psql, "-h", mortal.socket.parent, "-U", role, "-d", DATABASE, "-Atc", "SELECT current_user"]
            ),
            env={"LC_ALL": "C"},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    return log_in


def refused(visited: subprocess.CompletedProcess[str]) -> bool:
    return visited.returncode == 2 and "Peer authentication failed" in visited.stderr


def test_the_webs_user_is_the_service_and_nobody_else(visit: Visit) -> None:
    assert visit(ROLES.service).stdout == f"{ROLES.service}\n"
    assert refused(visit(OWNER_ROLE))
    assert refused(visit(ROLES.worker))


def test_the_servers_own_account_may_be_everybody(mortal: EmbeddedServer, visit: Visit) -> None:
    for role in (OWNER_ROLE, ROLES.service, ROLES.worker):
        assert visit(role, mortal.account()).stdout == f"{role}\n"


def test_others_do_not_come_to_the_socket(visit: Visit) -> None:
    nobody = pwd.getpwnam("nobody")
    stranger = visit(ROLES.service, ServiceAccount(nobody.pw_uid, nobody.pw_gid, borrowed=True))
    assert stranger.returncode == 2
    assert "Permission denied" in stranger.stderr


def test_the_webs_user_reads_nothing_of_the_cluster(mortal: EmbeddedServer, web: ServiceAccount) -> None:
    server = mortal.data_dir / "server"
    for path in (server, server / "run", server / "data"):
        assert not web.can("-r", path)
        assert not web.can("-w", path)
    assert not web.can("-x", server / "data")
    assert not web.can("-r", server / "server.log")
    assert web.can("-w", mortal.socket)


@pytest.mark.parametrize("running", [True, False])
def test_a_cluster_that_trusted_everybody_does_so_no_more(
    running: bool, mortal: EmbeddedServer, data_dir: Path, visit: Visit
) -> None:
    """As earlier versions made it: trust, in directories that were the server's alone."""
    rules = data_dir / "server" / "data" / "pg_hba.conf"
    rules.write_text("local all all trust\nlocal replication all trust\n")
    (data_dir / "server" / "data" / "pg_ident.conf").write_text("# nothing\n")
    with psycopg.connect(plain_url(mortal.owner_url()), autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
    deadline = time.monotonic() + PATIENCE
    while visit(OWNER_ROLE).returncode != 0:
        assert time.monotonic() < deadline
    mortal.socket.chmod(0o700)
    mortal.socket.parent.chmod(0o700)
    if not running:
        mortal.stop()
    later = EmbeddedServer(data_dir)
    later.start()
    try:
        deadline = time.monotonic() + PATIENCE
        while not refused(visit(OWNER_ROLE)):
            assert time.monotonic() < deadline
        assert visit(ROLES.service).returncode == 0
        assert rules.stat().st_uid == later.account().uid
        assert rules.stat().st_mode & 0o777 == 0o600
    finally:
        later.stop()
