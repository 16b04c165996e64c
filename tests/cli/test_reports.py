"""`hearthpay reports` on the tests' own server: tables, CSV, JSON, and what is refused."""

import csv
import io
import json
from uuid import UUID, uuid4

import psycopg
import pytest
from typer.testing import CliRunner, Result

from hearthpay.cli.main import app
from hearthpay.database.embedded import EmbeddedServer
from tests.database.household import Household, add_household, add_line_set, add_organization

QUARTER = ("--state", "ca", "--year", "2026", "--quarter", "4")
SPAN = ("--from", "2026-11-01", "--to", "2026-12-31")


@pytest.fixture
def house(owner_connection: psycopg.Connection, empty_tables: None) -> Household:
    """A household with one paycheck of one line: Social Security, to which one of California is added."""
    house = add_household(owner_connection, add_organization(owner_connection, "Lopez family"))
    both = add_line_set(
        owner_connection,
        ("US-SS-EE", "Social Security", "employee", "IRS", "social_security"),
        ("CA-SUI-ER", "Unemployment", "employer", "California EDD", "state_unemployment"),
    )
    owner_connection.execute(
        "UPDATE paychecks SET line_set_id = %s, line_subject_wages = line_subject_wages || 900000::bigint, "
        "line_taxable_wages = line_taxable_wages || 700000::bigint, line_rates = line_rates || 0.034, "
        "line_amounts = line_amounts || 23800::bigint, line_ytd_amounts = line_ytd_amounts || 23800::bigint",
        (both,),
    )
    owner_connection.execute(
        "UPDATE month_balances SET codes = '{CA-SUI-ER,US-SS-EE}', subject_wages = 900000::bigint || subject_wages, "
        "taxable_wages = 700000::bigint || taxable_wages, amounts = 23800::bigint || amounts"
    )
    return house


def reports(server: EmbeddedServer, *arguments: str | UUID) -> Result:
    command = ["reports", *map(str, arguments)]
    return CliRunner().invoke(app, command, env={"DATABASE_URL": server.owner_url()})


def test_state_wages(server: EmbeddedServer, house: Household):
    table = reports(server, "state-wages", house.employer_id, *QUARTER)
    assert table.exit_code == 0, table.stderr
    lines = [line.split() for line in table.stdout.splitlines()]
    assert lines[2][:2] == ["Miller,", "Grace"]
    assert lines[2][-3:] == ["9,000.00", "2,000.00", "7,000.00"]
    assert ["CA-SUI-ER", "9,000.00", "2,000.00", "7,000.00", "238.00"] in lines
    rows = list(
        csv.DictReader(
            io.StringIO(
                reports(server, "state-wages", house.employer_id, *QUARTER, "--csv").stdout, newline=""
            )
        )
    )
    assert [(row["last_name"], row["taxable_wages"], row["CA-SUI-ER amount"]) for row in rows] == [
        ("Miller", "7000.00", "238.00")
    ]
    told = json.loads(reports(server, "state-wages", house.employer_id, *QUARTER, "--json").stdout)
    assert told["totals"]["taxable_wages"] == 7000
    assert told["quarter"] == 4


def test_tax_liability(server: EmbeddedServer, house: Household):
    table = reports(server, "tax-liability", house.employer_id, *SPAN)
    assert table.exit_code == 0, table.stderr
    assert ["CA-SUI-ER", "238.00", "0.00", "238.00"] in [line.split() for line in table.stdout.splitlines()]
    told = json.loads(reports(server, "tax-liability", house.employer_id, *SPAN, "--json").stdout)
    assert [each["month"] for each in told["totals"]["months"]] == ["2026-11", "2026-12"]
    assert {each["agency"] for each in told["agencies"]} == {"IRS", "EDD"}
    rows = csv.DictReader(
        io.StringIO(reports(server, "tax-liability", house.employer_id, *SPAN, "--csv").stdout, newline="")
    )
    assert {row["code"]: row["2026-11"] for row in rows}["CA-SUI-ER"] == "238.00"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("state-wages", "{id}", "--state", "XX", "--year", "2026"), "50 states"),
        (("state-wages", "{id}", "--state", "CA", "--year", "2019"), "no tax rules for 2019"),
        (("state-wages", "{id}", *QUARTER, "--csv", "--json"), "two forms"),
        (("state-wages", "nobody", *QUARTER), "the id of a household"),
        (("state-wages", str(uuid4()), *QUARTER), "no such household"),
        (("tax-liability", "{id}", "--from", "2026-02-01", "--to", "2026-01-01"), "must not be before"),
    ],
)
def test_what_is_refused(server: EmbeddedServer, house: Household, arguments: tuple[str, ...], why: str):
    refused = reports(server, *(each.format(id=house.employer_id) for each in arguments))
    assert refused.exit_code == 2
    assert why in refused.stderr
    assert refused.stdout == ""
