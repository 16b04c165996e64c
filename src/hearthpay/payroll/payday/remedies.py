"""What a household can do about a direct deposit that was collected but can't be sent.

The employee is paid by check instead, or the deposit waits until a given day for another account, or the money is
refunded to the household. Each is one transaction; the decision is stored with the paycheck, which itself never
changes.
"""

import datetime
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

import structlog
from sqlalchemy import exists, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.banking.calendar import submission_day
from hearthpay.banking.entries import BankEntryState, business_date, cancel, lock_credit
from hearthpay.clock import Clock
from hearthpay.database.audit import ActorKind
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.relations import BANK_ACCOUNTS, BANK_ENTRIES
from hearthpay.database.session import Database
from hearthpay.database.statements import compose, statement
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.payroll.issues import failures
from hearthpay.payroll.issues.available_actions import LONGEST_WAIT, remedies_for, with_available_actions
from hearthpay.payroll.ledger.payrolls import read_payroll
from hearthpay.payroll.ledger.rows import RemedyAction, StoredPayroll
from hearthpay.payroll.lifecycle import Cause, PayrollStatus, move
from hearthpay.payroll.models import EntryRow, FoundPaycheck, Payroll
from hearthpay.payroll.payday.bank_outcomes import employees_of, fail, refund_debit, refund_up_to
from hearthpay.payroll.years.reversal import reverse_paychecks
from hearthpay.taxes.messages import message
from hearthpay.taxes.money import from_cents

_log = structlog.get_logger("hearthpay.payroll")

_DECIDE: Final = text(
    "INSERT INTO paycheck_remedies (id, organization_id, employer_id, sandbox, payroll_id, paycheck_id, employee_id, "
    "action, until, decided_by_kind, decided_by, decided_at) SELECT :id, organization_id, employer_id, sandbox, "
    "payroll_id, id, employee_id, :action, :until, :kind, :by, :now FROM paychecks WHERE id = :paycheck"
)


class _LatestRow(NamedTuple):
    action: str
    until: datetime.date | None


_LATEST: Final = query(
    _LatestRow,
    "SELECT action, until FROM paycheck_remedies WHERE paycheck_id = :paycheck ORDER BY id DESC LIMIT 1",
)
_ACCOUNT: Final = statement(
    "SELECT status FROM {bank_accounts} bank_accounts WHERE employee_id = :employee AND status <> 'replaced'",
    bank_accounts=BANK_ACCOUNTS,
)
_UNDER_WAY: Final = statement(
    "SELECT EXISTS (SELECT FROM {bank_entries} bank_entries WHERE payroll_id = :payroll AND kind = 'credit' "
    "AND status IN ('pending', 'sent'))",
    bank_entries=BANK_ENTRIES,
)
_CLEAR_FAILURE: Final = text("UPDATE payrolls SET failure = NULL WHERE id = :id AND status <> 'failed'")


class _WaitedRow(NamedTuple):
    payroll_id: UUID
    paycheck_id: UUID


WAITED: Final = compose(
    "SELECT r.payroll_id, r.paycheck_id FROM paycheck_remedies r "
    "JOIN {bank_entries} e ON e.paycheck_id = r.paycheck_id AND e.kind = 'credit' AND e.status = 'pending' "
    "WHERE r.action = 'wait_for_account' AND r.until < :today AND NOT EXISTS (SELECT FROM paycheck_remedies later "
    "WHERE later.paycheck_id = r.paycheck_id AND later.id > r.id) AND NOT EXISTS (SELECT FROM {bank_accounts} a "
    "WHERE a.employee_id = r.employee_id AND a.status IN ('verifying', 'active'))",
    bank_entries=BANK_ENTRIES,
    bank_accounts=BANK_ACCOUNTS,
)
"""SQL: deposits whose wait has ended, unless the employee has an active account or one that the bank is still
verifying.
"""

_WAITED: Final = query(_WaitedRow, "{waited} ORDER BY r.paycheck_id", waited=WAITED)


class _ClaimRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    status: str
    failure: dict[str, Any] | None


_CLAIM: Final = query(
    _ClaimRow,
    "SELECT id, organization_id, employer_id, sandbox, status, failure FROM payrolls WHERE id = :id "
    "FOR NO KEY UPDATE SKIP LOCKED",
)


async def apply_remedy(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    payroll_id: UUID,
    employee_id: UUID,
    action: RemedyAction,
    until: datetime.date | None = None,
) -> StoredPayroll:
    """Apply the action to an employee's direct deposit that hasn't been sent to the bank; ``until`` is the last day
    to wait.

    Repeating it changes nothing. Raises `not_found` for an unknown payroll or employee, `validation_error` naming
    ``until``, and `invalid_state` if the deposit is on its way, was returned or is settled otherwise, or if the
    action isn't available for it.
    """
    allow(actor, RUN_PAYROLL)
    now = clock.now()
    # Locked first, as everywhere: a concurrent void or return must finish first.
    payroll = await session.scalar(select(Payroll).where(Payroll.id == payroll_id).with_for_update())
    if payroll is None or not actor.reaches(payroll.employer_id):
        raise Refusal("not_found", "Payroll not found.")
    paycheck = await session.scalar(
        select(FoundPaycheck).where(
            FoundPaycheck.payroll_id == payroll_id,
            FoundPaycheck.employee_id == employee_id,
            FoundPaycheck.reverses.is_(None),
        )
    )
    if paycheck is None:
        asked = exists().where(EntryRow.payroll_id == payroll_id, EntryRow.employee_id == employee_id)
        if not await session.scalar(select(asked)):
            raise Refusal("not_found", "This payroll has no paycheck of this employee.")
        raise _impossible(
            payroll, employee_id, f"the payroll is {payroll.status}, and no deposit of it waits", ()
        )
    latest = await fetch_optional(session, _LATEST, {"paycheck": paycheck.id})
    if latest is None or tuple(latest) != (action, until):
        credit = await lock_credit(session, paycheck.id)
        account = await session.scalar(_ACCOUNT, {"employee": employee_id})
        _require(payroll, paycheck, credit, account, action, now)
        assert credit is not None, "only what waits can be remedied"
        _check_day(action, until, paycheck.tax_year, business_date(now))
        await _decide(session, paycheck.id, action, until, (actor.kind, actor.id), now)
        if action == "pay_by_check":
            await _pay_by_check(session, payroll, paycheck.id, credit, actor, now)
        elif action == "refund":
            who = (actor.kind, actor.id)
            await _give_back(session, payroll, paycheck.id, employee_id, credit, who, now)
        await record_audit(
            session,
            actor,
            "payroll.remedy",
            employer_id=payroll.employer_id,
            subject_id=payroll_id,
            details={
                "employee_id": employee_id,
                "action": action,
                "until": until,
                "amount": from_cents(credit.amount),
            },
        )
    stored = await read_payroll(session, payroll_id)
    assert stored is not None
    return await with_available_actions(session, stored, now)


async def end_waits(database: Database, clock: Clock, *, stopping: Callable[[], bool] = lambda: False) -> int:
    """Refund to the households the deposits that were held for another account and whose time is up; return how many.

    `database` acts as the worker's role. Raises DatabaseUnavailable; one that fails doesn't stop the others.
    """
    async with database.transaction(None) as session:
        waited = await fetch_all(session, _WAITED, {"today": business_date(clock.now())})
    ended = 0
    for payroll_id, paycheck_id in waited:
        if stopping():
            break
        try:
            async with database.transaction(None) as session:
                ended += await _end_wait(session, payroll_id, paycheck_id, clock.now())
        except DatabaseUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the others back
            _log.error("a deposit could not be given back", paycheck_id=str(paycheck_id), exc_info=error)
    return ended


async def _end_wait(
    session: AsyncSession, payroll_id: UUID, paycheck_id: UUID, now: datetime.datetime
) -> bool:
    payroll = await fetch_optional(session, _CLAIM, {"id": payroll_id})
    if payroll is None:  # somebody else is at it
        return False
    credit = await lock_credit(session, paycheck_id)
    still = [row.paycheck_id for row in await fetch_all(session, _WAITED, {"today": business_date(now)})]
    if credit is None or paycheck_id not in still:
        return False
    employee_id = await session.scalar(
        select(FoundPaycheck.employee_id).where(FoundPaycheck.id == paycheck_id)
    )
    assert employee_id is not None, "paychecks stay"
    await _decide(session, paycheck_id, "refund", None, ("system", None), now)
    await _give_back(session, payroll, paycheck_id, employee_id, credit, ("system", None), now)
    deed = WorkerAuditEntry(
        payroll.organization_id,
        payroll.employer_id,
        payroll.sandbox,
        payroll_id,
        {"employee_id": str(employee_id), "action": "refund", "cause": "no account came in time"},
    )
    await record_worker_audit(session, "payroll.remedy", [deed])
    return True


def _require(
    payroll: Payroll,
    paycheck: FoundPaycheck,
    credit: BankEntryState | None,
    account: str | None,
    action: RemedyAction,
    now: datetime.datetime,
) -> None:
    """Raise `invalid_state` if the action isn't available for the deposit."""
    options = remedies_for(
        status=payroll.status,
        credit=credit.status if credit else None,
        account=account,
        tax_year=paycheck.tax_year,
        today=business_date(now),
    )
    if action in options:
        return
    if paycheck.payment_method != "direct_deposit":
        why = "it is not paid by direct deposit"
    elif options and action == "wait_for_account" and account in ("active", "verifying"):
        why = "the employee's account is in order or being verified, and the deposit leaves by itself"
    elif options:
        why = f"the wages belong to {paycheck.tax_year}; have them refunded and run them again"
    elif credit is None or payroll.status not in ("processing", "failed"):
        why = f"the payroll is {payroll.status}, and no deposit of it waits"
    elif credit.status == "cancelled":
        why = "the deposit has been settled otherwise already"
    elif credit.status == "returned":
        why = "the deposit came back, and its money goes back to the household; run it again, by check if need be"
    else:
        why = "the deposit has left for the bank"
    raise _impossible(payroll, paycheck.employee_id, why, options)


def _impossible(payroll: Payroll, employee_id: UUID, why: str, options: Sequence[RemedyAction]) -> Refusal:
    return Refusal(
        "invalid_state",
        f"This cannot be done about the paycheck: {why}.",
        details={
            "payroll_id": payroll.id,
            "employee_id": employee_id,
            "status": payroll.status,
            "possible": list(options),
        },
    )


def _check_day(
    action: RemedyAction, until: datetime.date | None, tax_year: int, today: datetime.date
) -> None:
    """Raise `validation_error` for a day that doesn't go with the action, has passed, or is too far ahead."""
    if action != "wait_for_account":
        if until is not None:
            raise invalid("until", "goes with wait_for_account alone")
        return
    if until is None:
        raise invalid("until", message("wait_day_needed"))
    latest = min(today + LONGEST_WAIT, datetime.date(tax_year, 12, 31))
    if not today < until <= latest:
        raise invalid("until", message("wait_day_out_of_range", latest=latest))


async def _decide(
    session: AsyncSession,
    paycheck_id: UUID,
    action: RemedyAction,
    until: datetime.date | None,
    by: tuple[ActorKind, UUID | None],
    now: datetime.datetime,
) -> None:
    await session.execute(
        _DECIDE,
        {
            "id": uuid7(),
            "paycheck": paycheck_id,
            "action": action,
            "until": until,
            "kind": by[0],
            "by": by[1],
            "now": now,
        },
    )


async def _pay_by_check(
    session: AsyncSession,
    payroll: Payroll,
    paycheck_id: UUID,
    credit: BankEntryState,
    actor: Actor,
    now: datetime.datetime,
) -> None:
    """Refund the net pay to the household, which pays it by hand; what was set aside stays held for the employee."""
    await cancel(session, now, [credit.id])
    await refund_up_to(session, payroll.id, {paycheck_id: credit.amount}, submission_day(now), now)
    if payroll.status == "processing" and not await session.scalar(_UNDER_WAY, {"payroll": payroll.id}):
        moved = await move(
            session,
            [payroll.id],
            "processing",
            "completed",
            Cause(actor.kind, now, actor.id, "paid_by_check"),
        )
        assert moved, "the row is locked"
        await session.execute(_CLEAR_FAILURE, {"id": payroll.id})


async def _give_back(
    session: AsyncSession,
    payroll: Payroll | _ClaimRow,
    paycheck_id: UUID,
    employee_id: UUID,
    credit: BankEntryState,
    by: tuple[ActorKind, UUID | None],
    now: datetime.datetime,
) -> None:
    """Reverse the paycheck, free its period, and refund to the household everything collected for it."""
    undone = await reverse_paychecks(session, payroll.id, now, only=[paycheck_id])
    await cancel(session, now, [credit.id])
    await refund_debit(session, payroll.id, undone, submission_day(now), now)
    earlier = employees_of(payroll.failure) if payroll.status == "failed" else ()
    failure = failures.deposit_refunded((*(each for each in earlier if each != employee_id), employee_id))
    await fail(session, payroll.id, cast(PayrollStatus, payroll.status), failure, now, by=by)
