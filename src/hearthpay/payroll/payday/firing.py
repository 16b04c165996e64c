"""Fires scheduled payrolls when they are due: calculates the final amounts and collects the money.

Due payrolls are claimed in chunks, each one transaction of a few statements, however many payrolls are in it.
Payrolls claimed by another worker are left to it. A payroll that can't be fired is tried again later, apart from its
chunk, and never delays the others.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

import orjson
import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.authorizations import authorized_payrolls
from hearthpay.banking.calendar import add_banking_days, banking_day_on_or_before, next_banking_day
from hearthpay.banking.entries import Debit, collect
from hearthpay.banking.files import earliest_settlement
from hearthpay.banking.readiness import Blocker, account_blockers, keeps_from_sending
from hearthpay.banking.settlement import RETURN_DAYS
from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.database.chunks import Started, in_chunks
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import AUTOPILOT_PERIODS
from hearthpay.database.session import Database
from hearthpay.database.statements import Fragment, statement
from hearthpay.database.turns import Turns
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.payroll.approval import debit_of
from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.issues import failures
from hearthpay.payroll.issues.attempts import most_attempts, pause_after
from hearthpay.payroll.issues.failures import StoredFailure
from hearthpay.payroll.kinds import PayrollKind
from hearthpay.payroll.ledger.earlier_pay import EarlierPay, read_earlier_pay
from hearthpay.payroll.ledger.histories import read_histories
from hearthpay.payroll.ledger.posting import Posting, post_paychecks, postings_of
from hearthpay.payroll.ledger.rows import Owner, PayrollRecord
from hearthpay.payroll.ledger.years import History, seen_by_others
from hearthpay.payroll.lifecycle import Cause, PayrollStatus, move
from hearthpay.payroll.orders import Payee, SettledOrder, read_entries, read_payees
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.payday.fired_payrolls import save_fired
from hearthpay.payroll.payday.worker_counts import add_to_counts
from hearthpay.payroll.years.household_year import HouseholdYear, measure_household
from hearthpay.payroll.years.households import (
    employees_together,
    terms_of_households,
    years_of_households,
)
from hearthpay.payroll.years.reversal import release_periods
from hearthpay.taxes import TaxInputError

CHUNK: Final = 200
"""Payrolls per transaction, where few are due."""

_LARGEST_CHUNK: Final = 500
"""A statement costs the same for one payroll as for many, but the payrolls are locked until the chunk is fired."""

_SHARES: Final = 4
"""Chunks that may be fired at the same time, by two workers: each claims this share of what is due."""

_log = structlog.get_logger("hearthpay.payroll")

DUE: Final = Fragment("status = 'scheduled' AND due_at <= :now")
"""SQL: whether a payroll is to be fired."""

_COLUMNS: Final = Fragment(
    "id, organization_id, employer_id, sandbox, period_start, period_end, pay_date, pay_date_asked, "
    "pay_date_defaulted, scheduled_send_at, pay_frequency, notes, kind, attempts"
)


class _ClaimRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    pay_date_asked: datetime.date | None
    pay_date_defaulted: bool
    scheduled_send_at: datetime.datetime
    pay_frequency: str
    notes: str | None
    kind: PayrollKind
    attempts: int


_CLAIM: Final = query(
    _ClaimRow,
    "SELECT {columns} FROM payrolls WHERE {due} AND organization_id <> ALL(CAST(:resting AS uuid[])) "
    "ORDER BY due_at, id LIMIT :chunk FOR NO KEY UPDATE SKIP LOCKED",
    columns=_COLUMNS,
    due=DUE,
)


_CLAIM_AGAIN: Final = query(
    _ClaimRow,
    "SELECT {columns} FROM payrolls WHERE {due} AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED",
    columns=_COLUMNS,
    due=DUE,
)
_COUNT_DUE: Final = statement(
    "SELECT count(*) FROM (SELECT FROM payrolls WHERE {due} LIMIT {most}) due",
    due=DUE,
    most=_SHARES * _LARGEST_CHUNK,
)
"""Counts only as many as matter to workers that share the work."""

_UNCONFIRMED: Final = statement(
    "SELECT g.payroll_id FROM {autopilot_periods} g WHERE g.payroll_id = ANY(:payrolls) "
    "AND g.held <> '{}' AND g.confirmed_at IS NULL",
    autopilot_periods=AUTOPILOT_PERIODS,
)
"""Unusual Autopilot payrolls that the household hasn't confirmed yet."""

_PUT_OFF: Final = text(
    "UPDATE payrolls SET attempts = least(attempts + 1, 32767), next_attempt_at = :next_attempt_at, "
    "failure = CAST(:failure AS jsonb) WHERE id = :id AND status = 'scheduled' AND attempts = :attempts RETURNING true"
)


@dataclass(frozen=True, slots=True)
class FiringReport:
    """The outcome of firing the due payrolls; at least `remaining` are still due."""

    fired: int = 0
    put_off: tuple[UUID, ...] = ()
    failed: tuple[UUID, ...] = ()
    remaining: int = 0

    def then(self, later: "FiringReport") -> "FiringReport":
        """Return this report combined with that of a later firing."""
        return FiringReport(
            self.fired + later.fired,
            self.put_off + later.put_off,
            self.failed + later.failed,
            later.remaining,
        )


@dataclass(slots=True)
class _Chunk:
    """One chunk's outcome."""

    claimed: int = 0
    fired: int = 0
    problems: dict[UUID, StoredFailure] = field(default_factory=dict)
    attempts: dict[UUID, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Due:
    """A claimed payroll and its order."""

    id: UUID
    owner: Owner
    order: SettledOrder
    send_at: datetime.datetime

    @property
    def tax_year(self) -> int:
        """The year in which the wages arrive."""
        return self.order.dates.pay_date.year


async def fire_due(
    database: Database,
    clock: Clock,
    *,
    chunk: int | None = None,
    stopping: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda _: None,
    turns: Turns[UUID] | None = None,
) -> FiringReport:
    """Fire every due payroll that no other worker has claimed, chunk by chunk, two chunks at a time.

    `database` acts as the worker's role. Chunks are larger where many payrolls are due, unless `chunk` sets their
    size; organizations take turns, also between calls with the same `turns`. Ends early, between chunks, when
    `stopping` returns true; `progress` is called with the number fired so far. Raises DatabaseUnavailable; payrolls
    fired before that stay fired.
    """
    fired = 0
    put_off: list[UUID] = []
    failed: list[UUID] = []
    in_turn = Turns[UUID]() if turns is None else turns

    async def one(more: Started) -> bool:
        nonlocal fired
        outcome = await _fire_some(database, clock, chunk, more, in_turn)
        fired += outcome.fired
        for payroll_id, failure in outcome.problems.items():
            for_good = await _put_off(database, clock, payroll_id, failure, outcome.attempts[payroll_id])
            (failed if for_good else put_off).append(payroll_id)
        if outcome.claimed:
            progress(fired)
        return outcome.claimed > 0

    await in_chunks(one, stopping=stopping)
    async with database.transaction(None) as session:
        remaining = await session.scalar(_COUNT_DUE, {"now": clock.now()})
        await add_to_counts(session, {"fired": fired, "failed": len(failed), "put_off": len(put_off)})
    return FiringReport(fired, tuple(put_off), tuple(failed), remaining or 0)


async def _fire_some(
    database: Database, clock: Clock, chunk: int | None, more: Started, turns: Turns[UUID]
) -> _Chunk:
    claimed: list[tuple[UUID, int]] = []
    try:
        async with database.transaction(None) as session:
            size = chunk or await _chunk_size(session, clock.now())
            rows = await _claim(session, clock.now(), size, turns) if size else []
            claimed = [(row.id, row.attempts) for row in rows]
            if rows and len(rows) == size:
                more()
            return await _fire(session, clock.now(), rows)
    except DatabaseUnavailable:
        raise
    except Exception:  # one of them is at fault, found by firing them apart
        if not claimed:
            raise
        _log.warning("a chunk of payrolls is fired one by one", payrolls=len(claimed), exc_info=True)
        return await _fire_apart(database, clock, claimed)


async def _claim(
    session: AsyncSession, now: datetime.datetime, size: int, turns: Turns[UUID]
) -> Sequence[_ClaimRow]:
    async def claim(resting: list[UUID]) -> Sequence[_ClaimRow]:
        return await fetch_all(session, _CLAIM, {"now": now, "chunk": size, "resting": resting})

    return await turns.take(size, claim, lambda row: row.organization_id)


async def _chunk_size(session: AsyncSession, now: datetime.datetime) -> int:
    """Return how many payrolls to claim; 0 if none is due."""
    due = await session.scalar(_COUNT_DUE, {"now": now}) or 0
    return min(max(CHUNK, due // _SHARES), _LARGEST_CHUNK) if due else 0


async def _fire_apart(database: Database, clock: Clock, claimed: Sequence[tuple[UUID, int]]) -> _Chunk:
    """Fire each payroll in its own transaction, to isolate the one that fails."""
    together = _Chunk(claimed=len(claimed))
    for payroll_id, attempts in claimed:
        try:
            async with database.transaction(None) as session:
                rows = await fetch_all(session, _CLAIM_AGAIN, {"now": clock.now(), "ids": [payroll_id]})
                outcome = await _fire(session, clock.now(), rows)
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _report(payroll_id, error)
            together.problems[payroll_id] = failures.internal()
            together.attempts[payroll_id] = attempts
        else:
            together.fired += outcome.fired
            together.problems |= outcome.problems
            together.attempts |= outcome.attempts
    return together


async def _fire(session: AsyncSession, now: datetime.datetime, rows: Sequence[_ClaimRow]) -> _Chunk:
    """Fire the claimed payrolls within the session's transaction, except those with a problem of their own."""
    chunk = _Chunk(claimed=len(rows), attempts={row.id: row.attempts for row in rows})
    if not rows:
        return chunk
    due = await _read(session, rows, now)
    employers = list({payroll.owner.employer_id for payroll in due})
    together = await employees_together(session, employers)
    asked = {entry.employee_id for payroll in due for entry in payroll.order.entries}
    payees = await read_payees(session, sorted(asked | together.keys()))
    years = sorted({payroll.tax_year for payroll in due})
    histories = {year: await read_histories(session, payees.values(), year) for year in years}
    authorized = await authorized_payrolls(session, [payroll.id for payroll in due], now)
    unconfirmed = set(await session.scalars(_UNCONFIRMED, {"payrolls": [payroll.id for payroll in due]}))
    terms = await terms_of_households(session, employers)
    if not terms.bases.keys() <= set(together.values()):
        raise _BasisChosenError("a household chose the basis of its thresholds while its payroll was fired")
    thresholds = await years_of_households(session, [each.order for each in due], terms.bases, histories)
    blocked = await account_blockers(session, households=employers, employees=payees)
    people = {employee: history for year in histories.values() for employee, history in year.items()}
    earlier = await read_earlier_pay(session, [each.order for each in due], people)

    calculated: dict[UUID, PayrollRecord] = {}
    postings: list[Posting] = []
    debits: list[Debit] = []
    for payroll in due:
        year = histories[payroll.tax_year]
        employer_and_year = (payroll.owner.employer_id, payroll.tax_year)
        assigned = terms.rates.get(employer_and_year, {})
        household = thresholds.get(employer_and_year)
        outcome = _unready(payroll, blocked, authorized, unconfirmed) or _calculate(
            payroll, payees, year, assigned, household, earlier
        )
        if isinstance(outcome, StoredFailure):
            chunk.problems[payroll.id] = outcome
            continue
        calculated[payroll.id] = outcome
        earlier = earlier.with_payroll(payroll.order, outcome)
        if household is not None:
            household.add(outcome)
        posted = postings_of(payroll.owner, payroll.id, outcome, year)
        postings += posted
        for posting in posted:
            employee = posting.paycheck.employee_id
            year |= {employee: posting.after, **seen_by_others(year, employee, posting.after)}
        if amount := debit_of(outcome):
            sent = _day_of(payroll.send_at)
            debits.append(Debit(payroll.id, amount, sent, next_banking_day(sent)))

    await save_fired(session, calculated, {debit.payroll_id for debit in debits}, now)
    await post_paychecks(session, postings, now)
    for (employer_id, tax_year), household in thresholds.items():
        if household.chosen:
            await measure_household(session, employer_id, tax_year, terms.bases[employer_id])
    await _record_moved_dates(session, rows, calculated)
    collected = await collect(session, now, debits)
    if len(collected) != len(debits):
        raise _AccountLostError("a household's account went out of use while its payroll was fired")
    chunk.fired = len(calculated)
    return chunk


class _BasisChosenError(Exception):
    """Not everyone who must be locked is locked; the transaction is rolled back and each payroll tried separately."""


class _AccountLostError(Exception):
    """The account was ready a moment ago; the transaction is rolled back and each payroll tried separately."""


async def _read(session: AsyncSession, rows: Sequence[_ClaimRow], now: datetime.datetime) -> list[_Due]:
    entries = await read_entries(session, [row.id for row in rows])
    return [
        _Due(
            row.id,
            Owner(row.organization_id, row.employer_id, row.sandbox),
            SettledOrder(
                row.employer_id,
                _dates(row, now),
                row.pay_frequency,
                row.notes,
                tuple(entries[row.id]),
                row.kind,
            ),
            row.scheduled_send_at,
        )
        for row in rows
    ]


def _dates(row: _ClaimRow, now: datetime.datetime) -> PayDates:
    """Return the payroll's dates; if its money can only arrive in another year, that day is the pay date."""
    dates = PayDates(
        row.period_start,
        row.period_end,
        row.pay_date,
        row.pay_date_defaulted,
        row.scheduled_send_at,
        row.pay_date_asked,
    )
    arrives = max(banking_day_on_or_before(row.pay_date), _reachable(row.scheduled_send_at, now))
    if arrives.year == row.pay_date.year:
        return dates
    return replace(dates, pay_date=arrives, asked=row.pay_date)


def _reachable(send_at: datetime.datetime, now: datetime.datetime) -> datetime.date:
    """Return the first day on which wages collected from now on can arrive."""
    collected = max(next_banking_day(_day_of(send_at)), earliest_settlement(now))
    return next_banking_day(add_banking_days(collected, RETURN_DAYS))


def _day_of(send_at: datetime.datetime) -> datetime.date:
    return send_at.astimezone(BUSINESS_TIME).date()


def _unready(
    payroll: _Due, blocked: Mapping[UUID, Blocker], authorized: Set[UUID], unconfirmed: Set[UUID]
) -> StoredFailure | None:
    """Return what prevents the money from being collected and paid."""
    if payroll.id in unconfirmed:
        return failures.confirmation_missing()
    if payroll.owner.employer_id in blocked:
        return failures.account_not_ready()
    if payroll.id not in authorized:
        return failures.authorization_missing()
    unpayable = tuple(
        entry.employee_id
        for entry in payroll.order.entries
        if entry.payment_method == "direct_deposit" and keeps_from_sending(blocked.get(entry.employee_id))
    )
    return failures.employees_without_account(unpayable) if unpayable else None


def _calculate(
    payroll: _Due,
    payees: Mapping[UUID, Payee],
    histories: Mapping[UUID, History],
    sui_rates: Mapping[str, Decimal],
    household: HouseholdYear | None,
    earlier: EarlierPay,
) -> PayrollRecord | StoredFailure:
    for entry in payroll.order.entries:
        left = payees[entry.employee_id].end_date
        if left is not None and left < payroll.order.dates.period_start:
            return failures.employee_left(entry.employee_id)
    try:
        record = calculate_payroll(payroll.order, payees, histories, sui_rates, household, earlier)
    except TaxInputError as error:
        return _not_calculated(error, payroll.tax_year)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
        _report(payroll.id, error)
        return failures.internal()
    if record.unknown:
        return failures.law_not_final(record.tax_year, [each.code for each in record.unknown])
    return record


def _not_calculated(error: TaxInputError, tax_year: int) -> StoredFailure:
    match error.code:
        case "unsupported_tax_year":
            return failures.law_not_final(tax_year)
        case "unsupported_jurisdiction":
            return failures.no_rules(f"{error.field} {error.message}")
        case _:
            return failures.not_calculable(f"{error.field} {error.message}")


async def _record_moved_dates(
    session: AsyncSession, rows: Sequence[_ClaimRow], calculated: Mapping[UUID, PayrollRecord]
) -> None:
    """Record the payrolls whose money arrives in another year than planned, and so have a new pay date."""
    moved = []
    for row in rows:
        record = calculated.get(row.id)
        if record is not None and record.dates.pay_date != row.pay_date:
            details = {"before": str(row.pay_date), "after": str(record.dates.pay_date)}
            moved.append(
                WorkerAuditEntry(
                    row.organization_id, row.employer_id, row.sandbox, row.id, {"pay_date": details}
                )
            )
    await record_worker_audit(session, "payroll.move_pay_date", moved)


async def _put_off(
    database: Database, clock: Clock, payroll_id: UUID, failure: StoredFailure, attempts: int
) -> bool:
    """Record why a payroll couldn't be fired, and when to try again; return True if it has failed for good."""
    now = clock.now()
    pause = pause_after(attempts, failure.code)
    most = most_attempts(failure.code)
    for_good = most is not None and attempts + 1 >= most
    async with database.transaction(None) as session:
        parameters = {
            "id": payroll_id,
            "attempts": attempts,
            "next_attempt_at": None if for_good else now + pause,
            "failure": orjson.dumps(failure.as_json()).decode(),
        }
        if not await session.scalar(_PUT_OFF, parameters):
            return False  # it has been voided, or another worker has just noted the same
        if for_good:
            steps: tuple[PayrollStatus, ...] = ("firing", "failed")
            moved = await move(
                session, [payroll_id], "scheduled", steps, Cause("system", now, reason=failure.code)
            )
            for_good = bool(moved)
            if moved:
                await release_periods(session, payroll_id)
    _log.error(
        "a payroll could not be sent",
        payroll_id=str(payroll_id),
        reason=failure.code,
        attempts=attempts + 1,
        given_up=for_good,
    )
    return for_good


def _report(payroll_id: UUID, error: Exception) -> None:
    _log.error(
        "firing a payroll failed", payroll_id=str(payroll_id), error=type(error).__name__, exc_info=error
    )
