"""`hearthpay households policy`: a household's workers' compensation and disability policies."""

import datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hearthpay.cli.household_clock import clock_for_changing, clock_for_reading
from hearthpay.cli.operator import DataDir, refuse, run_with_keys

if TYPE_CHECKING:
    from hearthpay.access.actor import Actor
    from hearthpay.employers.models import Employer
    from hearthpay.insurance.service import PolicyDetails

_DAY = ["%Y-%m-%d"]


def policy(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    state: Annotated[
        str | None, typer.Option(help="The state that asks for it; left out, all are shown.")
    ] = None,
    kind: Annotated[str, typer.Option(help="workers_compensation or disability.")] = "workers_compensation",
    carrier: Annotated[str | None, typer.Option(help="Who insures.")] = None,
    number: Annotated[str | None, typer.Option(help="The policy's number.")] = None,
    starts_on: Annotated[datetime.datetime | None, typer.Option(formats=_DAY, help="Its first day.")] = None,
    ends_on: Annotated[datetime.datetime | None, typer.Option(formats=_DAY, help="Its last day.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove what was entered.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Show which insurance policies a household needs and has, or keep one."""
    try:
        household = UUID(employer)
    except ValueError:
        refuse("the id of a household is needed")
    if state is None:
        for line in run_with_keys(data_dir, lambda opened, _ring: _show(opened, household)):
            typer.echo(line)
        return
    if (carrier is None) != remove:
        refuse("give --carrier and --starts-on, or --remove")
    from hearthpay.insurance.service import PolicyDetails

    details = PolicyDetails(
        state=state.upper(),
        kind=kind,  # type: ignore[arg-type]
        carrier=carrier,
        policy_number=number,
        starts_on=None if starts_on is None else starts_on.date(),
        ends_on=None if ends_on is None else ends_on.date(),
    )
    run_with_keys(data_dir, lambda opened, _ring: _keep(opened, household, details))
    typer.echo(f"{details.state} {details.kind}: {'removed' if remove else 'kept'}.")


async def _show(opened: Any, household: UUID) -> list[str]:
    from hearthpay.insurance.service import policies_of_household

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        employer, actor = await _employer(session, household)
        clock = await clock_for_reading(session, employer.id)
        policies = await policies_of_household(session, actor, clock, employer)
    lines = []
    for each in policies:
        need = "not_required" if each.needed is None else each.needed.need
        known = "" if each.entered is None else f"  {each.entered.carrier} {each.entered.policy_number or ''}"
        lines.append(f"{each.state}  {each.kind:<20}  {need:<12}{known}".rstrip())
    return lines


async def _keep(opened: Any, household: UUID, details: "PolicyDetails") -> None:
    from hearthpay.insurance.service import keep_policy

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        employer, actor = await _employer(session, household)
        await keep_policy(session, actor, await clock_for_changing(session, employer.id), employer, details)


async def _employer(session: Any, household: UUID) -> "tuple[Employer, Actor]":
    from uuid_utils.compat import uuid7

    from hearthpay.access.actor import Actor
    from hearthpay.employers.models import Employer

    employer = await session.get(Employer, household)
    if employer is None:
        refuse("there is no such household")
    return employer, Actor.operator(
        employer.organization_id, sandbox=employer.sandbox, request_id=f"cli-{uuid7()}"
    )
