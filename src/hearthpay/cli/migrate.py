"""`hearthpay migrate`: brings the schema up to date, and writes what hosts without the owner's login need."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hearthpay.cli.operator import DataDir, refuse

if TYPE_CHECKING:
    from hearthpay.database.catalog.inspection import SchemaReport


def migrate(data_dir: DataDir = None) -> None:
    """Bring the database's schema up to date, with the owner's login; `serve` does so too unless `--no-migrate`.

    Tables in use are waited for, 3 seconds at a time. HEARTHPAY_SEAL_FILE gets the tenant seal for API hosts.
    What differs from the schema that the migrations make is listed, before and after. Exits with 1 if somebody can see
    or do more than that: `serve` will not start.
    """
    import asyncio

    from hearthpay.security.seal_file import SealFileError

    try:
        asyncio.run(_migrate(data_dir))
    except SealFileError as error:
        refuse(str(error))


async def _migrate(data_dir: Path | None) -> None:
    import asyncio

    from hearthpay.database.catalog.inspection import inspect_before_migrating, inspect_schema
    from hearthpay.database.embedded import EmbeddedServer, default_data_dir
    from hearthpay.database.migrations import current_revision, newest_revision
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.process import configure_logging, log_settings
    from hearthpay.security.seal_file import seal_file_of, write_seal_file

    configure_logging(*log_settings(os.environ))
    addresses = Addresses.of(os.environ)
    embedded = None if addresses.owner else EmbeddedServer(data_dir or default_data_dir())
    try:
        if embedded is not None:
            await asyncio.to_thread(embedded.start)
        owner_url = addresses.owner if embedded is None else embedded.owner_url()
        assert owner_url is not None
        before = await asyncio.to_thread(current_revision, owner_url)
        report = await asyncio.to_thread(inspect_before_migrating, owner_url)
        upgrades = before is not None and before != newest_revision()
        if report is not None and upgrades:
            _tell_differences(report, "Before the upgrade")
        async with open_database(data_dir, addresses) as opened:
            _tell_schema(before, opened.installation.revision)
            async with opened.database.transaction(None) as session:
                report = await inspect_schema(session)
            _tell_differences(report, "After the upgrade" if upgrades else "Now")
            path = seal_file_of(os.environ)
            if path is not None:
                changed = write_seal_file(path, opened.installation.seal)
                typer.echo(
                    f"Wrote the tenant seal to {path}." if changed else f"{path} has this tenant seal."
                )
            if report.looser:
                raise typer.Exit(1)
    finally:
        if embedded is not None:
            await asyncio.to_thread(embedded.stop)


def _tell_differences(report: "SchemaReport", when: str) -> None:
    if not report.differences:
        return
    typer.echo(f"{when}, the schema ({report.revision}) differs from what its migrations make:")
    for each in report.differences:
        mark = "LOOSER" if each.looser else "ADDED " if each.harmless else "WRONG "
        typer.echo(f"  {mark} {report.describe(each).sentence}")


def _tell_schema(before: str | None, after: str) -> None:
    if before is None:
        typer.echo(f"Created the schema ({after}).")
    elif before == after:
        typer.echo(f"The schema is up to date ({after}). Nothing to do.")
    else:
        typer.echo(f"Upgraded the schema from {before} to {after}.")
