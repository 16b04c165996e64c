"""A day's bank processing: takes in outcomes, moves payrolls on, and builds one file at the cut-off.

Every step is safe to repeat and to be run by several workers at once, so all of it may run at any time; a step with
nothing to do does nothing. Usually none has anything to do, which is asked first.
"""

import asyncio
import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy import text

from hearthpay.banking.accounts import activate_verified
from hearthpay.banking.calendar import CUT_OFF, banking_day_on_or_after
from hearthpay.banking.files import BuiltFile, build_file, current_cut_off, deliver_files, earliest_settlement
from hearthpay.banking.gateways.gateway import GatewayError
from hearthpay.banking.holds import log_holds, note_account_holds
from hearthpay.banking.reversals import cancel_late_reversals, settle_reversals
from hearthpay.banking.settlement import settle_credits, settle_debits, settle_others
from hearthpay.banking.simulated_bank import simulate
from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import BANK_ENTRIES
from hearthpay.database.restorations import HELD, is_held
from hearthpay.database.session import Database
from hearthpay.database.statements import statement
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.issues.notices import find_unreported, notify_of_payrolls, notify_of_problems
from hearthpay.payroll.issues.problem_log import WorkerProblemKind, note_problems
from hearthpay.payroll.issues.return_notices import notify_of_returns, unreported_returns
from hearthpay.payroll.issues.unread_file_notices import notify_of_unread_files
from hearthpay.payroll.payday.bank_outcomes import (
    apply_returns,
    complete,
    expire,
    fund,
    uncollected,
    undo_reversed,
)
from hearthpay.payroll.payday.due_work import work_due
from hearthpay.payroll.payday.firing import FiringReport, fire_due
from hearthpay.payroll.payday.incoming_files import Bank, take_in_files
from hearthpay.payroll.payday.remedies import end_waits
from hearthpay.payroll.payday.reversed_deposits import note_too_late
from hearthpay.payroll.payday.year_end import carry_over
from hearthpay.security.key_ring import KeyRing

SETTLED_AT_ONCE: Final = 1_000
"""Bank entries settled in one transaction."""

_PATIENCE: Final = datetime.timedelta(minutes=5)
_WAIT_FOR_RETURNS: Final = datetime.timedelta(hours=1)
_PAUSE_SECONDS: Final = 0.2
_STILL_DUE: Final = text(
    "SELECT EXISTS (SELECT FROM payrolls WHERE status = 'scheduled' AND due_at <= :cut_off)"
)
_DEPOSITS_DUE: Final = statement(
    "SELECT EXISTS (SELECT FROM {bank_entries} e WHERE status = 'pending' AND NOT sandbox AND send_on <= :cut_off "
    "AND kind IN ('credit', 'refund'))",
    bank_entries=BANK_ENTRIES,
)
_WAITING: Final = statement(
    "SELECT count(*) FROM {bank_entries} e WHERE status = 'pending' AND NOT sandbox AND send_on <= :cut_off",
    bank_entries=BANK_ENTRIES,
)
__all__ = ["Bank", "BankDayReport", "advance"]

_log = structlog.get_logger("hearthpay.bank")


@dataclass(frozen=True, slots=True)
class BankDayReport:
    """What was done."""

    fired: FiringReport
    taken_in: int
    returned: int
    funded: int
    completed: int
    carried_over: int
    file: BuiltFile | None
    delivered: tuple[str, ...]
    problems: tuple[str, ...]


async def advance(
    database: Database,
    ring: KeyRing,
    bank: Bank | None,
    clock: Clock,
    *,
    notifications: NotificationSettings = NotificationSettings(),  # noqa: B008 - frozen
    stopping: Callable[[], bool] = lambda: False,
    of_household: bool = False,
) -> BankDayReport:
    """Do all that is due with the bank: take in returns, settle, fire, build the cut-off's file and deliver it.

    `database` acts as the worker's role. Without a `bank`, only sandbox households' money moves, at the simulated
    bank; the same applies, bank or not, after a restore until real money is released. An unreachable gateway is a
    problem in the report and stops nothing else. `of_household`: the transactions are those of one sandbox household
    at its own time, and the installation's log of problems isn't changed. Problems are sent as `notifications` says.
    Raises DatabaseUnavailable; what was done before stays done.
    """
    cut_off = current_cut_off(
        clock.now()
    )  # if the next one passes during the run, the next bank day prepares it
    problems: list[str] = []
    outages: list[str] = []
    async with database.transaction(None) as session:
        if not of_household and await is_held(session):
            bank = None  # a return of a payment that is not known here must wait at the bank as well
            problems.append(HELD)
        due = await work_due(session, clock.now())
    heard = await take_in_files(database, ring, bank, clock, _next_cut_off(clock))
    problems += heard.problems
    outages += heard.outages
    if not (due or heard.taken_in or heard.unread or problems or outages):
        return BankDayReport(FiringReport(), 0, 0, 0, 0, 0, None, (), ())
    returned = heard.returned + await _simulate(database, ring, clock)
    async with database.transaction(None) as session:
        await activate_verified(session, clock.now())
    fired = await fire_due(database, clock, stopping=stopping)
    funded = await _settle_debits(database, clock, stopping, real=heard.complete)
    completed = await _settle_credits(database, clock, stopping)
    carried = await carry_over(database, clock, stopping=stopping)
    problems += carried.problems
    await end_waits(database, clock, stopping=stopping)
    async with database.transaction(None) as session:
        await settle_others(session, clock.now())
        reversed_ = await settle_reversals(session, clock.now(), limit=SETTLED_AT_ONCE)
        await undo_reversed(session, reversed_, _next_cut_off(clock), clock.now())
        earliest = earliest_settlement(clock.now())
        for payroll_id, employee_id in await cancel_late_reversals(session, clock.now(), earliest):
            await note_too_late(session, payroll_id, employee_id)
    returned += await _simulate(database, ring, clock)  # the sandbox's money of this cut-off goes out as well
    file: BuiltFile | None = None
    held: list[str] = []
    delivered: tuple[str, ...] = ()
    if bank is not None and not stopping():
        fired = fired.then(await _fire_the_rest(database, clock, cut_off, stopping))
        if heard.complete or not await _can_wait(database, clock, cut_off):
            file = await build_file(
                database, ring, bank.originator, clock, cut_off=cut_off, heard=heard.complete
            )
        if file is not None:
            held = [f"entry {each.entry_id} is held back: {each.hold.reason}" for each in file.held]
        try:
            delivered = await deliver_files(database, ring, bank.gateway, clock)
        except GatewayError as error:
            outages.append(f"the bank cannot be reached, files wait to be delivered: {error}")
    await _expire(database, clock, file, cut_off)
    if bank is None:
        async with database.transaction(None) as session:
            waiting = await session.scalar(_WAITING, {"cut_off": cut_off})
        if waiting:
            outages.append(f"{waiting} payments wait to be sent, but no bank is configured for this worker")
    noted = () if of_household else (problems, outages)
    await _send(database, ring, clock, notifications, cut_off, *noted)
    problems += [*heard.unread, *outages, *held]
    return BankDayReport(
        fired,
        heard.taken_in,
        returned,
        funded,
        completed,
        carried.moved,
        file,
        delivered,
        tuple(problems),
    )


async def _can_wait(database: Database, clock: Clock, cut_off: datetime.date) -> bool:
    """Return whether the file is to be built later, because it has deposits and the bank's returns aren't read.

    After an hour it is built without them.
    """
    if clock.now() >= datetime.datetime.combine(cut_off, CUT_OFF, BUSINESS_TIME) + _WAIT_FOR_RETURNS:
        return False
    async with database.transaction(None) as session:
        return bool(await session.scalar(_DEPOSITS_DUE, {"cut_off": cut_off}))


async def _send(
    database: Database,
    ring: KeyRing,
    clock: Clock,
    notifications: NotificationSettings,
    cut_off: datetime.date,
    problems: Sequence[str] = (),
    outages: Sequence[str] = (),
) -> None:
    """Record and log the problems, and notify the people concerned."""
    now = clock.now()
    async with database.transaction(None) as session:
        await note_account_holds(session, now, cut_off)
        await log_holds(session, now)
        kinds: list[tuple[WorkerProblemKind, str]] = [("other", each) for each in problems]
        kinds += [("outage", each) for each in outages]
        noted = await note_problems(session, now, kinds)
        await notify_of_problems(session, ring, notifications, now, noted)
        await notify_of_unread_files(session, ring, notifications, now)
        untold = await find_unreported(session)
        returned = await unreported_returns(session)
    await notify_of_payrolls(database, ring, clock, notifications, untold)
    await notify_of_returns(database, ring, clock, notifications, returned)


async def _simulate(database: Database, ring: KeyRing, clock: Clock) -> int:
    """Let the sandbox's simulated bank take what is due and answer; return how many entries it returned."""
    async with database.transaction(None) as session:
        simulated = await simulate(session, ring, clock.now())
        await apply_returns(session, simulated.returned, _next_cut_off(clock), clock.now())
    return len(simulated.returned)


async def _settle_debits(
    database: Database, clock: Clock, stopping: Callable[[], bool], *, real: bool
) -> int:
    """Settle debits that can no longer be returned; those of real households only once it is known that they
    weren't.
    """
    funded = 0
    while not stopping():
        async with database.transaction(None) as session:
            settled = await settle_debits(session, clock.now(), limit=SETTLED_AT_ONCE, real=real)
            moved = await fund(session, settled.payroll_ids, _next_cut_off(clock), clock.now())
        funded += len(moved)
        if not settled.entries:
            break
    return funded


async def _settle_credits(database: Database, clock: Clock, stopping: Callable[[], bool]) -> int:
    completed = 0
    while not stopping():
        async with database.transaction(None) as session:
            settled = await settle_credits(session, clock.now(), limit=SETTLED_AT_ONCE)
            moved = await complete(session, settled.payroll_ids, clock.now())
        completed += len(moved)
        if not settled.entries:
            break
    return completed


async def _expire(database: Database, clock: Clock, file: BuiltFile | None, cut_off: datetime.date) -> None:
    """Fail payrolls whose debit has waited too long for an account or an authorization, each in its own transaction."""
    held = [] if file is None else [each.entry_id for each in file.held]
    async with database.transaction(None) as session:
        expired = await uncollected(session, held, cut_off)
    for payroll_id in expired:
        try:
            async with database.transaction(None) as session:
                await expire(session, payroll_id, clock.now())
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("a payroll could not expire", payroll_id=str(payroll_id), exc_info=error)


def _next_cut_off(clock: Clock) -> datetime.date:
    """Return the day whose file carries what is decided now; if that file is already out, the next one carries it."""
    return banking_day_on_or_after(clock.today())


async def _fire_the_rest(
    database: Database, clock: Clock, cut_off: datetime.date, stopping: Callable[[], bool]
) -> FiringReport:
    """Wait until no payroll due by the cut-off is still being fired elsewhere: it belongs in this file.

    If the other worker is killed while firing a payroll, it is fired here.
    """
    until = datetime.datetime.combine(cut_off, CUT_OFF, BUSINESS_TIME)
    patience = _PATIENCE.total_seconds()
    fired = FiringReport()
    while not stopping():
        async with database.transaction(None) as session:
            if not await session.scalar(_STILL_DUE, {"cut_off": until}):
                return fired
        if patience <= 0:
            _log.warning("payrolls are still being fired elsewhere; they go into the next file")
            break
        await asyncio.sleep(_PAUSE_SECONDS)
        patience -= _PAUSE_SECONDS
        fired = fired.then(await fire_due(database, clock, stopping=stopping))
    return fired
