"""What the keys page and the recurring payrolls need of the database's roles: it suffices, and there is no more."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import event
from sqlalchemy.engine import Engine
from uuid_utils.compat import uuid7

from hearthpay.database.embedded import ROLES, EmbeddedServer
from hearthpay.database.session import Database
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.payroll.answers import estimate_json
from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.histories import read_histories
from hearthpay.payroll.ledger.payrolls import NewPayroll, insert_payrolls, read_payroll
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.payroll.lifecycle import ForbiddenTransitionError
from hearthpay.payroll.orders import PayrollEntry, SettledOrder, read_payees
from hearthpay.payroll.orders.pay_dates import PayDates
from tests.conftest import plain_url
from tests.database.household import Household, add_household, add_organization
from tests.database.sealing import enter
from tests.worlds.made_in_turn import MadeInTurn

NOW: Final = datetime(2026, 11, 20, 15, tzinfo=UTC)
LATER: Final = NOW + timedelta(days=1)
ZERO: Final = Decimal(0)

_MADE_BY_A_PAGE = (
    "id",
    "organization_id",
    "employer_id",
    "mode",
    "scopes",
    "last_four",
    "created_at",
    "expires_at",
    "confined",
)
KEYS: Final[dict[str, set[str]]] = {
    "SELECT": {*_MADE_BY_A_PAGE, "made_by", "revoked_at", "last_used_at"},
    "INSERT": {*_MADE_BY_A_PAGE, "made_by", "key_hash"},
    "UPDATE": set(),
    "DELETE": set(),
}
"""The service's rights to API keys, column by column."""

CLOCKWORK: Final = {
    "payrolls": {"SELECT", "INSERT"},
    "payroll_entries": {"SELECT", "INSERT"},
    "payroll_estimates": {"SELECT", "INSERT"},
    "payroll_transitions": {"SELECT", "INSERT"},
    "audit_log": {"SELECT", "INSERT"},
    "employees": {"SELECT"},
    "employers": {"SELECT"},
    "api_keys": set[str](),
}
"""The worker's rights to whole tables; the columns that it may change stand below."""
EXPIRES: Final = {
    "api_keys": {"id", "employer_id", "last_four", "created_at", "revoked_at", "expires_at", "last_used_at"},
    "agent_grants": {
        *(
            "id",
            "employer_id",
            "person_id",
            "client_id",
            "client_name",
            "created_at",
            "expires_at",
            "ended_at",
        ),
    },
}
"""What the worker reads of keys and connected apps: what its reminders say, and no more."""
CHANGED_BY_THE_CLOCKWORK: Final = {
    "payrolls": {
        *("status", "gross_pay", "total_deductions", "net_pay", "employer_taxes", "total_cost", "tax_year"),
        *("rulebook_version", "failure", "attempts", "next_attempt_at", "failure_told", "pay_date"),
        "pay_date_asked",
    },
    "payroll_entries": {"live"},
    "payroll_estimates": set[str](),
    "payroll_transitions": set[str](),
    "audit_log": set[str](),
    "employees": {"updated_at"},
    "employers": {"duties_look_on", "duties_seen_on"},
}


@pytest.fixture
def service(server: EmbeddedServer, empty_tables: None) -> Iterator[psycopg.Connection]:
    with psycopg.connect(plain_url(server.service_url()), autocommit=True) as connection:
        yield connection


@pytest.fixture
def households(owner: psycopg.Connection, made_in_turn: MadeInTurn) -> dict[str, Household]:
    """The Smiths' real and sandbox household, and the Joneses'."""

    def make() -> dict[str, Household]:
        smith, jones = (add_organization(owner, name) for name in ("Smith", "Jones"))
        return {
            "real": add_household(owner, smith),
            "sandbox": add_household(owner, smith, sandbox=True),
            "other": add_household(owner, jones),
        }

    return {**made_in_turn.get_blocking("real, sandbox and other", make)}


def _columns(owner: psycopg.Connection, role: str, table: str, privilege: str) -> set[str]:
    rows = owner.execute(
        "SELECT column_name FROM information_schema.column_privileges "
        "WHERE grantee = %s AND table_name = %s AND privilege_type = %s",
        (role, table, privilege),
    )
    return {name for (name,) in rows}


def test_of_keys_the_service_may_do_no_more_than_a_page_needs(owner_connection: psycopg.Connection) -> None:
    for privilege, columns in KEYS.items():
        assert _columns(owner_connection, ROLES.service, "api_keys", privilege) == columns, privilege
    whole = owner_connection.execute(
        "SELECT privilege_type FROM information_schema.table_privileges WHERE grantee = %s AND table_name = 'api_keys'",
        (ROLES.service,),
    )
    assert whole.fetchall() == []


def test_the_worker_may_make_payrolls_and_change_none_of_what_was_asked(
    owner_connection: psycopg.Connection,
) -> None:
    for table, privileges in CLOCKWORK.items():
        rows = owner_connection.execute(
            "SELECT privilege_type FROM information_schema.table_privileges WHERE grantee = %s AND table_name = %s",
            (ROLES.worker, table),
        )
        assert {name for (name,) in rows} == privileges, table
    for table, columns in CHANGED_BY_THE_CLOCKWORK.items():
        assert _columns(owner_connection, ROLES.worker, table, "UPDATE") == columns, table


def test_the_worker_reads_when_a_households_keys_expire_and_neither_hashes_nor_rights(
    owner_connection: psycopg.Connection, server: EmbeddedServer, households: dict[str, Household]
) -> None:
    for table, columns in EXPIRES.items():
        assert _columns(owner_connection, ROLES.worker, table, "SELECT") == columns, table
        for privilege in ("INSERT", "UPDATE", "DELETE"):
            assert _columns(owner_connection, ROLES.worker, table, privilege) == set(), table
    smiths = households["real"]
    seen = uuid7()
    for key_id, values in (
        (seen, {}),
        (uuid7(), {"expires_at": None}),
        (uuid7(), {"revoked_at": NOW}),
        (uuid7(), {"employer_id": None}),
    ):
        row = {"expires_at": LATER, "employer_id": smiths.employer_id, "id": key_id} | values
        _make_key(owner_connection, smiths.organization_id, **row)
    with psycopg.connect(plain_url(server.worker_url()), autocommit=True) as worker:
        found = worker.execute("SELECT id FROM api_keys WHERE last_four = 'abcd'").fetchall()
        assert found == [(seen,)]
        for column in ("key_hash", "scopes", "organization_id"):
            with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
                worker.execute(f"SELECT {column} FROM api_keys")


def _make_key(service: psycopg.Connection, organization: UUID, **values: Any) -> bytes:
    """Insert a key as a page would; returns its hash."""
    key_hash = uuid4().bytes + uuid4().bytes
    row = {
        "id": uuid7(),
        "organization_id": organization,
        "mode": "live",
        "scopes": ["payroll"],
        "key_hash": key_hash,
        "last_four": "abcd",
        "created_at": NOW,
        "confined": False,
    } | values
    service.execute(
        f"INSERT INTO api_keys ({', '.join(row)}) VALUES ({', '.join(f'%({name})s' for name in row)})", row
    )
    return key_hash


def _found(service: psycopg.Connection, key_hash: bytes) -> bool:
    return service.execute("SELECT FROM authenticate_api_key(%s)", (key_hash,)).rowcount == 1


def _revoke(service: psycopg.Connection, key_id: UUID, at: datetime = NOW) -> datetime | None:
    row = service.execute("SELECT revoke_api_key(%s, %s)", (key_id, at)).fetchone()
    return None if row is None else row[0]


def test_the_service_makes_lists_and_revokes_its_organizations_keys(
    service: psycopg.Connection, households: dict[str, Household]
) -> None:
    smiths = households["real"]
    for mode, sandbox in (("live", False), ("test", True)):
        enter(service, smiths.organization_id, sandbox=sandbox)
        key_id = uuid7()
        key_hash = _make_key(service, smiths.organization_id, id=key_id, mode=mode, expires_at=LATER)
        assert _found(service, key_hash)
        listed = "SELECT id, mode, last_four, revoked_at FROM api_keys WHERE id = %s"
        assert service.execute(listed, (key_id,)).fetchall() == [(key_id, mode, "abcd", None)]
        assert _revoke(service, key_id) == NOW
        assert not _found(service, key_hash)
        assert _revoke(service, key_id, LATER) == NOW, "it is out of force since the first time"


@pytest.mark.parametrize(
    "column",
    ["revoked_at", "last_used_at", "forgot_sandbox"],
)
def test_of_a_key_nothing_else_can_be_said(
    column: str, service: psycopg.Connection, households: dict[str, Household]
) -> None:
    smiths = households["real"]
    enter(service, smiths.organization_id)
    with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
        _make_key(service, smiths.organization_id, **{column: None})


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT key_hash FROM api_keys",
        "SELECT * FROM api_keys",
        "SELECT id FROM api_keys WHERE key_hash = ''",
        "UPDATE api_keys SET revoked_at = NULL",
        "UPDATE api_keys SET confined = false",
        "UPDATE api_keys SET scopes = '{payroll}'",
        "SELECT id FROM api_keys FOR UPDATE",
        "DELETE FROM api_keys",
    ],
)
def test_no_hash_is_read_and_no_key_is_changed(
    statement: LiteralString, service: psycopg.Connection, households: dict[str, Household]
) -> None:
    enter(service, households["real"].organization_id)
    with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
        service.execute(statement)


def test_a_key_is_made_for_ones_own_organization_and_mode_alone(
    service: psycopg.Connection, households: dict[str, Household], owner_connection: psycopg.Connection
) -> None:
    smiths, sandbox, joneses = (households[name] for name in ("real", "sandbox", "other"))
    before = owner_connection.execute("SELECT count(*) FROM api_keys").fetchone()

    def refused(organization: UUID, **values: Any) -> None:
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            _make_key(service, organization, **values)

    enter(service, smiths.organization_id)
    refused(joneses.organization_id)
    refused(smiths.organization_id, mode="test")
    with pytest.raises(errors.ForeignKeyViolation):
        _make_key(service, smiths.organization_id, employer_id=joneses.employer_id)
    enter(service, smiths.organization_id, sandbox=True)
    refused(smiths.organization_id, mode="live")
    refused(joneses.organization_id, mode="test")
    # A key that forgot to be confined would reach more than the transaction that made it.
    enter(service, smiths.organization_id, employer_id=smiths.employer_id)
    refused(smiths.organization_id, employer_id=smiths.employer_id, confined=True)
    refused(smiths.organization_id, employer_id=smiths.employer_id)
    service.execute("SELECT set_config('hearthpay.tenant', '', false)")
    refused(smiths.organization_id)
    assert owner_connection.execute("SELECT count(*) FROM api_keys").fetchone() == before
    assert sandbox.organization_id == smiths.organization_id


def test_a_key_out_of_reach_is_not_revoked(
    service: psycopg.Connection, households: dict[str, Household], owner_connection: psycopg.Connection
) -> None:
    smiths, sandbox, joneses = (households[name] for name in ("real", "sandbox", "other"))
    ids: dict[bytes, UUID] = {
        bytes(key_hash): key_id
        for key_id, key_hash in owner_connection.execute("SELECT id, key_hash FROM api_keys").fetchall()
    }
    enter(service, smiths.organization_id)
    for out_of_reach in (sandbox, joneses):
        assert _revoke(service, ids[out_of_reach.key_hash]) is None
    enter(service, smiths.organization_id, sandbox=True)
    assert _revoke(service, ids[smiths.key_hash]) is None
    enter(service, smiths.organization_id, employer_id=smiths.employer_id)
    assert _revoke(service, ids[smiths.key_hash]) is None
    service.execute("SELECT set_config('hearthpay.tenant', '', false)")
    assert _revoke(service, ids[smiths.key_hash]) is None
    assert owner_connection.execute(
        "SELECT count(*) FROM api_keys WHERE revoked_at IS NOT NULL"
    ).fetchone() == (0,)


async def test_the_worker_makes_scheduled_payrolls_of_many_households_at_once(
    worker_database: Database, households: dict[str, Household], owner_connection: psycopg.Connection
) -> None:
    """All that a recurring payroll leaves when it is scheduled, by the functions that a run takes."""
    del households["sandbox"]  # it has a clock of its own, at which alone the worker sees it
    send_at = NOW + timedelta(days=7)
    dates = PayDates(date(2026, 12, 7), date(2026, 12, 13), date(2026, 12, 18), False, send_at)
    async with worker_database.transaction(None) as session:
        people = await read_payees(session, [each.employee_id for each in households.values()])
        histories = await read_histories(session, people.values(), 2026)
        new = []
        for each in households.values():
            entry = PayrollEntry(each.employee_id, "direct_deposit", Decimal(20), ZERO, ZERO, ZERO)
            notes = f'{each.employer_id}: 20 hours, "as always", {{all}} of them\\\n'
            order = SettledOrder(each.employer_id, dates, "weekly", notes, (entry,))
            record = calculate_payroll(order, people, histories, {})
            owner = Owner(each.organization_id, each.employer_id, each.sandbox)
            by_worker = ("system", None)
            new.append(NewPayroll(owner, order, record, "scheduled", by_worker, NOW, estimate_json(record)))
        sent: list[str] = []

        def note(*arguments: Any) -> None:
            sent.append(arguments[2])

        event.listen(Engine, "before_cursor_execute", note)
        try:
            ids = await insert_payrolls(session, new, NOW)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        assert len(sent) == 1, "one statement, however many payrolls"
        deeds = [
            WorkerAuditEntry(*each.owner, key, {"pay_date": "2026-12-18"})
            for key, each in zip(ids, new, strict=True)
        ]
        await record_worker_audit(session, "payroll.run", deeds)
        with pytest.raises(ForbiddenTransitionError):
            await insert_payrolls(session, [new[0], new[1]._replace(status="draft")], NOW)
        assert await insert_payrolls(session, [], NOW) == []
        stored = [await read_payroll(session, each) for each in ids]

    assert [each and each.employer_id for each in stored] == [
        each.employer_id for each in households.values()
    ]
    for written, made in zip(stored, new, strict=True):
        assert written is not None
        assert (written.status, written.notes, written.dates) == ("scheduled", made.order.notes, dates)
        assert written.totals == made.record.totals
        assert written.estimate is not None
        assert [step.actor for step in written.history] == ["system"]
    entries = owner_connection.execute(
        "SELECT payroll_id, employee_id, regular_hours, payment_method, live, period::text FROM payroll_entries "
        "WHERE payroll_id = ANY(%s)",
        (ids,),
    ).fetchall()
    assert set(entries) == {
        (key, each.employee_id, Decimal(20), "direct_deposit", True, "[2026-12-07,2026-12-14)")
        for key, each in zip(ids, households.values(), strict=True)
    }


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE payroll_estimates SET estimate = '{}'",
        "DELETE FROM payroll_estimates",
        "UPDATE payroll_entries SET regular_hours = 0",
        "UPDATE payroll_entries SET payment_method = 'cash'",
        "DELETE FROM payroll_entries",
        "UPDATE payrolls SET created_by_kind = 'user'",
        "UPDATE payrolls SET approved_at = now()",
        "UPDATE payrolls SET organization_id = new_id()",
        "DELETE FROM payrolls",
        "UPDATE payroll_transitions SET actor_kind = 'user'",
        "DELETE FROM payroll_transitions",
        "DELETE FROM audit_log",
        "UPDATE employers SET threshold_bases = '{}'",
        "INSERT INTO ach_authorizations (id) VALUES (new_id())",
        "SELECT key_hash FROM api_keys",
        "UPDATE api_keys SET last_used_at = NULL",
        "SELECT id FROM api_keys FOR UPDATE",
        "SELECT revoke_api_key(new_id(), now())",
    ],
)
def test_the_worker_changes_nothing_that_was_asked(
    statement: LiteralString, server: EmbeddedServer, households: dict[str, Household]
) -> None:
    with (
        psycopg.connect(plain_url(server.worker_url()), autocommit=True) as worker,
        pytest.raises(errors.InsufficientPrivilege, match="permission denied"),
    ):
        worker.execute(statement)
