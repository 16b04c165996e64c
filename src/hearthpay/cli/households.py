"""`hearthpay households`: creating households, and what the operator records about them."""

import sys
from typing import Annotated, Any
from uuid import UUID

import typer

from hearthpay.cli.amounts import decimal_of
from hearthpay.cli.household_clock import clock_for_changing
from hearthpay.cli.operator import DataDir, as_operator, refuse, run_with_keys
from hearthpay.clock import SystemClock
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.messages import texts

_LARGEST_INPUT = 1_000

households = typer.Typer(
    help="Creating households, and what the operator notes about them.", no_args_is_help=True
)


@households.command("create")
def create(
    organization: Annotated[
        str, typer.Option(help="The account that the household belongs to, by its name or id.")
    ],
    first_name: Annotated[str, typer.Option(help="The employer's first name.")],
    last_name: Annotated[str, typer.Option(help="The employer's last name.")],
    state: Annotated[str, typer.Option(help="The state where the work is done, by its two letters.")],
    email: Annotated[str | None, typer.Option(help="Needed unless it is a sandbox household.")] = None,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Make it one for test keys.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Create a household within what the account's plan allows, and print its id."""
    from pydantic import ValidationError
    from uuid_utils.compat import uuid7

    from hearthpay.access.actor import Actor
    from hearthpay.access.plans import terms_of
    from hearthpay.accounts import service as accounts
    from hearthpay.employers.schemas import NewEmployer
    from hearthpay.employers.service import create_employer
    from hearthpay.wire.problems import problems_of

    values = {"first_name": first_name, "last_name": last_name, "state": state, "email": email}
    try:
        new = NewEmployer.model_validate({name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        findings = error.errors(include_url=False, include_input=False)
        refuse("; ".join(f"{each.field}: {each.message}" for each in problems_of(findings)))

    async def run(session: Any) -> UUID:
        account = await accounts.find_organization(session, organization)
        if account is None:
            refuse(f"there is no organization {organization!r}")
        terms = terms_of(account.plan, account.lifted_limits)
        actor = Actor.operator(account.id, sandbox=sandbox, request_id=f"cli-{uuid7()}", terms=terms)
        return (await create_employer(session, actor, SystemClock(), new.to_command())).id

    typer.echo(str(as_operator(data_dir, run)))


@households.command("assign-sui-rate")
def assign_sui_rate(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    year: Annotated[int, typer.Option(help="The tax year of the state's notice.")],
    state: Annotated[str, typer.Option(help="The state that assigned the rate.")],
    rate: Annotated[
        str, typer.Option(help="The unemployment rate without separate surcharges, such as 0.027.")
    ],
    data_dir: DataDir = None,
) -> None:
    """Use the unemployment rate of the state's notice instead of the new-employer rate, from the next payroll on."""
    from hearthpay.employers.assigned_rates import assign_sui_rate

    employer_id = _household_id(employer)
    try:
        exact = decimal_of(rate, "rate")
    except TaxInputError as error:
        refuse(str(error))

    async def run(session: Any) -> None:
        await assign_sui_rate(session, employer_id, tax_year=year, state=state.upper(), rate=exact)

    as_operator(data_dir, run)
    typer.echo(f"{state.upper()} unemployment of {year}: {exact}")


@households.command("ein-status")
def ein_status(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    status: Annotated[str, typer.Argument(help="pending, approved, or none where the IRS refused.")],
    data_dir: DataDir = None,
) -> None:
    """Note how far the household is with its employer identification number: none, pending, approved."""
    from hearthpay.employers.ein_status import is_ein_status, set_ein_status

    employer_id = _household_id(employer)
    if not is_ein_status(status):
        refuse("the status must be pending, approved or none")

    async def run(session: Any) -> str:
        return await set_ein_status(session, employer_id, status)

    before = as_operator(data_dir, run)
    typer.echo(f"EIN of {employer_id}: {before} → {status}")


@households.command("ein")
def ein(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the number from standard input.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Keep the household's employer identification number; it is asked for, hidden and twice, or read from stdin."""
    household = _household_id(employer)
    if stdin:
        number = sys.stdin.read(_LARGEST_INPUT).strip()
    else:
        number = typer.prompt("EIN", hide_input=True, confirmation_prompt=True, err=True)

    async def keep(opened: Any, ring: Any) -> str:
        from uuid_utils.compat import uuid7

        from hearthpay.access.actor import Actor
        from hearthpay.employers.ein import keep_ein
        from hearthpay.employers.models import Employer

        async with opened.as_operator() as operator, operator.transaction(None) as session:
            found = await session.get(Employer, household)
            if found is None:
                refuse("there is no such household")
            actor = Actor.operator(found.organization_id, sandbox=found.sandbox, request_id=f"cli-{uuid7()}")
            return await keep_ein(session, ring, actor, found, number)

    typer.echo(f"EIN of {household}: XX-XXX{run_with_keys(data_dir, keep)}")


@households.command("threshold-basis")
def threshold_basis(
    employer: Annotated[str, typer.Argument(help="The household's id.")],
    basis: Annotated[str, typer.Argument(help="assume_crossed or as_paid.")],
    data_dir: DataDir = None,
) -> None:
    """Charge taxes that depend on a wage threshold from the first dollar, or once wages have reached it."""
    from hearthpay.employers.threshold_basis import is_threshold_basis
    from hearthpay.payroll.years.threshold_choice import choose_threshold_basis

    employer_id = _household_id(employer)
    if not is_threshold_basis(basis):
        refuse("the basis must be assume_crossed or as_paid")

    async def run(session: Any) -> Any:
        clock = await clock_for_changing(session, employer_id)
        return await choose_threshold_basis(session, clock, employer_id, basis)

    choice = as_operator(data_dir, run)
    typer.echo(f"Thresholds of {employer_id}: {choice.before} → {choice.after}")
    for line in texts(choice.messages):
        typer.echo(line)


@households.command("open-matters")
def open_matters(
    employer: Annotated[str | None, typer.Argument(help="The household's id; left out, all of them.")] = None,
    data_dir: DataDir = None,
) -> None:
    """List what is open: money that is on hold, or that someone owes. Exits with 3 if there is any."""
    from hearthpay.cli.doctor import EXIT_OPEN, print_open_matters
    from hearthpay.doctor.exposure import open_cases

    employer_id = None if employer is None else _household_id(employer)

    async def run(session: Any) -> Any:
        cases = await open_cases(session, SystemClock().now())
        return [case for case in cases if employer_id in (None, case.employer_id)]

    cases = as_operator(data_dir, run)
    print_open_matters(cases)
    typer.echo("Nothing is open." if not cases else f"{len(cases)} matters are open.")
    if cases:
        raise typer.Exit(EXIT_OPEN)


def _household_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        refuse("the id of a household is needed")
