"""Which data directory a command uses that names none, while a service of this user is running on another one.

Without this, a command in a second terminal would make a new database in the default directory, and a key that the
running service doesn't know. With `--data-dir`, HEARTHPAY_DATA_DIR or DATABASE_URL nothing is asked.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from hearthpay.database.running_services import RunningService

_EXIT_BAD_INPUT = 2
_HOW_TO_NAME = "Name the data directory with --data-dir or HEARTHPAY_DATA_DIR"


def resolve_data_dir(named: Path | None) -> Path | None:
    """Return the data directory for a command whose database may be new only if nothing of this user is running.

    If the default directory has no database and a service is running on another one, a terminal is asked which to use;
    without a terminal, the command ends with status 2 and names both. If the default has a database, it is used, with
    a line on standard error.
    """
    if named is not None or os.environ.get("DATABASE_URL"):
        return named
    from hearthpay.database.running_services import running_services

    running = running_services()
    if not running:
        return named
    from hearthpay.database.embedded import EmbeddedServer, default_data_dir

    default = EmbeddedServer(default_data_dir())
    if any(service.data_dir == str(default.data_dir) for service in running):
        return named
    where = f"{'A service of yours is' if len(running) == 1 else 'Services of yours are'} running: {_list(running)}"
    if default.holds_database():
        typer.echo(f"hearthpay: Using {default.data_dir}. {where}. {_HOW_TO_NAME}.", err=True)
        return named
    where = f"{default.data_dir} has no database yet. {where}."
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        _refuse(f"{where} {_example(running)}")
    typer.echo(where, err=True)
    return _ask(default.data_dir, running)


def _ask(default: Path, running: list[RunningService]) -> Path | None:
    """Return the directory that the person at the terminal chooses; None is the default one, which is then made."""
    directories = list(dict.fromkeys(service.data_dir for service in running if service.data_dir is not None))
    if not directories:
        if typer.confirm(f"Create a new database in {default}?", default=False, err=True):
            return None
        _refuse(_example(running))
    if len(directories) == 1:
        if typer.confirm(f"Use {directories[0]}?", default=True, err=True):
            return Path(directories[0])
        _refuse(_example(running))
    for number, directory in enumerate(directories, start=1):
        typer.echo(f"{number}  {directory}", err=True)
    chosen: int = typer.prompt("Which one?", type=int, err=True)
    if not 1 <= chosen <= len(directories):
        _refuse(_example(running))
    return Path(directories[chosen - 1])


def _list(running: list[RunningService]) -> str:
    return ", ".join(
        f"{service.data_dir or 'the database of its DATABASE_URL'} ({service.address})" for service in running
    )


def _example(running: list[RunningService]) -> str:
    directory = next((service.data_dir for service in running if service.data_dir is not None), None)
    if directory is None:
        return f"Set DATABASE_URL as for the service. {_HOW_TO_NAME} for another database."
    return f"{_HOW_TO_NAME}: HEARTHPAY_DATA_DIR={directory}"


def _refuse(message: str) -> NoReturn:
    typer.echo(f"hearthpay: {message}", err=True)
    raise typer.Exit(_EXIT_BAD_INPUT)
