"""Commands about a sandbox household with a test clock go by its time, and change nothing while it moves."""

from base64 import b64encode
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest
from typer.testing import CliRunner, Result

from hearthpay.cli.main import app
from hearthpay.database.embedded import EmbeddedServer
from tests.database.household import Household, add_household, add_organization

THERE = datetime(2027, 6, 15, 16, tzinfo=UTC)
"""Where the household's clock stands; no test is about real time."""

KEYS = f"k1:{b64encode(bytes(range(7, 231, 7))).decode()}"


@pytest.fixture
def house(owner_connection: psycopg.Connection, empty_tables: None) -> Household:
    """A sandbox household whose employee has set aside 5.00 by check, and whose clock stands ahead."""
    house = add_household(owner_connection, add_organization(owner_connection, "Lopez family"), sandbox=True)
    moved = owner_connection.execute(
        "UPDATE household_clocks SET stands_at = %(at)s, target = %(at)s, status = 'ready', finished_at = %(at)s "
        "WHERE employer_id = %(id)s",
        {"id": house.employer_id, "at": THERE},
    )
    assert moved.rowcount == 1
    return house


def command(server: EmbeddedServer, *arguments: str | UUID) -> Result:
    environment = {"DATABASE_URL": server.owner_url(), "HEARTHPAY_KEYS": KEYS}
    return CliRunner().invoke(app, [*map(str, arguments)], env=environment)


def days_of(told: Result) -> list[str]:
    assert told.exit_code == 0, told.stderr
    return sorted(line.split()[0] for line in told.stdout.splitlines())


def test_the_calendar_begins_on_the_households_day(server: EmbeddedServer, house: Household) -> None:
    days = days_of(command(server, "calendar", house.employer_id))
    assert "2027-06-15" <= days[0] <= "2027-09-15"
    assert days[-1] <= "2028-06-15"


def test_a_duty_is_done_on_the_households_day(
    server: EmbeddedServer, house: Household, owner_connection: psycopg.Connection
) -> None:
    listed = command(server, "calendar", house.employer_id).stdout.split()
    name = next(each for each in listed if "/2027" in each)
    marked = command(server, "calendar", house.employer_id, "--done", name)
    assert (marked.exit_code, marked.stdout) == (0, f"{name}: done on 2027-06-15.\n"), marked.stderr
    kept = owner_connection.execute("SELECT done_on::text FROM duty_marks WHERE item_key = %s", (name,))
    assert kept.fetchall() == [("2027-06-15",)]
    tomorrow = command(server, "calendar", house.employer_id, "--done", name, "--on", "2027-06-16")
    assert tomorrow.exit_code == 2


def test_a_payout_stands_at_the_households_time(
    server: EmbeddedServer, house: Household, owner_connection: psycopg.Connection
) -> None:
    paid = command(server, "escrow", "payout", house.employee_id, "3.5", "--method", "cash")
    assert paid.exit_code == 0, paid.stderr
    found = owner_connection.execute("SELECT created_at FROM escrow_movements WHERE kind = 'payout'")
    assert found.fetchall() == [(THERE,)]


def test_an_application_may_be_of_the_households_day(server: EmbeddedServer, house: Household) -> None:
    place = ("households", "register", house.employer_id, "--state", "CA", "--type", "sui", "--applied-on")
    ahead = command(server, *place, "2027-06-16")
    assert ahead.exit_code == 2
    assert "applied_on" in ahead.stderr
    assert command(server, *place, "2027-06-15").exit_code == 0


def test_nothing_is_changed_while_the_clock_moves(
    server: EmbeddedServer, house: Household, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute(
        "UPDATE household_clocks SET status = 'advancing', finished_at = NULL, "
        "target = stands_at + interval '30 days'"
    )
    household, employee = house.employer_id, house.employee_id
    changes: tuple[tuple[str | UUID, ...], ...] = (
        ("escrow", "payout", employee, "1", "--method", "cash"),
        ("calendar", household, "--done", "CA/wages-quarterly/2027-Q2"),
        ("households", "register", household, "--state", "CA", "--type", "sui", "--applied-on", "2027-06-01"),
        ("households", "threshold-basis", household, "as_paid"),
        ("households", "calendar-link", household),
        ("documents", "w3", household, "--year", "2027"),
        ("autopilot", "pause", employee),
    )
    before = owner_connection.execute("SELECT count(*) FROM audit_log").fetchone()
    for change in changes:
        refused = command(server, *change)
        assert refused.exit_code == 2, change
        assert "is advancing" in refused.stderr, (change, refused.stderr)
    assert owner_connection.execute("SELECT count(*) FROM audit_log").fetchone() == before
    for read in (("calendar", household), ("registrations", household), ("autopilot", "show", employee)):
        assert command(server, *read).exit_code == 0, read
