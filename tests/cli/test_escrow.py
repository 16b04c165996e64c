"""`hearthpay escrow` on the tests' own server: rule, show and payout, and what is refused."""

from uuid import UUID, uuid4

import psycopg
import pytest
from typer.testing import CliRunner, Result

from hearthpay.cli.main import app
from hearthpay.database.embedded import EmbeddedServer
from tests.database.household import Household, add_household, add_organization


@pytest.fixture
def house(owner_connection: psycopg.Connection, empty_tables: None) -> Household:
    """A household whose employee has set aside 5.00 by check."""
    return add_household(owner_connection, add_organization(owner_connection, "Lopez family"))


def escrow(server: EmbeddedServer, *arguments: str | UUID) -> Result:
    command = ["escrow", *map(str, arguments)]
    return CliRunner().invoke(app, command, env={"DATABASE_URL": server.owner_url()})


def test_a_rule_is_set_shown_and_ended(server: EmbeddedServer, house: Household):
    for options, told in (
        (("--rate", "0.0525"), "Grace Miller: 5.25 % of gross pay is set aside\n"),
        (("--amount", "1,250.5"), "Grace Miller: 1,250.50 of each paycheck is set aside\n"),
        (("--none",), "Grace Miller: nothing is set aside\n"),
    ):
        result = escrow(server, "rule", house.employee_id, *options)
        assert (result.exit_code, result.stdout) == (0, told), result.stderr
        assert escrow(server, "show", house.employee_id).stdout.startswith(told)


def test_a_payout_is_shown_with_what_is_left(
    server: EmbeddedServer, house: Household, owner_connection: psycopg.Connection
):
    result = escrow(server, "payout", house.employee_id, "3.5", "--method", "cash", "--note", "holidays")
    assert (result.exit_code, result.stdout) == (0, "Grace Miller: 3.50 by cash; 1.50 is left\n"), (
        result.stderr
    )
    shown = escrow(server, "show", house.employee_id).stdout.splitlines()
    assert shown[1] == "Balance 1.50, of it 0.00 held by bank"
    assert shown[2].split()[1:] == ["payout", "cash", "-3.50", "1.50", "holidays"]
    assert shown[3].split()[1:] == ["deposit", "check", "5.00", "5.00"]
    actor = owner_connection.execute(
        "SELECT actor_kind, sandbox, details ->> 'amount' FROM audit_log WHERE action = 'escrow.payout'"
    ).fetchall()
    assert actor == [("operator", False, "3.50")]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("rule", "{id}"), "exactly one of --rate, --amount and --none"),
        (("rule", "{id}", "--rate", "0.05", "--none"), "exactly one of --rate, --amount and --none"),
        (("rule", "{id}", "--rate", "5"), "at most 1"),
        (("rule", "{id}", "--rate", "much"), "rate"),
        (("rule", "{id}", "--rate", "nan"), "rate: 'nan' is not a number"),
        (("rule", "{id}", "--amount", "0"), "above 0"),
        (("rule", "{id}", "--amount", "0.001"), "whole cents"),
        (("rule", "{id}", "--amount", "10000"), "at most 9,999"),
        (("rule", "nobody", "--none"), "the id of an employee is needed"),
        (("rule", str(uuid4()), "--none"), "there is no employee"),
        (("show", str(uuid4())), "there is no employee"),
        (("payout", "{id}", "5.01", "--method", "check"), "Only 5.00 can be paid by check"),
        (("payout", "{id}", "1", "--method", "direct_deposit"), "Only 0.00 has been collected"),
        (("payout", "{id}", "1", "--method", "wire"), "--method must be one of"),
        (("payout", "{id}", "one", "--method", "cash"), "amount"),
        (("payout", "{id}", "nan", "--method", "cash"), "amount"),
        (("payout", "{id}", "0", "--method", "cash"), "above 0"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    server: EmbeddedServer, house: Household, owner_connection: psycopg.Connection, arguments, why
):
    result = escrow(server, *(part.format(id=house.employee_id) for part in arguments))
    assert result.exit_code == 2, result.stdout
    assert why in result.stderr
    assert isinstance(result.exception, SystemExit)
    assert owner_connection.execute(
        "SELECT rule_rate, rule_amount, balance FROM escrow_accounts"
    ).fetchall() == [(None, None, 500)]
