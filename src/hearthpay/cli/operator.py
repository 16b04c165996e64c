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


def as_operator_of(data_dir: Path | None, organization: str, work: Any) -> Any:
    """Run ``work(session, organization's id)`` in one transaction of the organization with this name or id."""
    import asyncio

    from hearthpay.access.refusal import Refusal
    from hearthpay.database.session import Tenant
    from hearthpay.database.startup import Addresses, open_database

    async def run() -> Any:
        async with open_database(data_dir, Addresses.of(os.environ)) as opened:
            async with opened.as_operator() as operator, operator.transaction(None) as session:
                account = await organization_id_of(session, organization)
            async with opened.database.transaction(Tenant(account, False)) as session:
                return await work(session, account)

    try:
        return asyncio.run(run())
    except Refusal as error:
        refuse(error.message)


async def organization_id_of(session: Any, name: str) -> Any:
    """Return the id of the organization with this name or id, or exit."""
    from hearthpay.accounts.service import find_organization

    found = await find_organization(session, name)
    if found is None:
        refuse(f"there is no organization {name!r}")
    return found.id


def as_operator_telling(data_dir: Path | None, work: Any) -> Any:
    """Run ``work(session, people context)`` as the owner of the database, in one transaction: the context emails those
    concerned.
    """

    async def run(opened: Any, ring: Any) -> Any:
        async with opened.as_operator() as operator, operator.transaction(None) as session:
            return await work(session, people_context_of(opened, operator, ring))

    return run_with_keys(data_dir, run)


def people_context_of(opened: Any, operator: Any, ring: Any) -> Any:
    """Return the context whose mail the worker sends: by the mail server, or without one into its folder."""
    from hearthpay.clock import SystemClock
    from hearthpay.mail.mail_folder import MailFolder
    from hearthpay.mail.mailer import MailSettingsError, load_mailer
    from hearthpay.mail.notices import NotificationSettings, OperatorAddressError
    from hearthpay.people.context import PeopleContext
    from hearthpay.people.throttle import SignInThrottle

    directory = opened.embedded.data_dir if opened.embedded is not None else None
    clock = SystemClock()
    try:
        sends = load_mailer(os.environ) is not None
        folder = MailFolder.of(os.environ, directory)
        settings = NotificationSettings.of(os.environ, sends=sends, keeps=folder is not None)
    except (MailSettingsError, OperatorAddressError) as error:
        refuse(str(error))
    return PeopleContext(
        operator,
        clock,
        ring,
        SignInThrottle(clock),
        sends_mail=settings.sends,
        keeps_mail=settings.keeps,
        links_begin=settings.links_begin,
        operator=settings.operator,
    )
