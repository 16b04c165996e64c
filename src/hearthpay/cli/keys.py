"""`hearthpay keys`: API keys, created and revoked by the operator."""

import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hearthpay.cli.operator import DataDir, as_operator, refuse
from hearthpay.clock import SystemClock, end_of_day

if TYPE_CHECKING:
    from hearthpay.accounts.models import ApiKeyRecord

keys = typer.Typer(help="API keys, made and revoked by the operator.", no_args_is_help=True)


@keys.command("create")
def create_key(
    organization: Annotated[
        str,
        typer.Option(help="The account's name or id; an account of that name is created if there is none."),
    ],
    mode: Annotated[str, typer.Option(help="live or test. A test key reaches sandbox households only.")],
    scopes: Annotated[str, typer.Option(help="Scopes separated by commas, or all.")] = "all",
    employer: Annotated[str | None, typer.Option(help="The household the key falls back on.")] = None,
    only: Annotated[
        str | None, typer.Option(help="The one household that exists for the key, in place of --employer.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="The last day on which the key works, YYYY-MM-DD in New York.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Create an API key and print it: it is shown this once."""
    from uuid import UUID

    from hearthpay.access.permissions import SCOPES
    from hearthpay.accounts import service as accounts

    if mode not in ("live", "test"):
        refuse("--mode must be live or test")
    chosen = (
        list(SCOPES) if scopes == "all" else [scope.strip() for scope in scopes.split(",") if scope.strip()]
    )
    if employer is not None and only is not None:
        refuse("--only names the household already; leave out --employer")
    named = only if only is not None else employer
    try:
        employer_id = UUID(named) if named is not None else None
    except ValueError:
        refuse(f"--{'employer' if only is None else 'only'} must be the id of a household")
    try:
        expires_at = end_of_day(datetime.date.fromisoformat(expires)) if expires is not None else None
    except (ValueError, OverflowError):
        refuse("--expires must be a day written YYYY-MM-DD")

    async def run(session: Any) -> str:
        clock = SystemClock()
        account = await accounts.find_organization(session, organization)
        if account is None:
            account = await accounts.create_organization(session, clock, organization)
            typer.echo(f"Created the organization {account.name}.", err=True)
        issued = await accounts.create_key(
            session,
            clock,
            account,
            mode="live" if mode == "live" else "test",
            scopes=chosen,
            employer_id=employer_id,
            confined=only is not None,
            expires_at=expires_at,
        )
        return issued.text

    typer.echo(as_operator(data_dir, run))


@keys.command("list")
def list_keys(
    organization: Annotated[str, typer.Option(help="The account's name or id.")], data_dir: DataDir = None
) -> None:
    """List an account's keys; the keys themselves are not stored."""
    from hearthpay.accounts import service as accounts

    async def run(session: Any) -> list[str]:
        account = await accounts.find_organization(session, organization)
        if account is None:
            refuse(f"there is no organization {organization!r}")
        return [
            f"{key.id}  {key.mode}  …{key.last_four}  {','.join(key.scopes)}  {_state_of(key, SystemClock().now())}"
            for key in await accounts.list_keys(session, account)
        ]

    for line in as_operator(data_dir, run):
        typer.echo(line)


def _state_of(key: "ApiKeyRecord", now: datetime.datetime) -> str:
    """Return whether the key is in force, until when and for what, and when it was last used."""
    if key.revoked_at is not None:
        words = [f"revoked {_minute(key.revoked_at)}"]
    elif key.expires_at is not None:
        words = [f"{'in force until' if key.expires_at > now else 'expired'} {_minute(key.expires_at)}"]
    else:
        words = ["active"]
    if key.confined:
        words.append(f"only {key.employer_id or 'a household that was deleted'}")
    words.append(f"last used {_minute(key.last_used_at)}" if key.last_used_at is not None else "never used")
    return "  ".join(words)


def _minute(moment: datetime.datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="The key's id.")], data_dir: DataDir = None
) -> None:
    """Revoke a key: it stops working within five seconds."""
    from uuid import UUID

    from hearthpay.accounts import service as accounts

    try:
        identity = UUID(key_id)
    except ValueError:
        refuse("the id of a key is needed, as `keys list` shows it")

    async def run(session: Any) -> None:
        await accounts.revoke_key(session, SystemClock(), identity)

    as_operator(data_dir, run)
    typer.echo(f"Revoked {identity}.")
