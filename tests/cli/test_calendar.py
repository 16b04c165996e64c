"""`hearthpay calendar` and what is noted of it, on an embedded database of its own."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from icalendar import Calendar

from hearthpay.clock import SystemClock
from hearthpay.database.embedded import EmbeddedServer
from tests.banking.families import add_family
from tests.conftest import plain_url
from tests.database.damage import without_triggers
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install

THIS_YEAR = SystemClock().today().year
DAYS = ("--from", f"{THIS_YEAR}-01-01", "--to", f"{THIS_YEAR + 1}-12-31")


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedServer]:
    server = install(Path(tempfile.mkdtemp(prefix="hearthpay-calendar-")))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.data_dir, ignore_errors=True)


@pytest.fixture(scope="module")
def household(running: EmbeddedServer) -> UUID:
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        return add_family(connection).employer_id


def ask(running: EmbeddedServer, *words: str, refused: bool = False) -> str:
    told = hearthpay(*words, "--data-dir", str(running.data_dir))
    assert told.returncode == (2 if refused else 0), told.stderr
    return (told.stderr if refused else told.stdout).decode()


def rows(running: EmbeddedServer, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        return connection.execute(query).fetchall()


def test_table_json_and_feed_say_the_same(running: EmbeddedServer, household: UUID):
    key = f"CA/wages-quarterly/{THIS_YEAR}-Q1"
    day = f"{THIS_YEAR - 1}-12-31"
    assert ask(running, "calendar", str(household), "--done", key, "--on", day) == f"{key}: done on {day}.\n"
    told = {
        item["key"]: item for item in json.loads(ask(running, "calendar", str(household), "--json", *DAYS))
    }
    assert told[key]["done_on"] == day
    table = ask(running, "calendar", str(household), *DAYS).splitlines()
    assert [line.split()[0] for line in table] == [item["due_date"] for item in told.values()]
    assert all(key in line for key, line in zip(told, table, strict=True))
    assert [line for line in table if f"done {day}" in line] == [line for line in table if key in line]
    calendar = Calendar.from_ical(ask(running, "calendar", str(household), "--ics", *DAYS))
    assert [event.start.isoformat() for event in calendar.events] == [
        item["due_date"] for item in told.values()
    ]
    assert ask(running, "calendar", str(household), "--undone", key) == f"{key}: not done.\n"
    assert rows(running, "SELECT item_key, done_on FROM duty_marks") == [(key, None)]
    assert "key:" in ask(running, "calendar", str(household), "--undone", key, refused=True)


def test_choices_and_closed_accounts_are_noted_and_taken_back(running: EmbeddedServer, household: UUID):
    place = (str(household), "--state", "ca", "--account", "sui")
    chosen = ask(running, "households", "filing", *place, "--since", str(THIS_YEAR), "--frequency", "annual")
    closed = ask(running, "households", "close-account", *place, "--on", f"{THIS_YEAR}-06-30")
    assert (chosen, closed) == (
        f"CA sui from {THIS_YEAR} on: annual.\n",
        f"CA sui: closed on {THIS_YEAR}-06-30.\n",
    )
    said = "SELECT f.frequency, c.closed_on FROM filing_choices f JOIN closed_accounts c USING (employer_id, account)"
    assert rows(running, said) == [("annual", date(THIS_YEAR, 6, 30))]
    ask(running, "households", "filing", *place, "--since", str(THIS_YEAR))
    assert ask(running, "households", "close-account", *place) == "CA sui: open.\n"
    assert rows(running, said) == [(None, None)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("calendar", "HOUSEHOLD", "--from", "2001-01-01"), "from: must lie between"),
        (("calendar", "HOUSEHOLD", "--json", "--ics"), "exclude each other"),
        (("calendar", "HOUSEHOLD", "--on", "2026-01-01"), "--on goes with --done"),
        (("calendar", "mine"), "the id of a household is needed"),
        (("calendar", str(uuid4())), "there is no such household"),
        (
            ("households", "filing", "HOUSEHOLD", "--state", "NY", "--account", "sui", "--since", "2026"),
            "account: is no account of NY",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    running: EmbeddedServer, household: UUID, words: tuple[str, ...], told: str
):
    asked = (str(household) if word == "HOUSEHOLD" else word for word in words)
    assert told in ask(running, *asked, refused=True)


def test_a_link_is_made_renewed_and_revoked(
    running: EmbeddedServer, household: UUID, monkeypatch: pytest.MonkeyPatch
):
    def in_force() -> int:
        return len(rows(running, "SELECT id FROM calendar_links WHERE revoked_at IS NULL"))

    monkeypatch.setitem(os.environ, "HEARTHPAY_PUBLIC_URL", "https://pay.example.com")
    first, second = (ask(running, "households", "calendar-link", str(household)) for _ in range(2))
    assert first.startswith("https://pay.example.com/calendar/")
    assert first.endswith(".ics\n")
    assert first != second
    assert in_force() == 1
    revoked = ask(running, "households", "calendar-link", str(household), "--revoke")
    assert revoked == "The link opens nothing any more.\n"
    assert in_force() == 0
    assert ask(running, "households", "calendar-link", str(household), "--revoke") == "There was no link.\n"


def test_to_dos_are_told_as_lines_and_as_json(running: EmbeddedServer, household: UUID):
    told = json.loads(ask(running, "to-dos", str(household), "--due-within", "150", "--json"))
    lines = ask(running, "to-dos", str(household), "--due-within", "150").splitlines()
    assert len(lines) == len(told) > 3
    for line, each in zip(lines, told, strict=True):
        assert line == f"{each.get('due_on') or '':<10}  {each['title']}"
    sooner = json.loads(ask(running, "to-dos", str(household), "--json"))
    assert {each["id"] for each in sooner} <= {each["id"] for each in told}
    assert f"/app/{household}/" in told[0]["link"]
    assert "id of a household is needed" in ask(running, "to-dos", "nobody", refused=True)


def test_a_time_zone_is_chosen_and_left_to_the_state_again(running: EmbeddedServer, household: UUID):
    for asked, zone, stored in (
        ("America/Denver", "America/Denver", "America/Denver"),
        ("usual", None, None),
    ):
        told = ask(running, "households", "time-zone", str(household), asked)
        assert told == f"Time zone of {household}: {zone or 'America/Los_Angeles'}\n"
        assert rows(running, f"SELECT time_zone FROM employers WHERE id = '{household}'") == [(stored,)]
    assert "must be usual or one of" in ask(
        running, "households", "time-zone", str(household), "Mars/Olympus", refused=True
    )
    assert rows(running, "SELECT count(*) FROM audit_log WHERE action = 'employer.update'") == [(2,)]


def test_a_check_is_marked_as_handed_over(running: EmbeddedServer, household: UUID):
    hand_over = ("households", "hand-over", str(household))
    [(payroll,)] = rows(running, f"SELECT id FROM payrolls WHERE employer_id = '{household}'")
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        with without_triggers(connection):
            connection.execute("UPDATE payrolls SET status = 'completed', direct_deposit = true")
        assert "Only a payroll by check or cash" in ask(running, *hand_over, str(payroll), refused=True)
        with without_triggers(connection):
            connection.execute("UPDATE payrolls SET direct_deposit = false")
    told = ask(running, *hand_over, str(payroll), "--note", "In person.")
    assert told.startswith(f"{payroll}: handed over, ")
    assert ask(running, *hand_over, str(payroll)) == told
    assert rows(
        running, "SELECT actor_kind, details ->> 'note' FROM audit_log WHERE action = 'payroll.hand_over'"
    ) == [("operator", "In person.")]
    assert "Payroll not found" in ask(running, *hand_over, str(uuid4()), refused=True)
    assert "id of a payroll is needed" in ask(running, *hand_over, "nobody", refused=True)
