"""`hearthpay autopilot`, on an embedded database of its own."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.embedded import EmbeddedServer
from tests.banking.families import Family, add_family
from tests.conftest import plain_url
from tests.database.household import NOW, insert
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedServer]:
    server = install(Path(tempfile.mkdtemp(prefix="hearthpay-autopilot-")))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.data_dir, ignore_errors=True)


@pytest.fixture(scope="module")
def family(running: EmbeddedServer) -> Family:
    """A sandbox household with a completed payroll; the sandbox has a bank of its own."""
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        made = add_family(connection, sandbox=True, status="completed")
        household = {
            "organization_id": made.organization_id,
            "employer_id": made.employer_id,
            "sandbox": True,
            "account_type": "checking",
            "last_four": "6789",
            "status": "active",
            "verification": "instant",
            "created_at": NOW,
            "updated_at": NOW,
        }
        for employee_id in (None, made.employee_ids[0]):
            insert(connection, "bank_accounts", **household, employee_id=employee_id)
        return made


_MINUTES = count()
"""Each command is given a minute after the one before, since their history is in the order of time."""


def autopilot(running: EmbeddedServer, command: str, *arguments: str, stdin: str = "") -> Any:
    where = ("--data-dir", str(running.data_dir))
    return hearthpay(
        "autopilot",
        command,
        *arguments,
        *where,
        stdin=stdin.encode(),
        at=NOW + timedelta(minutes=next(_MINUTES)),
    )


def test_the_text_is_told(running: EmbeddedServer) -> None:
    told = hearthpay("autopilot", "text").stdout.decode()
    assert told.startswith("# Standing authorization to debit my bank account for Autopilot")


def test_an_employee_is_enrolled_managed_and_shown(running: EmbeddedServer, family: Family) -> None:
    rosa = str(family.employee_ids[0])
    not_enrolled = autopilot(running, "show", rosa).stdout.decode().splitlines()
    assert not_enrolled[0] == "Not enrolled."
    today = FixedClock(NOW).today()
    monday = today + timedelta(days=21 - today.weekday())
    terms = ("--hours", "40", "--frequency", "weekly", "--anchor", str(monday), "--pay-days-after", "5")
    refused = autopilot(running, "enroll", rosa, *terms, stdin="n\n")
    assert (refused.returncode, b"has to agree" in refused.stderr) == (2, True)
    for hours in ("NaN", "1e30", "0.0001", "0"):
        refused = autopilot(running, "enroll", rosa, "--hours", hours, *terms[2:], "--agree")
        assert (refused.returncode, refused.stderr[:11]) == (2, b"hearthpay: "), refused.stderr
        assert b"hours" in refused.stderr
    assert autopilot(running, "show", rosa).stdout.decode().splitlines() == not_enrolled
    assert not_enrolled[1] == "Enrolled now, the first periods would be:"
    assert len(not_enrolled) == 5
    enrolled = autopilot(running, "enroll", rosa, *terms, "--agree")
    assert enrolled.returncode == 0, enrolled.stderr
    assert str(monday).encode() in enrolled.stdout
    told = json.loads(autopilot(running, "show", rosa, "--json").stdout)
    assert (told["enrollment"]["status"], told["enrollment"]["standard_hours"]) == ("active", 40)
    assert told["schedule_preview"][0]["period_start"] == str(monday)
    later = str(monday + timedelta(days=7))
    more = ("--hours", "30", "--frequency", "weekly", "--from-period", later, "--pay-days-after", "5")
    refused = autopilot(running, "change", rosa, "--hours", "NaN", *more[2:])
    assert (refused.returncode, b"hours: 'NaN' is not a number" in refused.stderr) == (2, True)
    assert autopilot(running, "change", rosa, *more).returncode == 0
    assert autopilot(running, "authorize", rosa, "--agree").stdout == b"Authorized.\n"
    assert autopilot(running, "pause", rosa).stdout == b"paused.\n"
    assert autopilot(running, "pause", rosa).stdout == b"paused, as before.\n"
    assert autopilot(running, "resume", rosa).stdout == b"active.\n"
    assert autopilot(running, "skip", rosa, "--through", later).stdout == b"active.\n"
    shown = autopilot(running, "show", rosa).stdout.decode()
    assert shown.startswith("active: 40 hours, about ")
    assert str(monday + timedelta(days=14)) in shown
    assert autopilot(running, "disable", rosa).stdout == b"disabled.\n"
    assert autopilot(running, "show", rosa).stdout.startswith(b"Not enrolled.\nEnrolled now")
    lines = autopilot(running, "history", rosa).stdout.decode().splitlines()
    assert [line.split("  ")[1].strip() for line in lines] == [
        *("disable", "skip", "resume", "pause", "enroll", "enroll", "enroll"),
    ]
    assert all("operator (app)" in line for line in lines)


@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        ("pause", ("nobody",), "an id is needed"),
        ("pause", (str(uuid4()),), "there is no such employee"),
        ("confirm", (str(uuid4()),), "there is no such payroll"),
    ],
)
def test_what_is_not_there_is_refused(
    running: EmbeddedServer, command: str, arguments: tuple[str, ...], told: str
) -> None:
    refused = autopilot(running, command, *arguments)
    assert (refused.returncode, told in refused.stderr.decode()) == (2, True)
