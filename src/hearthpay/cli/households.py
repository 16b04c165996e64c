"""`hearthpay households`: what the operator notes about households."""

from typing import Annotated, Any

import typer

from hearthpay.cli.operator import DataDir, as_operator, decimal_of, refuse
from hearthpay.taxes import TaxInputError

households = typer.Typer(help="What the operator notes about households.", no_args_is_help=True)


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
    from uuid import UUID

    from hearthpay.employers.assigned_rates import assign_sui_rate

    try:
        employer_id = UUID(employer)
    except ValueError:
        refuse("the id of a household is needed")
    try:
        exact = decimal_of(rate, "rate")
    except TaxInputError as error:
        refuse(str(error))

    async def run(session: Any) -> None:
        await assign_sui_rate(session, employer_id, tax_year=year, state=state.upper(), rate=exact)

    as_operator(data_dir, run)
    typer.echo(f"{state.upper()} unemployment of {year}: {exact}")
