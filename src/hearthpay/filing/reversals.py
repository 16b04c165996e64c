"""What the ledgers have of one payment, filing or item, and what the reversal of a payment would change."""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import KEEP_TAX_LEDGER, READ_TAX_LEDGER, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.duties.payment_accounts import PaymentAccount, PaymentPeriod
from hearthpay.duties.service import settled_calendar_of
from hearthpay.duties.settlement import settled_calendar
from hearthpay.employers.models import Employer
from hearthpay.filing.balances import PeriodBalance
from hearthpay.filing.figures import AsFiled
from hearthpay.filing.filings import FilingDetails, reversals_of_filings
from hearthpay.filing.models import FilingRecord, TaxPayment
from hearthpay.filing.service import PaymentDetails, balance_of_period, due_span, reversals_of_payments


@dataclass(frozen=True, slots=True)
class PaymentReversalPreview:
    """A payment with the balance of its period now, and the balance after a reversal (None where nothing is owed)."""

    details: PaymentDetails
    after: PeriodBalance | None


async def preview_payment_reversal(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer, payment_id: UUID
) -> PaymentReversalPreview:
    """Return what the reversal of a payment would change. Raises what `allow` raises, and `not_found`."""
    allow(actor, KEEP_TAX_LEDGER, employer.id)
    row = await session.get(TaxPayment, payment_id)
    if row is None or row.reverses is not None or row.employer_id != employer.id:
        raise Refusal("not_found", "No tax payment has this id.")
    reversed_at = (await reversals_of_payments(session, [row.id])).get(row.id)
    account = PaymentAccount(row.jurisdiction, row.account, ())
    span = due_span(PaymentPeriod(row.period, row.period_start, row.period_end))
    household, now = await settled_calendar_of(session, employer, clock.today(), *span)
    rest = tuple(each for each in household.payments if each.id != row.id)
    after = settled_calendar(replace(household, payments=rest), *span)
    return PaymentReversalPreview(
        PaymentDetails(row, reversed_at, balance_of_period(now, account, row.period)),
        balance_of_period(after, account, row.period),
    )


async def find_filing(
    session: AsyncSession, actor: Actor, employer: Employer, filing_id: UUID
) -> FilingDetails:
    """Return a filing of a household. Raises what `allow` raises, and `not_found`."""
    allow(actor, READ_TAX_LEDGER, employer.id)
    row = await session.get(FilingRecord, filing_id)
    if row is None or row.reverses is not None or row.employer_id != employer.id:
        raise Refusal("not_found", "No filing has this id.")
    (found,) = await _details(session, [row])
    return found


async def filings_of_item(
    session: AsyncSession, actor: Actor, employer: Employer, key: str
) -> tuple[FilingDetails, ...]:
    """Return the filings of an item of the calendar, the last recorded first. Raises what `allow` raises."""
    allow(actor, READ_TAX_LEDGER, employer.id)
    statement = (
        select(FilingRecord)
        .where(
            FilingRecord.employer_id == employer.id,
            FilingRecord.item_key == key,
            FilingRecord.reverses.is_(None),
        )
        .order_by(FilingRecord.id.desc())
    )
    return await _details(session, list(await session.scalars(statement)))


async def _details(session: AsyncSession, rows: list[FilingRecord]) -> tuple[FilingDetails, ...]:
    reversals = await reversals_of_filings(session, [row.id for row in rows])
    return tuple(FilingDetails(row, AsFiled.from_json(row.figures), reversals.get(row.id)) for row in rows)
