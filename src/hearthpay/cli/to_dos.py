"""`hearthpay to-dos`: what a household has to do, most urgent first."""

import datetime
import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from hearthpay.cli.calendar import for_household
from hearthpay.cli.household_clock import clock_for_reading
from hearthpay.cli.operator import DataDir

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from hearthpay.access.actor import Actor
    from hearthpay.employers.models import Employer
    from hearthpay.todos.to_do import Agenda


def to_dos(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    due_within: Annotated[
        int, typer.Option(min=0, max=150, help="Leave out what is due in so many days or later.")
    ] = 7,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the to-dos as JSON, as the API does.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Tell what a household has to do: what is overdue, due soon, or has no date, most urgent first."""

    async def read(session: "AsyncSession", actor: "Actor", found: "Employer") -> "Agenda":
        from hearthpay.todos.service import agenda_of_household

        return await agenda_of_household(session, actor, await clock_for_reading(session, found.id), found)

    agenda = for_household(data_dir, employer, read)
    listed = agenda.due_before(agenda.today + datetime.timedelta(days=due_within))
    if as_json:
        from hearthpay.todos.schemas import to_do_item
        from hearthpay.wire.answer import render

        address = os.environ.get("HEARTHPAY_PUBLIC_URL", "").strip().rstrip("/")
        items = [to_do_item(each, agenda.today, address) for each in listed]
        typer.echo(json.dumps(json.loads(render(items)), indent=2))
        return
    from hearthpay.todos.wording import title_text

    for each in listed:
        typer.echo(f"{each.due_on or ''!s:<10}  {title_text(each, 'en', agenda.today)}")
    if not listed:
        until = agenda.clear_until
        typer.echo("All clear." if until is None else f"All clear. The next thing is due on {until}.")
