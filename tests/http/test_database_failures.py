"""Each trouble of the database is told as what it is, in the log and in the 503, and never with a value."""

from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from hearthpay.http.database_failures import database_failure_of, sqlstate_of
from tests.http.api import MARIA, Account, data, refusal

TOLD = [
    ("53100", "disk_full", "disk is full", "60"),
    ("53200", "out_of_memory", "out of memory", "10"),
    ("53300", "too_many_connections", "no connection left", "2"),
    ("53400", "out_of_resources", "run out of resources", "10"),
    ("25006", "read_only", "takes no writes", "30"),
    ("57P01", "restarting", "being restarted", "2"),
    ("57014", "statement_too_long", "took too long", "2"),
    ("55P03", "contention", "in the way", "1"),
    ("40P01", "contention", "in the way", "1"),
    ("58030", "storage_failure", "trouble with its storage", "60"),
    ("XX001", "storage_failure", "trouble with its storage", "60"),
    ("HP001", "replaced_key", "has been replaced", "60"),
]


def raise_at_inserts(owner: psycopg.Connection, sqlstate: str) -> None:
    """Make the database refuse new households with this code, and quote one as it does."""
    owner.execute(
        "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"RAISE EXCEPTION 'quoting %', NEW.last_name USING ERRCODE = '{sqlstate}'; END $$; "
        "CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON employers FOR EACH ROW EXECUTE FUNCTION fail()"
    )


@pytest.fixture
def failing(owner_connection: psycopg.Connection) -> Any:
    yield owner_connection
    owner_connection.execute("DROP TRIGGER IF EXISTS fail ON employers; DROP FUNCTION IF EXISTS fail")


@pytest.mark.parametrize(("sqlstate", "kind", "words", "retry_after"), TOLD)
async def test_the_truth_is_told(
    account: Account, failing: psycopg.Connection, sqlstate: str, kind: str, words: str, retry_after: str
) -> None:
    raise_at_inserts(failing, sqlstate)
    with capture_logs() as logged:
        answer = await account.live.post("/employers", {**MARIA, "last_name": "Zebulonquist"})
    error = refusal(answer, 503, "service_unavailable")
    assert words in error["message"]
    assert answer.headers["Retry-After"] == retry_after
    (line,) = [entry for entry in logged if entry["event"] == "database unavailable"]
    assert (line["trouble"], line["sqlstate"]) == (kind, sqlstate)
    assert line["error"]
    assert "Zebulonquist" not in repr(logged) + answer.text
    failing.execute("DROP TRIGGER fail ON employers")
    data(await account.live.post("/employers", MARIA), 201)


@pytest.mark.parametrize("sqlstate", ["22012", "P0001", "42501", "XX000"])
async def test_a_fault_of_ours_stays_an_internal_error(
    account: Account, failing: psycopg.Connection, sqlstate: str
) -> None:
    raise_at_inserts(failing, sqlstate)
    with capture_logs() as logged:
        refusal(await account.live.post("/employers", MARIA), 500, "internal_error")
    (line,) = [entry for entry in logged if entry["event"] == "request failed"]
    assert f"sqlstate={sqlstate}" in line["exception"]


def test_the_code_is_found_however_deep_and_a_circle_ends() -> None:
    cause = psycopg.errors.DiskFull("no room")
    outer, inner = RuntimeError("outer"), ValueError("inner")
    outer.__cause__, inner.__context__ = inner, cause
    assert sqlstate_of(outer) == "53100"
    trouble = database_failure_of(outer)
    assert trouble is not None
    assert trouble.kind == "disk_full"
    lonely, other = RuntimeError("a"), RuntimeError("b")
    lonely.__context__, other.__context__ = other, lonely
    assert sqlstate_of(lonely) is None
    assert database_failure_of(lonely) is None
