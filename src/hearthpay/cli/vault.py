"""`hearthpay vault`: the encrypted numbers."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hearthpay.cli.operator import DataDir, refuse

if TYPE_CHECKING:
    from hearthpay.database.session import Database
    from hearthpay.security.key_ring import KeyRing

T = TypeVar("T")

vault = typer.Typer(
    help="The encrypted numbers: Social Security, employer and bank account.", no_args_is_help=True
)


@vault.command("rotate")
def rotate_vault(
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue after an interruption, with the newest key.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Encrypt with a new key from now on, and re-encrypt every secret with it, while the service runs.

    With the embedded database a key is added to the key file first. With DATABASE_URL, deploy HEARTHPAY_KEYS with
    the new key in front of the old ones everywhere before: a process that lacks it writes no secret from then on.
    """
    from hearthpay.database.vault_rotation import RotationResult, rotate
    from hearthpay.security.key_ring import KeyRing, add_key

    async def work(operator: "Database", ring: KeyRing, path: Path | None) -> RotationResult:
        if path is not None and not resume:
            ring = add_key(path)
        return await rotate(lambda: operator.transaction(None), ring, _show_progress)

    result = _run(data_dir, work)
    typer.echo(f"Re-encrypted {result.rotated} secrets.")
    if result.remaining:
        refuse(f"some secrets are still under older keys, run again with --resume: {result.remaining}")


@vault.command("keys")
def list_keys(data_dir: DataDir = None) -> None:
    """List the keys, which of them encrypts, and how many secrets are encrypted with each."""
    from hearthpay.database.sealing_keys import KeyUse, keys_and_uses
    from hearthpay.security.key_ring import KeyRing

    async def work(operator: "Database", ring: KeyRing, _path: Path | None) -> list[KeyUse]:
        async with operator.transaction(None) as session:
            return await keys_and_uses(session, ring)

    for use in _run(data_dir, work):
        held = "in the key ring" if use.in_ring else "not in the key ring"
        typer.echo(f"{use.key_id}  {use.status:<8}  {use.rows:>9} secrets  {held}")


@vault.command("remove")
def remove_key(
    key_id: Annotated[str, typer.Argument(help="The key's id, as `hearthpay vault keys` lists it.")],
    data_dir: DataDir = None,
) -> None:
    """Take an old key out of use, and out of the key file: refused while anything is encrypted with it.

    Keep a copy as long as you keep backups from its time: they cannot be read without it.
    """
    from hearthpay.database.sealing_keys import release_key
    from hearthpay.security.key_ring import KeyRing
    from hearthpay.security.key_ring import remove_key as remove_from_file

    async def work(operator: "Database", _ring: KeyRing, path: Path | None) -> bool:
        async with operator.transaction(None) as session:  # the file changes while nobody can write
            await release_key(session, key_id)
            if path is not None:
                remove_from_file(path, key_id)
        return path is not None

    if _run(data_dir, work):
        typer.echo(f"The key {key_id} is out of use and out of the key file.")
    else:
        typer.echo(f"Nothing needs the key {key_id} any more: take it out of HEARTHPAY_KEYS everywhere.")


def _run(data_dir: Path | None, work: "Callable[[Database, KeyRing, Path | None], Awaitable[T]]") -> "T":
    """Run ``work(owner's database, key ring, the key file or None)``."""
    import asyncio

    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.security.key_ring import KEY_FILE, KEYS_VARIABLE, KeyRingError, load_key_ring

    async def run() -> "T":
        async with (
            open_database(data_dir, Addresses.of(os.environ)) as opened,
            opened.as_operator() as operator,
        ):
            directory = None if opened.embedded is None else opened.embedded.data_dir
            ring = load_key_ring(directory, os.environ)
            by_file = directory is not None and KEYS_VARIABLE not in os.environ
            return await work(operator, ring, directory / KEY_FILE if by_file and directory else None)

    try:
        return asyncio.run(run())
    except KeyRingError as error:
        refuse(str(error))


def _show_progress(done: int, total: int) -> None:
    typer.echo(f"{done} of {total} …", err=True)
