"""`hearthpay worker`: the process that does what is due."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hearthpay.cli.data_directory import resolve_data_dir
from hearthpay.cli.operator import Migrates, NewDataDir, refuse
from hearthpay.clock import SystemClock

if TYPE_CHECKING:
    import asyncio

    from hearthpay.database.session import Database
    from hearthpay.mail.mail_folder import MailFolder
    from hearthpay.mail.mailer import Mailer
    from hearthpay.mail.notices import NotificationSettings
    from hearthpay.payroll.payday.bank_day import Bank
    from hearthpay.security.key_ring import KeyRing
    from hearthpay.worker.connector import QueueAddress


def worker(
    once: Annotated[
        bool,
        typer.Option("--once", help="Do all that is due now, tell of it, and end: 1 if anything failed."),
    ] = False,
    concurrency: Annotated[int, typer.Option(min=1, max=32, help="Jobs at a time in this process.")] = 2,
    attended: Annotated[
        bool, typer.Option("--attended", hidden=True, help="End with the process that holds our input.")
    ] = False,
    migrates: Migrates = True,
    data_dir: NewDataDir = None,
) -> None:
    """Fire payrolls, exchange files with the bank, send mail and tidy up, when it is time; `serve` has one such worker.

    Start as many as you like, on as many machines as reach the database: they share the work.
    """
    from hearthpay.process import run_in_event_loop

    if migrates:
        data_dir = resolve_data_dir(data_dir)
    run_in_event_loop(
        _work(data_dir, once=once, concurrency=concurrency, attended=attended, migrates=migrates)
    )


async def _work(
    data_dir: Path | None, *, once: bool, concurrency: int, attended: bool, migrates: bool
) -> None:
    from hearthpay.database.catalog.inspection import tell_schema
    from hearthpay.mail.mail_folder import MailFolder
    from hearthpay.process import collect_garbage_rarely, configure_logging, log_settings
    from hearthpay.worker.duties import worker_duties
    from hearthpay.worker.runner import run_once, run_worker

    configure_logging(*log_settings(os.environ))
    bank, mailer = _bank(), _mailer()
    stopping = _stop_signal(attended=attended)
    async with _opened(data_dir, concurrency) if migrates else _opened_migrated(concurrency) as found:
        if not attended:  # `serve`, which attends a worker, has told it
            await tell_schema(found.database)
        folder = MailFolder.of(os.environ, found.data_dir)
        notifications = _notification_settings(mailer, folder)
        duties = worker_duties(found.database, found.ring, bank, SystemClock(), mailer, notifications, folder)
        queue = found.queue
        collect_garbage_rarely()
        if once:
            if not await run_once(queue, duties, stopping=stopping, tell=_print_line):
                raise typer.Exit(1)
            return
        if not attended:
            _print_line("The worker is at work.")
        await run_worker(queue, duties, concurrency=concurrency, stopping=stopping)
        if not attended:
            _print_line("The worker has stopped.")


def _bank() -> "Bank | None":
    from hearthpay.banking.gateways.address import open_gateway
    from hearthpay.banking.originator import BankSettingsError, load_bank
    from hearthpay.payroll.payday.bank_day import Bank

    try:
        settings = load_bank(os.environ)
        return None if settings is None else Bank(settings.originator, open_gateway(settings.gateway_url))
    except (BankSettingsError, ValueError) as error:
        refuse(str(error))


def _mailer() -> "Mailer | None":
    from hearthpay.mail.mailer import MailSettingsError, load_mailer

    try:
        return load_mailer(os.environ)
    except MailSettingsError as error:
        refuse(str(error))


def _notification_settings(mailer: "Mailer | None", folder: "MailFolder | None") -> "NotificationSettings":
    from hearthpay.mail.limits import MailLimitsError
    from hearthpay.mail.notices import NotificationSettings, OperatorAddressError

    try:
        return NotificationSettings.of(os.environ, sends=mailer is not None, keeps=folder is not None)
    except (MailLimitsError, OperatorAddressError) as error:
        refuse(str(error))


@dataclass(frozen=True, slots=True)
class _Found:
    """What a worker works on."""

    database: "Database"
    ring: "KeyRing"
    queue: "QueueAddress"
    data_dir: Path | None


@asynccontextmanager
async def _opened(data_dir: Path | None, concurrency: int) -> AsyncIterator[_Found]:
    """Open the database with the owner's login, migrated."""
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.process import key_ring_of, supervised
    from hearthpay.security.key_ring import KeyRingError
    from hearthpay.worker.connector import queue_of

    async with (
        open_database(data_dir, Addresses.of(os.environ)) as opened,
        supervised(opened),
        opened.as_worker(concurrency) as database,
    ):
        try:
            ring = await key_ring_of(opened)
        except KeyRingError as error:
            refuse(str(error))
        used = None if opened.embedded is None else opened.embedded.data_dir
        yield _Found(database, ring, queue_of(opened), used)


@asynccontextmanager
async def _opened_migrated(concurrency: int) -> AsyncIterator[_Found]:
    """Open the database with the worker's login alone."""
    from hearthpay.database.role_login import open_as_worker, require_current_key
    from hearthpay.database.startup import Addresses
    from hearthpay.security.key_ring import KeyRingError, load_key_ring
    from hearthpay.worker.connector import QueueAddress

    addresses = Addresses.of(os.environ)
    async with open_as_worker(addresses, concurrency) as worker:
        try:
            ring = load_key_ring(None, os.environ)
            await require_current_key(worker.database, ring)
        except KeyRingError as error:
            refuse(str(error))
        yield _Found(worker.database, ring, QueueAddress(worker.url, worker.role, addresses.direct), None)


def _print_line(line: str) -> None:
    typer.echo(line)
    sys.stdout.flush()


def _stop_signal(*, attended: bool) -> "asyncio.Event":
    """Set by SIGTERM and SIGINT; `attended`, also by the end of standard input."""
    import asyncio

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    if attended:

        def read() -> None:
            if not os.read(sys.stdin.fileno(), 1024):
                loop.remove_reader(sys.stdin.fileno())
                stopping.set()

        loop.add_reader(sys.stdin.fileno(), read)
    return stopping
