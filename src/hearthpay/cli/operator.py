"""What every operator command shares: the database's address, refusals, the owner's connection."""

import os
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from hearthpay.cli.data_directory import resolve_data_dir

_HELP = "Where the embedded database lives; not used with DATABASE_URL."

DataDir = Annotated[
    Path | None, typer.Option(envvar="HEARTHPAY_DATA_DIR", help=_HELP, callback=resolve_data_dir)
]
"""Of a command on a database that is there; left out, it is resolved while a service is running on another one."""

NewDataDir = Annotated[Path | None, typer.Option(envvar="HEARTHPAY_DATA_DIR", help=_HELP)]
"""Of a command that may make a new database whatever else is running."""

Migrates = Annotated[
    bool,
    typer.Option(
        "--migrate/--no-migrate",
        help="Bring the schema up to date first, with the owner's login; without, use this role's own login only.",
    ),
]

EXIT_BAD_INPUT = 2


def refuse(message: str) -> NoReturn:
    """Print the reason to standard error and exit with the status of bad input."""
    typer.echo(f"hearthpay: {message}", err=True)
    raise typer.Exit(EXIT_BAD_INPUT)


def as_operator(data_dir: Path | None, work: Any) -> Any:
    """Run ``work(session)`` as the owner of the database, in one transaction."""
    import asyncio

    from hearthpay.access.refusal import Refusal
    from hearthpay.database.startup import Addresses, open_database

    async def run() -> Any:
        async with (
            open_database(data_dir, Addresses.of(os.environ)) as opened,
            opened.as_operator() as operator,
            operator.transaction(None) as session,
        ):
            return await work(session)

    try:
        return asyncio.run(run())
    except Refusal as error:
        refuse(error.message)


def run_with_keys(data_dir: Path | None, work: Any) -> Any:
    """Run ``work(opened database, key ring)``."""
    import asyncio

    from hearthpay.access.refusal import Refusal
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.security.key_ring import KeyRingError, load_key_ring

    async def run() -> Any:
        async with open_database(data_dir, Addresses.of(os.environ)) as opened:
            directory = opened.embedded.data_dir if opened.embedded is not None else None
            return await work(opened, load_key_ring(directory, os.environ))

    try:
        return asyncio.run(run())
    except (Refusal, KeyRingError) as error:
        refuse(str(error))
