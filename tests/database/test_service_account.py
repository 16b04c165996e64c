"""Root starts PostgreSQL's programs as another account, without copying itself where `setpriv` is installed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearthpay.database import service_account
from hearthpay.database.service_account import ServiceAccount

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root lends accounts to others")

NAMELESS = ServiceAccount(61_234, 61_235, borrowed=True)
IN_GROUPS = ServiceAccount(61_234, 61_235, borrowed=True, groups=(61_236, 61_237))
NOT_COMPARED = (
    "Name",
    "Pid",
    "Tgid",
    "NSpid",
    "NSpgid",
    "NStgid",
    "Vm",
    "Rss",
    "Hugetlb",
    "voluntary",
    "nonvoluntary",
)


@pytest.fixture(params=["setpriv", "no setpriv", "BusyBox"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """How this machine changes accounts; with BusyBox, its `setpriv` refuses the options."""
    places: tuple[str, ...] = ()
    if request.param == "setpriv":
        if not Path("/usr/bin/setpriv").exists():
            pytest.skip("this machine has no setpriv")
        places = ("/usr/bin/setpriv",)
    elif request.param == "BusyBox":
        refusing = tmp_path / "setpriv"
        refusing.write_text("#!/bin/sh\necho 'setpriv: unrecognized option' >&2\nexit 1\n")
        refusing.chmod(0o755)
        places = (str(refusing), str(tmp_path / "missing"))
    service_account._setpriv.cache_clear()
    monkeypatch.setattr(service_account, "_SETPRIV_PLACES", places)
    yield str(request.param)
    service_account._setpriv.cache_clear()


def output(account: ServiceAccount, *command: str, environment: dict[str, str] | None = None) -> str:
    return subprocess.run(
        **account.popen_arguments(command),
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def status(account: ServiceAccount) -> dict[str, str]:
    """What the kernel tells of a program of this account: its ids, capabilities and signals."""
    lines = output(account, "/bin/cat", "/proc/self/status").splitlines()
    return dict(line.split(":", 1) for line in lines if not line.startswith(NOT_COMPARED))


@pytest.mark.parametrize("account", [NAMELESS, IN_GROUPS], ids=["nameless", "in groups"])
def test_a_program_has_the_accounts_ids_and_no_rights_of_root(account: ServiceAccount, way: str) -> None:
    told = status(account)
    assert told["Uid"].split() == ["61234"] * 4
    assert told["Gid"].split() == ["61235"] * 4
    assert tuple(map(int, told["Groups"].split())) == account.groups
    for capabilities in ("CapPrm", "CapEff", "CapAmb"):
        assert int(told[capabilities], 16) == 0
    # All that the kernel tells is as it is where Python itself changes the account.
    itself = subprocess.run(
        ["/bin/cat", "/proc/self/status"],
        cwd="/",
        capture_output=True,
        text=True,
        **account.process_options(),
    ).stdout.splitlines()
    assert told == dict(line.split(":", 1) for line in itself if not line.startswith(NOT_COMPARED))


SHIFTED = ("LD_PRELOAD=", "SHIFTED_CLOCK=", "PYTHONPATH=")
"""What a run on another date gives each process (`tools/suite_on_dates.py`)."""


def test_only_setpriv_spares_the_copy_of_the_process(way: str) -> None:
    arguments = NAMELESS.popen_arguments(["/bin/true"])
    assert ("user" in arguments) == (way != "setpriv")


def test_an_account_of_our_own_needs_neither(way: str) -> None:
    own = ServiceAccount(os.geteuid(), os.getegid(), borrowed=False)
    assert own.popen_arguments(["/bin/true"]) == {"args": ["/bin/true"]}


def test_arguments_environment_and_process_number_are_the_programs(way: str) -> None:
    words = ("--reuid=0", "--", "two words", "$HOME;", "é")
    environment = {"PGPORT": "1", "LC_ALL": "C"}
    assert output(NAMELESS, "/usr/bin/printf", "%s|", *words) == "".join(f"{word}|" for word in words)
    seen = set(output(NAMELESS, "/usr/bin/env", environment=environment).splitlines())
    assert {each for each in seen if not each.startswith(SHIFTED)} == {"PGPORT=1", "LC_ALL=C"}
    with subprocess.Popen(
        **NAMELESS.popen_arguments(["/bin/sh", "-c", "echo $$"]), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.communicate()[0] == f"{process.pid}\n"


def test_the_kernel_decides_what_an_account_can(way: str, tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    folder.mkdir()
    for path in (tmp_path, *tmp_path.parents[:-1]):
        if path.stat().st_mode & 0o001 == 0:
            path.chmod(path.stat().st_mode | 0o001)
    private, public = folder / "private", folder / "public"
    for path, mode in ((folder, 0o755), (private, 0o600), (public, 0o644)):
        path.touch()
        path.chmod(mode)
    assert NAMELESS.can("-r", public)
    assert not NAMELESS.can("-w", public)
    assert not NAMELESS.can("-r", private)
    assert NAMELESS.can_all(("-x", folder), ("-r", public))
    assert not NAMELESS.can_all(("-x", folder), ("-r", private))
    assert not NAMELESS.can_all(("-r", private), ("-x", folder))
