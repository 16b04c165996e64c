"""`hearthpay audit` and `hearthpay households ein-status`, on a database of their own."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import psycopg
import pytest
from typer.testing import CliRunner, Result

from hearthpay.cli.main import app
from hearthpay.database.audit import ActorKind
from tests.conftest import plain_url
from tests.database.household import Household, add_household, add_organization, insert
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install


@dataclass(frozen=True, slots=True)
class Place:
    """A data directory with two accounts: what each did, one deed an hour on 20 November 2026, UTC."""

    where: tuple[str, str]
    lopez: Household
    cohen: Household
    kinds: tuple[str, ...]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-audit-"))
    server = install(folder)
    server.start()
    try:
        with psycopg.connect(plain_url(server.owner_url()), autocommit=True) as owner:
            lopez = add_household(owner, add_organization(owner, "Lopez [family]"))
            cohen = add_household(owner, add_organization(owner, "Cohen agency"), sandbox=True)
            owner.execute("TRUNCATE audit_log")
            kinds: tuple[str, ...] = get_args(ActorKind)
            for hour, kind in enumerate(kinds):
                deed(owner, lopez, hour, kind, "payroll.run", {"net_pay": "812.40", "lines": [1, 2]})
            deed(
                owner, cohen, 12, "key", "employee.update", {"pay_rate": {"before": "20", "after": "[red]21"}}
            )
        yield Place(("--data-dir", str(folder)), lopez, cohen, kinds)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def deed(
    owner: psycopg.Connection, whose: Household, hour: int, kind: str, action: str, details: dict[str, Any]
) -> None:
    insert(
        owner,
        "audit_log",
        organization_id=whose.organization_id,
        employer_id=whose.employer_id,
        sandbox=whose.sandbox,
        actor_kind=kind,
        actor_id=None if kind in ("system", "operator") else whose.employee_id,
        action=action,
        subject_id=whose.payroll_id,
        request_id="req-1",
        details=json.dumps(details),
        at=datetime(2026, 11, 20, hour, 30, tzinfo=UTC),
    )


def run(place: Place, *arguments: str) -> Result:
    """The command in this process: a new one would import everything anew."""
    return CliRunner().invoke(app, [*arguments, *place.where])


def rows(place: Place, *arguments: str) -> list[dict[str, Any]]:
    result = run(place, "audit", "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_json_lines_tell_everything_newest_first(place: Place) -> None:
    found = rows(place)
    assert len(found) == len(place.kinds) + 1
    assert [row["at"] for row in found] == sorted((row["at"] for row in found), reverse=True)
    assert UUID(found[0].pop("id"))
    assert found[0] == {
        "at": "2026-11-20T12:30:00Z",
        "organization_id": str(place.cohen.organization_id),
        "organization": "Cohen agency",
        "employer_id": str(place.cohen.employer_id),
        "sandbox": True,
        "actor": "key",
        "actor_id": str(place.cohen.employee_id),
        "action": "employee.update",
        "subject_id": str(place.cohen.payroll_id),
        "request_id": "req-1",
        "details": {"pay_rate": {"before": "20", "after": "[red]21"}},
    }
    assert [row["actor"] for row in found[1:]] == list(reversed(place.kinds))
    assert set(place.kinds) == {"user", "key", "mcp", "employee", "system", "operator"}


def test_rows_are_chosen(place: Place) -> None:
    everything = len(place.kinds) + 1
    assert {row["organization"] for row in rows(place, "--organization", "Cohen agency")} == {"Cohen agency"}
    assert len(rows(place, "--household", str(place.lopez.employer_id))) == len(place.kinds)
    assert rows(place, "--household", str(place.lopez.employee_id)) == []
    assert [row["action"] for row in rows(place, "--action", "employee.update")] == ["employee.update"]
    assert [row["at"] for row in rows(place, "--limit", "2")] == [
        "2026-11-20T12:30:00Z",
        f"2026-11-20T{len(place.kinds) - 1:02}:30:00Z",
    ]
    assert len(rows(place, "--since", "2026-11-19")) == everything
    # The 20th begins at 05:00 UTC in New York.
    assert [row["at"][11:13] for row in rows(place, "--since", "2026-11-20")] == ["12", "05"]
    assert rows(place, "--since", "2026-11-21") == []
    both = rows(place, "--organization", "Lopez [family]", "--action", "employee.update")
    assert both == []


def test_the_table_is_for_reading(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    text = hearthpay("audit", *place.where).stdout.decode()
    lines = [line.strip() for line in text.splitlines() if "2026-11-20 " in line]
    assert len(lines) == len(place.kinds) + 1
    assert lines[0].startswith("2026-11-20 12:30:00")
    assert "Cohen agency (sandbox)" in lines[0]
    assert 'pay_rate={"after": "[red]21", "before": "20"}' in lines[0]
    assert "Lopez [family] (live)" in lines[1]
    assert "lines=[1, 2], net_pay=812.40" in lines[1]
    assert str(place.lopez.payroll_id) in lines[1]
    none = run(place, "audit", "--action", "nothing.done")
    assert none.stdout.strip() == "No row of the audit log matches."


def test_an_unknown_account_is_refused(place: Place) -> None:
    result = run(place, "audit", "--organization", "Nobody")
    assert result.exit_code == 2
    assert "there is no organization 'Nobody'" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "--household", "nobody"),
        ("audit", "--since", "yesterday"),
        ("audit", "--since", "2026-02-30"),
        ("audit", "--limit", "0"),
        ("households", "ein-status", "nobody", "pending"),
        ("households", "ein-status", "0199aa00-0000-7000-8000-000000000000", "lost"),
    ],
)
def test_bad_arguments_are_refused_before_anything_starts(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*arguments, "--data-dir", "/nonexistent/hearthpay"])
    assert result.exit_code == 2, result.exception
    assert result.stderr


def test_an_ein_is_followed_on_its_way(place: Place) -> None:
    household = str(place.cohen.employer_id)

    def ein_status(status: str) -> tuple[int, str]:
        result = run(place, "households", "ein-status", household, status)
        return result.exit_code, (result.stdout + result.stderr).strip()

    assert ein_status("approved") == (
        2,
        "hearthpay: The household's EIN status is none, which may become pending; it cannot become approved.",
    )
    assert ein_status("pending") == (0, f"EIN of {household}: none → pending")
    assert ein_status("approved") == (0, f"EIN of {household}: pending → approved")
    code, text = ein_status("none")
    assert code == 2
    assert "is approved, which is final" in text
    noted = rows(place, "--action", "employer.ein_status")
    assert [row["details"] for row in noted] == [
        {"before": "pending", "after": "approved"},
        {"before": "none", "after": "pending"},
    ]
    assert {row["actor"] for row in noted} == {"operator"}


def test_the_operator_chooses_how_thresholds_count(place: Place) -> None:
    household = str(place.cohen.employer_id)

    def choose(basis: str, of: str = household) -> tuple[int, str]:
        result = run(place, "households", "threshold-basis", of, basis)
        return result.exit_code, (result.stdout + result.stderr).strip().splitlines()[0]

    assert choose("as_paid") == (0, f"Thresholds of {household}: assume_crossed → as_paid")
    assert choose("sometimes") == (2, "hearthpay: the basis must be assume_crossed or as_paid")
    nobody = "0199aa00-0000-7000-8000-000000000000"
    assert choose("as_paid", nobody) == (2, f"hearthpay: There is no household with the id {nobody}.")
    assert choose("as_paid") == (0, f"Thresholds of {household}: as_paid → as_paid")
    [noted] = rows(place, "--action", "employer.update")
    assert (noted["actor"], noted["details"]["threshold_basis"]["after"]) == ("operator", "as_paid")
