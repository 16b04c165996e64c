"""Only the commands that an invocation names are built, and nobody notices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from hearthpay.cli.command_tree import needed_for
from hearthpay.cli.main import app

ALL = get_command(app)


def _paths(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that lead to each command and each group below this one."""
    for name, below in getattr(command, "commands", {}).items():
        yield (*path, name)
        yield from _paths(below, (*path, name))


def _printed(arguments: tuple[str, ...], *, whole: bool) -> tuple[int, str]:
    asked = CliRunner().invoke(
        app if whole else needed_for(app, arguments), list(arguments), prog_name="hearthpay"
    )
    return asked.exit_code, asked.output


def test_every_command_is_found_and_built_alone() -> None:
    paths = list(_paths(ALL))
    assert len(paths) > 80
    for path in paths:
        found: object = ALL
        for name in path:
            found = found.commands[name]  # type: ignore[attr-defined]
        needed = list(_paths(get_command(needed_for(app, [*path, "--help"]))))
        expected = [path[: length + 1] for length in range(len(path))]
        assert needed == expected + list(_paths(found, path)), path


def test_the_application_itself_stays_whole() -> None:
    needed_for(app, ["keys", "create"])
    assert list(_paths(get_command(app))) == list(_paths(ALL))


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--version",
        "keyz",
        "keys",
        "keys --help",
        "keys creat",
        "keys create --help",
        "keys create --mode production",
        "to-dos --help",
        "households calendar-link",
        "serve extra",
        "serve --no-such-option",
    ],
)
def test_what_is_printed_is_the_same(line: str) -> None:
    arguments = tuple(line.split())
    assert _printed(arguments, whole=False) == _printed(arguments, whole=True)
    assert _printed(arguments, whole=False)[1]


def test_without_an_argument_everything_is_listed() -> None:
    assert _printed((), whole=False) == _printed((), whole=True)
    assert "Pay people" in _printed((), whole=False)[1]
