"""`hearthpay people`: who can sign in, links for those who can't, and ending sessions."""

import os
from typing import Annotated, Any

import typer

from hearthpay.cli.operator import (
    DataDir,
    as_operator,
    as_operator_of,
    as_operator_telling,
    organization_id_of,
    refuse,
)
from hearthpay.clock import SystemClock

people = typer.Typer(help="Who can sign in: list, invite, reset, end sessions.", no_args_is_help=True)

OrganizationOption = Annotated[str, typer.Option(help="The account's name or id.")]
EmailArgument = Annotated[str, typer.Argument(help="The person's email address.")]


@people.command("list")
def list_everybody(data_dir: DataDir = None) -> None:
    """List who can sign in, in how many organizations, and when they were seen last."""
    from hearthpay.people.operators import list_people

    found = as_operator(data_dir, list_people)
    if not found:
        typer.echo("Nobody can sign in yet. `hearthpay people first-owner` prints a link.")
    for person in found:
        last_seen = "never" if person.last_seen_at is None else f"{person.last_seen_at:%Y-%m-%d %H:%M} UTC"
        operates = "  operator" if person.operates else ""
        typer.echo(
            f"{person.email}  {person.name}  organizations {person.organizations}  last seen {last_seen}{operates}"
        )


@people.command("first-owner")
def first_owner(data_dir: DataDir = None) -> None:
    """Print the one-time link by which the first owner makes an account; earlier ones work no more."""
    from hearthpay.people.first_owner import offer_first_owner

    async def run(session: Any) -> Any:
        return await offer_first_owner(session, SystemClock())

    token = as_operator(data_dir, run)
    if token is None:
        refuse("there are people already: invite others with `hearthpay people invite`")
    typer.echo(f"{_address()}/welcome/{token.text}")


@people.command()
def invite(
    email: EmailArgument,
    organization: OrganizationOption,
    role: Annotated[str, typer.Option(help="viewer, admin or owner.")] = "owner",
    data_dir: DataDir = None,
) -> None:
    """Print a link by which somebody becomes a member of an organization; it works once, for seven days."""
    from hearthpay.people.operators import invite_by_operator

    async def run(session: Any) -> Any:
        account = await organization_id_of(session, organization)
        return await invite_by_operator(session, SystemClock(), account, email, role)

    typer.echo(f"{_address()}/join/{as_operator(data_dir, run).token.text}")


@people.command()
def reset(email: EmailArgument, data_dir: DataDir = None) -> None:
    """Print a link by which the person chooses a new password; it works once, for an hour. We email them about it."""
    from hearthpay.people.operators import reset_by_operator

    async def run(session: Any, people_context: Any) -> Any:
        return await reset_by_operator(session, people_context, email)

    typer.echo(f"{_address()}/reset/{as_operator_telling(data_dir, run).text}")


@people.command("end-sessions")
def end_sessions(email: EmailArgument, data_dir: DataDir = None) -> None:
    """End every session of the person, at once. We email them about it."""
    from hearthpay.people.operators import end_sessions_by_operator

    async def run(session: Any, people_context: Any) -> int:
        return await end_sessions_by_operator(session, people_context, email)

    typer.echo(f"Sessions ended: {as_operator_telling(data_dir, run)}.")


@people.command("remove-second-factor")
def remove_second_factor(email: EmailArgument, data_dir: DataDir = None) -> None:
    """Let a person who lost the second factor and its codes sign in by password alone. We email them about it."""
    from hearthpay.people.operators import remove_second_factor_by_operator

    async def run(session: Any, people_context: Any) -> bool:
        return await remove_second_factor_by_operator(session, people_context, email)

    removed = as_operator_telling(data_dir, run)
    typer.echo("The second factor was removed." if removed else "There is no second factor.")


@people.command("remove-member")
def remove_member(email: EmailArgument, organization: OrganizationOption, data_dir: DataDir = None) -> None:
    """Remove a member from an organization at once, an owner too, with their apps, keys and invitations.

    We email all members and the households. The last owner can't be removed: make somebody else an owner
    first, with `change-role` or `invite`.
    """
    from hearthpay.people.operators import remove_member_by_operator

    async def run(session: Any, account: Any) -> None:
        await remove_member_by_operator(session, SystemClock(), account, email)

    as_operator_of(data_dir, organization, run)
    typer.echo("The member was removed. We email all members.")


@people.command("change-role")
def change_role(
    email: EmailArgument,
    organization: OrganizationOption,
    role: Annotated[str, typer.Option(help="viewer, admin or owner.")],
    data_dir: DataDir = None,
) -> None:
    """Give a member of an organization another role at once. We email all members and the households."""
    from hearthpay.people.operators import change_role_by_operator

    async def run(session: Any, account: Any) -> None:
        await change_role_by_operator(session, SystemClock(), account, email, role)

    as_operator_of(data_dir, organization, run)
    typer.echo(f"The member is now {role}. We email all members.")


@people.command("settle-address")
def settle_address(
    email: EmailArgument,
    choice: Annotated[
        str, typer.Argument(help="current keeps the address, former brings back the one before.")
    ],
    data_dir: DataDir = None,
) -> None:
    """Decide which address is right, after two mailboxes claimed one account. We email both."""
    from hearthpay.people.operators import settle_address_by_operator

    async def run(session: Any, people_context: Any) -> Any:
        return await settle_address_by_operator(session, people_context, email, choice)

    typer.echo(f"The address of the account is {as_operator_telling(data_dir, run).address}. Both are told.")


@people.command()
def operator(
    email: EmailArgument,
    remove: Annotated[bool, typer.Option("--remove", help="Take it from the person again.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Let a person see the pages about the installation as a whole, such as mail that was not sent. We email them
    about it.
    """
    from hearthpay.people.operators import make_operator, unmake_operator

    async def run(session: Any, people_context: Any) -> bool:
        return await (unmake_operator if remove else make_operator)(session, people_context, email)

    as_operator_telling(data_dir, run)
    typer.echo("No operator any more." if remove else "Made an operator.")


def _address() -> str:
    """Return what links begin with: HEARTHPAY_PUBLIC_URL, or where `hearthpay serve` listens by default."""
    return os.environ.get("HEARTHPAY_PUBLIC_URL", "").strip().rstrip("/") or "http://localhost:8000"
