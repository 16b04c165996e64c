"""Test clocks: the current time of a sandbox household, and requests to move it on.

A household uses real time until it is first advanced. From then on its clock stays where the last advance has set it,
as Stripe's test clocks do, and moves only by another. The worker does the moving (`advancing`); this is what a client
requests and sees.
"""

import datetime
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import READ_SANDBOX, USE_SANDBOX
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock, real_clock
from hearthpay.sandbox.households import sandbox_household
from hearthpay.sandbox.models import ClockStatus, HouseholdClockRecord

FURTHEST_YEARS: Final = 2
"""The most years that one advance may cover."""
HORIZON: Final = datetime.timedelta(days=3653)
"""How far from real time a household may be moved: ten years, for which no law is known anyway."""

_ADVANCE: Final = text(
    "INSERT INTO household_clocks AS c (employer_id, organization_id, sandbox, created_at, stands_at, status, "
    "advanced_from, target, requested_at) VALUES (:employer_id, :organization_id, true, :now, :stands_at, 'advancing', "
    ":stands_at, :target, :now) ON CONFLICT (employer_id) DO UPDATE SET status = 'advancing', "
    "advanced_from = c.stands_at, target = :target, requested_at = :now, finished_at = NULL, failed_steps = 0 "
    "WHERE c.status <> 'advancing' AND c.stands_at < :target RETURNING true"
)
"""The constraints apply to the row to be inserted, even where there is one: so it has that one's time."""


@dataclass(frozen=True, slots=True)
class HouseholdClockState:
    """The current time of a household; `target` and `advanced_from` are of the last advance, None before the first."""

    employer_id: UUID
    status: ClockStatus
    now: datetime.datetime
    test_clock: bool
    advanced_from: datetime.datetime | None = None
    target: datetime.datetime | None = None
    requested_at: datetime.datetime | None = None
    finished_at: datetime.datetime | None = None


async def read_clock(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID
) -> HouseholdClockState:
    """Return the current time of a sandbox household. Raises what `sandbox_household` raises."""
    employer = await sandbox_household(session, actor, READ_SANDBOX, employer_id)
    return await _state(session, real_clock(clock).now(), employer.id)


async def request_advance(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID, to: datetime.datetime
) -> HouseholdClockState:
    """Ask the worker to advance a sandbox household to that instant; nothing else may change the household until
    then.

    Raises what `sandbox_household` raises, `validation_error` naming `to` for an instant that isn't ahead of the
    household's time or is too far ahead, and `clock_advancing` while an advance is in progress.
    """
    employer = await sandbox_household(session, actor, USE_SANDBOX, employer_id)
    real = real_clock(clock).now()
    before = await _state(session, real, employer.id)
    if before.status == "advancing":
        raise still_advancing(before.employer_id)
    _check_target(to, before.now, real)
    values = {
        "employer_id": employer.id,
        "organization_id": employer.organization_id,
        "now": real,
        "stands_at": before.now,
        "target": to,
    }
    if not await session.scalar(_ADVANCE, values):
        raise still_advancing(employer.id)
    await record_audit(
        session,
        actor,
        "household_clock.advance",
        employer_id=employer.id,
        subject_id=employer.id,
        details={"from": before.now.isoformat(), "to": to.isoformat()},
    )
    return await _state(session, real, employer.id)


def still_advancing(employer_id: UUID | None = None) -> Refusal:
    """Return the error for requests that would change a household while its clock advances."""
    return Refusal(
        "clock_advancing",
        "The clock of this household is advancing. Wait until GET /sandbox/employers/{employer_id}/clock says "
        "'ready', and send the request again.",
        details={} if employer_id is None else {"employer_id": employer_id},
    )


def _check_target(to: datetime.datetime, now: datetime.datetime, real: datetime.datetime) -> None:
    if to <= now:
        raise invalid(
            "to",
            f"must lie ahead of the household's time, {now:%Y-%m-%dT%H:%M:%SZ}: a clock runs forward only",
        )
    furthest = _years_after(now, FURTHEST_YEARS)
    if to > furthest:
        raise invalid(
            "to", f"must be {furthest:%Y-%m-%dT%H:%M:%SZ} or earlier: one advance crosses at most two years"
        )
    if to > real + HORIZON:
        raise invalid("to", "must lie within ten years of today")


def _years_after(instant: datetime.datetime, years: int) -> datetime.datetime:
    """Return the same moment that many years later; for February 29 the 28th, as the database adds years."""
    try:
        return instant.replace(year=instant.year + years)
    except ValueError:
        return instant.replace(year=instant.year + years, day=28)


async def _state(session: AsyncSession, real: datetime.datetime, employer_id: UUID) -> HouseholdClockState:
    row = await session.scalar(
        select(HouseholdClockRecord)
        .where(HouseholdClockRecord.employer_id == employer_id)
        .execution_options(populate_existing=True)
    )
    if row is None:
        return HouseholdClockState(employer_id, "ready", real, test_clock=False)
    return HouseholdClockState(
        employer_id,
        row.status,
        row.stands_at,
        test_clock=True,
        advanced_from=row.advanced_from,
        target=row.target,
        requested_at=row.requested_at,
        finished_at=row.finished_at,
    )
