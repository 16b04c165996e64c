"""`hearthpay backup`, `restore`, and releasing real money after a restore."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from hearthpay.cli.operator import DataDir, as_operator, refuse
from hearthpay.clock import SystemClock

if TYPE_CHECKING:
    from hearthpay.backup.creation import How, MadeBackup
    from hearthpay.backup.restore import Restored
    from hearthpay.database.restorations import Hold, PendingMoney
    from hearthpay.security.key_ring import KeyRing

EXIT_DIFFERING = 1
"""Done, but something in it isn't as it must be."""
EXIT_FAILED = 3
"""It began, failed, and left nothing behind."""


def backup(
    directory: Annotated[Path, typer.Argument(help="Where backups are kept; a new directory is made in it.")],
    physical: Annotated[
        bool, typer.Option("--physical", help="Copy the embedded server's files: faster for many gigabytes.")
    ] = False,
    incremental: Annotated[
        bool,
        typer.Option("--incremental", help="Copy only what changed since the newest physical backup there."),
    ] = False,
    keys_to: Annotated[
        Path | None, typer.Option(help="Also copy the key ring to this file, outside of DIRECTORY.")
    ] = None,
    drilled: Annotated[
        bool,
        typer.Option(
            " /--no-drill", help="Leave out restoring it beside itself, which takes room and time again."
        ),
    ] = True,
    data_dir: DataDir = None,
) -> None:
    """Back up the database while the service runs; the keys stay apart.

    It is restored as a drill before it gets its name. Ends with 0 when there is a checked backup, 1 when there is one
    but a key that it needs is not in the ring, 2 when nothing was begun, 3 when it failed and left nothing.
    """
    from hearthpay.backup.creation import make_backup

    if physical and incremental:
        refuse("--incremental is physical already: name one of the two")
    how: How = "full" if physical else "incremental" if incremental else "logical"
    with _plainly():
        made = make_backup(
            data_dir,
            os.environ.get("DATABASE_URL"),
            directory,
            how,
            SystemClock(),
            _send,
            keys_to=keys_to,
            drilled=drilled,
        )
    _print_made(made)
    if made.keys_missing:
        raise typer.Exit(EXIT_DIFFERING)


def restore(
    directory: Annotated[Path, typer.Argument(help="A backup, or a directory of backups: then its newest.")],
    data_dir: Annotated[
        Path | None,
        typer.Option(help="A new directory for the embedded database; not with DATABASE_URL."),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="The key ring that was kept apart; or give it as HEARTHPAY_KEYS.")
    ] = None,
) -> None:
    """Restore into a new data directory, or into the empty database of DATABASE_URL, and prove it.

    Live payrolls and bank files are then on hold until `hearthpay resume-after-restore`. Exits with 0 if all is well, 1
    if it was restored but figures differ, 2 if nothing was started, 3 if it failed and left nothing.
    """
    from hearthpay.backup.restore import restore_into_database, restore_into_directory

    url = os.environ.get("DATABASE_URL")
    if url and data_dir is not None:
        refuse("DATABASE_URL is set: unset it to restore into --data-dir, or leave --data-dir out")
    with _plainly():
        ring = _ring(keys)
        if url:
            restored = restore_into_database(directory, url, ring, SystemClock(), _send)
        elif data_dir is not None:
            restored = restore_into_directory(
                directory, data_dir, ring, SystemClock(), _send, keep_keys=keys is not None
            )
        else:
            refuse("name where to: --data-dir NEW, or an empty database as DATABASE_URL")
    _print_restored(restored, url is not None, data_dir)
    if restored.differing:
        raise typer.Exit(EXIT_DIFFERING)


def hold_after_restore(
    taken_at: Annotated[
        str, typer.Option(help="The moment to which the database went back, such as 2026-11-22T04:00:00Z.")
    ],
    data_dir: DataDir = None,
) -> None:
    """Hold real money after a restore by other means, such as a server's own snapshot; before anything starts."""
    import datetime

    from hearthpay.database import restorations

    try:
        moment = datetime.datetime.fromisoformat(taken_at)
    except ValueError:
        refuse("--taken-at must be a moment such as 2026-11-22T04:00:00Z")
    if moment.tzinfo is None:
        refuse("--taken-at needs its offset, such as Z")
    now = SystemClock().now()
    if moment > now:
        refuse("--taken-at lies in the future")
    as_operator(data_dir, lambda session: restorations.hold(session, "restored by other means", moment, now))
    typer.echo("Live payrolls and bank files are on hold until `hearthpay resume-after-restore`.")


def resume_after_restore(
    payrolls_checked: Annotated[
        bool,
        typer.Option(
            "--payrolls-checked",
            help="You have checked what is listed against the bank, and it may be sent as it is.",
        ),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """List what is on hold since a restore; with --payrolls-checked, release it."""
    from hearthpay.database import restorations

    async def look(session: Any) -> "tuple[tuple[Hold, ...], PendingMoney]":
        held, waiting = await restorations.holds(session), await restorations.pending_money(session)
        if payrolls_checked:
            await restorations.resume(session, SystemClock().now())
        return held, waiting

    held, waiting = as_operator(data_dir, look)
    if not held:
        typer.echo("Nothing waits: no restore is open.")
        return
    _print_waiting(held, waiting)
    if payrolls_checked:
        typer.echo("Real payrolls and bank files go on.")
        return
    typer.echo(
        "Nothing was let go. Void what was paid since, put the bank's files of that time back into its inbox, then say "
        "--payrolls-checked."
    )
    raise typer.Exit(EXIT_DIFFERING)


def _ring(keys: Path | None) -> "KeyRing | None":
    from hearthpay.backup.required_keys import ring_at_hand
    from hearthpay.security.key_ring import read_key_ring

    if keys is not None:
        return read_key_ring(keys)
    return ring_at_hand(None)[0]


@contextmanager
def _plainly() -> Iterator[None]:
    """Say in a line what went wrong, whatever it was; SIGTERM ends the work in good order, as Ctrl-C does."""
    import psycopg
    from sqlalchemy.exc import SQLAlchemyError

    from hearthpay.backup.errors import BackupError, RefusedError
    from hearthpay.database.embedded import EmbeddedServerError
    from hearthpay.database.migrations import MigrationError
    from hearthpay.database.outage import DatabaseUnavailable
    from hearthpay.security.key_ring import KeyRingError

    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except (RefusedError, KeyRingError) as error:
        refuse(str(error))
    except (BackupError, EmbeddedServerError, MigrationError, DatabaseUnavailable) as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'a file'}: {error.strerror}")
    except psycopg.Error as error:
        _fail(f"the database: {str(error).strip().partition(chr(10))[0]}")
    except SQLAlchemyError as error:
        _fail(f"the database: {type(error).__name__}")
    except KeyboardInterrupt:
        _fail("interrupted; nothing was left")
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _fail(message: str) -> NoReturn:
    typer.echo(f"hearthpay: {message}", err=True)
    raise typer.Exit(EXIT_FAILED)


def _send(line: str) -> None:
    typer.echo(line, err=True)


def _print_made(made: "MadeBackup") -> None:
    from hearthpay.backup.progress import megabytes

    manifest = made.manifest
    checked = "restored as a drill, checked" if made.drilled else "not restored as a drill"
    since = f", what changed since {manifest.parent_name}" if manifest.parent_name else ""
    typer.echo(f"{made.path}  {manifest.kind}{since}, {megabytes(manifest.size)}, {checked}")
    _print_rows(manifest.rows)
    if not manifest.keys:
        typer.echo("Nothing in it is sealed: no key is needed to read it.")
        return
    ids = ", ".join(key.id for key in manifest.keys)
    if made.keys_copied_to is not None:
        typer.echo(f"Needs the keys {ids}; the key ring was copied to {made.keys_copied_to}.")
    else:
        typer.echo(f"Needs the keys {ids}, which are in {made.keys_in}: keep them, apart from the backup.")
    for key in made.keys_missing:
        typer.echo(
            f"hearthpay: the key {key!r} is not in {made.keys_in}: what it sealed cannot be read", err=True
        )


def _print_restored(restored: "Restored", into_database: bool, data_dir: Path | None) -> None:
    from decimal import Decimal

    from hearthpay.doctor.examination import OPEN_MATTERS

    manifest = restored.backup.manifest
    where = "the database of DATABASE_URL" if into_database else data_dir
    typer.echo(
        f"Restored {restored.backup.path.name}, taken {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC, into {where}."
    )
    _print_rows(restored.rows)
    if manifest.kind != "logical":
        for table, count in manifest.rows.items():
            if restored.rows.get(table) != count and table != "restorations":
                typer.echo(f"{table}: {count} when the copy began, {restored.rows.get(table)} when it ended")
    for check in restored.checks:
        if check.name == OPEN_MATTERS:
            continue
        for each in check.differences:
            typer.echo(
                f"WRONG   {check.name}: {each.subject} {each.id}: {each.what} is {each.recorded}, "
                f"must be {each.expected}"
            )
    for matter, cents in restored.open_matters.items():
        typer.echo(f"OPEN    {matter}: {Decimal(cents).scaleb(-2):,.2f}")
    for matter in restored.open_otherwise:
        typer.echo(f"DIFFERS {matter} is open in another way than it was at the backup")
    for finding in () if restored.reconciliation is None else restored.reconciliation.wrong:
        typer.echo(
            f"DIFFERS {finding.check}  {finding.subject_id}  expected {finding.expected}, found {finding.found}: "
            f"{finding.message}"
        )
    if restored.reconciliation is not None:
        compared = restored.reconciliation
        typer.echo(f"The bank's {compared.files} files and {compared.entries} entries were compared.")
    typer.echo(
        "The books are right."
        if not restored.differing
        else f"{restored.differing} figures differ from what they must be."
    )
    typer.echo(
        "Real payrolls and bank files wait: what was paid since the backup is not known here. "
        "See `hearthpay resume-after-restore`."
    )


def _print_rows(rows: Any) -> None:
    shown = [f"{count:,} {table}" for table, count in rows.items() if count]
    typer.echo(f"  {', '.join(shown) or 'no rows'}")


def _print_waiting(held: "tuple[Hold, ...]", waiting: "PendingMoney") -> None:
    for hold in held:
        typer.echo(
            f"{hold.backup}, taken {hold.taken_at:%Y-%m-%d %H:%M:%S} UTC, restored {hold.restored_at:%Y-%m-%d %H:%M:%S}"
        )
    for payroll in waiting.payrolls:
        send_at = "" if payroll.send_at is None else f"  sends {payroll.send_at:%Y-%m-%d %H:%M} UTC"
        typer.echo(
            f"payroll {payroll.id}  {payroll.status:<15}{send_at}  pay date {payroll.pay_date}  {payroll.household}"
        )
    for entries in waiting.entries:
        typer.echo(
            f"{entries.count} {entries.kind} entries of {Decimal(entries.cents).scaleb(-2):,.2f} wait for the next file"
        )
    for name in waiting.files:
        typer.echo(f"file {name} waits to be delivered")
