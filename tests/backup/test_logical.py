"""`hearthpay backup DIR` and `hearthpay restore DIR` as the operator types them."""

from __future__ import annotations

import base64
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import orjson
import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.security.key_ring import KEY_FILE, EncryptionKey
from tests.backup.conftest import Installation, ask, back_up, cli, rewrite_manifest
from tests.conftest import plain_url
from tests.worlds.tables import INSTALLATION_TABLES, TABLES

POLICIES = (
    "SELECT tablename, policyname, permissive, roles, cmd, qual, with_check FROM pg_policies "
    "WHERE schemaname = 'public' ORDER BY 1, 2"
)
RIGHTS = (
    "SELECT c.oid::regclass::text, a.attname, x.grantee::regrole::text, x.privilege_type "
    "FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attacl IS NOT NULL, "
    "LATERAL aclexplode(coalesce(a.attacl, c.relacl)) x "
    "WHERE c.relnamespace IN ('public'::regnamespace, 'procrastinate'::regnamespace) ORDER BY 1, 2, 3, 4"
)
FUNCTIONS = (
    "SELECT p.oid::regprocedure::text, p.prosrc, p.proacl::text, p.proconfig::text, p.prosecdef FROM pg_proc p "
    "WHERE p.pronamespace IN ('public'::regnamespace, 'procrastinate'::regnamespace) ORDER BY 1"
)
CONSTRAINTS = (
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated, "
    "obj_description(oid, 'pg_constraint') FROM pg_constraint "
    "WHERE connamespace IN ('public'::regnamespace, 'procrastinate'::regnamespace) ORDER BY 1, 2"
)
TRIGGERS = (
    "SELECT tgrelid::regclass::text, tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger "
    "WHERE NOT tgisinternal ORDER BY 1, 2"
)
ROW_SECURITY = (
    "SELECT oid::regclass::text, relrowsecurity, relforcerowsecurity FROM pg_class "
    "WHERE relnamespace IN ('public'::regnamespace, 'procrastinate'::regnamespace) AND relkind = 'r' ORDER BY 1"
)


def test_a_backup_is_restored_into_a_new_directory_and_proven(
    installation: Installation, logical: Path, place: Path
) -> None:
    target = place / "new"
    result = cli("restore", logical.parent, "--data-dir", target, "--keys", installation.keys)
    assert result.returncode == 0, result.stderr
    assert f"Restored {logical.name}" in result.stdout
    assert "The books are right." in result.stdout
    assert "12 payrolls" in result.stdout  # four of the payday and eight of history
    assert "1 files and 4 entries were compared" in result.stdout
    assert not (target / "restoring").exists()
    assert (target / KEY_FILE).read_bytes() == installation.keys.read_bytes()
    assert stat.S_IMODE((target / KEY_FILE).stat().st_mode) == 0o600
    assert cli("doctor", "--data-dir", target).returncode == 0

    server = EmbeddedServer(target)
    server.start()
    try:
        before, after = installation.server.owner_url(), server.owner_url()
        for table in {*TABLES, *INSTALLATION_TABLES} - {"restorations", "examinations"}:
            whole = f"SELECT t::text FROM {table} t ORDER BY 1"
            assert ask(after, whole) == ask(before, whole), table
        for query in (POLICIES, RIGHTS, FUNCTIONS, CONSTRAINTS, TRIGGERS, ROW_SECURITY):
            assert ask(after, query) == ask(before, query)
            assert ask(after, query)
    finally:
        server.stop()


def test_a_backup_is_private_dated_and_says_what_it_is(installation: Installation, logical: Path) -> None:
    assert stat.S_IMODE(logical.stat().st_mode) == 0o700
    assert [path.name for path in logical.parent.iterdir()] == [logical.name]
    for path in logical.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    manifest = orjson.loads((logical / "manifest.json").read_bytes())
    assert manifest["format"] == 1
    assert manifest["kind"] == "logical"
    assert manifest["rows"]["payrolls"] == 12
    assert [(key["id"], key["secrets"]) for key in manifest["keys"]] == [(installation.ring.newest.id, 17)]
    assert [file["path"] for file in manifest["files"]] == ["database.dump"]
    assert manifest["parent"] is None


def test_no_key_is_in_the_backup(installation: Installation, logical: Path) -> None:
    encoded = installation.ring.newest.entry().partition(":")[2]
    for path in logical.iterdir():
        content = path.read_bytes()
        assert encoded.encode() not in content
        assert base64.b64decode(encoded) not in content


def test_a_backup_says_which_keys_to_keep_or_copies_them(installation: Installation, place: Path) -> None:
    told = cli("backup", place / "store", "--no-drill", "--data-dir", installation.data_dir)
    assert f"Needs the keys {installation.ring.newest.id}, which are in {installation.keys}" in told.stdout

    copy = place / "apart.keys"
    back_up(place / "store", installation.data_dir, "--no-drill", "--keys-to", copy)
    assert copy.read_bytes() == installation.keys.read_bytes()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    back_up(
        place / "store", installation.data_dir, "--no-drill", "--keys-to", copy
    )  # the same again is no loss

    foreign = place / "foreign.keys"
    foreign.touch(mode=0o600)
    foreign.write_text(EncryptionKey.generate().entry() + "\n")
    before = foreign.read_bytes()
    refused = cli("backup", place / "other", "--keys-to", foreign, "--data-dir", installation.data_dir)
    assert refused.returncode == 2, refused.stderr
    assert foreign.read_bytes() == before

    inside = cli(
        "backup", place / "store", "--keys-to", place / "store" / "k", "--data-dir", installation.data_dir
    )
    assert inside.returncode == 2
    assert "must lie apart" in inside.stderr


def test_a_key_that_is_lost_already_is_told(installation: Installation, place: Path) -> None:
    result = cli(
        "backup",
        place,
        "--no-drill",
        "--data-dir",
        installation.data_dir,
        HEARTHPAY_KEYS=EncryptionKey.generate().entry(),
    )
    assert result.returncode == 1
    assert f"the key '{installation.ring.newest.id}' is not in HEARTHPAY_KEYS" in result.stderr


@pytest.mark.parametrize("which", ["none", "another id", "another key of the id"])
def test_a_restore_without_the_right_key_is_refused_and_names_it(
    which: str, installation: Installation, logical: Path, place: Path
) -> None:
    ring = place / "ring"
    needed = installation.ring.newest.id
    stranger = EncryptionKey.generate().entry()
    ring.touch(mode=0o600)
    ring.write_text(stranger if which == "another id" else f"{needed}:{stranger.partition(':')[2]}")
    keys = () if which == "none" else ("--keys", ring)
    result = cli("restore", logical, "--data-dir", place / "new", *keys)
    assert result.returncode == 2, result.stderr
    assert repr(needed) in result.stderr
    assert not (place / "new").exists()


def test_the_keys_may_come_from_the_environment(
    installation: Installation, logical: Path, place: Path
) -> None:
    target = place / "new"
    result = cli("restore", logical, "--data-dir", target, HEARTHPAY_KEYS=installation.ring.newest.entry())
    assert result.returncode == 0, result.stderr
    assert not (target / KEY_FILE).exists()


def flip_a_byte(backup: Path) -> str:
    path = backup / "database.dump"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return "another content"


def lose_the_dump(backup: Path) -> str:
    (backup / "database.dump").unlink()
    return "database.dump is missing"


def add_a_file(backup: Path) -> str:
    (backup / "notes").write_text("hello")
    return "does not know"


def lose_the_manifest(backup: Path) -> str:
    (backup / "manifest.json").unlink()
    return "is no backup"


def edit_the_manifest(backup: Path) -> str:
    path = backup / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"payrolls": 12', b'"payrolls": 11'))
    return "its own checksum differs"


def cut_the_manifest(backup: Path) -> str:
    path = backup / "manifest.json"
    path.write_bytes(path.read_bytes()[:100])
    return "not JSON"


def come_from_a_newer_format(backup: Path) -> str:
    rewrite_manifest(backup, format=2)
    return "made by a newer program"


def come_from_a_newer_schema(backup: Path) -> str:
    manifest = orjson.loads((backup / "manifest.json").read_bytes())
    rewrite_manifest(backup, origin=manifest["origin"] | {"schema_revision": "9999"})
    return "schema 9999"


def come_from_newer_programs(backup: Path) -> str:
    rewrite_manifest(backup, programs="19.1")
    return "written by PostgreSQL 19.1's programs"


@pytest.mark.parametrize(
    "damage",
    [
        come_from_newer_programs,
        flip_a_byte,
        lose_the_dump,
        add_a_file,
        lose_the_manifest,
        edit_the_manifest,
        cut_the_manifest,
        come_from_a_newer_format,
        come_from_a_newer_schema,
    ],
)
@pytest.mark.long
def test_a_backup_that_is_not_as_it_was_written_is_refused(
    damage: Callable[[Path], str], installation: Installation, logical: Path, place: Path
) -> None:
    copy = place / logical.name
    shutil.copytree(logical, copy)
    message = damage(copy)
    for named in (copy, place):
        result = cli("restore", named, "--data-dir", place / "new", "--keys", installation.keys)
        assert (result.returncode, message in result.stderr) == (2, True), result.stderr
    assert not (place / "new").exists()


def test_rows_that_are_not_in_the_dump_are_missed(
    installation: Installation, logical: Path, place: Path
) -> None:
    """A manifest that promises more than there is: what was restored is undone."""
    copy = place / logical.name
    shutil.copytree(logical, copy)
    rows = orjson.loads((copy / "manifest.json").read_bytes())["rows"]
    rewrite_manifest(copy, rows=rows | {"payrolls": 13})
    result = cli("restore", copy, "--data-dir", place / "new", "--keys", installation.keys)
    assert result.returncode == 3
    assert "12 rows of payrolls were restored, of 13" in result.stderr
    assert not (place / "new").exists()


def test_only_a_new_directory_is_restored_into(
    installation: Installation, logical: Path, place: Path
) -> None:
    full = place / "full"
    full.mkdir()
    (full / "letter").write_text("dear")
    for target in (full, installation.data_dir):
        result = cli("restore", logical, "--data-dir", target, "--keys", installation.keys)
        assert (result.returncode, "is not empty" in result.stderr) == (2, True), result.stderr
    assert [path.name for path in full.iterdir()] == ["letter"]


@pytest.mark.long
def test_of_several_the_newest_is_restored(installation: Installation, place: Path) -> None:
    store = place / "store"
    back_up(store, installation.data_dir)
    newest = back_up(store, installation.data_dir)
    assert len(list(store.iterdir())) == 2
    result = cli("restore", store, "--data-dir", place / "new", "--keys", installation.keys)
    assert result.returncode == 0, result.stderr
    assert newest.name in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("backup", "{place}/b", "--physical", "--incremental"), "name one of the two"),
        (("backup", "{place}/b", "--data-dir", "{place}/nothing"), "holds no database"),
        (("backup", "{data}/b", "--data-dir", "{data}"), "lost with it"),
        (("backup", "{place}/b", "--incremental", "--data-dir", "{data}"), "no physical backup yet"),
        (("restore", "{place}/none", "--data-dir", "{place}/new"), "No such file"),
        (("restore", "{place}", "--data-dir", "{place}/new"), "holds no backup"),
        (("restore", "{place}"), "name where to"),
        (("hold-after-restore", "--taken-at", "yesterday", "--data-dir", "{data}"), "must be a moment"),
        (("hold-after-restore", "--taken-at", "2026-11-01", "--data-dir", "{data}"), "needs its offset"),
        (("hold-after-restore", "--taken-at", "2999-01-01T00:00Z", "--data-dir", "{data}"), "the future"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    arguments: tuple[str, ...], message: str, installation: Installation, place: Path
) -> None:
    result = cli(*(each.format(place=place, data=installation.data_dir) for each in arguments))
    assert (result.returncode, message in result.stderr) == (2, True), result.stderr
    assert "Traceback" not in result.stderr
    assert list(place.rglob("*")) in ([], [place / "b"])
    assert not (installation.data_dir / "b").exists()


def test_what_cannot_be_restored_is_no_backup(installation: Installation, place: Path) -> None:
    """A table that is none of ours has no place in the schema which a restore makes; whoever wants it copied may."""
    store = place / "store"
    with psycopg.connect(plain_url(installation.server.owner_url()), autocommit=True) as owner:
        owner.execute("CREATE TABLE notes_of_the_operator AS SELECT 'call the bank'::text AS note")
    try:
        refused = cli("backup", store, "--data-dir", installation.data_dir)
        assert (refused.returncode, "notes_of_the_operator" in refused.stderr) == (3, True), refused.stderr
        assert "cannot be restored" in refused.stderr
        assert list(store.iterdir()) == []
        untried = cli("backup", store, "--no-drill", "--data-dir", installation.data_dir)
        assert untried.returncode == 0, untried.stderr
        assert "not restored as a drill" in untried.stdout
    finally:
        with psycopg.connect(plain_url(installation.server.owner_url()), autocommit=True) as owner:
            owner.execute("DROP TABLE notes_of_the_operator")


@pytest.mark.parametrize("kind", ["logical", "physical"])
def test_a_backup_is_restored_as_a_drill_and_leaves_nothing_of_it(
    kind: str, installation: Installation, logical: Path, logical_said: str, place: Path
) -> None:
    if kind == "logical":
        said, made = logical_said, logical
    else:
        result = cli("backup", place / "store", "--physical", "--data-dir", installation.data_dir)
        assert result.returncode == 0, result.stderr
        said = result.stdout
        [made] = (place / "store").iterdir()
    assert "restored as a drill, checked" in said
    assert not list(made.rglob("postmaster.pid"))
    assert ask(installation.server.owner_url(), "SELECT count(*)::int FROM restorations") == [(0,)]
