"""The ledger of filings: that a household filed what an item of its calendar asks for, with the figures as they were.

A return that is filed again after payrolls of its period have changed is an amendment: the later filing counts. One
that is recorded by mistake is reversed by a separate row.
"""

import datetime
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_TAX_LEDGER, READ_TAX_LEDGER, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock
from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import Household
from hearthpay.duties.service import YEARS_AHEAD, YEARS_BACK, settled_calendar_of
from hearthpay.duties.settlement import FILED
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.filing.commands import LedgerQuery, RecordFiling
from hearthpay.filing.figures import AsFiled, figures_of
from hearthpay.filing.models import FilingRecord
from hearthpay.filing.service import lock_household
from hearthpay.wire.paging import page_of

_DIGEST = text("SELECT encode(sha256(convert_to(figures::text, 'UTF8')), 'hex') FROM filings WHERE id = :id")
"""Of the figures as the database writes them, so that a query can prove that they still are what was filed."""


@dataclass(frozen=True, slots=True)
class FilingDetails:
    """A recorded filing, its figures, and when it was reversed."""

    filing: FilingRecord
    figures: AsFiled
    reversed_at: datetime.datetime | None


async def record_filing(
    session: AsyncSession, actor: Actor, clock: Clock, command: RecordFiling
) -> FilingDetails:
    """Record that a household filed what an item of its calendar asks for, with an audit row.

    Raises what `allow` and `resolve_employer` raise, `validation_error` for a key that the calendar does not have or
    that is nothing to file, and a day to come or before the period, and `invalid_state` where it is recorded already
    and nothing has changed since.
    """
    allow(actor, KEEP_TAX_LEDGER)
    employer = await resolve_employer(session, actor, command.employer_id)
    return await record_filing_of_household(session, actor, clock, employer, command)


async def record_filing_of_household(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer, command: RecordFiling
) -> FilingDetails:
    """Record the same for a household that has been found. Raises what `record_filing` raises."""
    allow(actor, KEEP_TAX_LEDGER, employer.id)
    today = clock.today()
    await lock_household(session, employer.id)
    household, item = await _find(session, employer, today, command.key)
    if command.filed_on > today:
        raise invalid("filed_on", "Enter today's date or an earlier one.")
    if command.filed_on < item.period_start:
        raise invalid("filed_on", f"must not be before the period, which begins on {item.period_start}")
    figures = figures_of(household, item)
    before = await _in_force(session, employer.id, item.key)
    if before is not None and AsFiled.from_json(before.figures) == figures:
        raise Refusal(
            "invalid_state",
            f"This is already recorded as filed on {before.filed_on}. To correct it, reverse it first.",
            details={"filing_id": before.id, "filed_on": before.filed_on},
        )
    row = FilingRecord(
        id=uuid7(),
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        item_key=item.key,
        filed_on=command.filed_on,
        confirmation=command.confirmation,
        figures=figures.as_json(),
        actor_kind=actor.kind,
        actor_id=actor.id,
        reverses=None,
        created_at=clock.now(),
    )
    await _add(session, actor, row, "filing.record")
    return FilingDetails(row, figures, None)


async def reverse_filing(
    session: AsyncSession, actor: Actor, clock: Clock, filing_id: UUID, reason: str | None = None
) -> FilingDetails:
    """Reverse that something was filed, with an audit row.

    Raises what `allow` raises, `not_found`, and `invalid_state` for a filing that was reversed before.
    """
    allow(actor, KEEP_TAX_LEDGER)
    row = await session.get(FilingRecord, filing_id)
    if row is None or not actor.reaches(row.employer_id):
        raise _unknown()
    employer = await resolve_employer(session, actor, row.employer_id)
    return await reverse_filing_of_household(session, actor, clock, employer, filing_id, reason)


async def reverse_filing_of_household(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer: Employer,
    filing_id: UUID,
    reason: str | None = None,
) -> FilingDetails:
    """Reverse the same of a household that has been found. Raises what `reverse_filing` raises."""
    allow(actor, KEEP_TAX_LEDGER, employer.id)
    await lock_household(session, employer.id)
    row = await session.get(FilingRecord, filing_id)
    if row is None or row.reverses is not None or row.employer_id != employer.id:
        raise _unknown()
    reversed_at = (await reversals_of_filings(session, [row.id])).get(row.id)
    if reversed_at is not None:
        raise Refusal(
            "invalid_state",
            "This filing is already reversed.",
            details={"filing_id": row.id, "reversed_at": reversed_at},
        )
    reversal = FilingRecord(
        id=uuid7(),
        organization_id=row.organization_id,
        employer_id=row.employer_id,
        sandbox=row.sandbox,
        item_key=row.item_key,
        filed_on=row.filed_on,
        confirmation=row.confirmation,
        figures=row.figures,
        actor_kind=actor.kind,
        actor_id=actor.id,
        reverses=row.id,
        created_at=clock.now(),
    )
    await _add(session, actor, reversal, "filing.reverse", reason)
    return FilingDetails(row, AsFiled.from_json(row.figures), reversal.created_at)


async def list_filings(
    session: AsyncSession, actor: Actor, query: LedgerQuery
) -> tuple[Employer, tuple[FilingDetails, ...], str | None]:
    """Return a page of a household's filings, newest first, and the next page's cursor.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_TAX_LEDGER)
    employer = await resolve_employer(session, actor, query.employer_id)
    details, cursor = await filings_of_household(session, actor, employer, query)
    return employer, details, cursor


async def filings_of_household(
    session: AsyncSession, actor: Actor, employer: Employer, query: LedgerQuery
) -> tuple[tuple[FilingDetails, ...], str | None]:
    """Return the same of a household that has been found. Raises what `allow` raises."""
    allow(actor, READ_TAX_LEDGER, employer.id)
    statement = select(FilingRecord).where(
        FilingRecord.employer_id == employer.id, FilingRecord.reverses.is_(None)
    )
    rows, cursor = await page_of(session, statement, FilingRecord.id, query)
    reversals = await reversals_of_filings(session, [row.id for row in rows])
    details = [FilingDetails(row, AsFiled.from_json(row.figures), reversals.get(row.id)) for row in rows]
    return tuple(details), cursor


def _unknown() -> Refusal:
    return Refusal("not_found", "No filing has this id.")


async def _find(
    session: AsyncSession, employer: Employer, today: datetime.date, key: str
) -> tuple[Household, CalendarItem]:
    since = datetime.date(today.year - YEARS_BACK, 1, 1)
    until = datetime.date(today.year + YEARS_AHEAD, 12, 31)
    household, calendar = await settled_calendar_of(session, employer, today, since, until)
    item = next((each for each in calendar.items if each.key == key), None)
    if item is None:
        raise invalid("key", "names nothing that this household's calendar has")
    if item.kind not in FILED:
        raise invalid("key", f"names a {item.kind}, which isn't filed with an agency")
    return household, item


async def _in_force(session: AsyncSession, employer_id: UUID, key: str) -> FilingRecord | None:
    """Return the last filing of an item that was not reversed."""
    statement = (
        select(FilingRecord)
        .where(
            FilingRecord.employer_id == employer_id,
            FilingRecord.item_key == key,
            FilingRecord.reverses.is_(None),
        )
        .order_by(FilingRecord.id.desc())
    )
    rows = (await session.scalars(statement)).all()
    reversals = await reversals_of_filings(session, [row.id for row in rows])
    return next((row for row in rows if row.id not in reversals), None)


async def reversals_of_filings(session: AsyncSession, ids: list[UUID]) -> dict[UUID, datetime.datetime]:
    """Return when each of these filings was reversed."""
    rows = await session.execute(
        select(FilingRecord.reverses, FilingRecord.created_at).where(FilingRecord.reverses.in_(ids))
    )
    return {filing_id: at for filing_id, at in rows if filing_id is not None}


async def _add(
    session: AsyncSession, actor: Actor, row: FilingRecord, action: str, reason: str | None = None
) -> None:
    session.add(row)
    await session.flush()
    digest = await session.scalar(_DIGEST, {"id": row.id})
    await record_audit(
        session,
        actor,
        action,
        employer_id=row.employer_id,
        subject_id=row.id,
        details={
            "key": row.item_key,
            "filed_on": row.filed_on.isoformat(),
            "figures_sha256": digest,
            **({} if row.reverses is None else {"reverses": str(row.reverses), "reason": reason}),
        },
    )
