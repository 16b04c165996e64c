"""A server of the operator's own, whose owner is an ordinary role: backed up, and restored into another database."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from hearthpay.backup.errors import RefusedError
from hearthpay.backup.programs import packaged_programs, programs_for
from hearthpay.backup.source import BackupSource
from hearthpay.database.migrations import migrate
from tests.backup.conftest import Installation, ask, cli
from tests.conftest import plain_url
from tests.worlds.tables import TABLES


@dataclass(frozen=True, slots=True)
class Given:
    """A database with an owner of its own, as the operator of a server makes them."""

    name: str
    url: str


@pytest.fixture
def given(installation: Installation) -> Iterator[list[Given]]:
    server = installation.server.owner_url()
    made: list[Given] = []
    with psycopg.connect(plain_url(server), autocommit=True) as connection:
        for name in ("given_old", "given_new"):
            owner = f"{name}_owner"
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN CREATEROLE NOSUPERUSER PASSWORD 'wonderland'").format(
                    sql.Identifier(owner)
                )
            )
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(owner))
            )
            url = server.replace("hearthpay_owner@/hearthpay", f"{owner}:wonderland@/{name}")
            assert url != server
            made.append(Given(name, url))
        yield made
        for each in made:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(each.name)))
        for each in made:
            for part in ("service", "worker"):
                connection.execute(
                    sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(f"{each.name}_{part}"))
                )
            owner_role = sql.Identifier(f"{each.name}_owner")
            connection.execute(sql.SQL("DROP OWNED BY {}").format(owner_role))
            connection.execute(sql.SQL("DROP ROLE {}").format(owner_role))


@pytest.mark.long
def test_an_earlier_schema_goes_to_another_owners_database_and_up_to_date(
    given: list[Given], installation: Installation, place: Path
) -> None:
    old, new = given
    migrate(old.url, revision="0006")
    with psycopg.connect(plain_url(old.url)) as connection:
        connection.execute(
            "INSERT INTO organizations (id, name) VALUES (uuidv7(), 'Lopez'), (uuidv7(), 'Chen')"
        )

    made = cli("backup", place / "store", DATABASE_URL=old.url)
    assert made.returncode == 0, made.stderr
    assert "2 organizations" in made.stdout
    assert ask(old.url, "SELECT version_num FROM alembic_version") == [("0006",)]  # as it was

    restored = cli("restore", place / "store", DATABASE_URL=new.url)
    assert restored.returncode == 0, restored.stderr
    assert "The books are right." in restored.stdout
    assert ask(new.url, "SELECT name FROM organizations ORDER BY name") == [("Chen",), ("Lopez",)]
    assert ask(new.url, "SELECT resumed_at FROM restorations") == [(None,)]
    policies = "SELECT DISTINCT unnest(roles)::text FROM pg_policies ORDER BY 1"
    assert ask(new.url, policies) == [("given_new_owner",), ("given_new_service",), ("given_new_worker",)]
    owners = "SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname IN ('public', 'procrastinate')"
    assert ask(new.url, owners) == [("given_new_owner",)]
    assert len(ask(new.url, "SELECT FROM pg_tables WHERE schemaname = 'public'")) >= len(TABLES)

    again = cli("restore", place / "store", DATABASE_URL=new.url)
    assert (again.returncode, "is not empty" in again.stderr) == (2, True)
    both = cli("restore", place / "store", "--data-dir", place / "new", DATABASE_URL=new.url)
    assert (both.returncode, "unset it" in both.stderr) == (2, True)

    # And from there to the embedded server: nothing is left of the given one's owner.
    embedded = cli("restore", place / "store", "--data-dir", place / "embedded")
    assert embedded.returncode == 0, embedded.stderr
    assert cli("doctor", "--data-dir", place / "embedded").returncode == 0


def test_a_database_that_is_none_of_ours_is_not_backed_up(given: list[Given], place: Path) -> None:
    result = cli("backup", place / "store", DATABASE_URL=given[0].url)
    assert (result.returncode, "holds no schema of Hearthpay's" in result.stderr) == (2, True)
    assert not list((place / "store").iterdir())


def test_rows_that_the_login_may_not_see_make_no_backup(
    given: list[Given], installation: Installation, place: Path
) -> None:
    url = given[0].url
    migrate(url, revision="0007")
    with psycopg.connect(plain_url(url)) as connection:
        connection.execute("DROP POLICY operator ON payrolls")
    result = cli("backup", place / "store", DATABASE_URL=url)
    assert (result.returncode, "hides rows of payrolls" in result.stderr) == (3, True), result.stderr


@pytest.mark.long
def test_a_server_out_of_reach_is_a_plain_line_without_the_password(place: Path) -> None:
    for url in ("postgresql://me:wonderland@127.0.0.1:9/x", "postgresql://me:wonderland@host:a/x"):
        for arguments in (("backup", place / "store"), ("restore", place)):
            result = cli(*arguments, DATABASE_URL=url)
            assert result.returncode == 2
            assert "wonderland" not in result.stderr
            assert "Traceback" not in result.stderr


def test_no_password_is_among_a_programs_arguments(
    given: list[Given], installation: Installation, place: Path
) -> None:
    """A program in pg_dump's place notes what it was started with, and goes on as pg_dump."""
    real = packaged_programs().directory
    programs, note = place / "programs", place / "note"
    programs.mkdir()
    for name in ("pg_dump", "pg_restore"):
        (programs / name).write_text(
            f'#!/bin/sh\necho "{name} $*" >> {note}\ncat "$PGSERVICEFILE" >> {note} 2>/dev/null\n'
            f'exec {real}/{name} "$@"\n'
        )
        (programs / name).chmod(0o755)
    migrate(given[0].url, revision="0007")
    result = cli("backup", place / "store", DATABASE_URL=given[0].url, HEARTHPAY_PG_PROGRAMS=str(programs))
    assert result.returncode == 0, result.stderr
    seen = note.read_text()
    assert "user=given_old_owner" in seen
    assert "wonderland" not in seen

    with BackupSource(given[0].url, None).program_environment(encrypted=True) as environment:
        service = Path(environment["PGSERVICEFILE"])
        assert stat.S_IMODE(service.stat().st_mode) == 0o600
        assert "sslmode=require" in service.read_text()
        assert environment["PGPASSWORD"] == "wonderland"
    assert not service.exists()


def test_programs_too_old_for_the_server_or_without_tls_are_not_used(
    monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.delenv("HEARTHPAY_PG_PROGRAMS", raising=False)
    assert programs_for(150000, encrypted=False) == packaged_programs()
    with pytest.raises(RefusedError, match="too old for a server of 99"):
        programs_for(990000, encrypted=False)
    with pytest.raises(RefusedError, match="does not speak"):
        programs_for(990000, encrypted=True)
    monkeypatch.setenv("HEARTHPAY_PG_PROGRAMS", str(place))
    with pytest.raises(RefusedError, match="does not run"):
        programs_for(180000, encrypted=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_an_ordinary_user_backs_up_and_restores(place: Path) -> None:
    home = place / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    try:
        readable = cli("--version", user=65534).returncode == 0
    except PermissionError:
        readable = False
    if not readable:
        pytest.skip("another user cannot read this installation")
    for arguments in (
        ("organizations", "create", "Lopez", "--data-dir", home / "data"),
        ("backup", home / "store", "--data-dir", home / "data"),
        ("restore", home / "store", "--data-dir", home / "new"),
        ("backup", home / "store", "--physical", "--data-dir", home / "new"),
        ("restore", home / "store", "--data-dir", home / "newer"),
    ):
        result = cli(*arguments, user=65534)
        assert result.returncode == 0, result.stderr
    assert "Lopez" in cli("organizations", "list", "--data-dir", home / "newer", user=65534).stdout
