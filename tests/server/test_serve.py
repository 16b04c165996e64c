"""`hearthpay serve` as a process: from an empty machine, through kill -9 of itself and of its database."""

import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.server import listen
from tests.worlds.commands import hearthpay_says, start
from tests.worlds.installations import install

START_WITHIN = 60


class Service:
    """A running `hearthpay serve`, on a data directory or on the database of the environment."""

    def __init__(self, data_dir: Path | None, *options: str) -> None:
        where = () if data_dir is None else ("--data-dir", data_dir)
        self.process = start("serve", "--port", 0, *where, *options)
        self.output: list[str] = []
        self._lines = threading.Thread(target=self._read, daemon=True)
        self._lines.start()
        self.address = self._wait_for_address()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line)

    def _wait_for_address(self) -> str:
        deadline = time.monotonic() + START_WITHIN
        while time.monotonic() < deadline:
            for line in self.output:
                if "is ready at " in line:
                    return line.split("is ready at ")[1].split()[0]
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError("".join(self.output))

    def wait_until_ready(self) -> None:
        """Ask the probe until it has loaded what first requests need, as a load balancer does."""
        deadline = time.monotonic() + START_WITHIN
        while (answer := httpx.get(f"{self.address}/readyz", timeout=30)).status_code != 200:
            assert answer.status_code == 503, answer.text
            assert time.monotonic() < deadline, answer.text
            time.sleep(0.1)

    def first_owners_link(self) -> str:
        """The link that it shows while nobody can sign in."""
        deadline = time.monotonic() + START_WITHIN
        while time.monotonic() < deadline:
            for line in self.output:
                if "first owner's account" in line:
                    return line.rpartition(" ")[2].strip()
            time.sleep(0.02)
        raise AssertionError("".join(self.output))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """An empty directory."""
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-serve-"))
    yield folder
    EmbeddedServer(folder).stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def installed(data_dir: Path) -> Path:
    """A directory in which the service ran before."""
    install(data_dir)
    return data_dir


def create_key(data_dir: Path) -> str:
    asked = ("keys", "create", "--organization", "Lopez family", "--mode", "live")
    result = hearthpay_says(*asked, "--data-dir", data_dir)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def client_of(service: Service, key: str) -> httpx.Client:
    return httpx.Client(
        base_url=f"{service.address}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=30
    )


def add_household(client: httpx.Client) -> dict[str, str]:
    employer = client.post(
        "/employers",
        json={"first_name": "Maria", "last_name": "Lopez", "email": "m@example.com", "state": "TX"},
    ).json()["data"]
    employee = client.post(
        "/employees",
        json={
            "employer_id": employer["id"],
            "first_name": "Rosa",
            "last_name": "Diaz",
            "pay_rate": 25,
            "start_date": "2026-01-05",
        },
    ).json()["data"]
    return {"employer_id": employer["id"], "employee_id": employee["id"]}


def run(client: httpx.Client, household: dict[str, str], day: int, key: str | None = None) -> httpx.Response:
    date = f"2026-10-{day:02}"
    body = {
        "employer_id": household["employer_id"],
        "pay_period_start": date,
        "pay_period_end": date,
        "pay_date": date,
        "pay_frequency": "weekly",
        "employees": [{"employee_id": household["employee_id"], "regular_hours": 8}],
    }
    return client.post("/payroll/run", json=body, headers={"Idempotency-Key": key} if key else {})


def postmaster_of(data_dir: Path) -> int:
    pid = EmbeddedServer(data_dir).postmaster_pid
    assert pid is not None
    return pid


def test_it_survives_being_killed_and_its_database_being_killed(installed: Path):
    service = Service(installed)
    try:
        key = create_key(installed)
        with client_of(service, key) as client:
            household = add_household(client)
            assert run(client, household, 1, "first").status_code == 200

            os.kill(postmaster_of(installed), signal.SIGKILL)
            answers = [run(client, household, 2, "second")]
            while answers[-1].status_code != 200 and len(answers) < 20:
                assert answers[-1].status_code == 503, answers[-1].text
                assert answers[-1].headers["Retry-After"]
                time.sleep(0.5)
                answers.append(run(client, household, 2, "second"))
            assert answers[-1].status_code == 200

        service.kill()
        service = Service(installed)
        with client_of(service, key) as client:
            replayed = run(client, household, 2, "second")
            assert replayed.headers["Idempotent-Replayed"] == "true"
            paycheck = run(client, household, 3, "third").json()["data"]["employees"][0]
            assert paycheck["ytd"]["gross_pay"] == 600

        service.kill()
        os.kill(postmaster_of(installed), signal.SIGKILL)
        service = Service(installed)
        with client_of(service, key) as client:
            assert len(client.get("/payrolls").json()["data"]) == 3
            service.wait_until_ready()
    finally:
        service.stop()


def test_it_stops_cleanly_and_takes_the_database_with_it(data_dir: Path):
    service = Service(data_dir)
    assert EmbeddedServer(data_dir).is_alive()
    assert httpx.get(f"{service.address}/healthz").json()["data"] == {"status": "ok"}
    link = service.first_owners_link()
    assert "Welcome to Hearthpay" in httpx.get(link).text
    assert httpx.get(f"{link}x").status_code == 404
    assert service.stop() == 0
    assert not EmbeddedServer(data_dir).is_alive()
    assert "Stopping" in "".join(service.output)


def test_a_taken_port_is_said_plainly(installed: Path):
    service = Service(installed, "--no-worker")
    try:
        port = service.address.rsplit(":", 1)[1]
        second = hearthpay_says("serve", "--port", port, "--data-dir", installed, timeout=60)
        assert second.returncode == 1
        assert f"cannot listen on 127.0.0.1:{port}" in second.stderr
        assert "Traceback" not in second.stderr
    finally:
        service.stop()


def test_connections_send_without_delay():
    """Sockets that wait for the other side's acknowledgement between head and body cost forty milliseconds each."""
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
