"""The operator's commands for organizations, plans and limits, on an embedded database of their own."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from hearthpay.access.plans import FEATURES, PLANS
from hearthpay.database.embedded import EmbeddedServer
from tests.conftest import plain_url
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install


@pytest.fixture
def running() -> Iterator[EmbeddedServer]:
    """A database that is up from the start, so that no command has to wait for it."""
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-organizations-"))
    server = install(folder)
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


def test_an_organization_from_its_creation_to_a_smaller_plan(running: EmbeddedServer) -> None:
    where = ("--data-dir", str(running.data_dir))

    def organizations(*arguments: str) -> str:
        result = hearthpay("organizations", *arguments, *where)
        assert result.returncode == 0, result.stderr
        return result.stdout.decode().strip()

    def refused(*arguments: str) -> str:
        result = hearthpay(*arguments, *where)
        assert result.returncode == 2, result.stdout
        assert b"Traceback" not in result.stderr
        return result.stderr.decode()

    identity, plan, name = organizations("create", "Lopez family").split("  ")
    assert UUID(identity)
    assert (plan, name) == ("professional", "Lopez family")
    assert "  free  " in organizations("create", "Albright family", "--plan", "free")
    assert "an organization already" in refused("organizations", "create", "Lopez family")

    limits = ("requests_per_day=100000", "employees_per_household=40", "households=none")
    assert organizations("lift", "Lopez family", *limits) == (
        "Lopez family: professional  lifted: employees_per_household=40, households=none, requests_per_day=100000"
    )
    assert organizations("lift", "Lopez family", "requests_per_day=default", "households=default") == (
        "Lopez family: professional  lifted: employees_per_household=40"
    )
    assert organizations("set-plan", "Lopez family", "starter") == "Lopez family: professional → starter"
    asked = ("keys", "create", "--organization", "Lopez family", "--mode")
    assert "smallest plan that does is 'professional'" in refused(*asked, "test")
    assert hearthpay(*asked, "live", *where).stdout.startswith(b"hp_live_")
    assert "no organization 'Nobody'" in refused("organizations", "set-plan", "Nobody", "free")
    assert "no organization 'Nobody'" in refused("organizations", "lift", "Nobody", "keys=1")

    first, second = organizations("list").splitlines()
    assert first.endswith("Albright family  free  households: 0  sandboxes: 0  keys: 0")
    assert second == (
        f"{identity}  Lopez family  starter  households: 0  sandboxes: 0  keys: 1  lifted: employees_per_household=40"
    )
    with psycopg.connect(plain_url(running.owner_url())) as connection:
        rows = connection.execute("SELECT action, details FROM audit_log ORDER BY id").fetchall()
    lifted = {"requests_per_day": 100000, "employees_per_household": 40, "households": None}
    assert rows[:5] == [
        ("organization.create", {"plan": "professional"}),
        ("organization.create", {"plan": "free"}),
        ("organization.lift", {"before": {}, "after": lifted}),
        ("organization.lift", {"before": lifted, "after": {"employees_per_household": 40}}),
        ("organization.set_plan", {"before": {"plan": "professional"}, "after": {"plan": "starter"}}),
    ]
    assert [row[0] for row in rows[5:]] == ["key.create"]

    assert organizations("unfreeze", "Lopez family") == "nothing is frozen there"
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        connection.execute(
            "UPDATE organizations SET frozen_until = now() + interval '1 day' WHERE id = %s", (identity,)
        )
        assert organizations("unfreeze", "Lopez family") == "no longer frozen: Lopez family"
        ended = "SELECT frozen_until, unfrozen_at IS NOT NULL FROM organizations WHERE id = %s"
        assert connection.execute(ended, (identity,)).fetchone() == (None, True)
        reported = "SELECT a.action FROM security_alerts s JOIN audit_log a ON a.id = s.id ORDER BY a.id DESC LIMIT 1"
        assert connection.execute(reported).fetchone() == ("organization.unfreeze",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "X", "--plan", "platinum"), b"free, starter, plus, professional"),
        (("set-plan", "X", "platinum"), b"there is no plan 'platinum'"),
        (("lift", "X"), b"Missing argument"),
        (("lift", "X", "keys"), b"keys must be a whole number"),
        (("lift", "X", "keys="), b"keys must be a whole number"),
        (("lift", "X", "keys=many"), b"keys must be a whole number"),
        (("lift", "X", "keys=-1"), b"keys must be a whole number"),
        (("lift", "X", "keys=1.5"), b"keys must be a whole number"),
        (("lift", "X", "keys=1000000001"), b"keys must be a whole number"),
        (("lift", "X", "keys=" + "9" * 5000), b"keys must be a whole number"),
        (("lift", "X", "keys=١"), b"keys must be a whole number"),
        (("lift", "X", "keys=1", "keys=2"), b"keys is given twice"),
        (("lift", "X", "keys=1", "keys=default"), b"keys is given twice"),
        (("lift", "X", "gold=1"), b"'gold' is not a limit"),
    ],
)
def test_bad_arguments_are_refused_before_anything_starts(arguments: tuple[str, ...], said: bytes) -> None:
    result = hearthpay("organizations", *arguments, "--data-dir", "/nonexistent/hearthpay")
    assert result.returncode == 2
    assert said in result.stderr
    assert b"Traceback" not in result.stderr


def test_the_plans_are_shown_without_a_database() -> None:
    result = hearthpay("plans")
    assert result.returncode == 0, result.stderr
    limits, features = result.stdout.decode().split("Included")
    assert _cells(limits)["requests_per_day"] == ["50", "500", "2,000", "2,000"]
    assert _cells(limits)["employees_per_household"] == ["0", "1", "5", "5 (add-on: 25)"]
    included = _cells(features)
    assert list(included) == list(FEATURES)
    for feature, cells in included.items():
        assert cells == ["yes" if feature in plan.features else "" for plan in PLANS.values()], feature


def _cells(table: str) -> dict[str, list[str]]:
    """The table's rows by their first cell."""
    rows = [line.split("│") for line in table.splitlines() if line.startswith("│")]
    return {first.strip(): [cell.strip() for cell in cells] for _, first, *cells, _ in rows}
