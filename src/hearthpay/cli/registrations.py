"""`hearthpay registrations` and `hearthpay households register`: with which agencies a household must register."""

import datetime
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hearthpay.cli.household_clock import clock_for_changing, clock_for_reading
from hearthpay.cli.operator import DataDir, refuse, run_with_keys

if TYPE_CHECKING:
    from hearthpay.access.actor import Actor
    from hearthpay.employers.models import Employer

_LARGEST_INPUT = 1_000


def register(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    state: Annotated[str, typer.Option(help="The state whose agency gave the number, by its two letters.")],
    account_type: Annotated[
        str, typer.Option("--type", help="sui, withholding, sdi, pfml, other, or a local account.")
    ],
    applied_on: Annotated[
        datetime.datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"], help="Note that the household applied on this day; no number is asked for."
        ),
    ] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the number from standard input.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Keep the number that a state's agency gave a household; it is asked for, hidden and twice."""
    household = _household_id(employer)
    place = (state.upper(), _account_id(state.upper(), account_type))
    if applied_on is not None:
        day = applied_on.date()
        run_with_keys(data_dir, lambda opened, ring: _apply(opened, ring, household, place, day))
        typer.echo(f"{place[0]} {place[1]}: applied on {day}.")
        return
    if stdin:
        number = sys.stdin.read(_LARGEST_INPUT).strip()
    else:
        number = typer.prompt("Number", hide_input=True, confirmation_prompt=True, err=True)
    warning = run_with_keys(data_dir, lambda opened, ring: _keep(opened, ring, household, place, number))
    if warning is not None:
        typer.echo(f"hearthpay: the number {warning}; it is kept as it is.", err=True)
    typer.echo(f"{place[0]} {place[1]}: registered.")


def registrations(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Tell with which agencies a household must register, what is on file, and where to go."""
    from hearthpay.registrations.schemas import item_of

    household = _household_id(employer)
    rows, obligations = run_with_keys(data_dir, lambda opened, ring: _read(opened, ring, household))
    if as_json:
        from hearthpay.wire.answer import render

        typer.echo(json.dumps(json.loads(render([item_of(row, obligations) for row in rows])), indent=2))
        return
    for row in rows:
        end = f" …{row.last_four}" if row.last_four else ""
        where = f"  {row.url}" if row.url and row.status != "registered" else ""
        typer.echo(f"{row.state}  {row.account_id:<11}  {row.status + end:<18}  {row.agency}{where}")


def _account_id(state: str, text: str) -> str:
    from hearthpay.registrations.accounts import accounts_of
    from hearthpay.taxes.jurisdictions import STATES

    if state not in STATES:
        refuse("--state must be one of the 50 states or DC, by its two letters")
    known = [account.id for account in accounts_of(state).accounts]
    if text not in known:
        refuse(f"--type must be one of {', '.join(known)}")
    return text


def _household_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        refuse("the id of a household is needed")


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


async def _keep(opened: Any, ring: Any, household: UUID, place: tuple[str, str], number: str) -> Any:
    from hearthpay.registrations.service import keep_number

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        employer, actor = await _employer(session, household)
        state, account_id = place
        return await keep_number(
            session,
            ring,
            actor,
            await clock_for_changing(session, employer.id),
            employer,
            state=state,
            account_id=account_id,
            number=number,
        )


async def _apply(
    opened: Any,
    ring: Any,  # noqa: ARG001 - as `run_with_keys` calls it
    household: UUID,
    place: tuple[str, str],
    applied_on: datetime.date,
) -> None:
    from hearthpay.registrations.service import note_application

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        employer, actor = await _employer(session, household)
        state, account_id = place
        await note_application(
            session,
            actor,
            await clock_for_changing(session, employer.id),
            employer,
            state=state,
            account_id=account_id,
            applied_on=applied_on,
        )


async def _read(opened: Any, ring: Any, household: UUID) -> Any:  # noqa: ARG001 - as `run_with_keys` calls it
    from hearthpay.duties.obligations import obligations_of_household
    from hearthpay.registrations.derivation import EVERY_ACCOUNT
    from hearthpay.registrations.service import registrations_of_household

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        employer, actor = await _employer(session, household)
        clock = await clock_for_reading(session, employer.id)
        rows = await registrations_of_household(session, actor, clock, employer, include=EVERY_ACCOUNT)
        return rows, await obligations_of_household(session, employer, rows, clock.today())
