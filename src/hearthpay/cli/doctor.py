"""`hearthpay doctor`: proves that the books are right."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hearthpay.cli.operator import DataDir
from hearthpay.clock import SystemClock

if TYPE_CHECKING:
    from hearthpay.database.startup import OpenedDatabase
    from hearthpay.doctor.examination import CheckResult, OpenTax
    from hearthpay.doctor.exposure import OpenCase
    from hearthpay.payroll.provisional_law.pay_dates import ProvisionalRules
    from hearthpay.security.key_ring import KeyRing

EXIT_DIFFERING = 1
EXIT_OPEN = 3
"""Nothing is wrong, but money isn't where it belongs: an open matter that somebody has to settle."""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Check every sum, reversal and transfer of the whole database against each other, without changing any.

    The vault's numbers are opened too, in memory only, if the keys are available.
    What a year still owes after a void is reported as open, not as a difference. Pay dates under rules that are not
    final are counted.
    Exits with 1 if something differs, and with 3 if nothing does but money is owed or on hold. Each open item is listed
    with household, amount and date. Safe while the service runs: it reads one snapshot.
    The number of differences is saved for the administrator's page.
    """
    import asyncio

    from hearthpay.doctor.examination import count_wrong

    results, open_years, awaited, cases, additions = asyncio.run(_examine(data_dir))
    differing = count_wrong(results)
    if as_json:
        _print_json(results, open_years, awaited, cases, additions)
    else:
        _print(results)
        print_open_matters(cases)
        _print_open(open_years)
        _print_awaited(awaited)
        for each in additions:
            typer.echo(f"ADDED   {each}: no part of the schema; it hinders nothing")
        if differing:
            typer.echo(f"{differing} figures differ from what they must be.")
        else:
            typer.echo(
                f"The books are right; {len(cases)} matters are open." if cases else "The books are right."
            )
    if differing:
        raise typer.Exit(EXIT_DIFFERING)
    if cases:
        raise typer.Exit(EXIT_OPEN)


async def _examine(
    data_dir: DataDir,
) -> "tuple[list[CheckResult], list[OpenTax], ProvisionalRules, list[OpenCase], list[str]]":
    from hearthpay.database.startup import Addresses, open_database
    from hearthpay.doctor.examination import examine, open_for_reading, open_taxes
    from hearthpay.doctor.exposure import open_cases
    from hearthpay.doctor.last_report import store_last_report
    from hearthpay.doctor.schema_checks import schema_additions
    from hearthpay.payroll.provisional_law.pay_dates import read_provisional_rules

    async with open_database(data_dir, Addresses.of(os.environ)) as opened:
        database = open_for_reading(opened.owner_url, opened.installation.owner)
        try:
            async with database.transaction(None) as session:
                clock = SystemClock()
                now = clock.now()
                results = await examine(session, now, _show_progress, ring=_keys(opened))
                owed, cases = await open_taxes(session, now), await open_cases(session, now)
                awaited = await read_provisional_rules(session, clock.today())
                additions = await schema_additions(session)
        finally:
            await database.dispose()
        async with opened.as_operator() as operator, operator.transaction(None) as session:
            await store_last_report(session, now, results, cases)
        return results, owed, awaited, cases, additions


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
    from hearthpay.doctor.examination import OPEN_MATTERS

    for result in results:
        if result.name == OPEN_MATTERS and result.found:
            typer.echo(f"open    {result.name:<16} {result.law}")
            continue
        if not result.found:
            typer.echo(f"ok      {result.name:<16} {result.law}")
            continue
        typer.echo(f"WRONG   {result.name:<16} {result.law}")
        for each in result.differences:
            where = each.subject if each.id is None else f"{each.subject} {each.id}"
            typer.echo(f"        {where}: {each.what} is {each.recorded}, must be {each.expected}")
        if result.found > len(result.differences):
            typer.echo(f"        and {result.found - len(result.differences)} more")


def print_open_matters(cases: "list[OpenCase]") -> None:
    """Print each open matter: whose it is, how much, since when, and what ends it."""
    from decimal import Decimal

    for case in cases:
        mode = " (sandbox)" if case.sandbox else ""
        about = "".join(
            f", {name} {each}"
            for name, each in (("payroll", case.payroll_id), ("employee", case.employee_id))
            if each is not None
        )
        whose = f"file {case.id}" if case.employer_id is None else f"household {case.employer_id}{about}"
        typer.echo(
            f"OPEN    {case.kind}{mode}: {whose}: {Decimal(case.amount).scaleb(-2):,.2f} "
            f"since {case.since}: {case.state}. {case.next_step}"
        )


def _print_open(open_years: "list[OpenTax]") -> None:
    for each in open_years:
        too_much = each.amount.startswith("-")
        outcome = "was charged too much" if too_much else "is owed"
        typer.echo(
            f"OPEN    employee {each.employee_id}: {each.amount.lstrip('-')} of {each.code} in {each.tax_year} "
            f"{outcome}; {each.next_step}"
        )


def _print_awaited(awaited: "ProvisionalRules") -> None:
    from hearthpay.languages.catalogue import say_in
    from hearthpay.payroll.provisional_law.notices import headline, standing, what_to_do

    if not awaited:
        return
    say = say_in("en")
    typer.echo(f"RULES   {headline(say, awaited)}")
    for sentence in (*standing(say, awaited), what_to_do(say)):
        typer.echo(f"        {sentence}")


def _print_json(
    results: "list[CheckResult]",
    open_years: "list[OpenTax]",
    awaited: "ProvisionalRules",
    cases: "list[OpenCase]",
    additions: Sequence[str] = (),
) -> None:
    import orjson

    from hearthpay.doctor.examination import count_wrong

    document = {
        "sound": not count_wrong(results),
        "checks": results,
        "open": open_years,
        "open_matters": cases,
        "awaited_rules": awaited,
        "schema_additions": list(additions),
    }
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
