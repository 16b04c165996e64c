"""`hearthpay reports`: a state's wages by employee, and taxes by agency and month, as tables, CSV or JSON."""

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hearthpay.cli.operator import DataDir, as_operator, refuse
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.money import from_cents

if TYPE_CHECKING:
    from hearthpay.access.actor import Actor
    from hearthpay.employers.models import Employer
    from hearthpay.reports.state_wages import StateWageDetail
    from hearthpay.reports.tax_liability import TaxLiability

reports = typer.Typer(
    help="Wages by state and taxes by agency, as the ledger has them.", no_args_is_help=True
)

HouseholdId = Annotated[str, typer.Argument(help="The household's id.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_DAY = ["%Y-%m-%d"]


@reports.command("state-wages")
def state_wages(
    employer: HouseholdId,
    state: Annotated[str, typer.Option(help="The state, by its two letters.")],
    year: Annotated[int, typer.Option(min=2000, max=2100, help="The year of the pay dates.")],
    quarter: Annotated[int | None, typer.Option(min=1, max=4, help="Default: the whole year.")] = None,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Tell a state's wages by employee: gross, subject, excess and taxable wages, and the state's taxes on them."""
    from hearthpay.reports.commands import AskStateWages
    from hearthpay.reports.csv_table import state_wages_csv
    from hearthpay.reports.schemas import state_wage_report
    from hearthpay.reports.service import state_wages_of_household

    household, place = _household_id(employer), state.upper()
    if place not in STATES:
        refuse("--state must be one of the 50 states or DC, by its two letters")
    _one_form(as_csv, as_json)

    async def run(session: Any) -> "StateWageDetail":
        found, actor = await _employer(session, household)
        return await state_wages_of_household(session, actor, found, AskStateWages(place, year, quarter))

    try:
        report: StateWageDetail = as_operator(data_dir, run)
    except TaxInputError as error:
        refuse(str(error))
    if as_csv:
        typer.echo(state_wages_csv(report), nl=False)
    elif as_json:
        _print_json(state_wage_report(household, report))
    else:
        _print_state_wages(report)


@reports.command("tax-liability")
def tax_liability(
    employer: HouseholdId,
    first: Annotated[datetime.datetime, typer.Option("--from", formats=_DAY, help="The first pay date.")],
    last: Annotated[datetime.datetime, typer.Option("--to", formats=_DAY, help="The last pay date.")],
    as_csv: AsCsv = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Tell what is owed to which agency, by line and month of the pay dates."""
    from hearthpay.reports.commands import AskTaxLiability
    from hearthpay.reports.csv_table import tax_liability_csv
    from hearthpay.reports.schemas import tax_liability_report
    from hearthpay.reports.service import tax_liability_of_household

    household = _household_id(employer)
    _one_form(as_csv, as_json)
    asked = AskTaxLiability(first.date(), last.date())

    async def run(session: Any) -> "TaxLiability":
        found, actor = await _employer(session, household)
        return await tax_liability_of_household(session, actor, found, asked)

    report: TaxLiability = as_operator(data_dir, run)
    if as_csv:
        typer.echo(tax_liability_csv(report), nl=False)
    elif as_json:
        _print_json(tax_liability_report(household, report))
    else:
        _print_tax_liability(report)


def _print_state_wages(report: "StateWageDetail") -> None:
    span = f"{report.year}" if report.quarter is None else f"quarter {report.quarter} of {report.year}"
    typer.echo(f"Wages in {report.state}, {span}; subject, excess and taxable by {report.unemployment_line}")
    rows: list[list[str]] = [["employee", "number", "gross", "subject", "excess", "taxable"]]
    for each in report.people:
        base = each.line(report.unemployment_line)
        wages = (0, 0, 0) if base is None else (base.subject, base.excess, base.taxable)
        person = each.person
        number = "" if person.last_four is None else f"…{person.last_four}"
        rows.append(
            [f"{person.last_name}, {person.first_name}", number, *map(_dollars, (each.gross, *wages))]
        )
    _print_table(rows, texts=2)
    typer.echo("")
    lines = [["line", "subject", "excess", "taxable", "amount"]]
    lines += [
        [line.code, *map(_dollars, (line.subject, line.excess, line.taxable, line.amount))]
        for line in report.lines
    ]
    _print_table(lines, texts=1)
    for remark in report.remarks:
        typer.echo(f"\n{remark}")


def _print_tax_liability(report: "TaxLiability") -> None:
    for agency in report.agencies:
        typer.echo(f"{agency.full_name}" + (f"  {agency.site}" if agency.site else ""))
        rows = [["line", *(f"{month:%Y-%m}" for month in report.months), "total"]]
        rows += [[line.code, *map(_dollars, (*line.months, line.total))] for line in agency.lines]
        rows.append(["", *map(_dollars, (*agency.months, agency.total))])
        _print_table(rows, texts=1)
        typer.echo("")
    employees, household = report.of_payer("employee"), report.of_payer("employer")
    typer.echo(
        f"{report.first} to {report.last}: {_dollars(report.total)} "
        f"({_dollars(employees)} of employees, {_dollars(household)} of the household)"
    )


def _print_table(rows: Sequence[Sequence[str]], *, texts: int) -> None:
    """Print columns as wide as they need to be; after the first ``texts`` columns come figures."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if position < texts else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())


def _dollars(cents: int) -> str:
    return f"{from_cents(cents):,}"


def _print_json(report: object) -> None:
    import orjson

    from hearthpay.wire.answer import render

    typer.echo(orjson.dumps(orjson.loads(render(report)), option=orjson.OPT_INDENT_2).decode())


def _one_form(as_csv: bool, as_json: bool) -> None:
    if as_csv and as_json:
        refuse("--csv and --json are two forms of the same: name one")


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
    actor = Actor.operator(employer.organization_id, sandbox=employer.sandbox, request_id=f"cli-{uuid7()}")
    return employer, actor
