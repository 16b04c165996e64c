"""Whatever is sent to PostgreSQL in the service's name, table by table as the catalogue has them: no foreign row.

`tests/database` tries chosen statements; here every table, column and function is tried, new ones included.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.rows import scalar_row

from hearthpay.database.embedded import ROLES, EmbeddedServer
from hearthpay.database.migrations import migrate
from hearthpay.security.tenant_seal import TenantSeal
from tests.boundary.worlds import fingerprint
from tests.conftest import plain_url
from tests.database.household import Household, add_household, add_organization
from tests.database.sealing import enter, seal_of
from tests.worlds.snapshots import Snapshot, Snapshots
from tests.worlds.tables import SANDBOX_ONLY, TABLES

#: Functions that see more than their caller. Each looks at the tenant itself, or needs a secret to find anything.
_SEE_MORE: Final = {
    "keep_household_words",
    "keep_record_version",
    "keep_metadata_entries",
    "outdate_dues",
    "outdate_dues_of_household",
    "outdate_dues_of_paychecks",
    "answer_agent_request",
    "authenticate_api_key",
    "become_first_operator",
    "bounced_addresses",
    "leave_person_mail_to_folder",
    "mails_not_sent",
    "wages_not_collected",
    "unread_bank_files",
    "set_bank_file_aside",
    "leave_security_alert",
    "invitations_mailed",
    "freeze_organization",
    "freeze_household",
    "unfreeze",
    "register_alert",
    "register_answer",
    "register_mail",
    "chain_person_event",
    "operates",
    "claim_person_mail",
    "count_failed_attempts",
    "forgive_failed_attempts",
    "current_person",
    "note_person_mail",
    "end_agent_grant",
    "end_agents_of_member",
    "end_certificates",
    "end_own_tokens",
    "exchange_agent_code",
    "exchange_agent_refresh",
    "find_agent_code",
    "find_agent_grant",
    "find_agent_refresh",
    "find_agent_token",
    "find_member_invitation",
    "find_one_time_token",
    "find_passkey",
    "find_person",
    "find_person_session",
    "found_organization",
    "installation_health",
    "introduce_agent",
    "keep_an_owner",
    "link_employee",
    "open_agent_request",
    "organizations_without_people",
    "own_employees",
    "own_employments",
    "own_memberships",
    "pack_lines",
    "pay_dates_ahead_of_all",
    "queue_counted_mail",
    "queue_person_mail",
    "revoke_agent_token",
    "room_for_agent_request",
    "use_one_time_token",
    "bank_outage_of",
    "clear_sandbox_household",
    "clockwork_figures",
    "current_tenant",
    "find_calendar_link",
    "find_invitation",
    "mails_since",
    "note_api_key_use",
    "refuse_replaced_key",
    "vault_key_for_writing",
    "seal_audit_log",
    "seal_written_audit_log",
    "seal_waiting_audit_log",
    "revoke_api_key",
}

_OUTAGE: Final = datetime(2026, 12, 1, 15, tzinfo=UTC)


@pytest.fixture
def service(server: EmbeddedServer, empty_tables: None) -> Iterator[psycopg.Connection]:
    """A plain connection of the service's role, as an attacker inside the service would have it."""
    with psycopg.connect(plain_url(server.service_url()), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def kept_connection(server: EmbeddedServer) -> Iterator[psycopg.Connection]:
    with psycopg.connect(plain_url(server.service_url()), autocommit=True) as connection:
        yield connection


@pytest.fixture
def entering(kept_connection: psycopg.Connection, empty_tables: None) -> Iterator[psycopg.Connection]:
    """The same for tests that enter a household first: one connection, with what it has loaded of the catalog."""
    yield kept_connection
    kept_connection.execute("RESET ALL")


@pytest.fixture(scope="module")
def kept() -> list[tuple[list[Household], Snapshot]]:
    """The households of the first test, as they were made: all others are given the same."""
    return []


@pytest.fixture
def households(
    owner_connection: psycopg.Connection,
    empty_tables: None,
    snapshots: Snapshots,
    kept: list[tuple[list[Household], Snapshot]],
) -> list[Household]:
    """Two organizations, real and sandbox each, with a row in every table."""
    if kept:
        made, snapshot = kept[0]
        snapshot.restore()
    else:
        made = [
            add_household(owner_connection, organization_id, sandbox=sandbox)
            for organization_id in [add_organization(owner_connection, name) for name in ("Smith", "Jones")]
            for sandbox in (False, True)
        ]
        kept.append((made, snapshots.take()))
    return [*made]


def _enter(service: psycopg.Connection, household: Household, *, narrowed: bool = False) -> None:
    chosen = household.employer_id if narrowed else None
    enter(service, household.organization_id, sandbox=household.sandbox, employer_id=chosen)


def _columns(owner: psycopg.Connection, table: str, privilege: str) -> list[str]:
    """The columns that the service has this right to."""
    return [
        name
        for (name,) in owner.execute(
            "SELECT attname FROM pg_attribute "
            "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' "
            "AND has_column_privilege(%s, attrelid, attnum, %s) ORDER BY attnum",
            (table, ROLES.service, privilege),
        )
    ]


def _is_own(row: dict[str, Any], own: Household) -> bool:
    """Whether a row, as JSON, belongs to the household's organization and mode, or to the organization as such."""
    organization = row["organization_id"] if "organization_id" in row else row["id"]
    return organization == str(own.organization_id) and row.get("sandbox") in (None, own.sandbox)


@pytest.mark.parametrize("table", TABLES)
def test_no_statement_reads_or_changes_anothers_row(
    table: str,
    owner_connection: psycopg.Connection,
    entering: psycopg.Connection,
    households: list[Household],
) -> None:
    before = fingerprint(owner_connection)
    columns = _columns(owner_connection, table, "SELECT")
    readable = ", ".join(columns)
    returned = ", ".join(f"t.{column}" for column in columns)
    updatable = _columns(owner_connection, table, "UPDATE")
    for own in households:
        for narrowed in (False, True):
            _enter(entering, own, narrowed=narrowed)
            rows = entering.execute(f"SELECT to_jsonb(t) FROM (SELECT {readable} FROM {table}) t").fetchall()
            if table in SANDBOX_ONLY and not own.sandbox:
                assert rows == []
                continue
            assert rows, "the tenant's own row is out of sight too"
            assert all(_is_own(row, own) for (row,) in rows)
            for column in updatable:
                changed = entering.execute(
                    f"UPDATE {table} AS t SET {column} = {column} "
                    f"RETURNING (SELECT to_jsonb(r) FROM (SELECT {returned}) r)"
                ).fetchall()
                assert len(changed) == len(rows)
                assert all(_is_own(row, own) for (row,) in changed)
    assert fingerprint(owner_connection) == before


@pytest.mark.parametrize("table", TABLES)
def test_no_row_can_be_written_into_anothers_world(
    table: str,
    owner_connection: psycopg.Connection,
    entering: psycopg.Connection,
    households: list[Household],
) -> None:
    """Their own row, word for word under a new id: the policies refuse it before anything else looks at it."""
    columns = _columns(owner_connection, table, "INSERT")
    if not columns:
        _enter(entering, households[0])
        with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
            entering.execute(f"INSERT INTO {table} DEFAULT VALUES")
        return
    listed = ", ".join(columns)
    before = fingerprint(owner_connection)
    for row in owner_connection.execute(f"SELECT to_jsonb(t) FROM {table} t").fetchall():
        content = row[0] | ({"id": str(uuid4())} if "id" in row[0] else {})
        for own in households:
            if _is_own(content, own):
                continue
            _enter(entering, own)
            with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
                entering.execute(
                    f"INSERT INTO {table} ({listed}) SELECT {listed} FROM jsonb_populate_record(NULL::{table}, %s)",
                    (json.dumps(content),),
                )
    assert fingerprint(owner_connection) == before


def test_the_service_may_delete_nothing_and_owns_nothing(owner_connection: psycopg.Connection) -> None:
    granted = owner_connection.execute(
        "SELECT table_name, privilege_type FROM information_schema.table_privileges "
        "WHERE grantee IN (%s, 'PUBLIC') AND table_schema = 'public' "
        "AND privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE')",
        (ROLES.service,),
    ).fetchall()
    assert granted == []
    owned = owner_connection.execute(
        "SELECT oid::regclass FROM pg_class WHERE pg_get_userbyid(relowner) = %s "
        "UNION ALL SELECT oid::regclass FROM pg_class c "
        "WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm', 'f', 'p') "
        "AND NOT (relkind = 'v' AND reloptions @> '{security_invoker=true}')",
        (ROLES.service,),
    ).fetchall()
    assert owned == [], "a plain view reads with its owner's eyes, a partition may lack its parent's policies"
    blind = owner_connection.execute(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication, "
        "(SELECT count(*) FROM pg_auth_members WHERE member = r.oid) FROM pg_roles r WHERE rolname = %s",
        (ROLES.service,),
    ).fetchone()
    assert blind == (False, False, False, False, False, 0)


@pytest.mark.completeness
def test_functions_that_see_more_are_known_and_closed(owner_connection: psycopg.Connection) -> None:
    rows = owner_connection.execute(
        "SELECT proname, proconfig, has_function_privilege('pg_monitor', oid, 'EXECUTE') FROM pg_proc "
        "WHERE prosecdef AND pronamespace = 'public'::regnamespace"
    ).fetchall()
    assert {name for name, _, _ in rows} == _SEE_MORE, (
        "add the new one here, and try it on foreign rows below"
    )
    for name, settings, for_everybody in rows:
        (path,) = settings
        assert path.startswith("search_path=pg_catalog"), name
        assert path.endswith("pg_temp"), name
        assert not for_everybody, name


def test_functions_that_see_more_tell_nothing_without_the_secret(
    owner_connection: psycopg.Connection, service: psycopg.Connection, households: list[Household]
) -> None:
    owner_connection.execute("INSERT INTO vault_keys (id, status) VALUES ('k', 'current')")
    owner_connection.execute(
        "INSERT INTO worker_problems (key, kind, problem, since, seen_at, logged_at) "
        "VALUES (repeat('0', 32), 'outage', 'the bank is away', %(at)s, %(at)s, %(at)s)",
        {"at": _OUTAGE},
    )
    keys: dict[bytes, list[UUID]] = {household.key_hash: [] for household in households}
    for key_hash, key_id in owner_connection.execute("SELECT key_hash, id FROM api_keys").fetchall():
        keys[bytes(key_hash)].append(key_id)
    givers = owner_connection.execute("SELECT organization_id, person_id FROM agent_grants").fetchall()
    before = fingerprint(owner_connection)
    for own in (None, *households):
        if own is not None:
            _enter(service, own)
            # Since when the bank is away is told of one's own real payments alone.
            [(since,)] = service.execute(
                "SELECT bank_outage_of(%s, %s)", (own.payroll_id, _OUTAGE)
            ).fetchall()
            assert since == (None if own.sandbox else _OUTAGE)
        # Of the worker nothing is told but numbers.
        figures = service.execute("SELECT name FROM clockwork_figures(%s) ORDER BY 1", (_OUTAGE,)).fetchall()
        assert figures == [("due",), ("held",), ("oldest_due_seconds",), ("problems",)]
        # Nor what households owe, to anybody but an operator.
        assert service.execute("SELECT * FROM wages_not_collected()").rowcount == 0
        # Nor which files of the bank aren't read, and none is set aside.
        assert service.execute("SELECT * FROM unread_bank_files()").rowcount == 0
        aside = "SELECT set_bank_file_aside(gen_random_uuid(), 'mine', now(), NULL, NULL, '{}')"
        assert service.execute(aside).fetchone() == (None,)
        # No organization but one's own is frozen, nothing is told without an act, and of mails there is a number.
        if own is None:
            service.execute("SELECT freeze_organization(%s)", (_OUTAGE,))
            service.execute("SELECT freeze_organization(%s, %s)", (_OUTAGE, _OUTAGE))
            service.execute("SELECT unfreeze(NULL)")
        for other in households:
            if own is None or other.organization_id != own.organization_id:
                service.execute("SELECT freeze_household(%s, %s, %s)", (other.employer_id, _OUTAGE, _OUTAGE))
                service.execute("SELECT unfreeze(%s)", (other.employer_id,))
        service.execute("SELECT leave_security_alert(%s)", (uuid4(),))
        mailed = service.execute("SELECT * FROM invitations_mailed(%s, %s)", (b"\x00" * 32, _OUTAGE))
        assert mailed.fetchall() == [(0, 0)]
        # Nor how many pay dates lie ahead, to anybody but an operator.
        ahead = service.execute("SELECT * FROM pay_dates_ahead_of_all('2026-12-01', '2099-12-31', true)")
        assert ahead.rowcount == 0
        # A key is no tenant's; its id is all that is told, and nobody's offer replaces it.
        writing = service.execute("SELECT * FROM vault_key_for_writing('mine', %s)", (b"\x00" * 16,))
        assert writing.fetchall() == [("k", None)]
        for guess in (b"", b"\x00" * 32, None):
            assert service.execute("SELECT * FROM authenticate_api_key(%s)", (guess,)).rowcount == 0
            assert service.execute("SELECT * FROM find_invitation(%s)", (guess,)).rowcount == 0
            assert service.execute("SELECT * FROM find_calendar_link(%s)", (guess,)).rowcount == 0
        _try_secrets_of_agents(service, households)
        # Of who is in another organization, nothing ends.
        for organization, person in givers:
            if own is None or organization != own.organization_id:
                ended = service.execute("SELECT * FROM end_agents_of_member(%s, %s)", (person, _OUTAGE))
                assert ended.rowcount == 0
        # Of failed attempts only those of the names that are given are counted and told.
        counted = service.execute(
            "SELECT counted, admitted FROM count_failed_attempts(ARRAY[%s::bytea], '{1 s}', '{1 s}', %s)",
            (b"\x07" * 32, _OUTAGE),
        )
        assert counted.fetchall() == [(b"\x07" * 32, True)]
        service.execute("SELECT forgive_failed_attempts('{}', '{}', ARRAY[%s::bytea])", (b"\x07" * 32,))
        # Nobody is linked without being signed as somebody, whatever invitation he holds.
        for other in households:
            with pytest.raises(errors.InsufficientPrivilege, match="nobody is linked"):
                service.execute(
                    "SELECT * FROM link_employee(%s, %s, %s)",
                    (other.employee_id, other.employee_id.bytes * 2, _OUTAGE),
                )
        assert service.execute("SELECT * FROM own_employees()").rowcount == 0
        assert service.execute("SELECT * FROM own_employments()").rowcount == 0
        for other in households:
            if other is not own:
                counted = service.execute(
                    "SELECT of_household, of_employee FROM mails_since(%s, %s, '2000-01-01')",
                    (other.employer_id, other.employee_id),
                )
                assert counted.fetchall() == [(0, 0)]
                outage = service.execute("SELECT bank_outage_of(%s, %s)", (other.payroll_id, _OUTAGE))
                assert outage.fetchall() == [(None,)]
                if own is None or (other.organization_id, other.sandbox) != (
                    own.organization_id,
                    own.sandbox,
                ):
                    for key_id in keys[other.key_hash]:
                        revoked = service.execute("SELECT revoke_api_key(%s, now())", (key_id,))
                        assert revoked.fetchall() == [(None,)]
                for keep in (True, False):
                    cleared = service.execute(
                        "SELECT * FROM clear_sandbox_household(%s, %s)", (other.employer_id, keep)
                    )
                    assert cleared.rowcount == 0
            for sealing in (
                "SELECT seal_audit_log(%s, '{}')",
                "SELECT seal_waiting_audit_log() WHERE %s IS NOT NULL",
            ):
                with pytest.raises(errors.InsufficientPrivilege):
                    service.execute(sealing, (other.organization_id,))
        if own is not None and not own.sandbox:
            cleared = service.execute("SELECT * FROM clear_sandbox_household(%s, true)", (own.employer_id,))
            assert cleared.rowcount == 0
    assert fingerprint(owner_connection) == before
    owner_connection.execute("DELETE FROM vault_keys")


def _try_secrets_of_agents(service: psycopg.Connection, households: list[Household]) -> None:
    """What a token's hash is, nobody guesses; and who is signed as nobody opens and answers no question."""
    later = [_OUTAGE + timedelta(minutes=5), _OUTAGE + timedelta(days=1)]
    new = [uuid4(), b"\x01" * 32, later[0], uuid4(), b"\x02" * 32, later[1]]
    for guess in (b"", b"\x00" * 32, None):
        for found in ("find_agent_code(%s)", "find_agent_refresh(%s)"):
            assert service.execute(f"SELECT * FROM {found}", (guess,)).rowcount == 0
        assert service.execute("SELECT * FROM find_agent_token(%s, %s)", (guess, _OUTAGE)).rowcount == 0
        for exchange in ("exchange_agent_code", "exchange_agent_refresh"):
            answer = service.execute(
                f"SELECT {exchange}(%s, 'helper', %s, %s, %s, %s, %s, %s, %s)", (guess, _OUTAGE, *new)
            )
            assert answer.fetchall() == [(None if guess is None else "unknown",)]
        given_back = service.execute("SELECT revoke_agent_token(%s, 'helper', %s)", (guess, _OUTAGE))
        assert given_back.fetchall() == [(None if guess is None else False,)]
        assert service.execute("SELECT * FROM find_agent_grant(%s, 'helper')", (guess,)).rowcount == 0
        room = service.execute("SELECT room_for_agent_request(%s, 'helper', %s, 1, 1)", (guess, _OUTAGE))
        assert room.fetchall() == [(None,)], "a number, of whoever asks"
    for other in households:
        question, session = other.employer_id.bytes * 2, uuid4()
        opened = service.execute("SELECT * FROM open_agent_request(%s, %s, %s)", (question, session, _OUTAGE))
        assert opened.rowcount == 0
        answered = service.execute(
            "SELECT answer_agent_request(%s, %s, %s, NULL, NULL, NULL)", (question, session, _OUTAGE)
        )
        assert answered.fetchall() == [(False,)]
        # A token is worth something to its own program alone.
        stolen = other.employer_id.bytes + b"refresh".ljust(16)
        refused = service.execute(
            "SELECT exchange_agent_refresh(%s, 'another', %s, %s, %s, %s, %s, %s, %s)",
            (stolen, _OUTAGE, *new),
        )
        assert refused.fetchall() == [("unknown",)]
        given_back = service.execute("SELECT revoke_agent_token(%s, 'another', %s)", (stolen, _OUTAGE))
        assert given_back.fetchall() == [(False,)]
        assert service.execute("SELECT * FROM find_agent_grant(%s, 'another')", (stolen,)).rowcount == 0
        with pytest.raises(errors.InsufficientPrivilege):
            service.execute("SELECT end_agent_grant(%s, 'revoked', %s)", (other.employer_id, _OUTAGE))


def test_the_service_can_make_nothing_of_its_own(service: psycopg.Connection) -> None:
    for statement in (
        "CREATE TEMP TABLE t (id int)",
        "CREATE TABLE t (id int)",
        "CREATE SCHEMA s",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1",
        "SELECT lo_create(0)",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT lo_put(1, 0, 'x')",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            service.execute(statement)


def test_the_acting_roles_reach_no_other_database(server: EmbeddedServer) -> None:
    for url in (server.service_url(), server.worker_url()):
        for database in ("postgres", "template1"):
            with pytest.raises(psycopg.OperationalError, match="does not have CONNECT privilege"):
                psycopg.connect(plain_url(url).replace("/hearthpay?", f"/{database}?"))


def test_settings_that_a_role_gave_itself_do_not_last(
    server: EmbeddedServer, owner_connection: psycopg.Connection, service: psycopg.Connection
) -> None:
    """PostgreSQL lets every role change its own: what counts is set in each transaction, and migrating forgets them."""
    service.execute("ALTER ROLE CURRENT_USER SET search_path = pg_temp")
    service.execute("ALTER ROLE CURRENT_USER IN DATABASE hearthpay SET statement_timeout = '1ms'")
    given = "SELECT count(*) FROM pg_db_role_setting"
    assert owner_connection.execute(given).fetchone() == (2,)
    migrate(server.owner_url())
    assert owner_connection.execute(given).fetchone() == (0,)


def test_a_tenant_that_was_not_signed_is_refused(
    service: psycopg.Connection, households: list[Household]
) -> None:
    """Whatever a smuggled statement names as its tenant: without the program's signature it sees nothing at all."""
    own, _, other, _ = households
    claim = seal_of(service).claim(own.organization_id, sandbox=False, employer_id=own.employer_id)
    named, _, signature = claim.rpartition(" ")
    organization, mode, household = named.split(" ")
    forged = [
        f"{other.organization_id} {mode} {household} {signature}",
        f"{organization} t {household} {signature}",
        f"{organization} {mode}  {signature}",
        f"{organization} {mode} {other.employer_id} {signature}",
        f"{named} {signature[:-1]}",
        f"{named} {TenantSeal(bytes(32)).claim(own.organization_id, sandbox=False, employer_id=None)[-64:]}",
        f"{named} ",
        named,
        " ",
        "x",
    ]
    for setting in forged:
        service.execute("SELECT set_config('hearthpay.tenant', %s, false)", (setting,))
        for statement in ("SELECT * FROM employees", "SELECT * FROM clear_sandbox_household(new_id(), true)"):
            with pytest.raises(errors.InsufficientPrivilege, match="not signed"):
                service.execute(statement)
    service.execute("SELECT set_config('hearthpay.tenant', %s, false)", (claim,))
    assert service.execute("SELECT id FROM employees").fetchall() == [(own.employee_id,)]
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute("SELECT tenant_secret FROM installation")


def test_shadows_of_tables_deceive_no_function(
    owner_connection: psycopg.Connection,
    service: psycopg.Connection,
    households: list[Household],
    temporary_tables: None,
) -> None:
    """Temporary tables come first in the caller's search path; in these functions they do not."""
    real, sandbox, other, _ = households
    before = fingerprint(owner_connection)
    _enter(service, sandbox)
    service.execute("CREATE TEMP TABLE api_keys (key_hash bytea, revoked_at timestamptz)")
    service.execute("CREATE TEMP TABLE employers (LIKE public.employers)")
    service.execute(
        "INSERT INTO pg_temp.employers (id, organization_id, sandbox, first_name, last_name, email, state, "
        "is_primary, ein_status, threshold_bases, metadata, created_at) "
        "VALUES (%s, %s, true, 'x', 'x', 'x', 'CA', false, 'none', '{}', '{}', now())",
        (other.employer_id, sandbox.organization_id),
    )
    found = service.execute("SELECT organization_id FROM authenticate_api_key(%s)", (other.key_hash,))
    assert found.fetchall() == [(other.organization_id,)]
    for household in (real, other):
        cleared = service.execute(
            "SELECT * FROM clear_sandbox_household(%s, false)", (household.employer_id,)
        )
        assert cleared.rowcount == 0
    assert fingerprint(owner_connection) == before


def test_a_condition_that_talks_is_asked_about_own_rows_only(
    owner_connection: psycopg.Connection,
    service: psycopg.Connection,
    households: list[Household],
    temporary_tables: None,
) -> None:
    """A condition may report, or fail on, every row it is shown: the policies come before it."""
    own = households[0]
    _enter(service, own)
    service.execute(
        "CREATE FUNCTION pg_temp.tell(what text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 "
        "AS $$ BEGIN RAISE NOTICE '%', what; RETURN true; END $$"
    )
    told: list[str] = []
    service.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    for table in (each for each in TABLES if each not in SANDBOX_ONLY):
        column = "organization_id" if table != "organizations" else "id"
        assert service.execute(f"SELECT FROM {table} WHERE pg_temp.tell({column}::text)").rowcount > 0
    assert set(told) == {str(own.organization_id)}
    foreign = [str(each.employer_id) for each in households[1:]]
    service.execute(
        "SELECT 1 / (CASE WHEN id::text = ANY(%s) THEN 0 ELSE 1 END) FROM public.employers", (foreign,)
    )
    with pytest.raises(errors.DivisionByZero):
        service.execute(
            "SELECT 1 / (CASE WHEN id = %s THEN 0 ELSE 1 END) FROM public.employers", (own.employer_id,)
        )


def test_the_planners_statistics_tell_nothing(
    owner_connection: psycopg.Connection, service: psycopg.Connection, households: list[Household]
) -> None:
    owner_connection.execute("ANALYZE")
    seen = "SELECT count(*) FROM pg_stats WHERE schemaname = 'public' AND tablename = ANY(%s)"
    for connection, expected in ((owner_connection, True), (service, False)):
        if connection is service:
            _enter(service, households[0])
        with connection.cursor(row_factory=scalar_row) as cursor:
            assert (cursor.execute(seen, (list(TABLES),)).fetchone() > 0) is expected
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute("SELECT * FROM pg_statistic")


@pytest.mark.parametrize(
    "change", ["UPDATE {} SET at = now()", "DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}"]
)
def test_no_audit_row_can_be_touched_again(
    change: str,
    owner_connection: psycopg.Connection,
    service: psycopg.Connection,
    households: list[Household],
) -> None:
    before = fingerprint(owner_connection)
    for own in households:
        _enter(service, own)
        with pytest.raises(errors.InsufficientPrivilege):
            service.execute(sql.SQL(change).format(sql.Identifier("audit_log")))  # type: ignore[arg-type]
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute(
            "INSERT INTO audit_log (id, organization_id, actor_kind, action) SELECT id, organization_id, 'key', 'x' "
            "FROM audit_log ON CONFLICT (id) DO UPDATE SET action = 'x'"
        )
    assert fingerprint(owner_connection) == before


def test_an_own_row_cannot_hang_on_anothers(service: psycopg.Connection, households: list[Household]) -> None:
    """And what refuses it does not tell a household of another's from one of nobody's."""
    own, *others = households
    _enter(service, own)
    told = set()
    for employer_id in (*(other.employer_id for other in others), uuid4()):
        with pytest.raises(errors.ForeignKeyViolation) as refused:
            service.execute(
                "INSERT INTO employees (id, organization_id, employer_id, sandbox, first_name, last_name, work_state, "
                "residence_state, pay_rate_cents, overtime_rate_cents, pay_frequency, start_date) "
                "VALUES (new_id(), %s, %s, false, 'A', 'B', 'CA', 'CA', 1, 1, 'weekly', '2026-01-01')",
                (own.organization_id, employer_id),
            )
        told.add(str(refused.value).replace(str(employer_id), "…"))
    assert len(told) == 1


def test_the_tenant_is_the_transactions_own_word(
    server: EmbeddedServer, service: psycopg.Connection, households: list[Household]
) -> None:
    """What the policies do not guard against: whoever can send any statement can also name another tenant.

    They guard a service that names the tenant of its key and then forgets a condition. So the name is set in one
    place, before anything of the request is looked at, from the key alone; and it ends with the transaction.
    """
    mine, _, theirs, _ = households
    seen = sql.SQL("SELECT organization_id FROM employers")

    def visible() -> list[UUID]:
        return [row[0] for row in service.execute(seen).fetchall()]

    with service.transaction():
        for household in (mine, theirs, mine):
            claim = seal_of(service).claim(household.organization_id, sandbox=False, employer_id=None)
            service.execute("SELECT set_config('hearthpay.tenant', %s, true)", (claim,))
            assert visible() == [household.organization_id]
    assert visible() == []
    with psycopg.connect(plain_url(server.service_url()), autocommit=True) as another:
        assert another.execute(seen).fetchall() == []
