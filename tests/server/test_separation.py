"""`hearthpay serve` as root: the web is served by a user who can do nothing else, and nothing is left at the end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

import hearthpay
from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.service_account import WEB_ACCOUNT, web_user
from hearthpay.security.key_ring import KEY_FILE
from hearthpay.separation import StaysRootError, lesser_user
from tests.conftest import plain_url
from tests.database.poolers import forgetful_proxy
from tests.server.test_serve import (
    Service,
    add_household,
    client_of,
    create_key,
    data_dir,
    postmaster_of,
    run,
)
from tests.worlds.commands import hearthpay_says

__all__ = ["data_dir"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root lends accounts to others")


@pytest.fixture
def separable() -> None:
    """Skip where the web's user cannot read the interpreter that runs the tests, as below /root."""
    try:
        lesser_user(None, {})
    except StaysRootError as error:
        pytest.skip(str(error))


@pytest.fixture
def service(separable: None, data_dir: Path) -> Iterator[Service]:
    service = Service(data_dir)
    yield service
    if service.process.poll() is None:
        service.stop()


def web_of(service: Service) -> psutil.Process:
    (web,) = (child for child in children(service) if "hearthpay.web_process" in child.cmdline())
    return web


def children(service: Service) -> list[psutil.Process]:
    return psutil.Process(service.process.pid).children()


def wait_for(condition: Callable[[], object], within: float = 60) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def gone(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


def status_of(process: psutil.Process) -> dict[str, list[str]]:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}


def invited(client: httpx.Client, household: dict[str, str]) -> str:
    made = client.post(
        f"/employees/{household['employee_id']}/invite", json={"type": "tax_info", "send_email": False}
    )
    assert made.status_code in (200, 201), made.text
    url: str = made.json()["data"]["portal_url"]
    return url


def assert_is_nobody_in_particular(web: psutil.Process, groups: list[int]) -> None:
    entry = web_user()
    assert entry is not None
    status = status_of(web)
    assert status["Uid"] == [str(entry.pw_uid)] * 4
    assert status["Gid"] == [str(entry.pw_gid)] * 4
    assert status["Groups"] == [str(group) for group in groups]
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[kind][0], 16) == 0
    assert status["NoNewPrivs"] == ["1"]


def test_the_web_is_served_by_a_user_of_its_own(service: Service, data_dir: Path) -> None:
    web = web_of(service)
    assert_is_nobody_in_particular(web, [EmbeddedServer(data_dir).account().gid])
    assert {child.username() for child in children(service)} == {"root", WEB_ACCOUNT}
    key = create_key(data_dir)
    with client_of(service, key) as client:
        household = add_household(client)
        assert run(client, household, 1).status_code == 200
        url = invited(client, household)
        assert client.post(url, data={"tax_number": "536-22-8145"}).status_code == 303
        assert "ending in 8145" in client.get(f"{url}/done").text

        rotated = hearthpay_says("vault", "rotate", "--data-dir", data_dir)
        assert (rotated.returncode, rotated.stdout) == (0, "Re-encrypted 1 secrets.\n")
        assert (data_dir / KEY_FILE).owner() == WEB_ACCOUNT
        assert (data_dir / KEY_FILE).stat().st_mode & 0o777 == 0o600
        again = client.post(invited(client, household), data={"tax_number": "536-22-8146"})
        assert again.status_code == 303

        os.kill(postmaster_of(data_dir), signal.SIGKILL)
        wait_for(lambda: run(client, household, 2, "second").status_code == 200)
        service.wait_until_ready()
    assert web_of(service).pid == web.pid
    family = [*children(service), psutil.Process(postmaster_of(data_dir))]
    assert service.stop() == 0
    assert gone(family)
    assert "Stopping" in "".join(service.output)


def test_the_secrets_of_others_are_not_in_its_environment(
    separable: None, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTHPAY_BANK_PASSWORD", "for the worker only")
    service = Service(data_dir)
    try:
        environment = web_of(service).environ()
        assert "HEARTHPAY_BANK_PASSWORD" not in environment
        assert environment["HOME"] != os.environ["HOME"]
    finally:
        service.stop()


def test_a_killed_web_process_ends_the_service_in_order(service: Service, data_dir: Path) -> None:
    family = [*children(service), psutil.Process(postmaster_of(data_dir))]
    web_of(service).kill()
    assert service.process.wait(timeout=60) == 1
    assert gone(family)
    wait_for(lambda: "the web process has ended (-9)" in "".join(service.output))


def test_after_the_keeper_was_killed_nothing_goes_on(service: Service, data_dir: Path) -> None:
    family = [*children(service), psutil.Process(postmaster_of(data_dir))]
    service.kill()
    wait_for(lambda: gone(family))


def test_a_given_database_is_served_likewise(
    separable: None,
    server: EmbeddedServer,
    empty_tables: None,
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with forgetful_proxy(server) as port:
        owner = plain_url(server.owner_url()).split("@")[0] + f"@127.0.0.1:{port}/hearthpay"
        monkeypatch.setenv("DATABASE_URL", owner)
        monkeypatch.setenv("HEARTHPAY_KEYS", "k1:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=")
        service = Service(data_dir)
        try:
            web = web_of(service)
            assert_is_nobody_in_particular(web, [])
            assert "DATABASE_URL" not in web.environ()
            with client_of(service, create_key(data_dir)) as client:
                household = add_household(client)
                assert run(client, household, 1).status_code == 200
                url = invited(client, household)
                assert client.post(url, data={"tax_number": "536-22-8145"}).status_code == 303
        finally:
            family = children(service)
            assert service.stop() == 0
        assert gone(family)


def test_where_its_user_could_not_read_the_program_root_serves_and_says_so(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    shutil.copytree(Path(hearthpay.__file__).parent, private / "hearthpay")
    monkeypatch.setenv("PYTHONPATH", str(private))
    service = Service(data_dir)
    try:
        warnings = [line for line in service.output if "web_runs_as_root" in line]
        assert len(warnings) == 1
        assert f"the user {WEB_ACCOUNT} cannot read" in warnings[0]
        service.wait_until_ready()
        assert {child.username() for child in children(service)} == {"root"}
        data: Any = httpx.get(f"{service.address}/healthz").json()
        assert data["data"] == {"status": "ok"}
    finally:
        assert service.stop() == 0


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv, of util-linux")
def test_where_root_may_not_be_somebody_else_it_is_told_plainly() -> None:
    """As in a container that was given no capabilities."""
    asked = subprocess.run(
        [
            *("setpriv", "--bounding-set", "-setuid,-setgid", sys.executable, "-c"),
            "from hearthpay.separation import lesser_user; lesser_user(None, {})",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.stderr.endswith(
        f"StaysRootError: root may not become the user {WEB_ACCOUNT} here: Operation not permitted\n"
    )
