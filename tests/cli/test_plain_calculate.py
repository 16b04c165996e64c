"""`hearthpay calculate` reads plain command lines itself: all that it reads means the same to Typer."""

import inspect
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from hearthpay.cli.estimate import FLAGS, REQUIRED, VALUES, print_estimate, read_plainly
from hearthpay.cli.main import app
from tests.cases import every_case
from tests.database.household import NOW
from tests.worlds.commands import code_that_says

LINE = ("--state", "CA", "--annual-wages", "35000")


def options() -> dict[str, Any]:
    command = typer.main.get_command(app).commands["calculate"]  # type: ignore[attr-defined]
    return {parameter.name: parameter for parameter in command.params if parameter.name != "help"}


def as_typer_reads(arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any] | None:
    """The parameters that Typer passes on; None if it refuses the command line."""
    seen: list[dict[str, Any]] = []
    with monkeypatch.context() as patched:
        patched.setattr(sys.modules["hearthpay.cli.main"], "print_estimate", lambda **told: seen.append(told))
        CliRunner().invoke(app, ["calculate", *arguments])
    return seen[0] if seen else None


def test_the_options_are_those_of_typer() -> None:
    of_typer = options()
    assert set(VALUES.values()) | {name for name, _ in FLAGS.values()} == set(of_typer)
    assert {parameter.name for parameter in of_typer.values() if parameter.required} == REQUIRED
    spelled = {
        spelling
        for parameter in of_typer.values()
        for spelling in (*parameter.opts, *parameter.secondary_opts)
    }
    assert spelled == set(VALUES) | set(FLAGS)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(print_estimate).parameters.items()
        if name not in REQUIRED
    }
    assert defaults == {name: of_typer[name].default for name in defaults}


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--json",),
        ("--pay-frequency=weekly", "--filing-status", "married"),
        ("--residence-state", "AZ", "--reciprocity-certificate-on-file"),
        ("--no-reciprocity-certificate-on-file", "--json"),
        ("--filing-status", "a b=c"),
    ],
)
def test_what_is_read_is_what_typer_passes_on(more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = read_plainly((*LINE, *more))
    assert plain is not None
    passed = as_typer_reads((*LINE, *more), monkeypatch)
    assert passed is not None
    assert plain == {name: passed[name] for name in plain}
    defaults = inspect.signature(print_estimate).parameters
    assert all(passed[name] == defaults[name].default for name in passed if name not in plain)


LEFT_TO_TYPER = [
    (),
    ("--help",),
    ("--state", "CA"),
    ("--annual-wages", "35000"),
    (*LINE, "--help"),
    (*LINE, "--js"),
    (*LINE, "--json=1"),
    (*LINE, "--json", "--json"),
    (*LINE, "--state", "NY"),
    (*LINE, "more"),
    (*LINE, "--"),
    (*LINE, "--pay-frequency"),
    (*LINE, "--pay-frequency="),
    (*LINE, "--pay-frequency", ""),
    (*LINE, "--residence-state", "--json"),
    (*LINE, "--filing-status", "célibataire"),
    ("--state", "CA", "--annual-wages", "-1"),
    (*LINE, "--reciprocity-certificate-on-file", "--no-reciprocity-certificate-on-file"),
]


def test_everything_else_is_left_to_typer() -> None:
    with every_case() as case:
        for arguments in LEFT_TO_TYPER:
            with case(arguments):
                assert read_plainly(arguments) is None


WORDS = st.sampled_from(
    [*VALUES, *FLAGS, *LINE, "--state=NY", "--help", "--", "-1", "", "--json=", "x", "--annual-wages=1", "é"]
)


@given(st.lists(WORDS, max_size=6))
@settings(max_examples=150, deadline=None)
def test_no_command_line_is_read_differently(words: list[str]) -> None:
    arguments = (*words, *LINE)
    plain = read_plainly(arguments)
    if plain is None:
        return
    with pytest.MonkeyPatch.context() as monkeypatch:
        passed = as_typer_reads(arguments, monkeypatch)
    assert passed is not None
    assert plain == {name: passed[name] for name in plain}


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_both_ways_print_the_same(more: tuple[str, ...]) -> None:
    script = (
        f"{code_that_says(NOW)}; "
        "import sys; from hearthpay.cli{} import main; sys.argv = ['hearthpay', *sys.argv[1:]]; main()"
    )
    plain, typed = (
        subprocess.run(
            [sys.executable, "-c", script.format(module), "calculate", *LINE, *more],
            capture_output=True,
            check=True,
        )
        for module in ("", ".main")
    )
    assert plain.stdout == typed.stdout
    assert plain.stderr == typed.stderr == b""


def test_a_plain_command_line_imports_neither_typer_nor_pydantic() -> None:
    script = (
        f"{code_that_says(NOW)}\n"
        "import sys\n"
        "from hearthpay.cli import main\n"
        f"sys.argv = ['hearthpay', 'calculate', *{LINE!r}, '--json']\n"
        "main()\n"
        "sys.exit(repr(sorted({'typer', 'pydantic', 'rich'} & set(sys.modules))))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert result.stderr.strip() == b"[]"


def test_a_refused_estimate_is_told_by_typer_with_its_status() -> None:
    script = f"{code_that_says(NOW)}; import sys; from hearthpay.cli import main; main()"
    told = subprocess.run(
        [sys.executable, "-c", script, "calculate", "--state", "ZZ", "--annual-wages", "1"],
        capture_output=True,
        check=False,
    )
    assert told.returncode == 2
    assert told.stdout == b""
    assert told.stderr.startswith(b"hearthpay: state: ")
