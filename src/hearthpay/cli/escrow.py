"""`hearthpay escrow`: what employees have set aside from their pay."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hearthpay.cli.amounts import decimal_of
from hearthpay.cli.household_clock import clock_for_changing
from hearthpay.cli.operator import DataDir, as_operator, refuse
from hearthpay.taxes import TaxInputError

if TYPE_CHECKING:
    from hearthpay.access.actor import Actor
    from hearthpay.employees.models import Employee
    from hearthpay.payroll.set_asides.rules import SetAsideRule

escrow = typer.Typer(
    help="What employees have set aside from their pay: rules, balances, payouts.", no_args_is_help=True
)

EmployeeId = Annotated[str, typer.Argument(help="The employee's id.")]


@escrow.command("rule")
def set_rule(
    employee: EmployeeId,
    rate: Annotated[
        str | None, typer.Option(help="The share of gross pay to set aside, such as 0.05.")
    ] = None,
    amount: Annotated[str | None, typer.Option(help="Dollars to set aside from each paycheck.")] = None,
    none: Annotated[bool, typer.Option("--none", help="Set nothing aside any more.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Set what every paycheck of an employee sets aside from the next payroll on."""
    from hearthpay.payroll.set_asides.escrow import set_rule

    if (rate is not None) + (amount is not None) + none != 1:
        refuse("exactly one of --rate, --amount and --none is needed")
    rule = None if none else _rule(rate, amount)

    async def run(session: Any) -> str:
        found, actor = await _employee(session, employee)
        await set_rule(session, actor, found, rule)
        return found.name

    name = as_operator(data_dir, run)
    typer.echo(f"{name}: {_describe(rule)}")


@escrow.command("show")
def show(employee: EmployeeId, data_dir: DataDir = None) -> None:
    """Show an employee's rule, balance and latest movements."""
    from hearthpay.payroll.set_asides.escrow import list_movements, read_account

    async def run(session: Any) -> list[str]:
        found, _ = await _employee(session, employee)
        account = await read_account(session, found.id)
        lines = [
            f"{found.name}: {_describe(account.rule)}",
            f"Balance {_dollars(account.balance)}, of it {_dollars(account.held)} held by bank",
        ]
        lines += [
            f"{each.created_at:%Y-%m-%d}  {each.kind:<15} {each.payment_method:<14} {_dollars(each.amount):>10} "
            f"{_dollars(each.balance):>10}  {each.note or ''}".rstrip()
            for each in await list_movements(session, found.id)
        ]
        return lines

    for line in as_operator(data_dir, run):
        typer.echo(line)


@escrow.command("payout")
def payout(
    employee: EmployeeId,
    amount: Annotated[str, typer.Argument(help="Dollars to pay out.")],
    method: Annotated[
        str, typer.Option(help="check or cash, paid by hand; or direct_deposit, of what is held by bank.")
    ],
    note: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Pay out of what an employee has set aside."""
    from hearthpay.payroll.set_asides.escrow import PAYMENT_METHODS, payout, read_account

    if method not in PAYMENT_METHODS:
        refuse(f"--method must be one of {', '.join(PAYMENT_METHODS)}")
    try:
        dollars = decimal_of(amount, "amount")
    except TaxInputError as error:
        refuse(str(error))

    async def run(session: Any) -> str:
        found, actor = await _employee(session, employee)
        clock = await clock_for_changing(session, found.employer_id)
        await payout(session, actor, clock, found, amount=dollars, method=method, note=note)
        account = await read_account(session, found.id)
        return f"{found.name}: {dollars:,.2f} by {method}; {_dollars(account.balance)} is left"

    typer.echo(as_operator(data_dir, run))


def _rule(rate: str | None, amount: str | None) -> "SetAsideRule":
    from hearthpay.database.types import to_cents
    from hearthpay.payroll.set_asides.rules import SetAsideRule

    try:
        if rate is not None:
            return SetAsideRule(rate=decimal_of(rate, "rate"))
        return SetAsideRule(amount_cents=to_cents(decimal_of(amount or "", "amount")))
    except (TaxInputError, ValueError) as error:
        refuse(str(error))


async def _employee(session: Any, text: str) -> "tuple[Employee, Actor]":
    """Return the employee, and the operator as someone acting for their organization; refuses an unknown id."""
    from uuid import UUID

    from hearthpay.access.actor import Actor
    from hearthpay.employees.models import Employee

    try:
        found = await session.get(Employee, UUID(text))
    except ValueError:
        refuse("the id of an employee is needed")
    if found is None:
        refuse(f"there is no employee with the id {text}")
    return found, Actor.operator(found.organization_id, sandbox=found.sandbox, request_id="cli")


def _describe(rule: "SetAsideRule | None") -> str:
    if rule is None:
        return "nothing is set aside"
    if rule.rate is not None:
        return f"{(rule.rate * 100).normalize():f} % of gross pay is set aside"
    return f"{_dollars(rule.amount_cents or 0)} of each paycheck is set aside"


def _dollars(cents: int) -> str:
    from hearthpay.database.types import from_cents

    return f"{from_cents(cents):,}"
