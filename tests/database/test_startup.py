"""Opening the database: embedded in a directory, or a given server whose owner is no superuser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ProgrammingError

from hearthpay.database.embedded import EmbeddedServer, EmbeddedServerError, default_data_dir
from hearthpay.database.migrations import migrate
from hearthpay.database.startup import Addresses, ServiceLoginError, open_database
from tests.conftest import plain_url
from tests.database.household import Household, add_household, add_organization
from tests.worlds.installations import install

WHO = text("SELECT current_user")


async def test_the_embedded_database_is_ready_and_gone_with_the_block(data_dir: Path) -> None:
    async with open_database(data_dir, Addresses()) as opened:
        assert opened.embedded is not None
        assert opened.embedded.is_alive()
        async with opened.database.transaction(None) as session:
            assert await session.scalar(WHO) == "hearthpay_service"
        async with opened.as_operator() as operator, operator.transaction(None) as session:
            assert await session.scalar(WHO) == "hearthpay_owner"
            await session.execute(text("INSERT INTO organizations (id, name) VALUES (new_id(), 'Smith')"))
    assert not opened.embedded.is_alive()

    async with (
        open_database(data_dir, Addresses()) as opened,
        opened.as_operator() as operator,
        operator.transaction(None) as session,
    ):
        assert await session.scalar(text("SELECT name FROM organizations")) == "Smith"


async def test_a_failure_within_the_block_still_stops_the_server(data_dir: Path) -> None:
    install(data_dir)
    with pytest.raises(LookupError):
        async with open_database(data_dir, Addresses()):
            raise LookupError
    assert not EmbeddedServer(data_dir).is_alive()


async def test_a_directory_that_cannot_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbeddedServerError, match="cannot be used"):
        async with open_database(tmp_path / "file" / "data", Addresses()):
            pass


@pytest.fixture
def managed_url(server: EmbeddedServer, owner_connection: psycopg.Connection) -> Iterator[str]:
    """A database as a cloud provider hands it out: its owner may create roles, but is no superuser."""
    owner_connection.execute("CREATE ROLE landlord LOGIN CREATEROLE")
    owner_connection.execute("CREATE DATABASE managed OWNER landlord")
    url = make_url(plain_url(server.owner_url())).set(username="landlord", database="managed")
    yield url.render_as_string(hide_password=False)
    owner_connection.execute("DROP DATABASE managed WITH (FORCE)")
    owner_connection.execute("DROP ROLE IF EXISTS managed_service, managed_worker")
    owner_connection.execute("DROP OWNED BY landlord CASCADE")
    owner_connection.execute("DROP ROLE landlord")


async def test_a_given_server_is_used_as_the_service_and_its_policies_hold(managed_url: str) -> None:
    async with open_database(None, Addresses(managed_url)) as opened:
        assert opened.embedded is None
        with psycopg.connect(managed_url, autocommit=True) as landlord:
            first = add_household(landlord, add_organization(landlord, "Smith"))
            second = add_household(landlord, add_organization(landlord, "Jones"))

        async def employers(household: Household | None) -> list[object]:
            tenant = None if household is None else household.tenant
            async with opened.database.transaction(tenant) as session:
                assert await session.scalar(WHO) == "managed_service"
                return list(await session.scalars(text("SELECT id FROM employers")))

        assert await employers(None) == []
        assert await employers(first) == [first.employer_id]
        assert await employers(second) == [second.employer_id]

        async with opened.database.transaction(None) as session:
            found = await session.execute(
                text("SELECT key_id, employer_sandbox FROM authenticate_api_key(:key_hash)"),
                {"key_hash": first.key_hash},
            )
            assert found.one().employer_sandbox is False

        for statement in ("DELETE FROM audit_log", "DROP TABLE audit_log", "TRUNCATE employees"):
            with pytest.raises(ProgrammingError) as refusal:
                async with opened.database.transaction(first.tenant) as session:
                    await session.execute(text(statement))
            assert isinstance(refusal.value.orig, errors.InsufficientPrivilege)

        async with opened.as_operator() as operator, operator.transaction(None) as session:
            assert await session.scalar(WHO) == "landlord"
            assert await session.scalar(text("SELECT count(*) FROM employers")) == 2

    async with open_database(None, Addresses(managed_url)):
        pass  # a second start finds everything in place


async def test_with_a_login_of_its_own_the_service_cannot_become_the_owner(
    managed_url: str, server: EmbeddedServer
) -> None:
    login = make_url(plain_url(server.service_url())).set(username="managed_service", database="managed")
    own = login.render_as_string(hide_password=False)
    migrate(managed_url)
    with psycopg.connect(managed_url, autocommit=True) as landlord:
        landlord.execute("ALTER ROLE managed_service LOGIN")
    escape = text("SET ROLE NONE")
    async with (
        open_database(None, Addresses(managed_url, own)) as opened,
        opened.database.transaction(None) as session,
    ):
        await session.execute(escape)
        assert await session.scalar(WHO) == "managed_service"
    async with (
        open_database(None, Addresses(managed_url)) as opened,
        opened.database.transaction(None) as session,
    ):
        await session.execute(escape)
        assert await session.scalar(WHO) == "landlord"  # which is why a login of its own is better


async def test_the_services_login_must_be_the_services(managed_url: str) -> None:
    with pytest.raises(ServiceLoginError, match="not as landlord"):
        async with open_database(None, Addresses(managed_url, managed_url)):
            pass


def test_the_default_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTHPAY_DATA_DIR", "/somewhere/else")
    assert default_data_dir() == Path("/somewhere/else")
    monkeypatch.delenv("HEARTHPAY_DATA_DIR")
    assert default_data_dir().name == "hearthpay"
