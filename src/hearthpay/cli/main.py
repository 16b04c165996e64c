"""The command line: calculators that need no database, the server, and the operator's commands.

Heavy imports are inside the commands that need them, so that ``hearthpay calculate`` answers at once.
"""

import datetime
import json
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from hearthpay import __version__
from hearthpay.cli.audit import audit
from hearthpay.cli.autopilot import autopilot
from hearthpay.cli.backup import backup, hold_after_restore, restore, resume_after_restore
from hearthpay.cli.bank import bank
from hearthpay.cli.calendar import calendar, calendar_link, close_account, filing
from hearthpay.cli.command_tree import needed_for
from hearthpay.cli.doctor import doctor
from hearthpay.cli.documents import documents
from hearthpay.cli.escrow import escrow
from hearthpay.cli.estimate import (
    DEFAULT_FREQUENCY,
    DEFAULT_STATUS,
    as_json_text,
    error_data,
    print_estimate,
    print_line,
)
from hearthpay.cli.household_changes import hand_over, time_zone
from hearthpay.cli.households import households
from hearthpay.cli.keys import keys
from hearthpay.cli.mcp import mcp
from hearthpay.cli.migrate import migrate
from hearthpay.cli.operator import EXIT_BAD_INPUT, Migrates, NewDataDir, refuse
from hearthpay.cli.organizations import organizations
from hearthpay.cli.people import people
from hearthpay.cli.plans import plans
from hearthpay.cli.policies import policy
from hearthpay.cli.registrations import register, registrations
from hearthpay.cli.reports import reports
from hearthpay.cli.rules import rules
from hearthpay.cli.tax_ledger import (
    filings,
    record_filing,
    record_tax_payment,
    reverse_filing,
    reverse_tax_payment,
    tax_payments,
)
from hearthpay.cli.to_dos import to_dos
from hearthpay.cli.vault import vault
from hearthpay.cli.worker import worker
from hearthpay.clock import SystemClock
from hearthpay.taxes import TaxInputError, calculate_paycheck
from hearthpay.taxes.interchange import assumed, read_paycheck_input, write_paycheck

if TYPE_CHECKING:
    from hearthpay.taxes import Rulebook

_RUN, _PAY, _LOOK_UP, _OPERATE = "Run a service", "Pay people", "Look things up", "Operate"
"""The groups of `hearthpay --help`."""

app = typer.Typer(
    name="hearthpay",
    help="Payroll and taxes for US household employers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(keys, name="keys", rich_help_panel=_OPERATE)
households.command("register")(register)
households.command("policy")(policy)
households.command("filing")(filing)
households.command("close-account")(close_account)
households.command("calendar-link")(calendar_link)
households.command("time-zone")(time_zone)
households.command("hand-over")(hand_over)
households.command("tax-payments")(tax_payments)
households.command("record-tax-payment")(record_tax_payment)
households.command("reverse-tax-payment")(reverse_tax_payment)
households.command("filings")(filings)
households.command("record-filing")(record_filing)
households.command("reverse-filing")(reverse_filing)
app.add_typer(households, name="households", rich_help_panel=_PAY)
app.add_typer(vault, name="vault", rich_help_panel=_OPERATE)
app.add_typer(bank, name="bank", rich_help_panel=_OPERATE)
app.add_typer(escrow, name="escrow", rich_help_panel=_PAY)
app.add_typer(documents, name="documents", rich_help_panel=_PAY)
app.add_typer(autopilot, name="autopilot", rich_help_panel=_PAY)
app.command(rich_help_panel=_OPERATE)(doctor)
app.command(rich_help_panel=_RUN)(migrate)
app.command(rich_help_panel=_RUN)(worker)
app.add_typer(organizations, name="organizations", rich_help_panel=_OPERATE)
app.add_typer(people, name="people", rich_help_panel=_OPERATE)
app.command(rich_help_panel=_OPERATE)(plans)
app.command(rich_help_panel=_PAY)(registrations)
app.add_typer(reports, name="reports", rich_help_panel=_PAY)
app.add_typer(rules, name="rules", rich_help_panel=_LOOK_UP)
app.command(rich_help_panel=_PAY)(to_dos)
app.command(rich_help_panel=_PAY)(calendar)
app.command(rich_help_panel=_OPERATE)(audit)
app.command(rich_help_panel=_RUN)(mcp)
app.command(rich_help_panel=_OPERATE)(backup)
app.command(rich_help_panel=_OPERATE)(restore)
app.command("hold-after-restore", rich_help_panel=_OPERATE)(hold_after_restore)
app.command("resume-after-restore", rich_help_panel=_OPERATE)(resume_after_restore)


def main() -> None:
    """Run the command line; print one line if the database can't be used."""
    try:
        needed_for(app, sys.argv[1:])()
    except Exception as error:
        if not _concerns_the_database(error):
            raise
        typer.echo(f"hearthpay: {error}", err=True)
        sys.exit(1)


def _concerns_the_database(error: Exception) -> bool:
    """Return whether it is one of the failures whose message says all; imported late, as most commands need no
    database.
    """
    if "hearthpay.database.startup" not in sys.modules:
        return False
    from hearthpay.database.startup import NOT_USABLE

    return isinstance(error, NOT_USABLE)


@app.callback(invoke_without_command=True)
def _global(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        print(f"hearthpay {__version__}")  # noqa: T201
        raise typer.Exit


@app.command(rich_help_panel=_LOOK_UP)
def calculate(
    state: Annotated[str, typer.Option(help="The state of work, by its two letters.")],
    annual_wages: Annotated[str, typer.Option(help="Gross cash wages of a year, such as 35000.")],
    pay_frequency: Annotated[
        str, typer.Option(help="weekly, biweekly, semimonthly or monthly.")
    ] = DEFAULT_FREQUENCY,
    filing_status: Annotated[
        str, typer.Option(help="single, married or head_of_household.")
    ] = DEFAULT_STATUS,
    residence_state: Annotated[str | None, typer.Option(help="The state the employee lives in.")] = None,
    reciprocity_certificate_on_file: Annotated[
        bool,
        typer.Option(
            help="The employee filed the work state's certificate for residents of a reciprocal state."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the data of POST /calculate.")] = False,
) -> None:
    """Estimate a year's taxes of household and employee. Needs no server and no database."""
    try:
        print_estimate(
            state=state,
            annual_wages=annual_wages,
            pay_frequency=pay_frequency,
            filing_status=filing_status,
            residence_state=residence_state,
            reciprocity_certificate_on_file=reciprocity_certificate_on_file,
            as_json=as_json,
        )
    except TaxInputError as error:
        if as_json:
            print_line(as_json_text(error_data(error), pretty=True))
            raise typer.Exit(EXIT_BAD_INPUT) from None
        refuse(str(error))


@app.command(rich_help_panel=_LOOK_UP)
def paycheck(
    file: Annotated[str, typer.Argument(help="A JSON file, or - for standard input.")] = "-",
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="One JSON object a line, one result a line.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add steps, figures and sources.")] = False,
) -> None:
    """Calculate paychecks from JSON. Needs no server and no database."""
    try:
        stream = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115 - closed with the process
    except OSError as error:
        refuse(f"{file}: {error.strerror}")
    failed = False
    for document in stream if jsonl else iter([stream.read()]):
        if jsonl and not document.strip():
            continue
        try:
            request = read_paycheck_input(_parse(document))
            result = write_paycheck(calculate_paycheck(request, explain=explain), assumed(request))
        except TaxInputError as error:
            result = error_data(error)
            failed = True
        print_line(as_json_text(result, pretty=not jsonl))
    sys.stdout.buffer.flush()
    if failed and not jsonl:
        raise typer.Exit(EXIT_BAD_INPUT)


def _parse(document: bytes) -> object:
    """Parse JSON with exact decimals; raises `TaxInputError` naming ``body``."""
    try:
        return json.loads(
            document.decode("utf-8"),
            parse_float=Decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_no_doubled_name,
        )
    except UnicodeDecodeError:
        raise TaxInputError("body", "must be UTF-8") from None
    except (ValueError, RecursionError, ArithmeticError):
        raise TaxInputError("body", "is not valid JSON") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _no_doubled_name(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TaxInputError("body", "has the same name twice in one object")
    return found


YearOption = Annotated[int | None, typer.Option("--year", help="The tax year; left out, this year.")]


@app.command(rich_help_panel=_LOOK_UP)
def coverage(
    state: Annotated[str | None, typer.Option(help="One state only; US for federal law.")] = None,
    year: YearOption = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print docs/reference/coverage.md, all years.")
    ] = False,
    duties: Annotated[
        bool,
        typer.Option(
            "--duties", help="Print docs/reference/coverage-duties.md: accounts, schedules, due dates."
        ),
    ] = False,
    labor: Annotated[
        bool,
        typer.Option(
            "--labor", help="Print docs/reference/coverage-labor.md: minimum wages, overtime, last wages."
        ),
    ] = False,
) -> None:
    """List every tax the rulebooks hold, with its version, confidence and source."""
    if duties:
        from hearthpay.duties.coverage_page import duties_page

        typer.echo(duties_page(), nl=False)
        return
    if labor:
        from hearthpay.duties.labor_coverage_page import labor_page

        typer.echo(labor_page(), nl=False)
        return
    from hearthpay.taxes.coverage import FEDERAL, coverage, state_coverage
    from hearthpay.taxes.coverage_page import coverage_page

    if markdown:
        typer.echo(coverage_page(), nl=False)
        return
    try:
        rulebook = _rulebook(year)
        rows = list(coverage(rulebook))
        if state is not None and state.upper() == FEDERAL:
            rows = [row for row in rows if row.jurisdiction == FEDERAL]
        elif state is not None:
            rows = list(state_coverage(rulebook.state(state, "state")))
    except TaxInputError as error:
        refuse(str(error))
    for row in rows:
        until = f"–{row.effective_to}" if row.effective_to is not None else ""
        typer.echo(
            f"{row.jurisdiction}  {row.code:<18} {row.effective_from}{until:<11}  {row.confidence:<6}  "
            f"{row.name}  [{'; '.join(source.title for source in row.sources)}]"
        )


@app.command("explain-line", rich_help_panel=_LOOK_UP)
def explain_line(
    code: Annotated[str, typer.Argument(help="A line code, such as US-SS-EE or NY-PFL-EE.")],
    state: Annotated[
        str | None, typer.Option(help="The state whose line it is; federal lines need none.")
    ] = None,
    year: YearOption = None,
) -> None:
    """Print the law behind a line: its figures, when it applies, and where it is printed."""
    from hearthpay.taxes.coverage import law_behind

    if state is None and not code.upper().startswith("US-") and "-" in code:
        state = code.split("-")[0]
    try:
        laws = law_behind(code, _rulebook(year), state)
    except TaxInputError as error:
        refuse(str(error))
    for law in laws:
        typer.echo(f"{law.code}  {law.name}")
        for label, value in law.facts:
            typer.echo(f"  {label}: {value}")
        for source in law.sources:
            typer.echo(f"  Source: {source.title} ({source.date}) {source.url}")
        typer.echo("")


@app.command(rich_help_panel=_LOOK_UP)
def localities(state: Annotated[str, typer.Option(help="The state, by its two letters.")]) -> None:
    """List the localities whose payroll taxes are known, by the codes that ``localities`` takes."""
    from hearthpay.taxes.localities import list_localities

    try:
        found = list_localities(state, SystemClock().today())
    except TaxInputError as error:
        refuse(str(error))
    if not found:
        typer.echo(f"No local payroll tax of {state.upper()} is known.")
    for place in found:
        who = f", {place.applies_to}" if place.applies_to else ""
        typer.echo(
            f"{place.locality:<24} {place.code:<22} {place.rate}{who}; {place.payer} pays; {place.household} for a "
            f"household; confidence {place.confidence}"
        )
        if place.note:
            typer.echo(f"{'':<24} {place.note}")


def _rulebook(year: int | None) -> "Rulebook":

    from hearthpay.taxes.rulebook import rulebook_for

    return rulebook_for(SystemClock().today() if year is None else datetime.date(year, 1, 1), "year")


@app.command(rich_help_panel=_RUN)
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The TCP port; 0 takes a free one.")] = 8000,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    with_worker: Annotated[
        bool,
        typer.Option("--worker/--no-worker", help="Also start a worker, which fires payrolls at their time."),
    ] = True,
    migrates: Migrates = True,
    data_dir: NewDataDir = None,
) -> None:
    """Start the service: its database (embedded unless DATABASE_URL is set), the API and a worker."""
    from hearthpay.database.startup import Addresses
    from hearthpay.process import run_in_event_loop
    from hearthpay.server import serve as run

    addresses = Addresses.of(os.environ)
    run_in_event_loop(run(host, port, data_dir, addresses, with_worker=with_worker, migrates=migrates))


@app.command(rich_help_panel=_RUN)
def demo() -> None:
    """Show the main job on a throw-away database: two sandbox households, a calculator, three payrolls."""
    import asyncio

    from hearthpay.demo import run_demo
    from hearthpay.process import configure_logging

    configure_logging()
    raise typer.Exit(asyncio.run(run_demo()))
