"""`hearthpay migrate`: brings the schema up to date, and writes what hosts without the owner's login need."""

import os
from pathlib import Path

import typer

from hearthpay.cli.operator import DataDir, refuse


def migrate(data_dir: DataDir = None) -> None:
    """Bring the database's schema up to date, with the owner's login; `serve` does so too unless `--no-migrate`.

    Tables in use are waited for, 3 seconds at a time. HEARTHPAY_SEAL_FILE gets the tenant seal for API hosts.
    """
    import asyncio

    from hearthpay.security.seal_file import SealFileError

    try:
        asyncio.run(_migrate(data_dir))
    except SealFileError as error:
        refuse(str(error))


async def _migrate(data_dir: Path | None) -> None:
    import asyncio

    from hearthpay.database.embedded import EmbeddedServer, default_data_dir
    from hearthpay.database.migrations import current_revision
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.process import configure_logging, log_settings
    from hearthpay.security.seal_file import seal_file_of, write_seal_file

    configure_logging(*log_settings(os.environ))
    addresses = Addresses.of(os.environ)
    embedded = None if addresses.owner else EmbeddedServer(data_dir or default_data_dir())
    try:
        if embedded is not None:
            await asyncio.to_thread(embedded.start)
            before = await asyncio.to_thread(current_revision, embedded.owner_url())
        else:
            assert addresses.owner is not None
            before = await asyncio.to_thread(current_revision, addresses.owner)
        async with open_database(data_dir, addresses) as opened:
            _tell_schema(before, opened.installation.revision)
            path = seal_file_of(os.environ)
            if path is not None:
                changed = write_seal_file(path, opened.installation.seal)
                typer.echo(
                    f"Wrote the tenant seal to {path}." if changed else f"{path} has this tenant seal."
                )
    finally:
        if embedded is not None:
            await asyncio.to_thread(embedded.stop)


def _tell_schema(before: str | None, after: str) -> None:
    if before is None:
        typer.echo(f"Created the schema ({after}).")
    elif before == after:
        typer.echo(f"The schema is up to date ({after}). Nothing to do.")
    else:
        typer.echo(f"Upgraded the schema from {before} to {after}.")
