"""Every statement finds a household's rows by an index, as the role that runs it sees the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import psycopg
import pytest

from hearthpay.database.embedded import ROLES
from hearthpay.database.session import Database
from tests.database.household import add_household, add_organization
from tests.database.sealing import seal_of
from tests.database.test_statements import COMMANDS_OF_THE_OWNER, PLANNED, statements_of_modules
from tests.scale.crowd import add_copies
from tests.scale.plans import TENANT_TABLES, ReadWhole, read_whole, without_partial_indexes
from tests.worlds.tables import EMPTIED

MANY = 1_000

SMALL = frozenset({"household_clocks"})
"""Tables with few rows: only test households have a clock of their own."""

OF_OPEN_MATTERS = frozenset(
    {
        "account_changes_due_idx",
        "autopilot_enrollments_left_idx",
        "bank_accounts_verifying_idx",
        "bank_entries_held_idx",
        "bank_entries_one_reversal_key",
        "bank_entries_return_untold_idx",
        "bank_entries_to_send_idx",
        "document_packages_turn_idx",
        "document_packages_unfinished",
        "mail_outbox_due_idx",
        "payrolls_untold_idx",
        "security_alerts_waiting_idx",
    }
)
"""Partial indexes that may be read whole: they hold what is under way or went wrong, and lose it when that ends."""

EXCEPTIONS = {
    (
        "banking.holds",
        "bank_accounts",
    ): "joined to entries that are due; the copies have as many accounts as entries",
    (
        "banking.matching",
        "bank_entries",
    ): "only for a returned record that names no payment of ours: payments under way with its amount",
    (
        "banking.reversals",
        "bank_entries",
    ): "found by payroll; the copies have no credits, so the index of credits is free",
    ("payroll.payday.remedies", "bank_entries"): "found by paycheck; the copies have no credits either",
    (
        "http.idempotency_expiry",
        "idempotency_keys",
    ): "joined to a limited selection, whose limit the plan doesn't know",
    ("oauth.expiry", "agent_grants"): "asked for a limited selection, whose limit the plan doesn't know",
    (
        "payroll.ledger.overlaps",
        "payroll_entries",
    ): "found by employee; the policy seems dearer than the copies' rows",
    (
        "payroll.set_asides.escrow",
        "employees",
    ): "a page of the service, where it is found by id; never a worker's",
    (
        "duties.dues_records",
        "outdated_dues",
    ): "the first notes in the order of their index, whose limit the plan doesn't know",
    ("payroll.years.impact", "payrolls"): "a command of the operator",
    (
        "payroll.years.rule_changes",
        "year_balances",
    ): "run only after two lookups found years of an older version",
}
"""What is read whole all the same, by module and table, and why that costs nothing as households become many."""

Planned = tuple[str, str, str]
"""A module, its statement, and the role that runs it."""


def _statements() -> Iterator[Planned]:
    for module, statements in statements_of_modules().items():
        if not module.startswith(COMMANDS_OF_THE_OWNER):
            for statement in statements:
                if statement.lstrip().upper().startswith(PLANNED):
                    for role in (ROLES.service, ROLES.worker):
                        yield module.removeprefix("hearthpay."), statement, role


def _plans(
    connection: psycopg.Connection, claim: str, tables: frozenset[str], planned: Iterable[Planned]
) -> dict[Planned, frozenset[ReadWhole] | None]:
    """Return what each statement reads whole, run by its role; None where the role may not run it."""
    tenants = {ROLES.service: claim, ROLES.worker: ""}
    return {
        (module, statement, role): read_whole(connection, role, tenants[role], statement, tables)
        for module, statement, role in planned
    }


def _reads(table: str, whole: frozenset[ReadWhole] | None) -> bool:
    """Return whether the table is read whole, by an index of more than open matters."""
    return any(each.table == table and each.index not in OF_OPEN_MATTERS for each in whole or ())


@pytest.fixture
def new_tables(database: Database, owner_connection: psycopg.Connection) -> None:
    """Leave no page that an earlier test filled: the planner would choose between empty tables' indexes by those."""
    owner_connection.execute(f"TRUNCATE {', '.join(EMPTIED)}")


@pytest.mark.usefixtures("new_tables")
def test_no_statement_reads_a_households_table_whole(owner_connection: psycopg.Connection) -> None:
    organization = add_organization(owner_connection, "Agency")
    household = add_household(owner_connection, organization)
    add_copies(owner_connection, household.employer_id, 1, MANY)
    claim = seal_of(owner_connection).claim(organization, sandbox=False, employer_id=None)
    tables = frozenset(name for (name,) in owner_connection.execute(TENANT_TABLES).fetchall()) - SMALL
    plans = _plans(owner_connection, claim, tables, _statements())
    assert sum(whole is not None for whole in plans.values()) > 500
    found = {key: whole for key, whole in plans.items() if whole}
    still = []
    for unique in (True, False):
        with without_partial_indexes(owner_connection, unique=unique):
            still.append(_plans(owner_connection, claim, tables, found))
    wrong = []
    for (module, statement, role), whole in found.items():
        key = (module, statement, role)
        always = {each.table for each in whole if all(_reads(each.table, again.get(key)) for again in still)}
        wrong += [
            (module, role, each, " ".join(statement.split())[:300])
            for each in whole
            if each.table in always
            and each.index not in OF_OPEN_MATTERS
            and (module, each.table) not in EXCEPTIONS
        ]
    assert wrong == [], "add an index, or a form of the condition that is leakproof; or say why it may be so"


@pytest.mark.usefixtures("new_tables")
def test_a_table_that_is_read_whole_is_found(owner_connection: psycopg.Connection) -> None:
    organization = add_organization(owner_connection, "Agency")
    household = add_household(owner_connection, organization)
    add_copies(owner_connection, household.employer_id, 1, 50)
    for statement, expected in (
        ("SELECT id FROM payrolls WHERE id = $1", frozenset[ReadWhole]()),
        ("SELECT id FROM payrolls WHERE notes = $1", frozenset({"payrolls"})),
        ("SELECT id FROM payrolls WHERE lower(notes) = $1 AND net_pay > 0", frozenset({"payrolls"})),
    ):
        found = read_whole(owner_connection, ROLES.worker, "", statement, frozenset({"payrolls"}))
        assert found is not None
        assert {each.table for each in found} == expected
