"""`hearthpay households hand-over` and `time-zone`: what people do on pages, for the operator's terminal."""

from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer

from hearthpay.cli.calendar import for_household
from hearthpay.cli.household_clock import clock_for_changing
from hearthpay.cli.operator import DataDir, refuse

if TYPE_CHECKING:
    import datetime

    from sqlalchemy.ext.asyncio import AsyncSession

    from hearthpay.access.actor import Actor
    from hearthpay.employers.models import Employer

_USUAL: Final = "usual"
_HouseholdId = Annotated[str, typer.Argument(help="The household's id.")]


def hand_over(
    employer: _HouseholdId,
    payroll: Annotated[str, typer.Argument(help="The payroll's id.")],
    note: Annotated[str | None, typer.Option(help="Saved in the household's history.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Mark the checks or cash of a payroll as handed over before its pay date; nothing else of it changes."""
    try:
        payroll_id = UUID(payroll)
    except ValueError:
        refuse("the id of a payroll is needed")

    async def change(session: "AsyncSession", actor: "Actor", found: "Employer") -> "datetime.datetime":
        from hearthpay.access.refusal import Refusal
        from hearthpay.payroll.handing_over import mark_handed_over

        clock = await clock_for_changing(session, found.id)
        handed_over, at = await mark_handed_over(session, actor, clock, payroll_id, note)
        if handed_over.employer_id != found.id:
            raise Refusal("not_found", "Payroll not found.")
        return at

    at = for_household(data_dir, employer, change)
    typer.echo(f"{payroll_id}: handed over, {at:%Y-%m-%d %H:%M} UTC.")


def time_zone(
    employer: _HouseholdId,
    zone: Annotated[
        str, typer.Argument(help="Its IANA name, such as America/Denver, or usual for the state's usual one.")
    ],
    data_dir: DataDir = None,
) -> None:
    """Show times to the household in this time zone; deadlines stay as they are."""
    from hearthpay.time_zones import TIME_ZONES

    chosen = next((each for each in TIME_ZONES if each == zone), None)
    if chosen is None and zone != _USUAL:
        refuse(f"the time zone must be {_USUAL} or one of {', '.join(TIME_ZONES)}")

    async def change(session: "AsyncSession", actor: "Actor", found: "Employer") -> str:
        from hearthpay.employers.commands import ChangeEmployer
        from hearthpay.employers.service import update_employer

        clock = await clock_for_changing(session, found.id)
        changed = await update_employer(session, actor, clock, found.id, ChangeEmployer(time_zone=chosen))
        return changed.zone.key

    typer.echo(f"Time zone of {employer}: {for_household(data_dir, employer, change)}")
