"""`hearthpay calendar`, and what the operator records for it: filing frequencies, closed accounts, the link of the
feed.
"""

import datetime
import json
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

import typer

from hearthpay.cli.household_clock import clock_for_changing, clock_for_reading
from hearthpay.cli.operator import DataDir, as_operator, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.ext.asyncio import AsyncSession

    from hearthpay.access.actor import Actor
    from hearthpay.duties.calendar import CalendarItem
    from hearthpay.employers.models import Employer
    from hearthpay.security.portal_tokens import PortalToken

_DAYS = ["%Y-%m-%d"]
_T = TypeVar("_T")

_HouseholdId = Annotated[str, typer.Argument(help="The household's id.")]
_State = Annotated[str, typer.Option("--state", help="The state, by its two letters, or US.")]
_AccountName = Annotated[str, typer.Option("--account", help="sui, withholding, or estimated-tax of US.")]


def calendar(
    employer: _HouseholdId,
    since: Annotated[
        datetime.datetime | None,
        typer.Option("--from", formats=_DAYS, help="The first day; left out, today."),
    ] = None,
    until: Annotated[
        datetime.datetime | None,
        typer.Option("--to", formats=_DAYS, help="The last day; left out, a year later."),
    ] = None,
    done: Annotated[str | None, typer.Option(help="Mark the item of this key as done.")] = None,
    undone: Annotated[str | None, typer.Option(help="Take the mark of this key back.")] = None,
    done_on: Annotated[
        datetime.datetime | None,
        typer.Option("--on", formats=_DAYS, help="With --done: the day; left out, today."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the items as JSON.")] = False,
    as_ics: Annotated[bool, typer.Option("--ics", help="Print them as an iCalendar file.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Tell what a household must do by when, and how much it is; or mark something of it as done."""
    if (done is not None) + (undone is not None) + as_json + as_ics > 1:
        refuse("--done, --undone, --json and --ics exclude each other")
    key = done or undone
    if key is not None:
        day = _mark(data_dir, employer, key, _day(done_on), done=done is not None)
        typer.echo(f"{key}: not done." if day is None else f"{key}: done on {day}.")
        return
    if done_on is not None:
        refuse("--on goes with --done")
    household, items, now = _read(data_dir, employer, _day(since), _day(until))
    if as_ics:
        from hearthpay.duties.ical import feed_of

        typer.echo(feed_of(household, items, now), nl=False)
    elif as_json:
        from hearthpay.clock import BUSINESS_TIME
        from hearthpay.duties.schemas import tax_calendar_item
        from hearthpay.wire.answer import render

        today = now.astimezone(BUSINESS_TIME).date()
        told = [tax_calendar_item(item, household, today) for item in items]
        typer.echo(json.dumps(json.loads(render(told)), indent=2))
    else:
        for item in items:
            typer.echo(_line(item))


def filing(
    employer: _HouseholdId,
    state: _State,
    account: _AccountName,
    since: Annotated[int, typer.Option(help="The first year for which it holds.")],
    frequency: Annotated[
        str | None, typer.Option(help="How often, as annual or quarterly; left out, as if never chosen.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Note how often a household files under an account, as it or its agency has chosen."""

    async def note(session: "AsyncSession", actor: "Actor", found: "Employer") -> None:
        from hearthpay.duties.service import choose_filing

        await choose_filing(
            session,
            actor,
            await clock_for_changing(session, found.id),
            found,
            jurisdiction=state.upper(),
            account=account,
            since_year=since,
            frequency=frequency,
        )

    for_household(data_dir, employer, note)
    typer.echo(f"{state.upper()} {account} from {since} on: {frequency or 'no choice'}.")


def close_account(
    employer: _HouseholdId,
    state: _State,
    account: _AccountName,
    closed_on: Annotated[
        datetime.datetime | None,
        typer.Option("--on", formats=_DAYS, help="The last day to report; left out, it is open again."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Note that an agency closed an account of a household: later periods are no longer reported."""
    day = _day(closed_on)

    async def note(session: "AsyncSession", actor: "Actor", found: "Employer") -> None:
        from hearthpay.duties.service import note_closing

        clock = await clock_for_changing(session, found.id)
        await note_closing(
            session, actor, clock, found, jurisdiction=state.upper(), account=account, closed_on=day
        )

    for_household(data_dir, employer, note)
    typer.echo(f"{state.upper()} {account}: {'open' if day is None else f'closed on {day}'}.")


def calendar_link(
    employer: _HouseholdId,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="End the active link without making a new one.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Make the secret link of a household's calendar, for calendar apps. Earlier links stop working."""
    from hearthpay.duties import feed

    if revoke:

        async def end(session: "AsyncSession", actor: "Actor", found: "Employer") -> bool:
            return await feed.revoke_link(session, actor, await clock_for_changing(session, found.id), found)

        ended = for_household(data_dir, employer, end)
        typer.echo("The link opens nothing any more." if ended else "There was no link.")
        return

    async def make(session: "AsyncSession", actor: "Actor", found: "Employer") -> "PortalToken":
        return await feed.make_link(session, actor, await clock_for_changing(session, found.id), found)

    token = for_household(data_dir, employer, make)
    address = os.environ.get("HEARTHPAY_PUBLIC_URL", "").strip().rstrip("/")
    typer.echo(f"{address}{feed.FEED_PATH}/{token.text}.ics")
    where = "" if address else " It begins with the address at which the service is reached."
    typer.echo(f"hearthpay: whoever has this link can read the calendar.{where}", err=True)


def _line(item: "CalendarItem") -> str:
    from hearthpay.duties.titles import title_of_item
    from hearthpay.taxes.money import from_cents

    amount = "" if item.amount is None else f"{from_cents(item.amount):,.2f}"
    whose = "" if item.employee_name is None else f" ({item.employee_name})"
    done = "" if item.done_on is None else f"done {item.done_on}"
    how_often = "" if item.reason is None else f" [{item.reason.frequency.replace('_', ' ')}]"
    return f"{item.due}  {done:<15}  {amount:>12}  {item.key}  {title_of_item(item, 'en')}{whose}{how_often}"


def _mark(
    data_dir: "Path | None", employer: str, key: str, done_on: datetime.date | None, *, done: bool
) -> datetime.date | None:
    """Mark the item as done on that day, by default today, or take the mark back; return the day."""

    async def mark(session: "AsyncSession", actor: "Actor", found: "Employer") -> datetime.date | None:
        from hearthpay.duties.service import mark_duty

        clock = await clock_for_changing(session, found.id)
        day = (done_on or clock.today()) if done else None
        await mark_duty(session, actor, clock, found, key=key, done_on=day)
        return day

    return for_household(data_dir, employer, mark)


def _read(
    data_dir: "Path | None", employer: str, since: datetime.date | None, until: datetime.date | None
) -> "tuple[UUID, tuple[CalendarItem, ...], datetime.datetime]":
    async def read(
        session: "AsyncSession", actor: "Actor", found: "Employer"
    ) -> "tuple[UUID, tuple[CalendarItem, ...], datetime.datetime]":
        from hearthpay.duties.service import calendar_of_household, days_of

        clock = await clock_for_reading(session, found.id)
        first, last = days_of(since, until, clock.today())
        items = await calendar_of_household(session, actor, clock, found, first, last)
        return found.id, items, clock.now()

    return for_household(data_dir, employer, read)


def _day(at: datetime.datetime | None) -> datetime.date | None:
    return None if at is None else at.date()


def for_household(
    data_dir: "Path | None",
    employer: str,
    work: "Callable[[AsyncSession, Actor, Employer], Awaitable[_T]]",
) -> _T:
    """Return what ``work`` does for the household, in one transaction of the operator."""
    try:
        household = UUID(employer)
    except ValueError:
        refuse("the id of a household is needed")

    async def run(session: Any) -> _T:
        from uuid_utils.compat import uuid7

        from hearthpay.access.actor import Actor
        from hearthpay.employers.models import Employer

        found = await session.get(Employer, household)
        if found is None:
            refuse("there is no such household")
        actor = Actor.operator(found.organization_id, sandbox=found.sandbox, request_id=f"cli-{uuid7()}")
        return await work(session, actor, found)

    result: _T = as_operator(data_dir, run)
    return result
