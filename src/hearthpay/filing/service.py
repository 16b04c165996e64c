"""The ledger of tax payments: recording what a household paid to an agency, reversing it, and telling what is open."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_TAX_LEDGER, READ_TAX_LEDGER, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import FEDERAL, RecordedPayment
from hearthpay.duties.kept_calendars import KnownHousehold
from hearthpay.duties.payment_accounts import PaymentAccount, PaymentPeriod, account_names, accounts_of_agency
from hearthpay.duties.service import YEARS_BACK, settled_calendar_of
from hearthpay.duties.settlement import YEARS_LATER, SettledCalendar, settled_calendar
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.filing.balances import AgencyBalance, PeriodBalance, agency_balances, period_balance
from hearthpay.filing.commands import METHODS, LedgerQuery, RecordTaxPayment
from hearthpay.filing.models import TaxPayment
from hearthpay.taxes.agencies import Agency, agencies
from hearthpay.wire.paging import page_of

_FUTURE: Final = "Enter today's date or an earlier one."


@dataclass(frozen=True, slots=True)
class PaymentDetails:
    """A recorded payment, when it was reversed, and what is open of its period (None where nothing is owed for it)."""

    payment: TaxPayment
    reversed_at: datetime.datetime | None
    balance: PeriodBalance | None = None


@dataclass(frozen=True, slots=True)
class EarlierPayment:
    """A payment that is recorded already, which a new one probably repeats; the amount in cents."""

    amount: int
    paid_on: datetime.date


# Recording


async def record_tax_payment(
    session: AsyncSession, actor: Actor, clock: Clock, command: RecordTaxPayment
) -> PaymentDetails:
    """Record what a household paid to an agency for a period of an account, with an audit row.

    Raises what `allow` and `resolve_employer` raise, and `validation_error` for an agency, account or period that the
    rules do not know, an amount that is not above zero, and a day to come or before the period.
    """
    allow(actor, KEEP_TAX_LEDGER)
    employer = await resolve_employer(session, actor, command.employer_id)
    return await record_payment_of_household(session, actor, clock, employer, command)


async def record_payment_of_household(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer, command: RecordTaxPayment
) -> PaymentDetails:
    """Record the same for a household that has been found. Raises what `record_tax_payment` raises."""
    allow(actor, KEEP_TAX_LEDGER, employer.id)
    today = clock.today()
    agency, account, period = identify_payment(command, today)
    await lock_household(session, employer.id)
    span = due_span(period)
    household, before = await settled_calendar_of(session, employer, today, *span)
    item = _item(before, account, period.label)
    row = TaxPayment(
        id=uuid7(),
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        agency=agency.id,
        jurisdiction=account.jurisdiction,
        account=account.name,
        period=period.label,
        period_start=period.start,
        period_end=period.end,
        item_key=None if item is None else item.key,
        amount=command.amount,
        paid_on=command.paid_on,
        method=command.method,
        confirmation=command.confirmation,
        actor_kind=actor.kind,
        actor_id=actor.id,
        reverses=None,
        created_at=clock.now(),
    )
    session.add(row)
    await session.flush()
    await _record_audit(session, actor, row, "tax_payment.record")
    after = settled_calendar(
        replace(household, payments=(*household.payments, _recorded(row))), span[0], span[1]
    )
    return PaymentDetails(row, None, balance_of_period(after, account, period.label))


async def find_earlier_payment(session: AsyncSession, recorded: PaymentDetails) -> EarlierPayment | None:
    """Return a standing payment that the one just recorded probably repeats; None if there is none.

    It is of the same account and period, and more than is owed is paid since, or it has the same amount and day.
    """
    new, balance = recorded.payment, recorded.balance
    standing = (
        select(TaxPayment)
        .where(
            TaxPayment.employer_id == new.employer_id,
            TaxPayment.jurisdiction == new.jurisdiction,
            TaxPayment.account == new.account,
            TaxPayment.period == new.period,
            TaxPayment.id != new.id,
            TaxPayment.reverses.is_(None),
        )
        .order_by(TaxPayment.id.desc())
    )
    found = (await session.scalars(standing)).all()
    reversed_ids = await reversals_of_payments(session, [each.id for each in found])
    too_much = balance is None or balance.open < 0
    for each in found:
        same = (each.amount, each.paid_on) == (new.amount, new.paid_on)
        if each.id not in reversed_ids and (too_much or same):
            return EarlierPayment(each.amount, each.paid_on)
    return None


async def reverse_tax_payment(
    session: AsyncSession, actor: Actor, clock: Clock, payment_id: UUID, reason: str | None = None
) -> PaymentDetails:
    """Take a payment back that was recorded by mistake, or that the bank returned, with an audit row.

    Raises what `allow` raises, `not_found`, and `invalid_state` for a payment that was reversed before.
    """
    allow(actor, KEEP_TAX_LEDGER)
    row = await session.get(TaxPayment, payment_id)
    if row is None or not actor.reaches(row.employer_id):
        raise _unknown()
    employer = await resolve_employer(session, actor, row.employer_id)
    return await reverse_payment_of_household(session, actor, clock, employer, payment_id, reason)


async def reverse_payment_of_household(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    payment_id: UUID,
    reason: str | None = None,
) -> PaymentDetails:
    """Reverse the same of a household that has been found. Raises what `reverse_tax_payment` raises."""
    allow(actor, KEEP_TAX_LEDGER, employer.id)
    await lock_household(session, employer.id)
    row = await session.get(TaxPayment, payment_id)
    if row is None or row.reverses is not None or row.employer_id != employer.id:
        raise _unknown()
    reversed_at = (await reversals_of_payments(session, [row.id])).get(row.id)
    if reversed_at is not None:
        raise Refusal(
            "invalid_state",
            "This payment is already reversed.",
            details={"payment_id": row.id, "reversed_at": reversed_at},
        )
    copied = {
        column.key: getattr(row, column.key)
        for column in TaxPayment.__table__.columns
        if column.key not in ("id", "amount", "actor_kind", "actor_id", "reverses", "created_at")
    }
    reversal = TaxPayment(
        **copied,
        id=uuid7(),
        amount=-row.amount,
        actor_kind=actor.kind,
        actor_id=actor.id,
        reverses=row.id,
        created_at=clock.now(),
    )
    session.add(reversal)
    await session.flush()
    await _record_audit(session, actor, reversal, "tax_payment.reverse", reason)
    period = PaymentPeriod(row.period, row.period_start, row.period_end)
    _, after = await settled_calendar_of(session, employer, clock.today(), *due_span(period))
    account = PaymentAccount(row.jurisdiction, row.account, ())
    return PaymentDetails(row, reversal.created_at, balance_of_period(after, account, row.period))


# Reading


async def list_tax_payments(
    session: AsyncSession, actor: Actor, query: LedgerQuery
) -> tuple[Employer, tuple[PaymentDetails, ...], str | None]:
    """Return a page of a household's payments, newest first, and the next page's cursor.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_TAX_LEDGER)
    employer = await resolve_employer(session, actor, query.employer_id)
    details, cursor = await payments_of_household(session, actor, employer, query)
    return employer, details, cursor


async def payments_of_household(
    session: AsyncSession, actor: Actor, employer: Employer, query: LedgerQuery
) -> tuple[tuple[PaymentDetails, ...], str | None]:
    """Return the same of a household that has been found. Raises what `allow` raises."""
    allow(actor, READ_TAX_LEDGER, employer.id)
    statement = select(TaxPayment).where(TaxPayment.employer_id == employer.id, TaxPayment.reverses.is_(None))
    rows, cursor = await page_of(session, statement, TaxPayment.id, query)
    reversals = await reversals_of_payments(session, [row.id for row in rows])
    return tuple(PaymentDetails(row, reversals.get(row.id)) for row in rows), cursor


async def balances_of_household(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    records: Sequence[Employee] | None = None,
    known: KnownHousehold | None = None,
) -> tuple[AgencyBalance, ...]:
    """Return what a household owes each agency, what it paid and what is open, of this year's and last year's dates.

    ``records`` and ``known`` are as in `settled_calendar_of`, for `balances_span`. Raises what `allow` raises.
    """
    allow(actor, READ_TAX_LEDGER, employer.id)
    today = clock.today()
    _, calendar = await settled_calendar_of(session, employer, today, *balances_span(today), records, known)
    return agency_balances(calendar)


def balances_span(today: datetime.date) -> tuple[datetime.date, datetime.date]:
    """Return the days between which everything is due of which a household's balances are the sum."""
    return datetime.date(today.year - 1, 1, 1), datetime.date(today.year + 1, 12, 31)


async def lock_household(session: AsyncSession, employer_id: UUID) -> None:
    """Let nobody else record or Reverse anything of the household until the commit."""
    await session.execute(
        select(Employer.id).where(Employer.id == employer_id).with_for_update(key_share=True)
    )


# What is refused


def identify_payment(
    command: RecordTaxPayment, today: datetime.date
) -> tuple[Agency, PaymentAccount, PaymentPeriod]:
    """Return the agency, the account and the period that a payment names; raises `validation_error`."""
    agency = _agency(command.agency, command.state_code)
    accounts = {account.name: account for account in accounts_of_agency(agency)}
    account = accounts.get(command.account_type.lower().replace("_", "-"))
    if account is None:
        raise invalid("account_type", f"must be an account of {agency.name}: {', '.join(accounts)}")
    period = account.period(command.period, agency)
    if period is None:
        labels = ", ".join(account.labels(agency, today.year))
        raise invalid("period", f"is no period for which {agency.name} is paid. For {today.year}: {labels}")
    if not today.year - YEARS_BACK <= period.start.year <= today.year:
        raise invalid("period", f"must lie between {today.year - YEARS_BACK} and {today.year}")
    if command.amount <= 0:
        raise invalid("amount", "Enter an amount above zero.")
    if command.method not in METHODS:
        raise invalid("method", f"must be one of {', '.join(METHODS)}")
    if command.paid_on > today:
        raise invalid("paid_on", _FUTURE)
    if command.paid_on < period.start:
        raise invalid("paid_on", f"must not be before the period, which begins on {period.start}")
    return agency, account, period


def _agency(name: str, state_code: str | None) -> Agency:
    """Return the agency of this id or name to which a household pays; raises `validation_error`."""
    requested = name.strip().casefold()
    named = [
        each
        for each in agencies().values()
        if requested in (each.id, each.name.casefold(), each.full_name.casefold())
    ]
    found = [each for each in named if accounts_of_agency(each)]
    if not found:
        raise invalid("agency", "is no agency that a household pays taxes to. The tax calendar names them")
    if state_code is not None:
        found = [each for each in found if each.state in (state_code, FEDERAL)]
        if not found:
            raise invalid("state_code", f"is not the state of {named[0].name}, which is {named[0].state}")
    if len({each.state for each in found}) > 1:
        states = ", ".join(sorted(each.state for each in found))
        raise invalid("state_code", f"is needed: agencies of this name are in {states}")
    return found[0]


# The rows and their balances


def due_span(period: PaymentPeriod) -> tuple[datetime.date, datetime.date]:
    """Return the days between which everything is due that can be owed for the year of a period."""
    year = period.start.year
    return datetime.date(year, 1, 1), datetime.date(year + YEARS_LATER, 12, 31)


def _recorded(row: TaxPayment) -> RecordedPayment:
    return RecordedPayment(
        row.id,
        row.jurisdiction,
        row.account,
        row.period,
        row.period_start,
        row.period_end,
        row.amount,
        row.paid_on,
        row.agency,
    )


def _item(calendar: SettledCalendar, account: PaymentAccount, label: str) -> CalendarItem | None:
    """Return the item that is paid to an account for a period."""
    names = account_names(account.jurisdiction)
    for item in calendar.items:
        if (
            item.amount is not None
            and item.jurisdiction == account.jurisdiction
            and item.period == label
            and names.get(item.key.split("/")[1]) == account.name
        ):
            return item
    return None


def balance_of_period(calendar: SettledCalendar, account: PaymentAccount, label: str) -> PeriodBalance | None:
    """Return what is owed and paid of an account for a period; None where nothing is owed for it."""
    item = _item(calendar, account, label)
    return None if item is None else period_balance(item)


def _unknown() -> Refusal:
    return Refusal("not_found", "No tax payment has this id.")


async def reversals_of_payments(session: AsyncSession, ids: list[UUID]) -> dict[UUID, datetime.datetime]:
    """Return when each of these payments was reversed."""
    rows = await session.execute(
        select(TaxPayment.reverses, TaxPayment.created_at).where(TaxPayment.reverses.in_(ids))
    )
    return {payment_id: at for payment_id, at in rows if payment_id is not None}


async def _record_audit(
    session: AsyncSession, actor: Actor, row: TaxPayment, action: str, reason: str | None = None
) -> None:
    await record_audit(
        session,
        actor,
        action,
        employer_id=row.employer_id,
        subject_id=row.id,
        details={
            "agency": row.agency,
            "account": row.account,
            "period": row.period,
            "amount": row.amount,
            "paid_on": row.paid_on.isoformat(),
            **({} if row.reverses is None else {"reverses": str(row.reverses), "reason": reason}),
        },
    )
