"""`hearthpay doctor`: proves the books right."""

import asyncio
import os
from typing import TYPE_CHECKING, Annotated

import typer

from hearthpay.cli.operator import DataDir
from hearthpay.clock import SystemClock

if TYPE_CHECKING:
    from hearthpay.database.startup import OpenedDatabase
    from hearthpay.doctor.examination import CheckResult, OpenTax
    from hearthpay.payroll.awaited.pay_dates import AwaitedRules
    from hearthpay.security.key_ring import KeyRing

EXIT_DIFFERING = 1


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Prove every sum, reversal and transfer of the whole database against each other; none of it is changed.

    The vault's numbers are opened too, in memory only, where the keys are at hand.
    What years still owe after a void is told as open, and is no difference. Neither are pay dates under rules that are
    not final, which are counted.
    Ends with status 1 where something differs. Safe while the service runs: it looks at one moment of it.
    How many figures differ is kept, for the operator's page.
    """
    results, open_years, awaited = asyncio.run(_examine(data_dir))
    differing = sum(result.found for result in results)
    if as_json:
        _print_json(results, open_years, awaited)
    else:
        _print(results)
        _print_open(open_years)
        _print_awaited(awaited)
        typer.echo(
            "The books are right." if not differing else f"{differing} figures differ from what they must be."
        )
    if differing:
        raise typer.Exit(EXIT_DIFFERING)


async def _examine(data_dir: DataDir) -> "tuple[list[CheckResult], list[OpenTax], AwaitedRules]":
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.doctor.examination import examine, open_for_reading, open_taxes
    from hearthpay.doctor.exposure import open_cases
    from hearthpay.doctor.last_word import keep_last_word
    from hearthpay.payroll.awaited.pay_dates import read_awaited_rules

    async with open_database(data_dir, Addresses.of(os.environ)) as opened:
        database = open_for_reading(opened.owner_url, opened.installation.owner)
        try:
            async with database.transaction(None) as session:
                clock = SystemClock()
                now = clock.now()
                results = await examine(session, now, _show_progress, ring=_keys(opened))
                owed, cases = await open_taxes(session), await open_cases(session, now)
                awaited = await read_awaited_rules(session, clock.today())
        finally:
            await database.dispose()
        async with opened.as_operator() as operator, operator.transaction(None) as session:
            await keep_last_word(session, now, results, cases)
        return results, owed, awaited


def _keys(opened: "OpenedDatabase") -> "KeyRing | None":
    from hearthpay.security.key_ring import KeyRingError, load_key_ring

    try:
        return load_key_ring(opened.embedded.data_dir if opened.embedded is not None else None, os.environ)
    except KeyRingError as error:
        typer.echo(f"The vault's numbers are not opened: {error}", err=True)
        return None


def _show_progress(done: int, total: int, name: str) -> None:
    typer.echo(f"{done + 1} of {total}: {name} …", err=True)


def _print(results: "list[CheckResult]") -> None:
    for result in results:
        if not result.found:
            typer.echo(f"ok      {result.name:<16} {result.law}")
            continue
        typer.echo(f"WRONG   {result.name:<16} {result.law}")
        for each in result.differences:
            typer.echo(
                f"        {each.subject} {each.id}: {each.what} is {each.recorded}, must be {each.expected}"
            )
        if result.found > len(result.differences):
            typer.echo(f"        and {result.found - len(result.differences)} more")


def _print_open(open_years: "list[OpenTax]") -> None:
    for each in open_years:
        too_much = each.amount.startswith("-")
        said = "was charged too much" if too_much else "is owed"
        does = "gives it back" if too_much else "charges it"
        typer.echo(
            f"OPEN    employee {each.employee_id}: {each.amount.lstrip('-')} of {each.code} in {each.tax_year} {said}; "
            f"the next paycheck {does}"
        )


def _print_awaited(awaited: "AwaitedRules") -> None:
    from hearthpay.languages.catalogue import say_in
    from hearthpay.payroll.awaited.telling import headline, standing, what_to_do

    if not awaited:
        return
    say = say_in("en")
    typer.echo(f"RULES   {headline(say, awaited)}")
    for sentence in (*standing(say, awaited), what_to_do(say)):
        typer.echo(f"        {sentence}")


def _print_json(results: "list[CheckResult]", open_years: "list[OpenTax]", awaited: "AwaitedRules") -> None:
    import orjson

    document = {
        "sound": not any(result.found for result in results),
        "checks": results,
        "open": open_years,
        "awaited_rules": awaited,
    }
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
