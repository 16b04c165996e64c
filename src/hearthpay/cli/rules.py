"""``hearthpay rules``: what is known of a year's tax rules, and what is expected when."""

import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args
from uuid import UUID

import typer

from hearthpay.cli.operator import DataDir, refuse
from hearthpay.clock import SystemClock
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.vocabulary import FinalityStatus

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from hearthpay.payroll.years.impact import HouseholdImpact
    from hearthpay.taxes.known_law import KnownLine
    from hearthpay.taxes.rulebook import Rulebook

rules = typer.Typer(invoke_without_command=True, no_args_is_help=False)

_STATUSES: tuple[FinalityStatus, ...] = get_args(FinalityStatus)


@rules.callback()
def show_rules(
    context: typer.Context,
    state: Annotated[str | None, typer.Option(help="One state only; US for federal law.")] = None,
    year: Annotated[int | None, typer.Option("--year", help="The tax year; left out, this year.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is final, carried on by the law, provisional or unknown in a year's rules."""
    from hearthpay.taxes.known_law import known_lines

    if context.invoked_subcommand is not None:
        return
    try:
        rulebook = rulebook_of(SystemClock().today().year if year is None else year)
        lines = known_lines(rulebook, state)
    except TaxInputError as error:
        refuse(str(error))
    if as_json:
        typer.echo(json.dumps(_as_json(rulebook, lines), indent=2))
        return
    from rich.console import Console

    console = Console()
    console.print(f"Rules of {rulebook.tax_year}, edition {rulebook.version}")
    console.print(_by_line(lines) if state is not None else _by_state(lines))
    if state is None:
        _awaited(console, lines)


def _as_json(rulebook: "Rulebook", lines: "tuple[KnownLine, ...]") -> dict[str, object]:
    return {
        "tax_year": rulebook.tax_year,
        "version": rulebook.version,
        "lines": [
            {
                "jurisdiction": line.jurisdiction,
                "code": line.code,
                "name": line.name,
                "finality": line.finality,
                "basis": line.basis,
                "figures": line.figures,
                "awaited": line.awaited,
                "confidence": line.confidence,
                "sources": [source._asdict() for source in line.sources],
            }
            for line in lines
        ],
    }


def _by_line(lines: "tuple[KnownLine, ...]") -> "Table":
    from rich.table import Table

    table = Table("Line", "Status", "Open figures", "Awaited", "Why")
    for line in lines:
        table.add_row(
            line.code, line.finality, ", ".join(line.figures), line.awaited or "", line.basis or "Published."
        )
    return table


def _by_state(lines: "tuple[KnownLine, ...]") -> "Table":
    from rich.table import Table

    from hearthpay.taxes.known_law import counts_by_jurisdiction

    table = Table("State", *(status.capitalize() for status in _STATUSES))
    for jurisdiction, counts in counts_by_jurisdiction(lines).items():
        table.add_row(jurisdiction, *(str(counts[status] or "") for status in _STATUSES))
    return table


def _awaited(console: "Console", lines: "tuple[KnownLine, ...]") -> None:
    """Say which lines are awaited in which month."""
    months: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        if line.awaited is not None:
            months[line.awaited].append(line.code)
    for month in sorted(months):
        console.print(f"Awaited {month}: {', '.join(sorted(months[month]))}")


@rules.command()
def changelog(
    year: Annotated[int | None, typer.Option("--year", help="The tax year; left out, all.")] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print docs/reference/rules-changelog.md, all years.")
    ] = False,
) -> None:
    """List what each edition of the rules changed, from when, and whose paychecks it concerns."""
    from hearthpay.taxes.rules_changelog import changelog_lines, changelog_page

    if markdown:
        typer.echo(changelog_page(), nl=False)
        return
    try:
        lines = changelog_lines(None if year is None else rulebook_of(year).tax_year)
    except TaxInputError as error:
        refuse(str(error))
    for line in lines:
        typer.echo(line)


@rules.command()
def impact(
    year: Annotated[int | None, typer.Option("--year", help="The tax year; left out, this year.")] = None,
    employer: Annotated[UUID | None, typer.Option(help="One household only, by its id.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    data_dir: DataDir = None,
) -> None:
    """List the year's paychecks by earlier rules that the current rules would change, and by how much.

    Each line tells what becomes of the difference: next_paycheck charges or refunds it, not_taken_again is a withheld
    tax that stays as it is, not_settled is not corrected. Differences are what the current rules charge more.
    Certificates, localities and the threshold choice are taken as they are today. Nothing is changed.
    """
    import asyncio

    try:
        tax_year = rulebook_of(SystemClock().today().year if year is None else year).tax_year
    except TaxInputError as error:
        refuse(str(error))
    impacts = asyncio.run(_impacts(tax_year, employer, data_dir))
    if as_json:
        typer.echo(json.dumps(_impacts_as_json(tax_year, impacts), indent=2))
    else:
        _print_impacts(tax_year, impacts)


async def _impacts(tax_year: int, employer_id: UUID | None, data_dir: Path | None) -> "list[HouseholdImpact]":
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.doctor.examination import open_for_reading
    from hearthpay.payroll.years.impact import concerned_households, household_impact

    async with open_database(data_dir, Addresses.of(os.environ)) as opened:
        database = open_for_reading(opened.owner_url, opened.installation.owner)
        try:
            async with database.transaction(None) as session:
                concerned = await concerned_households(session, tax_year, employer_id)
            found = []
            for position, household in enumerate(concerned, 1):
                if sys.stderr.isatty():
                    typer.echo(f"{position} of {len(concerned)}: household {household} …", err=True)
                async with database.transaction(None) as session:
                    found.append(await household_impact(session, household, tax_year))
            return found
        finally:
            await database.dispose()


def _print_impacts(tax_year: int, impacts: "list[HouseholdImpact]") -> None:
    from hearthpay.payroll.years.impact import sums_by_line
    from hearthpay.taxes.money import from_cents

    changed = [paycheck for each in impacts for paycheck in each.changed]
    for each in impacts:
        if each.changed or each.not_calculated:
            typer.echo(f"Household {each.employer_id}")
        for paycheck in each.changed:
            typer.echo(
                f"  {paycheck.pay_date}  paycheck {paycheck.paycheck_id}, employee {paycheck.employee_id}, "
                f"by {paycheck.rulebook_version}"
            )
            for line in paycheck.lines:
                typer.echo(
                    f"    {line.code:<16} charged {from_cents(line.charged):,}, by the rules in force "
                    f"{from_cents(line.by_rules_in_force):,}: {from_cents(line.difference):+,}  {line.settled}"
                )
        for missing in each.not_calculated:
            typer.echo(f"  Not calculated: paycheck {missing.paycheck_id}: {missing.field} {missing.message}")
    for total in sums_by_line(changed):
        typer.echo(
            f"Sum {total.code:<16} {from_cents(total.difference):+,} in {total.paychecks} paychecks  {total.settled}"
        )
    same = sum(each.unchanged for each in impacts)
    typer.echo(
        f"{tax_year}, edition {rulebook_of(tax_year).version}: {len(changed)} paychecks by earlier rules would change, "
        f"{same} would not."
    )


def _impacts_as_json(tax_year: int, impacts: "list[HouseholdImpact]") -> dict[str, object]:
    """Amounts are dollars, as text."""
    from hearthpay.payroll.years.impact import ChangedLine, LineSum, sums_by_line
    from hearthpay.taxes.money import from_cents

    def amounts(line: ChangedLine | LineSum) -> dict[str, object]:
        return {
            "charged": str(from_cents(line.charged)),
            "by_rules_in_force": str(from_cents(line.by_rules_in_force)),
            "difference": str(from_cents(line.difference)),
            "settled": line.settled,
        }

    return {
        "tax_year": tax_year,
        "version": rulebook_of(tax_year).version,
        "households": [
            {
                "employer_id": str(each.employer_id),
                "unchanged": each.unchanged,
                "changed": [
                    {
                        "paycheck_id": str(paycheck.paycheck_id),
                        "payroll_id": str(paycheck.payroll_id),
                        "employee_id": str(paycheck.employee_id),
                        "pay_date": paycheck.pay_date.isoformat(),
                        "rulebook_version": paycheck.rulebook_version,
                        "lines": [
                            {"code": line.code, "name": line.name, "payer": line.payer} | amounts(line)
                            for line in paycheck.lines
                        ],
                    }
                    for paycheck in each.changed
                ],
                "not_calculated": [
                    {
                        "paycheck_id": str(missing.paycheck_id),
                        "employee_id": str(missing.employee_id),
                        "field": missing.field,
                        "message": missing.message,
                    }
                    for missing in each.not_calculated
                ],
            }
            for each in impacts
        ],
        "sums": [
            {"code": total.code, "paychecks": total.paychecks} | amounts(total)
            for total in sums_by_line(paycheck for each in impacts for paycheck in each.changed)
        ],
    }
