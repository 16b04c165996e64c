"""`hearthpay organizations`: accounts, their plans and their replaced limits."""

from typing import Annotated, Any

import typer

from hearthpay.cli.operator import DataDir, as_operator, as_operator_of, refuse
from hearthpay.clock import SystemClock

organizations = typer.Typer(help="Accounts, their plans and limits.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The organization's name or id.")]


@organizations.command("create")
def create_organization(
    name: Name,
    plan: Annotated[
        str | None,
        typer.Option(help="Its plan, as `hearthpay plans` lists them; left out, the one for new ones."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Create an account and print its id."""
    from hearthpay.access.plans import NEW_ORGANIZATIONS

    chosen = NEW_ORGANIZATIONS if plan is None else _plan(plan)
    from hearthpay.accounts import service as accounts

    async def run(session: Any) -> str:
        created = await accounts.create_organization(session, SystemClock(), name, plan=chosen)
        return f"{created.id}  {created.plan}  {created.name}"

    typer.echo(as_operator(data_dir, run))


@organizations.command("list")
def list_organizations(data_dir: DataDir = None) -> None:
    """List the accounts: plan, households, API active keys, and the limits that were lifted."""
    from hearthpay.accounts import service as accounts

    for entry in as_operator(data_dir, accounts.list_organizations):
        typer.echo(
            f"{entry.id}  {entry.name}  {entry.plan}  households: {entry.households}  "
            f"sandboxes: {entry.sandbox_households}  keys: {entry.keys}" + _lifted(entry.lifted_limits)
        )


@organizations.command("set-plan")
def set_plan(
    name: Name,
    plan: Annotated[str, typer.Argument(help="The plan, as `hearthpay plans` lists them.")],
    data_dir: DataDir = None,
) -> None:
    """Put an account on another plan, within five seconds. What it has too much of stays; nothing can be added."""
    chosen = _plan(plan)
    from hearthpay.accounts import service as accounts

    async def run(session: Any) -> str:
        organization = await _found(session, name)
        before = organization.plan
        await accounts.set_plan(session, organization, chosen)
        return f"{organization.name}: {before} → {organization.plan}"

    typer.echo(as_operator(data_dir, run))


@organizations.command("lift")
def lift(
    name: Name,
    limits: Annotated[
        list[str],
        typer.Argument(
            metavar="LIMIT=NUMBER...",
            help="Such as requests_per_day=100000, households=none (no limit), keys=default (the plan's own again).",
        ),
    ],
    data_dir: DataDir = None,
) -> None:
    """Replace limits of an account's plan, upwards or downwards, within five seconds."""
    lifted, restored = _read_limits(limits)
    from hearthpay.accounts import service as accounts

    async def run(session: Any) -> str:
        organization = await _found(session, name)
        await accounts.lift_limits(session, organization, lifted, restored=restored)
        return f"{organization.name}: {organization.plan}" + _lifted(organization.lifted_limits)

    typer.echo(as_operator(data_dir, run))


@organizations.command("unfreeze")
def unfreeze(name: Name, data_dir: DataDir = None) -> None:
    """End the day without new access that a reported action began, for an account and its households."""
    from uuid_utils.compat import uuid7

    from hearthpay.access.actor import Actor
    from hearthpay.accounts.freezing import end_freeze, freezes_in_force

    clock = SystemClock()

    async def run(session: Any, organization: Any) -> str:
        actor = Actor.operator(organization, sandbox=False, request_id=f"cli-{uuid7()}")
        ended = []
        for each in await freezes_in_force(session, actor, clock.now()):
            await end_freeze(session, actor, clock, None if each.household is None else each.id)
            ended.append(name if each.household is None else f"the {each.household} household")
        return f"no longer frozen: {', '.join(ended)}" if ended else "nothing is frozen there"

    typer.echo(as_operator_of(data_dir, name, run))


async def _found(session: Any, name: str) -> Any:
    from hearthpay.accounts import service as accounts

    organization = await accounts.find_organization(session, name)
    if organization is None:
        refuse(f"there is no organization {name!r}")
    return organization


def _plan(plan: str) -> str:
    """Return the plan that was typed; refused before anything starts where there is none of that name."""
    from hearthpay.access.plans import PLANS

    if plan not in PLANS:
        refuse(f"there is no plan {plan!r}; known: {', '.join(PLANS)}")
    return plan


def _read_limits(typed: list[str]) -> tuple[dict[str, int | None], list[str]]:
    """Return the limits to set and the names of those to reset; an invalid name or number, or a name twice, is
    refused.
    """
    from hearthpay.access.plans import HIGHEST_LIMIT, LIMITS

    lifted: dict[str, int | None] = {}
    restored: list[str] = []
    for entry in typed:
        name, _, value = entry.partition("=")
        if name not in LIMITS:
            refuse(f"{name!r} is not a limit; known: {', '.join(LIMITS)}")
        if name in lifted or name in restored:
            refuse(f"{name} is given twice")
        if value == "default":
            restored.append(name)
        elif value == "none":
            lifted[name] = None
        elif value.isascii() and value.isdigit() and len(value) <= 10 and int(value) <= HIGHEST_LIMIT:
            lifted[name] = int(value)
        else:
            refuse(
                f"{name} must be a whole number up to {HIGHEST_LIMIT:,} without separators, none or default"
            )
    return lifted, restored


def _lifted(limits: dict[str, int | None]) -> str:
    changes = ", ".join(
        f"{name}={'none' if number is None else number}" for name, number in sorted(limits.items())
    )
    return f"  lifted: {changes}" if changes else ""
