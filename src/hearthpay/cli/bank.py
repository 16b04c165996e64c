"""`hearthpay bank`: connecting accounts, and the files that go to the bank."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hearthpay.cli.household_clock import clock_for_changing
from hearthpay.cli.operator import DataDir, people_context_of, refuse, run_with_keys
from hearthpay.clock import SystemClock

if TYPE_CHECKING:
    import datetime
    from uuid import UUID

    from hearthpay.access.actor import Actor
    from hearthpay.banking.accounts import AccountDetails
    from hearthpay.banking.models import BankAccount
    from hearthpay.banking.nacha.records import AccountType
    from hearthpay.banking.unread_files import UnreadFile
    from hearthpay.doctor.exposure import OpenCase
    from hearthpay.doctor.reconciliation import Reconciliation
    from hearthpay.payroll.ledger.rows import RemedyAction
    from hearthpay.payroll.payday.settlements import Settlement

bank = typer.Typer(help="Bank accounts, and the files that go to the bank.", no_args_is_help=True)

_FIELDS = ("routing", "account", "type", "bank_name")
_LARGEST_INPUT = 10_000


@bank.command("connect")
def connect(
    household: Annotated[str, typer.Argument(help="The household's id.")],
    employee: Annotated[
        str | None, typer.Option(help="The employee whose account it is; left out, the household's own.")
    ] = None,
    account_type: Annotated[str, typer.Option("--type", help="checking or savings.")] = "checking",
    bank_name: Annotated[str | None, typer.Option(help="The bank's name, to show.")] = None,
    stdin: Annotated[
        bool,
        typer.Option(
            "--stdin", help='Read {"routing", "account", "type"?, "bank_name"?} as JSON from standard input.'
        ),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Connect a bank account, replacing any earlier one. You enter the numbers twice, hidden.

    It takes effect at once. An employee gets an email with the last digits of both accounts.
    """
    household_id = _id(household, "a household")
    employee_id = None if employee is None else _id(employee, "an employee")
    if account_type not in ("checking", "savings"):
        refuse("--type must be checking or savings")
    details = _from_stdin(account_type, bank_name) if stdin else _requested_account(account_type, bank_name)
    account = run_with_keys(
        data_dir, lambda opened, ring: _connect(opened, ring, household_id, employee_id, details)
    )
    typer.echo(f"Connected {account.id}: {account.account_type} …{account.last_four}, {account.status}.")


@bank.command("files")
def list_files(data_dir: DataDir = None) -> None:
    """List the files, the newest first, with what each of them moves."""
    from decimal import Decimal

    for row in run_with_keys(data_dir, _read_files):
        totals = (Decimal(row[name]).scaleb(-2) for name in ("debit_total", "credit_total"))
        debits, credits_ = (f"{total:,.2f}" for total in totals)
        typer.echo(
            f"{row['name']}  {row['status']:<9}  {row['entries']:>7} entries  debits {debits}  credits {credits_}  "
            f"returned {row['returned']}"
        )
    if unread := len(run_with_keys(data_dir, _unread_files)):
        typer.echo(
            f"{unread} of the bank's files are not read: see `hearthpay bank unread`."
            if unread > 1
            else "A file of the bank is not read: see `hearthpay bank unread`."
        )


@bank.command("unread")
def list_unread(
    as_json: Annotated[bool, typer.Option("--json", help="Print the files as JSON.")] = False,
    data_dir: DataDir = None,
) -> None:
    """List the bank's files that aren't read, why, and what they hold; exits with 1 if there is any.

    While such a file is open, no debit that it could return counts as collected.
    """
    from dataclasses import asdict

    files: list[UnreadFile] = run_with_keys(data_dir, _unread_files)
    if as_json:
        rows = [{**asdict(file), "unread": [each.stored() for each in file.unread]} for file in files]
        typer.echo(json.dumps(rows, default=str, indent=2))
    else:
        for file in files:
            typer.echo(
                f"{file.id}  {file.name}  first seen {file.received_at:%Y-%m-%d %H:%M} UTC: {_held(file)}"
            )
            for reason in file.reasons:
                typer.echo(f"    {reason}")
        typer.echo("Every file of the bank is read." if not files else f"{len(files)} files are not read.")
    if files:
        raise typer.Exit(1)


@bank.command("set-aside")
def set_file_aside(
    file: Annotated[str, typer.Argument(help="The name or the id of the file, as `bank unread` lists it.")],
    reason: Annotated[str, typer.Option(help="What became of the returns in it, or why there are none.")],
    data_dir: DataDir = None,
) -> None:
    """Set aside a file of the bank that isn't read: what it holds counts as collected then.

    Ask the bank first which payments it returns: of those that are in no other file, the wages go out uncovered.
    """
    from hearthpay.banking.unread_files import LONGEST_REASON

    why = reason.strip()
    if not 0 < len(why) <= LONGEST_REASON:
        refuse(f"--reason must have 1 to {LONGEST_REASON} characters")
    ended: UnreadFile = run_with_keys(data_dir, lambda opened, _: _set_aside(opened, file, why))
    typer.echo(f"Set aside: {ended.name}. It {_held(ended).replace('holds', 'held')}.")


@bank.command("reconcile")
def reconcile(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Compare every file with the entries, and those with the payrolls; exits with 1 if something differs.

    Known open items, as `bank exposure` lists them, are reported as open. If there is nothing else, it exits with 3.
    """
    from dataclasses import asdict

    from hearthpay.cli.doctor import EXIT_OPEN

    result: Reconciliation = run_with_keys(data_dir, _reconcile)
    if as_json:
        typer.echo(json.dumps(asdict(result), default=str, indent=2))
    else:
        for finding in result.findings:
            word = "DIFFERS" if finding in result.wrong else "OPEN"
            typer.echo(
                f"{word:<7} {finding.check}  {finding.subject_id}  expected {finding.expected}, "
                f"found {finding.found}: {finding.message}"
            )
        still_open = len(result.findings) - len(result.wrong)
        typer.echo(
            f"{result.files} files, {result.entries} entries, {len(result.wrong)} findings, {still_open} open matters."
        )
    if result.wrong:
        raise typer.Exit(1)
    if result.findings:
        raise typer.Exit(EXIT_OPEN)


@bank.command("settle")
def settle(
    payroll: Annotated[
        str, typer.Argument(help="The payroll whose debit came back after the wages had left.")
    ],
    received: Annotated[str, typer.Option(help="The day the money was received, YYYY-MM-DD.")],
    told_by: Annotated[str, typer.Option(help="Who told of it, or where it is seen: a check, a statement.")],
    amount: Annotated[
        str | None, typer.Option(help="What the household paid, in dollars; left out, all that it owes.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Note what a household paid by other means for wages whose debit came back; prints what it still owes.

    A part may be settled, and the rest later. Nothing is debited, and no bank entry changes.
    """
    import datetime
    from decimal import Decimal

    from hearthpay.cli.amounts import decimal_of

    payroll_id = _id(payroll, "a payroll")
    try:
        day = datetime.date.fromisoformat(received)
    except ValueError:
        refuse("--received must be a day, YYYY-MM-DD")
    cents: int | None = None
    if amount is not None:
        try:
            exact = decimal_of(amount, "amount").scaleb(2)
        except ValueError as error:
            refuse(str(error))
        if not exact.is_finite() or exact != exact.to_integral_value():
            refuse("the amount must be an amount of money with at most two decimals")
        cents = int(exact)
    done: Settlement = run_with_keys(
        data_dir, lambda opened, _: _settle(opened, payroll_id, cents, day, told_by)
    )
    paid, owed = (f"{Decimal(each).scaleb(-2):,.2f}" for each in (done.amount, done.still_owed))
    rest = (
        f"The household still owes {owed}." if done.still_owed else "The household owes nothing more of it."
    )
    typer.echo(f"Settled: {paid} of payroll {payroll_id}. {rest}")


@bank.command("exposure")
def exposure(
    as_json: Annotated[bool, typer.Option("--json", help="Print the cases as JSON.")] = False,
    data_dir: DataDir = None,
) -> None:
    """List the money that is on hold, or was paid and not collected; exits with 1 if there is any."""
    from dataclasses import asdict
    from decimal import Decimal

    cases: list[OpenCase] = run_with_keys(data_dir, _open_cases)
    if as_json:
        typer.echo(json.dumps([asdict(case) for case in cases], default=str, indent=2))
    else:
        for case in cases:
            whose = f"household {case.employer_id}" if case.employer_id else f"file {case.id}"
            whose = f"payroll {case.payroll_id}" if case.payroll_id else whose
            person = f", employee {case.employee_id}" if case.employee_id else ""
            mode = " (sandbox)" if case.sandbox else ""
            typer.echo(
                f"{case.kind}{mode}  {Decimal(case.amount).scaleb(-2):,.2f}  {case.age_days} days, since {case.since}  "
                f"{whose}{person}: {case.state}. {case.next_step}"
            )
        typer.echo("Nothing is open." if not cases else f"{len(cases)} cases are open.")
    if cases:
        raise typer.Exit(1)


@bank.command("remedy")
def remedy(
    payroll: Annotated[str, typer.Argument(help="The payroll's id.")],
    employee: Annotated[str, typer.Argument(help="The employee whose deposit is on hold.")],
    action: Annotated[str, typer.Option(help="pay_by_check, wait_for_account or refund.")],
    until: Annotated[
        str | None, typer.Option(help="With wait_for_account: the last day to wait, YYYY-MM-DD.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Decide about a direct deposit that was collected and is on hold, for the household."""
    import datetime
    from typing import get_args

    from hearthpay.payroll.ledger.rows import RemedyAction

    payroll_id, employee_id = _id(payroll, "a payroll"), _id(employee, "an employee")
    if action not in get_args(RemedyAction):
        refuse(f"--action must be one of {', '.join(get_args(RemedyAction))}")
    try:
        day = None if until is None else datetime.date.fromisoformat(until)
    except ValueError:
        refuse("--until must be a day, YYYY-MM-DD")
    chosen = cast("RemedyAction", action)
    status = run_with_keys(data_dir, lambda opened, _: _remedy(opened, payroll_id, employee_id, chosen, day))
    typer.echo(f"Done: {action}. The payroll is {status}.")


@bank.command("reverse")
def reverse(
    payroll: Annotated[str, typer.Argument(help="The payroll's id.")],
    employee: Annotated[str, typer.Argument(help="The employee whose direct deposit was a mistake.")],
    reason: Annotated[
        str,
        typer.Option(help="duplicate, wrong_receiver, wrong_amount or wrong_date; nothing else allows it."),
    ],
    amount: Annotated[
        str | None, typer.Option(help="The deposit's amount, to confirm it; left out, it is asked for.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Reverse a direct deposit that was paid by mistake, within five business days of its settlement.

    The paycheck is undone once the money is back, and what was collected for it goes to the household.
    """
    from hearthpay.banking.reversals import REASONS
    from hearthpay.cli.amounts import decimal_of

    payroll_id, employee_id = _id(payroll, "a payroll"), _id(employee, "an employee")
    if reason not in REASONS:
        refuse(f"--reason must be one of {', '.join(REASONS)}")
    typed = amount if amount is not None else typer.prompt("Amount of the direct deposit", err=True)
    try:
        cents = decimal_of(typed, "amount").scaleb(2)
    except ValueError as error:
        refuse(str(error))
    if not cents.is_finite() or cents != cents.to_integral_value():
        refuse("the amount must be an amount of money with at most two decimals")
    day = run_with_keys(
        data_dir,
        lambda opened, ring: _reverse(opened, ring, payroll_id, employee_id, reason, int(cents)),
    )
    typer.echo(f"The direct deposit is taken back on {day}; the employee and the household are told.")


def _requested_account(account_type: str, bank_name: str | None) -> "AccountDetails":
    routing, account = (
        typer.prompt(label, hide_input=True, confirmation_prompt=True, err=True)
        for label in ("Routing number", "Account number")
    )
    return _details(routing, account, account_type, bank_name)


def _from_stdin(account_type: str, bank_name: str | None) -> "AccountDetails":
    try:
        value = json.loads(sys.stdin.read(_LARGEST_INPUT))
    except (ValueError, RecursionError):
        refuse("standard input must be one JSON object")
    if not isinstance(value, dict) or not {"routing", "account"} <= value.keys() <= set(_FIELDS):
        refuse(f"standard input must be a JSON object of {', '.join(_FIELDS)}")
    if not all(isinstance(each, str) for each in value.values()):
        refuse("every value on standard input must be a string")
    return _details(
        value["routing"],
        value["account"],
        value.get("type", account_type),
        value.get("bank_name", bank_name),
    )


def _details(routing: str, account: str, account_type: str, bank_name: str | None) -> "AccountDetails":
    from hearthpay.banking.accounts import AccountDetails
    from hearthpay.security.vault_numbers import InvalidNumberError, parse_number

    if account_type not in ("checking", "savings"):
        refuse("the type must be checking or savings")
    try:
        return AccountDetails(
            parse_number("bank_routing", routing),
            parse_number("bank_account", account),
            cast("AccountType", account_type),
            bank_name or None,
        )
    except InvalidNumberError as error:
        refuse(str(error))


async def _connect(
    opened: Any, ring: Any, household: "UUID", employee: "UUID | None", details: "AccountDetails"
) -> "BankAccount":
    from hearthpay.banking.accounts import (
        connect_employee_account,
        connect_household_account,
        current_employee_accounts,
    )
    from hearthpay.employees.models import Employee
    from hearthpay.employees.own_notices import notify_of_account, reader_of
    from hearthpay.employers.models import Employer

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        employer = await session.get(Employer, household)
        if employer is None:
            refuse("there is no such household")
        now = (await clock_for_changing(session, household)).now()
        actor = _operator(employer.organization_id, sandbox=employer.sandbox)
        if employee is None:
            return await connect_household_account(session, ring, actor, employer, details, now)
        person = await session.get(Employee, employee)
        if person is None or person.employer_id != employer.id:
            refuse("the household has no such employee")
        earlier = (await current_employee_accounts(session, [person.id])).get(person.id)
        connected = await connect_employee_account(session, ring, actor, person, details, now)
        await notify_of_account(
            people_context_of(opened, operator, ring),
            session,
            person,
            await reader_of(session, person.id),
            old=None if earlier is None else earlier.last_four,
            new=connected.last_four,
            start=now,
            kind="bank_connected",
            by_operator=True,
        )
        return connected


async def _open_cases(opened: Any, ring: Any) -> "list[OpenCase]":  # noqa: ARG001 - as `_run` calls it
    from hearthpay.doctor.exposure import open_cases

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        return await open_cases(session, SystemClock().now())


def _held(file: "UnreadFile") -> str:
    from decimal import Decimal

    if not file.payments:
        return "holds no payment"
    amount = Decimal(file.amount).scaleb(-2)
    return f"holds {file.payments} payments of {file.households} households, {amount:,.2f}"


async def _unread_files(opened: Any, ring: Any) -> "list[UnreadFile]":  # noqa: ARG001 - as `_run` calls it
    from hearthpay.banking.unread_files import unread_files

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        return await unread_files(session)


async def _set_aside(opened: Any, named: str, reason: str) -> "UnreadFile":
    from uuid_utils.compat import uuid7

    from hearthpay.banking.unread_files import unread_files
    from hearthpay.cli.unread_bank_files import set_aside

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        found = [each for each in await unread_files(session) if named in (each.name, str(each.id))]
        if not found:
            refuse("no file of this name or id is open: see `hearthpay bank unread`")
        if len(found) > 1:
            refuse(f"several files have this name, give the id: {', '.join(str(each.id) for each in found)}")
        if await set_aside(session, found[0], reason, SystemClock().now(), f"cli-{uuid7()}") is None:
            refuse("the file is not open any more")
        return found[0]


async def _settle(
    opened: Any, payroll_id: "UUID", cents: int | None, day: "datetime.date", told_by: str
) -> "Settlement":
    from hearthpay.payroll.models import Payroll
    from hearthpay.payroll.payday.settlements import settle_wages

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        payroll = await session.get(Payroll, payroll_id)
        if payroll is None:
            refuse("there is no such payroll")
        actor = _operator(payroll.organization_id, sandbox=payroll.sandbox)
        clock = await clock_for_changing(session, payroll.employer_id)
        return await settle_wages(session, actor, payroll_id, cents, day, told_by, clock.now(), clock.today())


async def _remedy(
    opened: Any,
    payroll_id: "UUID",
    employee_id: "UUID",
    action: "RemedyAction",
    until: "datetime.date | None",
) -> str:
    from hearthpay.payroll.models import Payroll
    from hearthpay.payroll.payday.remedies import apply_remedy

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        payroll = await session.get(Payroll, payroll_id)
        if payroll is None:
            refuse("there is no such payroll")
        actor = _operator(payroll.organization_id, sandbox=payroll.sandbox)
        clock = await clock_for_changing(session, payroll.employer_id)
        stored = await apply_remedy(session, actor, clock, payroll_id, employee_id, action, until)
        return stored.status


def _operator(organization_id: "UUID", *, sandbox: bool) -> "Actor":
    """Return the operator, as the audit log names who acts."""
    from uuid_utils.compat import uuid7

    from hearthpay.access.actor import Actor

    return Actor.operator(organization_id, sandbox=sandbox, request_id=f"cli-{uuid7()}")


async def _reverse(
    opened: Any,
    ring: Any,  # noqa: ARG001 - as `_run` calls it
    payroll: "UUID",
    employee: "UUID",
    reason: Any,
    cents: int,
) -> Any:
    from hearthpay.payroll.models import Payroll
    from hearthpay.payroll.payday.reversed_deposits import reverse_deposit

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        found = await session.get(Payroll, payroll)
        if found is None:
            refuse("there is no such payroll")
        actor = _operator(found.organization_id, sandbox=found.sandbox)
        now = (await clock_for_changing(session, found.employer_id)).now()
        return await reverse_deposit(session, actor, payroll, employee, reason, cents, now)


async def _read_files(opened: Any, ring: Any) -> list[dict[str, Any]]:  # noqa: ARG001 - as `_run` calls it
    from hearthpay.banking.files import list_files

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        return [row._asdict() for row in await list_files(session)]


async def _reconcile(opened: Any, ring: Any) -> "Reconciliation":
    from sqlalchemy import text

    from hearthpay.doctor.reconciliation import reconcile

    async with opened.as_operator() as operator, operator.transaction(None) as session:
        await session.execute(text("SET LOCAL statement_timeout = '10min'"))
        return await reconcile(session, ring, SystemClock().now(), _show_progress)


def _show_progress(done: int, total: int) -> None:
    if done % 50 == 0:
        typer.echo(f"{done} of {total} files …", err=True)


def _id(text: str, what: str) -> "UUID":
    from uuid import UUID

    try:
        return UUID(text)
    except ValueError:
        refuse(f"the id of {what} is needed")
