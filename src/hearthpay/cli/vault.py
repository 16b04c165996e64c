"""`hearthpay vault`: the encrypted numbers."""

import asyncio
import os
from typing import Annotated

import typer

from hearthpay.cli.operator import DataDir, refuse

vault = typer.Typer(
    help="The encrypted numbers: Social Security, employer and bank account.", no_args_is_help=True
)


@vault.command("rotate")
def rotate_vault(
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on after an interruption, with the newest key.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Re-encrypt every secret with a new key, while the service runs.

    With the embedded database a key is added to the key file first. With DATABASE_URL, deploy HEARTHPAY_KEYS with
    the new key in front of the old ones everywhere before.
    """
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.database.vault_rotation import RotationResult, rotate
    from hearthpay.security.key_ring import KEY_FILE, KeyRingError, add_key, load_key_ring, open_key_file

    async def run() -> RotationResult:
        async with (
            open_database(data_dir, Addresses.of(os.environ)) as opened,
            opened.as_operator() as operator,
        ):
            if opened.embedded is None or "HEARTHPAY_KEYS" in os.environ:
                ring = load_key_ring(None, os.environ)
            else:
                path = opened.embedded.data_dir / KEY_FILE
                ring = add_key(path) if path.exists() and not resume else open_key_file(path)
            return await rotate(lambda: operator.transaction(None), ring, _show_progress)

    try:
        result = asyncio.run(run())
    except KeyRingError as error:
        refuse(str(error))
    typer.echo(f"Re-encrypted {result.rotated} secrets.")
    if result.remaining:
        refuse(f"some secrets are still under older keys, run again with --resume: {result.remaining}")


def _show_progress(done: int, total: int) -> None:
    typer.echo(f"{done} of {total} …", err=True)
