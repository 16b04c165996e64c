"""The SQL function that clears sandbox households, called directly by the service's role as an attacker would."""

from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from tests.database.conftest import made_in_turn, made_once
from tests.database.household import Household, add_household, add_organization
from tests.database.sealing import enter as name_tenant
from tests.worlds.made_in_turn import MadeInTurn
from tests.worlds.snapshots import snapshots
from tests.worlds.tables import TABLES as TENANTS

__all__ = ["made_in_turn", "made_once", "snapshots"]

#: What belongs to the organization, or tells what happened.
_KEPT = ("organizations", "api_keys", "audit_log", "idempotency_keys", "memberships", "member_invitations")

TABLES = tuple(table for table in TENANTS if table not in _KEPT)


@pytest.fixture
def organization_id(
    service: psycopg.Connection, owner_connection: psycopg.Connection, made_in_turn: MadeInTurn
) -> UUID:
    return made_in_turn.get_blocking("Smith", lambda: add_organization(owner_connection, "Smith"))


@pytest.fixture
def sandbox(
    organization_id: UUID, owner_connection: psycopg.Connection, made_in_turn: MadeInTurn
) -> Household:
    return made_in_turn.get_blocking(
        "sandbox", lambda: add_household(owner_connection, organization_id, sandbox=True)
    )


def enter(
    service: psycopg.Connection, organization_id: object, sandbox: str, employer_id: object = ""
) -> None:
    if not organization_id:
        service.execute("SELECT set_config('hearthpay.tenant', '', false)")
        return
    chosen = str(employer_id) or None
    name_tenant(service, str(organization_id), sandbox=sandbox == "true", employer_id=chosen)


def clear(
    service: psycopg.Connection, employer_id: object, *, keep: bool | None = False
) -> list[tuple[int, int]]:
    return service.execute("SELECT * FROM clear_sandbox_household(%s, %s)", (employer_id, keep)).fetchall()


def everything(owner: psycopg.Connection) -> list[object]:
    """All rows of all tables that the function can touch."""
    return [
        owner.execute(f"SELECT t::text FROM {table} t ORDER BY 1").fetchall()
        for table in (*TABLES, "api_keys", "audit_log", "idempotency_keys", "organizations")
    ]


def test_a_sandbox_household_of_the_tenant_is_cleared(
    service: psycopg.Connection, owner_connection: psycopg.Connection, sandbox: Household
) -> None:
    enter(service, sandbox.organization_id, "true", sandbox.employer_id)
    assert clear(service, sandbox.employer_id, keep=True) == [(1, 1)]
    assert clear(service, sandbox.employer_id) == [(0, 0)]
    assert clear(service, sandbox.employer_id) == []
    for table in TABLES:
        left = owner_connection.execute(f"SELECT FROM {table}").rowcount
        assert left == 0, f"rows of {table} outlive their household: let them refer to it ON DELETE CASCADE"
    assert owner_connection.execute("SELECT employer_id, revoked_at FROM api_keys").fetchall() == [
        (None, None)
    ]
    assert owner_connection.execute("SELECT FROM audit_log").rowcount == 1


@pytest.mark.parametrize("keep", [False, True])
def test_a_real_household_is_left_alone_whatever_the_settings_say(
    service: psycopg.Connection, owner_connection: psycopg.Connection, organization_id: UUID, keep: bool
) -> None:
    real = add_household(owner_connection, organization_id)
    before = everything(owner_connection)
    for mode in ("true", "false", ""):
        for chosen in ("", real.employer_id):
            enter(service, organization_id, mode, chosen)
            assert clear(service, real.employer_id, keep=keep) == []
    assert everything(owner_connection) == before


@pytest.mark.parametrize("keep", [False, True])
def test_only_the_tenants_own_and_chosen_household_can_be_cleared(
    service: psycopg.Connection, owner_connection: psycopg.Connection, sandbox: Household, keep: bool
) -> None:
    other = add_household(owner_connection, add_organization(owner_connection, "Jones"), sandbox=True)
    sibling = add_household(owner_connection, sandbox.organization_id, sandbox=True)
    before = everything(owner_connection)
    for organization_id, mode, chosen in (
        (other.organization_id, "true", ""),
        (uuid4(), "true", ""),
        ("", "true", ""),
        (sandbox.organization_id, "false", ""),
        (sandbox.organization_id, "", ""),
        ("", "", ""),
        (sandbox.organization_id, "true", sibling.employer_id),
    ):
        enter(service, organization_id, mode, chosen)
        assert clear(service, sandbox.employer_id, keep=keep) == []
    service.execute("RESET ALL")
    assert clear(service, sandbox.employer_id, keep=keep) == []
    enter(service, sandbox.organization_id, "true")
    assert clear(service, None, keep=keep) == []
    assert clear(service, sandbox.employer_id, keep=None) == []
    assert everything(owner_connection) == before


def test_no_trick_of_names_gets_between(
    service: psycopg.Connection,
    owner_connection: psycopg.Connection,
    organization_id: UUID,
    temporary_tables: None,
) -> None:
    """A table of the attacker's own, found before the real one, would say that the household is a sandbox one."""
    real = add_household(owner_connection, organization_id)
    before = everything(owner_connection)
    service.execute("CREATE TEMP TABLE employers (id uuid, organization_id uuid, sandbox boolean)")
    service.execute("INSERT INTO employers VALUES (%s, %s, true)", (real.employer_id, organization_id))
    service.execute("SET search_path = pg_temp, public")
    enter(service, organization_id, "true")
    assert (
        service.execute(
            "SELECT * FROM public.clear_sandbox_household(%s, false)", (real.employer_id,)
        ).fetchall()
        == []
    )
    assert everything(owner_connection) == before


@pytest.mark.parametrize("table", [*TABLES, "api_keys", "audit_log"])
def test_the_service_itself_still_deletes_nothing(
    table: str, service: psycopg.Connection, sandbox: Household
) -> None:
    enter(service, sandbox.organization_id, "true")
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute(f"DELETE FROM {table}")


def test_nobody_else_may_call_it(owner_connection: psycopg.Connection, service: psycopg.Connection) -> None:
    grants = owner_connection.execute(
        "SELECT a.grantee::regrole::text, f.prosecdef, f.proconfig FROM pg_proc f, aclexplode(f.proacl) a "
        "WHERE f.proname = 'clear_sandbox_household' AND a.grantee <> f.proowner"
    ).fetchall()
    assert grants == [("hearthpay_service", True, ["search_path=pg_catalog, pg_temp"])]
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute("ALTER FUNCTION clear_sandbox_household(uuid, boolean) SECURITY INVOKER")
