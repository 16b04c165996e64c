"""`hearthpay registrations` and `hearthpay households register`, on an embedded database of their own."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.banking.families import add_family
from tests.conftest import plain_url
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedServer]:
    server = install(Path(tempfile.mkdtemp(prefix="hearthpay-registrations-")))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.data_dir, ignore_errors=True)


@pytest.fixture(scope="module")
def household(running: EmbeddedServer) -> UUID:
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        return add_family(connection).employer_id


def register(running: EmbeddedServer, household: UUID, *more: str, number: str = ""):
    where = ("--data-dir", str(running.data_dir))
    return hearthpay("households", "register", str(household), *more, *where, stdin=number.encode())


def listed(running: EmbeddedServer, household: UUID) -> dict[str, tuple[str, str | None]]:
    told = hearthpay("registrations", str(household), "--json", "--data-dir", str(running.data_dir))
    assert told.returncode == 0, told.stderr
    return {
        f"{row['state_code']} {row['account_type']}": (row["status"], row["account_number_last_four"])
        for row in json.loads(told.stdout)
    }


def test_what_is_said_and_kept_is_shown(running: EmbeddedServer, household: UUID):
    before = listed(running, household)
    assert set(before) >= {"CA sui", "CA withholding", "CA sdi"}
    applied = register(running, household, "--state", "ca", "--type", "sdi", "--applied-on", "2026-01-02")
    assert applied.returncode == 0, applied.stderr
    assert listed(running, household)["CA sui"] == ("pending", None)
    kept = register(running, household, "--state", "CA", "--type", "sui", "--stdin", number="123-4567-8\n")
    assert kept.returncode == 0, kept.stderr
    assert kept.stdout == b"CA sui: registered.\n"
    assert kept.stderr == b""
    assert listed(running, household)["CA sdi"] == ("registered", "5678")
    table = hearthpay("registrations", str(household), "--data-dir", str(running.data_dir)).stdout.decode()
    assert "CA  sui          registered \N{HORIZONTAL ELLIPSIS}5678" in table
    assert "123-4567-8" not in table


def test_an_odd_number_is_kept_with_a_warning(running: EmbeddedServer, household: UUID):
    kept = register(running, household, "--state", "NY", "--type", "sui", "--stdin", number="987654")
    assert kept.returncode == 0, kept.stderr
    assert b"##-##### #" in kept.stderr
    assert b"987654" not in kept.stdout + kept.stderr
    assert listed(running, household)["NY sui"] == ("registered", "7654")


@pytest.mark.parametrize(
    ("state", "account_type", "told"),
    [
        ("TX", "withholding", "--type must be one of sui"),
        ("XX", "sui", "50 states"),
        ("CA", "ett", "--type must be"),
    ],
)
def test_what_has_no_account_is_refused(
    running: EmbeddedServer, household: UUID, state: str, account_type: str, told: str
):
    refused = register(
        running, household, "--state", state, "--type", account_type, "--stdin", number="123-4567-8"
    )
    assert refused.returncode == 2
    assert told in refused.stderr.decode()
    assert b"123-4567-8" not in refused.stdout + refused.stderr


def test_a_household_that_is_not_there(running: EmbeddedServer):
    refused = register(running, uuid4(), "--state", "CA", "--type", "sui", "--stdin", number="123-4567-8")
    assert refused.returncode == 2
    assert b"there is no such household" in refused.stderr


def test_a_policy_is_shown_kept_and_taken_back(running: EmbeddedServer, household: UUID):
    def policy(*more: str):
        return hearthpay("households", "policy", str(household), *more, "--data-dir", str(running.data_dir))

    assert b"CA  workers_compensation  required" in policy().stdout
    kept = policy("--state", "ca", "--carrier", "State Fund", "--number", "77-1", "--starts-on", "2026-01-01")
    assert (kept.returncode, kept.stdout) == (0, b"CA workers_compensation: kept.\n"), kept.stderr
    assert b"State Fund 77-1" in policy().stdout
    refused = policy("--state", "TX", "--kind", "disability", "--carrier", "x", "--starts-on", "2026-01-01")
    assert (refused.returncode != 0, b"policy" in refused.stderr) == (True, True)
    assert policy("--state", "CA", "--remove").stdout == b"CA workers_compensation: removed.\n"
    assert b"State Fund" not in policy().stdout


def test_wages_from_which_an_account_is_required_are_printed_as_json(running: EmbeddedServer) -> None:
    """For a household that has paid nobody yet."""
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        employer_id = add_family(connection).employer_id
        connection.execute("DELETE FROM month_balances WHERE employer_id = %s", (employer_id,))
    printed = hearthpay("registrations", str(employer_id), "--json", "--data-dir", str(running.data_dir))
    assert printed.returncode == 0, printed.stderr
    required = [row["required_from"] for row in json.loads(printed.stdout) if row["required_from"]]
    assert required
    assert all(each["paid"] == 0 < each["quarterly_wages"] for each in required)
