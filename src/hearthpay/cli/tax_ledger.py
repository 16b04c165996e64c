"""`hearthpay households`: what a household paid to tax agencies and filed with them, recorded by the operator."""

import datetime
import json
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hearthpay.cli.amounts import decimal_of
from hearthpay.cli.calendar import for_household
from hearthpay.cli.household_clock import clock_for_changing, clock_for_reading
from hearthpay.cli.operator import DataDir, refuse
from hearthpay.taxes import TaxInputError
from hearthpay.taxes.money import from_cents, to_cents

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from hearthpay.access.actor import Actor
    from hearthpay.employers.models import Employer
    from hearthpay.filing.balances import AgencyBalance
    from hearthpay.filing.commands import TaxPaymentMethod
    from hearthpay.filing.filings import FilingDetails
    from hearthpay.filing.service import PaymentDetails

_DAYS = ["%Y-%m-%d"]
_LONGEST_PAGE = 100

_HouseholdId = Annotated[str, typer.Argument(help="The household's id.")]
_Confirmation = Annotated[str | None, typer.Option(help="The agency's confirmation number.")]
_Reason = Annotated[str | None, typer.Option(help="Why; kept in the audit log.")]
_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def tax_payments(employer: _HouseholdId, as_json: _AsJson = False, data_dir: DataDir = None) -> None:
    """List what a household paid to tax agencies, the last 100 first, and what is open by agency."""
    from hearthpay.filing import service
    from hearthpay.filing.commands import LedgerQuery
    from hearthpay.filing.schemas import tax_payment_item
    from hearthpay.wire.answer import render

    async def read(
        session: "AsyncSession", actor: "Actor", found: "Employer"
    ) -> "tuple[tuple[PaymentDetails, ...], tuple[AgencyBalance, ...]]":
        clock = await clock_for_reading(session, found.id)
        balances = await service.balances_of_household(session, actor, clock, found)
        query = LedgerQuery(found.id, limit=_LONGEST_PAGE)
        details, _ = await service.payments_of_household(session, actor, found, query)
        return details, balances

    details, balances = for_household(data_dir, employer, read)
    if as_json:
        typer.echo(json.dumps(json.loads(render([tax_payment_item(each) for each in details])), indent=2))
        return
    for each in details:
        row = each.payment
        status = "" if each.reversed_at is None else "  reversed"
        typer.echo(
            f"{row.paid_on}  {from_cents(row.amount):>12,.2f}  {row.agency}  {row.account}  {row.period}  "
            f"{row.id}{status}"
        )
    for balance in balances:
        typer.echo(
            f"{balance.agency.name}: owed {from_cents(balance.owed):,.2f} - paid {from_cents(balance.paid):,.2f} "
            f"= open {from_cents(balance.open):,.2f}"
        )


def record_tax_payment(
    employer: _HouseholdId,
    agency: Annotated[str, typer.Option(help="The agency's id or name, such as us-irs or EDD.")],
    account: Annotated[str, typer.Option(help="The account: sui, withholding, or estimated-tax of the IRS.")],
    period: Annotated[str, typer.Option(help="As the calendar names it: 2026-Q3, 2026-I2, 2026, or a day.")],
    amount: Annotated[str, typer.Option(help="In dollars, without penalties and interest.")],
    paid_on: Annotated[datetime.datetime, typer.Option("--on", formats=_DAYS, help="The day it was paid.")],
    method: Annotated[
        str, typer.Option(help="bank_account, card, check, wire, cash or other.")
    ] = "bank_account",
    state: Annotated[str | None, typer.Option(help="The agency's state, by its two letters.")] = None,
    confirmation: _Confirmation = None,
    data_dir: DataDir = None,
) -> None:
    """Record what a household paid to a tax agency, and print the payment's id and what is open. It moves no money."""
    from hearthpay.filing import service
    from hearthpay.filing.commands import RecordTaxPayment

    try:
        cents = to_cents(decimal_of(amount, "amount"), "amount")
    except TaxInputError as error:
        refuse(str(error))
    chosen: TaxPaymentMethod = method  # type: ignore[assignment]  # the service refuses any other
    command = RecordTaxPayment(
        agency=agency,
        account_type=account,
        state_code=None if state is None else state.upper(),
        period=period,
        amount=cents,
        paid_on=paid_on.date(),
        method=chosen,
        confirmation=confirmation,
    )

    async def record(session: "AsyncSession", actor: "Actor", found: "Employer") -> "PaymentDetails":
        clock = await clock_for_changing(session, found.id)
        return await service.record_payment_of_household(session, actor, clock, found, command)

    _tell(for_household(data_dir, employer, record))


def reverse_tax_payment(
    employer: _HouseholdId,
    payment: Annotated[str, typer.Argument(help="The payment's id.")],
    reason: _Reason = None,
    data_dir: DataDir = None,
) -> None:
    """Reverse a payment that was recorded by mistake, or that the bank returned."""
    from hearthpay.filing import service

    payment_id = _id(payment)

    async def reverse(session: "AsyncSession", actor: "Actor", found: "Employer") -> "PaymentDetails":
        clock = await clock_for_changing(session, found.id)
        return await service.reverse_payment_of_household(session, actor, clock, found, payment_id, reason)

    _tell(for_household(data_dir, employer, reverse))


def filings(employer: _HouseholdId, as_json: _AsJson = False, data_dir: DataDir = None) -> None:
    """List what a household filed with agencies, the last 100 first."""
    from hearthpay.filing.commands import LedgerQuery
    from hearthpay.filing.filings import filings_of_household
    from hearthpay.filing.schemas import filing_item
    from hearthpay.wire.answer import render

    async def read(session: "AsyncSession", actor: "Actor", found: "Employer") -> "tuple[FilingDetails, ...]":
        query = LedgerQuery(found.id, limit=_LONGEST_PAGE)
        details, _ = await filings_of_household(session, actor, found, query)
        return details

    details = for_household(data_dir, employer, read)
    if as_json:
        typer.echo(json.dumps(json.loads(render([filing_item(each) for each in details])), indent=2))
        return
    for each in details:
        total = "" if each.figures.total is None else f"{from_cents(each.figures.total):,.2f}"
        status = "" if each.reversed_at is None else "  reversed"
        row = each.filing
        typer.echo(f"{row.filed_on}  {total:>12}  {row.item_key}  {row.id}{status}")


def record_filing(
    employer: _HouseholdId,
    key: Annotated[str, typer.Option(help="The key of the calendar's item.")],
    filed_on: Annotated[datetime.datetime, typer.Option("--on", formats=_DAYS, help="The day it was filed.")],
    confirmation: _Confirmation = None,
    data_dir: DataDir = None,
) -> None:
    """Record that a household filed what an item of its calendar asks for, and print the filing's id."""
    from hearthpay.filing.commands import RecordFiling
    from hearthpay.filing.filings import record_filing_of_household

    command = RecordFiling(key=key, filed_on=filed_on.date(), confirmation=confirmation)

    async def record(session: "AsyncSession", actor: "Actor", found: "Employer") -> UUID:
        clock = await clock_for_changing(session, found.id)
        return (await record_filing_of_household(session, actor, clock, found, command)).filing.id

    typer.echo(str(for_household(data_dir, employer, record)))


def reverse_filing(
    employer: _HouseholdId,
    filing: Annotated[str, typer.Argument(help="The filing's id.")],
    reason: _Reason = None,
    data_dir: DataDir = None,
) -> None:
    """Reverse a filing that was recorded by mistake, or that the agency rejected."""
    from hearthpay.filing import filings as service

    filing_id = _id(filing)

    async def reverse(session: "AsyncSession", actor: "Actor", found: "Employer") -> Any:
        clock = await clock_for_changing(session, found.id)
        return await service.reverse_filing_of_household(session, actor, clock, found, filing_id, reason)

    for_household(data_dir, employer, reverse)
    typer.echo(f"{filing_id}: reversed.")


def _tell(details: "PaymentDetails") -> None:
    """Print a payment's id and what is open of its period."""
    typer.echo(str(details.payment.id))
    if details.balance is not None:
        owed, paid, left = (
            from_cents(cents) for cents in (details.balance.owed, details.balance.paid, details.balance.open)
        )
        typer.echo(f"{details.payment.period}: owed {owed:,.2f} - paid {paid:,.2f} = open {left:,.2f}")


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        refuse(f"{text!r} is no id")
