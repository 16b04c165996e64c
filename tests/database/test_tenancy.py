"""The guards that migrations give to new tables: those of the tables that stand, and frozen with them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from hearthpay.database.embedded import ROLES
from hearthpay.database.migrations.rendering import rendering_cursor
from hearthpay.database.migrations.tenancy import guard_of_household, guard_of_organization, guard_of_worker

_POLICIES = """
    SELECT policyname, permissive, roles, cmd, qual, with_check FROM pg_policies
     WHERE tablename = %s AND policyname <> 'own_record' ORDER BY 1
"""
"""Without that which confines an employee to her own rows: not every table has an employee."""
_CLOSED = "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = %s"


@pytest.mark.parametrize(
    ("guard", "columns", "neighbour"),
    [
        (guard_of_household, "organization_id uuid, sandbox boolean, employer_id uuid", "duty_marks"),
        (guard_of_worker, "id uuid", "worker_problems"),
    ],
)
def test_a_new_table_is_guarded_as_its_neighbours_are(
    owner: psycopg.Connection, guard: Callable[[str], str], columns: str, neighbour: str
) -> None:
    def seen(table: str) -> list[tuple[Any, ...]]:
        policies = owner.execute(_POLICIES, (table,)).fetchall()
        # What the worker does by the time of a household has one policy more.
        policies = [row for row in policies if row[0] != "of_its_clock"]
        return policies + owner.execute(_CLOSED, (table,)).fetchall()

    with make(owner, guard, columns):
        assert seen("new_table") == seen(neighbour)
        assert len(seen("new_table")) > 2


def test_a_table_of_an_organization_shows_one_mode_of_it(
    owner: psycopg.Connection,
) -> None:
    with make(owner, guard_of_organization, "organization_id uuid, sandbox boolean"):
        [tenant] = [row for row in owner.execute(_POLICIES, ("new_table",)).fetchall() if row[0] == "tenant"]
        _, permissive, roles, command, visible, check = tenant
        assert (permissive, len(roles), command) == ("PERMISSIVE", 1, "ALL")
        assert visible == check
        assert "current_tenant()" in visible
        assert "coalesce" not in visible


@pytest.mark.parametrize(
    ("guard", "digest"),
    [
        (guard_of_household, "06dfebbf9bc7dac6c6b88fb333be9c90410c2c0b48585d18760a641f4d85abdb"),
        (guard_of_organization, "1f8264e55b5b0382b4dfab95113520ecb0512da8eeb485d66878687c61bec71c"),
        (guard_of_worker, "b89ddf9151acb7256d07914983c8e6b4c59aee21bb67d8bb194bcd82fb916f34"),
    ],
)
def test_what_landed_migrations_say_stays(guard: Callable[[str], str], digest: str) -> None:
    assert hashlib.sha256(guard("t").encode()).hexdigest() == digest


def test_every_restriction_excepts_the_owner(owner: psycopg.Connection) -> None:
    """Who may become a role inherits it on older servers, and its restrictions with it: they ask who acts."""
    restrictions = owner.execute(
        "SELECT tablename, policyname, expression FROM pg_policies, unnest(ARRAY[qual, with_check]) expression "
        "WHERE schemaname = 'public' AND permissive = 'RESTRICTIVE' AND expression IS NOT NULL"
    ).fetchall()
    assert {policy for _, policy, _ in restrictions} >= {
        "held_after_restore",
        "made_in_its_mode",
        "no_operator",
        "of_its_clock",
        "own_record",
    }
    excepting = (
        "OR (CURRENT_USER = ( SELECT pg_get_userbyid(o.relowner) AS pg_get_userbyid "
        "FROM pg_class o WHERE (o.oid = ('installation'::regclass)::oid))))"
    )
    for table, policy, expression in restrictions:
        assert " ".join(expression.split()).endswith(excepting), (table, policy, expression)


def test_no_policy_names_a_role_in_its_condition(owner: psycopg.Connection) -> None:
    """A copy of the database has roles of its own name: such a condition would ask for a stranger there."""
    named = owner.execute(
        "SELECT tablename, policyname FROM pg_policies WHERE concat(qual, with_check) ~ ANY(%s)",
        ([ROLES.service, ROLES.worker],),
    ).fetchall()
    assert named == []


@contextmanager
def make(owner: psycopg.Connection, guard: Callable[[str], str], columns: str) -> Iterator[None]:
    """A table of these columns under the guard, as a migration would leave it; gone afterwards."""
    cursor_factory = rendering_cursor(ROLES, owner.info.server_version)
    with owner.transaction(force_rollback=True), cursor_factory(owner) as cursor:
        cursor.execute(f"CREATE TABLE new_table ({columns})")
        cursor.execute(guard("new_table"))
        yield
