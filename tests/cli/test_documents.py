"""`hearthpay households ein` and `hearthpay documents`, on an embedded database of their own."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from tests.banking.families import Family, add_family
from tests.conftest import plain_url
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install

HOME = {"line1": "2201 Mission St", "line2": None, "city": "San Francisco", "state": "CA", "zip": "94110"}
YEAR = "2026"


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedServer]:
    server = install(Path(tempfile.mkdtemp(prefix="hearthpay-documents-")))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.data_dir, ignore_errors=True)


@pytest.fixture(scope="module")
def family(running: EmbeddedServer) -> Family:
    """A household with an address, whose one employee earned 1,000.00 this year by another payroll."""
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        made = add_family(connection)
        for table, identity in (("employers", made.employer_id), ("employees", made.employee_ids[0])):
            connection.execute(f"UPDATE {table} SET address = %s WHERE id = %s", (json.dumps(HOME), identity))
        connection.execute("UPDATE payrolls SET status = 'draft'")
        connection.execute(
            "INSERT INTO prior_wages (id, organization_id, employer_id, sandbox, employee_id, tax_year, source, as_of, "
            "gross_pay, net_pay, employee_taxes, employer_taxes, lines, codes, subject_wages, taxable_wages, amounts, "
            "warnings, created_at) SELECT new_id(), organization_id, employer_id, sandbox, id, %(year)s, 'Before', "
            "make_date(%(year)s, 1, 2), 500000, 500000, 0, 0, '[]', '{}', '{}', '{}', '{}', '[]', now() "
            "FROM employees WHERE id = %(employee)s",
            {"year": int(YEAR), "employee": made.employee_ids[0]},
        )
    return made


def write(running: EmbeddedServer, household: UUID, *paper: str, stdin: str = ""):
    where = ("--data-dir", str(running.data_dir))
    return hearthpay("documents", paper[0], str(household), *paper[1:], *where, stdin=stdin.encode())


def test_papers_are_files_that_only_their_owner_reads(
    running: EmbeddedServer, family: Family, tmp_path: Path
) -> None:
    household = family.employer_id
    to = ("--output", str(tmp_path))
    refused = write(running, household, "w3", "--year", YEAR, *to)
    assert refused.returncode == 2
    assert b"household.ein" in refused.stderr
    wrong = hearthpay(
        *("households", "ein", str(household), "--stdin", "--data-dir", str(running.data_dir)),
        stdin=b"12-345",
    )
    assert wrong.returncode == 2
    assert b"12-345" not in wrong.stdout + wrong.stderr
    told = hearthpay(
        *("households", "ein", str(household), "--stdin", "--data-dir", str(running.data_dir)),
        stdin=b"12-3456789\n",
    )
    assert told.stdout.decode() == f"EIN of {household}: XX-XXX6789\n"
    written = write(running, household, "w3", "--year", YEAR, *to)
    assert written.returncode == 0, written.stderr
    (path,) = tmp_path.iterdir()
    assert path.name == f"w3-{YEAR}.pdf"
    assert path.stat().st_mode & 0o777 == 0o600
    first = path.read_bytes()
    assert first.startswith(b"%PDF")
    path.write_bytes(b"mine")
    kept = write(running, household, "w3", "--year", YEAR, *to, stdin="n\n")
    assert (kept.returncode, path.read_bytes()) == (1, b"mine")
    again = write(running, household, "w3", "--year", YEAR, *to, "--yes")
    assert (again.returncode, path.read_bytes()) == (0, first)
    assert path.stat().st_mode & 0o777 == 0o600
    wrong_year = write(running, household, "schedule-h", "--year", "1999", *to)
    assert wrong_year.returncode == 2
    assert b"tax_year" in wrong_year.stderr


def test_the_year_says_how_to_supply_what_is_missing(
    running: EmbeddedServer, family: Family, tmp_path: Path
) -> None:
    household, rosa = family.employer_id, family.employee_ids[0]
    to = ("--year", YEAR, "--output", str(tmp_path))
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        connection.execute(
            "UPDATE employers SET address = NULL, ein_status = 'none' WHERE id = %s", (household,)
        )
        connection.execute("DELETE FROM vault WHERE employer_id = %s", (household,))
        connection.execute("UPDATE employees SET address = NULL WHERE id = %s", (rosa,))
        refused = write(running, household, "year", *to)
        assert (refused.returncode, list(tmp_path.iterdir())) == (2, [])
        said = refused.stderr.decode()
        assert f"household.address: enter it on the page /app/{household}/taxes/papers/address" in said
        assert f"hearthpay households ein {household}" in said
        assert f"employee.address: enter it on the page /app/{household}/employees/{rosa}/change" in said
        for table, identity in (("employers", household), ("employees", rosa)):
            connection.execute(f"UPDATE {table} SET address = %s WHERE id = %s", (json.dumps(HOME), identity))
    told = hearthpay(
        *("households", "ein", str(household), "--stdin", "--data-dir", str(running.data_dir)),
        stdin=b"12-3456789\n",
    )
    assert told.returncode == 0, told.stderr
    written = write(running, household, "year", *to)
    assert written.returncode == 0, written.stderr
    notes = written.stderr.decode()
    assert f"/app/{household}/employees/{rosa}/invitations" in notes
    assert notes.count("Social Security number is not on file") == 1
    assert "--user-id and --phone" in notes
