"""Each table is written by the package that owns it, and read by others through `database/relations.py`."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from hearthpay.database.base import Base
from tests.source_trees import SOURCE, modules_with
from tests.worlds.tables import INSTALLATION_TABLES, OWN_TABLES, TABLES

OWNERS = {
    "alerts": ("security_alerts",),
    "access": ("failed_attempts",),
    "accounts": ("api_keys", "organizations"),
    "autopilot": (
        "autopilot_enrollments",
        "autopilot_errands",
        "autopilot_events",
        "autopilot_periods",
        "autopilot_versions",
    ),
    "banking": (
        "account_changes",
        "ach_authorizations",
        "autopilot_authorizations",
        "bank_accounts",
        "bank_entries",
        "bank_files",
        "bank_intake",
        "bank_trace_numbers",
    ),
    "database": (
        "alembic_version",
        "audit_ends",
        "audit_log",
        "audit_seals",
        "audit_unsealed",
        "installation",
        "record_versions",
        "restorations",
        "row_register",
        "vault",
        "vault_keys",
    ),
    "duties": (
        "calendar_links",
        "closed_accounts",
        "duty_marks",
        "filing_choices",
        "household_dues",
        "outdated_dues",
    ),
    "doctor": ("examinations",),
    "filing": ("filings", "tax_payments"),
    "insurance": ("insurance_policies",),
    "documents": ("documents", "document_packages", "paper_signatures"),
    "employees": ("employee_links", "employees", "invitations", "pay_changes", "signed_certificates"),
    "employers": ("assigned_rates", "employers", "household_words", "metadata_entries"),
    "http": ("idempotency_keys",),
    "mail": ("mail_outbox", "mail_register"),
    "oauth": ("agent_clients", "agent_grants", "agent_requests", "agent_tokens"),
    "payroll": (
        "awaited_rules",
        "escrow_accounts",
        "escrow_movements",
        "line_sets",
        "month_balances",
        "paycheck_remedies",
        "paychecks",
        "payroll_drafts",
        "payroll_entries",
        "payroll_estimates",
        "payroll_transitions",
        "payrolls",
        "prior_wages",
        "set_aside_requests",
        "unpacked_lines",
        "wage_settlements",
        "worker_counts",
        "worker_problems",
        "year_balances",
    ),
    "people": (
        "credentials",
        "former_addresses",
        "former_person_addresses",
        "member_invitations",
        "memberships",
        "one_time_tokens",
        "people",
        "person_events",
        "person_sessions",
    ),
    "registrations": ("state_registrations",),
    "sandbox": ("household_clocks",),
}
"""Which package writes a table, and reads it as it likes."""

READERS = {
    "alerts/": "asks of the audit log what was done, and who could object",
    "database/relations.py": "offers the columns that others may join",
    "doctor/": "proves the books: whatever is written, by whomever",
    "backup/": "copies the database, and asks it which keys a backup needs",
    "database/restorations.py": "counts what a restored copy holds back, and skips trace numbers that it may have lost",
    "database/sealing_keys.py": "asks of every table with something encrypted whether a key is in use",
    "database/vault_rotation.py": "encrypts anew what is encrypted, whosever it is",
    "banking/authorizations.py": "wakes the scheduled payrolls that waited for the authorization that it records",
}
"""Modules that name tables of others in their SQL, and why they may."""

VIEWS = {"paycheck_lines": "payroll"}
"""Which package's tables a view shows."""

_NAMES = "|".join(sorted((*sum(OWNERS.values(), ()), *VIEWS)))
_TABLE = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:ONLY\s+)?(?:public\.)?({_NAMES})\b")


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path, tree in modules_with("FROM|JOIN|INTO|UPDATE|TABLE"):
        yield path.relative_to(SOURCE).as_posix(), tree


def _tables_in(tree: ast.Module) -> set[str]:
    """The tables that a module's SQL names; of a text in pieces, each piece."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return {
        table
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        for table in _TABLE.findall(node.value)
    }


@pytest.mark.completeness
def test_every_table_has_one_owner() -> None:
    owned = [table for tables in OWNERS.values() for table in tables]
    tables = {*TABLES, *INSTALLATION_TABLES, *OWN_TABLES}
    assert not tables - set(owned), "add the new table to OWNERS, with the package that writes it"
    assert sorted(owned) == sorted(tables)


def test_the_models_stand_with_the_owners() -> None:
    for path in SOURCE.glob("*/models.py"):
        import_module(f"hearthpay.{path.parent.name}.models")
    models = {
        mapper.local_table.name: mapper.class_.__module__.split(".")[1] for mapper in Base.registry.mappers
    }
    assert len(models) >= 12
    owners = {table: package for package, tables in OWNERS.items() for table in tables}
    assert models == {table: owners[table] for table in models}


def test_sql_names_only_the_tables_of_its_package() -> None:
    strangers: dict[str, set[str]] = {}
    needed: set[str] = set()
    for module, tree in _modules():
        package = module.split("/")[0]
        own = {*OWNERS.get(package, ()), *(view for view, owner in VIEWS.items() if owner == package)}
        foreign = _tables_in(tree) - own
        reader = next((each for each in READERS if module.startswith(each)), None)
        if foreign and reader is None:
            strangers[module] = foreign
        elif foreign and reader is not None:
            needed.add(reader)
    assert strangers == {}
    assert set(READERS) - needed == set(), "these need their leave no longer"


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ('"SELECT 1 FROM payrolls p"', "payrolls"),
        ('f"SELECT 1 FROM x JOIN payrolls {alias}"', "payrolls"),
        ('"UPDATE employees SET x = 1"', "employees"),
        ('"INSERT INTO audit_log (id)"', "audit_log"),
    ],
)
def test_a_table_is_found_in_any_sql(sql: str, table: str) -> None:
    assert _tables_in(ast.parse(f"query = {sql}")) == {table}
