"""Each tutorial is one script: its commands run word for word after the README's block, and print what it shows."""

from __future__ import annotations

import re
import shlex
import zipfile
from pathlib import Path

import pytest

from tests.cases import every_case
from tests.server.newcomer import BLOCK, README, folder, newcomers_environment, run_script
from tests.server.tutorial import Step, matches, steps_of

__all__ = ["folder"]

DOCS = README.parent / "docs"
ASSISTANTS = ("claude ",)
"""Programs of others, which the tests don't have."""


def _script(steps: list[Step]) -> str:
    """The commands, each block with its number in front of what it prints."""
    return "".join(f"printf '\\036{number}\\n'\n{step.commands}" for number, step in enumerate(steps))


def _check(steps: list[Step], output: str, log: str) -> None:
    printed = {
        int(number): text if text.endswith("\n") or not text else f"{text}\n"
        for number, _, text in (part.partition("\n") for part in output.split("\036")[1:])
    }
    assert sorted(printed) == list(range(len(steps))), output + log
    for number, step in enumerate(steps):
        if step.shown is None:
            assert printed[number] == "", (
                f"{step.commands}printed, and the page shows nothing:\n{printed[number]}"
            )
        else:
            assert matches(step.shown, printed[number]), (
                f"{step.commands}is to print\n{step.shown}and printed\n{printed[number]}"
            )


def _run(pages: list[str], folder: Path, *, forked: bool, second: bool) -> None:
    """Run the README's block and then the pages, in its terminal or, where a page says so, in a second one."""
    ((block, _),) = BLOCK.findall(README.read_text(encoding="utf-8"))
    steps = [step for page in pages for step in steps_of(DOCS / page, but=ASSISTANTS)]
    environment = newcomers_environment(folder, forked=forked)
    begins = [number for number, step in enumerate(steps) if step.second_terminal]
    script = _script(steps)
    if second:
        (begin,) = begins
        mark = f"printf '\\036{begin}\\n'\n"
        here, _, there = script.partition(mark)
        (folder / "second").write_text(mark + there)
        clean = {name: value for name, value in environment.items() if name not in ("PORT", "PATH")}
        kept = " ".join(shlex.quote(f"{name}={value}") for name, value in clean.items())
        script = f"{here}env -i PATH=/usr/local/bin:/usr/bin:/bin {kept} bash second\n"
    answers = "".join(step.answers for step in steps)
    status, output = run_script(
        f'trap \'kill "$SERVER"; wait "$SERVER"\' EXIT\n{block}exec 2>&1\n{script}',
        folder,
        environment,
        answers,
    )
    _check(steps, output, (folder / "hearthpay.log").read_text(encoding="utf-8"))
    assert status == 0, output


FIRST = "tutorials/first-payroll-api.md"
FOLLOWING = ("how-to/record-a-tax-payment.md", "tutorials/first-agent.md")


@pytest.mark.parametrize(
    ("pages", "second", "forked"),
    [
        pytest.param((FIRST,), True, True, id="the first page, second terminal"),
        pytest.param((FIRST, *FOLLOWING), True, True, marks=pytest.mark.long, id="second terminal"),
        pytest.param((FIRST, *FOLLOWING), False, True, marks=pytest.mark.long, id="same terminal"),
        pytest.param((FIRST, *FOLLOWING), True, False, marks=pytest.mark.long, id="installed"),
    ],
)
def test_the_pages_that_go_on_from_the_block(
    folder: Path, pages: tuple[str, ...], second: bool, forked: bool
) -> None:
    _run(list(pages), folder, forked=forked, second=second)
    assert (folder / "w2.pdf").read_bytes().startswith(b"%PDF")
    names = zipfile.ZipFile(folder / "test-household-payroll-2026.zip").namelist()
    assert {"test-w3-2026.pdf", "test-w2-2026-rosa-diaz.pdf", "test-schedule-h-2026.pdf"} <= set(names)
    assert (folder / "terminal.sh").stat().st_mode & 0o777 == 0o600, "it has the key"


SERVES = re.compile(r"```console\n\$ hearthpay serve\n(.*?)```", re.DOTALL)


def test_the_tutorial_of_a_server(folder: Path) -> None:
    """Its commands on this machine, with the files of `/etc`, `/root` and `/backups` in the test's folder.

    What installs the project or needs systemd is left out: the service is started as its unit does.
    """
    page = DOCS / "tutorials" / "self-host.md"
    settings, *steps = steps_of(page, but=("cd /opt/hearthpay", "systemctl "))
    environment = newcomers_environment(folder, forked=True) | {
        "HEARTHPAY_DATA_DIR": str(folder / "tmp.data")
    }
    (folder / "hearthpay.env").write_text(settings.commands)
    script = f"""trap 'kill "$SERVER"; wait "$SERVER"' EXIT
start() {{
  (set -a; . "$2"; exec hearthpay serve --port "$PORT") > "$1" 2>&1 & SERVER=$!
  until curl -sf "http://127.0.0.1:$PORT/readyz" > /dev/null; do kill -0 "$SERVER" || exit; sleep 0.2; done
}}
start first.log /dev/null
kill "$SERVER"; wait "$SERVER"
start hearthpay.log /etc/hearthpay.env
{_script(steps)}"""
    for place, name in (
        ("/etc/hearthpay.env", "hearthpay.env"),
        ("/root/vault.keys", "vault.keys"),
        ("/backups", "backups"),
    ):
        script = script.replace(place, str(folder / name))
    status, output = run_script(script.replace("127.0.0.1:8000", '127.0.0.1:"$PORT"'), folder, environment)
    output = output.replace(str(folder / "backups"), "/backups")
    _check(steps, output, (folder / "hearthpay.log").read_text(encoding="utf-8"))
    assert status == 0, output
    (shown,) = SERVES.findall(page.read_text(encoding="utf-8"))
    printed = (folder / "first.log").read_text(encoding="utf-8")
    assert matches(
        f"…\n{shown}…\n", "".join(line for line in printed.splitlines(keepends=True) if line[0] != "{")
    )
    assert (folder / "vault.keys").stat().st_mode & 0o777 == 0o600


def test_what_is_shown_is_compared() -> None:
    one, other = "01a22213-8d78-7768-b6f8-754745492240", "01a2220e-7d0f-7324-bb0d-0d1a463c6138"
    cases = [
        ("a 1.00\n", "a 1.00\n", True),
        ("a 1.00\n", "a 1.01\n", False),
        ("a …\n", "a b c\n", True),
        ("a …\nb\n", "a\nb\n", False),
        ("…\nb\n", "1\n2\nb\n", True),
        (f"{one}\n{one}\n", f"{other}\n{other}\n", True),
        (f"{one}\n{one}\n", f"{one}\n{other}\n", False),
        ("at 2026-11-28T12:08:24Z\n", "at 2027-01-01T00:00:00Z\n", True),
        ("Go? (yes/no) yes\nGone.\n", "Go? (yes/no) Gone.\n", True),
        ("key  …K35M  active\n", "key  …abcd  active\n", True),
        ("", "a\n", False),
    ]
    with every_case() as case:
        for shown, printed, same in cases:
            with case(shown):
                assert matches(shown, printed) is same
