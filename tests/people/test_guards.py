"""People's tables as an attacker inside the service would meet them: nobody's row but the signed person's own."""

# ruff: noqa: ISC004 - statements read best whole
import hashlib
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import errors

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.people import credentials
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.tenant_seal import TenantSeal
from tests.conftest import plain_url
from tests.database.sealing import enter, seal_of
from tests.people.visitors import PASSWORD, Newcomers, link_in, mails

OWN = ("people", "credentials", "person_sessions", "person_events")
NOBODYS = ("one_time_tokens",)


@pytest.fixture
def service(server: EmbeddedServer, empty_tables: None) -> Iterator[psycopg.Connection]:
    with psycopg.connect(plain_url(server.service_url()), autocommit=True) as connection:
        yield connection


@pytest.fixture
async def other(
    people_context: PeopleContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> SignedIn:
    """Somebody else, in another organization, with a second factor that waits."""
    found = await Newcomers(people_context, owner_connection, ring).make("other@example.com", "Others")
    await credentials.set_up_second_factor(people_context, found)
    return found


def be(service: psycopg.Connection, claim: str) -> None:
    service.execute("SELECT set_config('hearthpay.person', %s, false)", (claim,))


def owners_of(service: psycopg.Connection, table: str) -> set[object]:
    column = "id" if table == "people" else "person_id"
    return {row[0] for row in service.execute(f"SELECT {column} FROM {table}").fetchall()}


def test_each_sees_and_changes_his_own_rows_only(
    service: psycopg.Connection, maria: SignedIn, other: SignedIn
) -> None:
    for table in OWN:
        assert owners_of(service, table) == set()
    for who in (maria, other):
        be(service, seal_of(service).person_claim(who.person_id))
        for table in OWN:
            assert owners_of(service, table) == {who.person_id}
    changed = service.execute(
        "UPDATE credentials SET last_used_at = now() WHERE person_id = %s", (maria.person_id,)
    )
    assert changed.rowcount == 0
    for statement in (
        "INSERT INTO credentials (id, person_id, kind, password_hash, created_at) "
        "VALUES (new_id(), %s, 'password', '$argon2id$', now())",
        "INSERT INTO person_events (id, person_id, action) VALUES (new_id(), %s, 'x')",
        "INSERT INTO one_time_tokens (id, kind, token_hash, email, person_id, created_at, expires_at) VALUES "
        "(new_id(), 'reset', sha256(''), 'x@example.com', %s, now(), now() + interval '1 hour')",
        "INSERT INTO person_sessions (id, person_id, token_hash, stage, method, created_at, authenticated_at, "
        "last_seen_at, expires_at) VALUES (new_id(), %s, sha256(''), 'full', 'link', now(), now(), now(), 'infinity')",
    ):
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            service.execute(statement, (maria.person_id,))


def test_a_person_that_was_not_signed_is_refused(
    service: psycopg.Connection, maria: SignedIn, other: SignedIn
) -> None:
    claim = seal_of(service).person_claim(maria.person_id)
    _, named, signature = claim.split(" ")
    organization = maria.memberships[0].organization_id
    as_tenant = seal_of(service).claim(organization, sandbox=False, employer_id=None)
    for forged in (
        f"person {other.person_id} {signature}",
        f"person {named} {signature[:-1]}{'1' if signature[-1] == '0' else '0'}",
        f"person {named} ",
        f"{named} {signature}",
        TenantSeal(bytes(32)).person_claim(maria.person_id),
        as_tenant,
        "x",
    ):
        be(service, forged)
        for statement in ("SELECT * FROM credentials", "SELECT * FROM own_memberships()"):
            with pytest.raises((errors.InsufficientPrivilege, errors.InvalidTextRepresentation)):
                service.execute(statement)
    be(service, "")
    service.execute("SELECT set_config('hearthpay.tenant', %s, false)", (claim,))
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute("SELECT * FROM memberships")


def test_members_are_seen_with_name_and_address_and_nothing_else(
    service: psycopg.Connection, maria: SignedIn, other: SignedIn
) -> None:
    enter(service, maria.memberships[0].organization_id)
    assert owners_of(service, "people") == {maria.person_id}
    for table in ("credentials", "person_sessions", "person_events"):
        assert owners_of(service, table) == set()
    assert service.execute("UPDATE people SET name = 'X'").rowcount == 0


def test_functions_that_see_more_need_the_secret(
    service: psycopg.Connection, owner_connection: psycopg.Connection, maria: SignedIn, other: SignedIn
) -> None:
    for guess in (b"", b"\0" * 32, None):
        for function in (
            "find_person_session",
            "find_passkey",
            "find_one_time_token",
            "find_member_invitation",
        ):
            assert service.execute(f"SELECT * FROM {function}(%s)", (guess,)).rowcount == 0
        used = service.execute("SELECT * FROM use_one_time_token(%s, 'reset', NULL, now())", (guess,))
        assert used.rowcount == 0
    assert service.execute("SELECT find_person('nobody@example.com')").fetchall() == [(None,)]
    assert service.execute("SELECT * FROM own_memberships()").rowcount == 0
    with pytest.raises(errors.InsufficientPrivilege, match="nobody founds"):
        service.execute("SELECT found_organization(new_id(), new_id(), 'X', 'free', now())")
    service.execute("SELECT end_own_tokens(now())")
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute("SELECT * FROM one_time_tokens")
    with pytest.raises(errors.InsufficientPrivilege):
        service.execute(
            "INSERT INTO one_time_tokens (id, kind, token_hash, created_at, expires_at) "
            "VALUES (new_id(), 'first_owner', sha256(''), now(), 'infinity')"
        )
    be(service, seal_of(service).person_claim(other.person_id))
    held = owner_connection.execute("SELECT count(*) FROM one_time_tokens WHERE used_at IS NULL").fetchone()
    service.execute("SELECT end_own_tokens(now())")
    assert (
        owner_connection.execute("SELECT count(*) FROM one_time_tokens WHERE used_at IS NULL").fetchone()
        == held
    )


def test_nobody_owns_more_than_five_organizations(service: psycopg.Connection, maria: SignedIn) -> None:
    be(service, seal_of(service).person_claim(maria.person_id))
    found = [
        service.execute(
            "SELECT found_organization(new_id(), new_id(), %s, 'professional', now())", (f"Another {number}",)
        ).fetchone()
        for number in range(5)
    ]
    assert found == [(f"Another {number}",) for number in range(4)] + [(None,)]


def test_no_secret_is_kept_as_it_is(
    owner_connection: psycopg.Connection, maria: SignedIn, other: SignedIn, ring: KeyRing
) -> None:
    """Neither a token nor a password stands in any row of any people's table."""
    tokens = [link_in(mail) for mail in mails(owner_connection, ring) if "https://" in mail["text"]]
    assert tokens
    for table in (*OWN, *NOBODYS, "member_invitations", "mail_outbox", "audit_log"):
        rows = owner_connection.execute(f"SELECT to_jsonb(t)::text FROM {table} t").fetchall()
        for (row,) in rows:
            for secret in (*tokens, PASSWORD):
                assert secret not in row
                assert secret.encode().hex() not in row
    hashes = {
        bytes(h) for (h,) in owner_connection.execute("SELECT token_hash FROM one_time_tokens").fetchall()
    }
    assert hashes == {hashlib.sha256(token.encode()).digest() for token in tokens}
