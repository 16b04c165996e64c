"""`hearthpay keys`: API keys, made and revoked by the operator."""

from typing import Annotated, Any

import typer

from hearthpay.cli.operator import DataDir, as_operator, refuse
from hearthpay.clock import SystemClock

keys = typer.Typer(help="API keys, made and revoked by the operator.", no_args_is_help=True)


@keys.command("create")
def create_key(
    organization: Annotated[str, typer.Option(help="The account's name; it is created if there is none.")],
    mode: Annotated[str, typer.Option(help="live or test. A test key reaches sandbox households only.")],
    scopes: Annotated[str, typer.Option(help="Scopes separated by commas, or all.")] = "all",
    employer: Annotated[str | None, typer.Option(help="The household the key falls back on.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Create an API key and print it: it is shown this once."""
    from uuid import UUID

    from hearthpay.accounts import service as accounts
    from hearthpay.http.auth import SCOPES

    if mode not in ("live", "test"):
        refuse("--mode must be live or test")
    chosen = (
        list(SCOPES) if scopes == "all" else [scope.strip() for scope in scopes.split(",") if scope.strip()]
    )
    try:
        employer_id = UUID(employer) if employer is not None else None
    except ValueError:
        refuse("--employer must be the id of a household")

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
        )
        return issued.text

    typer.echo(as_operator(data_dir, run))


@keys.command("list")
def list_keys(
    organization: Annotated[str, typer.Option(help="The account's name.")], data_dir: DataDir = None
) -> None:
    """List an account's keys; the keys themselves are not stored."""
    from hearthpay.accounts import service as accounts

    async def run(session: Any) -> list[str]:
        account = await accounts.find_organization(session, organization)
        if account is None:
            refuse(f"there is no organization {organization!r}")
        return [
            f"{key.id}  {key.mode}  …{key.last_four}  {','.join(key.scopes)}  "
            f"{'revoked ' + key.revoked_at.isoformat() if key.revoked_at else 'in force'}"
            for key in await accounts.list_keys(session, account)
        ]

    for line in as_operator(data_dir, run):
        typer.echo(line)


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
