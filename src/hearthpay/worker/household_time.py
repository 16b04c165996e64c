"""Leads the clocks of sandbox households on, doing at each instant what the worker does at real time.

The same functions do the work, through transactions that see one household alone (`Database.at_clock_of`), by a clock
that stands at the instant. What is the installation's, and not a household's, stays at real time: the bank's files,
sessions and links of people, idempotency keys, the log of the worker's problems.
"""

from __future__ import annotations

import asyncio
import datetime
from typing import Final
from uuid import UUID

import structlog

from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.banking.account_changes import connect_due
from hearthpay.banking.account_notices import find_new_accounts
from hearthpay.clock import Clock, FixedClock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.documents.notices import find_new_papers
from hearthpay.employees.invitations import expire_invitations
from hearthpay.mail.notice_rounds import AT_ONCE, Find, send_notices
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.payday.bank_day import advance as do_bank_day
from hearthpay.payroll.payday.notices import find_debits_ahead, find_paydays
from hearthpay.sandbox.advancing import (
    Advance,
    claim_advance,
    count_advancing,
    next_instant,
    note_failed_step,
    note_reached,
    take_turn,
)
from hearthpay.security.key_ring import KeyRing
from hearthpay.todos.reminders import remind
from hearthpay.worker.duty import Progress, Stopping

NEWS: Final[tuple[tuple[str, Find], ...]] = (
    ("account_changed", find_new_accounts),
    ("debit_ahead", find_debits_ahead),
    ("payday", find_paydays),
    ("document_ready", find_new_papers),
)
"""The notices that are sent in the usual way, each with its kind and the function that finds them."""

SLICE_SECONDS: Final = 2.0
INSTANTS_OF_TURN: Final = 14
"""How long one household is led on before others have their turn, and by how many instants at most: two weeks of days
on which nothing else is due. So a year takes as many turns whatever is in it.
"""

_MOST_TAKEN: Final = 20
"""Households that are tried in one turn, if other workers have them in hand."""
_MOST_PASSES: Final = 5
"""What Autopilot makes late is fired at once, and what a connected account lets go is sent: the work is done again."""
_INVITATIONS: Final = 1_000
_log = structlog.get_logger(__name__)


async def advance_clocks(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    stopping: Stopping,
    *,
    slice_seconds: float = SLICE_SECONDS,
    instants: int = INSTANTS_OF_TURN,
) -> Progress:
    """Lead one household on that no other worker has in hand, for one turn; `clock` is real time.

    `database` acts as the worker's role. A step that fails is tried again, and ends the advance after a few times.
    Raises DatabaseUnavailable; all steps that were done stay done.
    """
    until = asyncio.get_running_loop().time() + slice_seconds
    done = failed = 0
    taken: list[UUID] = []
    while not (done or failed or stopping()) and len(taken) < _MOST_TAKEN:
        async with database.transaction(None) as session:
            household = await take_turn(session, taken)
        if household is None:
            break
        taken.append(household)
        while done < instants and not stopping():
            outcome = await _step(database, ring, clock, notifications, household)
            if outcome is None:
                break
            done, failed = done + outcome, failed + (not outcome)
            if failed or asyncio.get_running_loop().time() >= until:
                break
    if not taken:
        return Progress()
    async with database.transaction(None) as session:
        return Progress(done, failed, await count_advancing(session))


async def _step(
    database: Database, ring: KeyRing, clock: Clock, notifications: NotificationSettings, household: UUID
) -> bool | None:
    """Lead the household to its next instant; return whether that succeeded, None where there is nothing to lead."""
    async with database.transaction(None) as turn:
        advance = await claim_advance(turn, household)
        if advance is None:
            return None
        try:
            at = await _do_next(database.at_clock_of(household), ring, notifications, advance)
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, other households are to be led on
            _log.error(
                "a household's clock could not be advanced", employer_id=str(household), exc_info=error
            )
            await note_failed_step(turn, household, clock.now())
            return False
        await note_reached(turn, advance, at, clock.now())
    return True


async def _do_next(
    household: Database, ring: KeyRing, notifications: NotificationSettings, advance: Advance
) -> datetime.datetime:
    """Do all that is due at the household's next instant, and return that."""
    async with household.transaction(None) as session:
        at = await next_instant(session, advance)
    for _ in range(_MOST_PASSES):
        if not await _work_at(household, ring, notifications, FixedClock(at)):
            break
    async with household.transaction(None) as session:
        news = [(kind, find) for kind, find in NEWS if await find(session, at, AT_ONCE)]
    for kind, find in news:
        await send_notices(household, ring, FixedClock(at), notifications, kind, find)
    await remind(household, ring, FixedClock(at), notifications)
    return at


async def _work_at(
    household: Database, ring: KeyRing, notifications: NotificationSettings, clock: FixedClock
) -> bool:
    """Do what is due; return whether it may have made more to do at the same instant."""
    await do_bank_day(household, ring, None, clock, notifications=notifications, of_household=True)
    async with household.transaction(None) as session:
        await expire_invitations(session, clock.now(), limit=_INVITATIONS)
    made = await generate_due(household, clock, direct_deposit_enabled=False)  # the sandbox has its own bank
    done, _ = await run_outbox_tasks(household, ring, clock, notifications)
    connected = await connect_due(household, ring, clock)
    return bool(made.decided or done or connected)
