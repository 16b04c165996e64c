"""Payroll operations: preview, run, read, list."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from uuid import UUID

from sqlalchemy import Select, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.entitlements import refuse_long_payroll
from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.banking import calendar
from hearthpay.banking.accounts import current_employee_accounts, current_household_account
from hearthpay.banking.authorizations import authorize, needs_authorization
from hearthpay.banking.entries import Debit, collect
from hearthpay.banking.readiness import Blocker, household_blockers
from hearthpay.clock import Clock, real_clock
from hearthpay.employees.models import Employee
from hearthpay.employers.assigned_rates import tax_terms
from hearthpay.employers.metadata import page_order, with_metadata
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer_of
from hearthpay.payroll.answers import estimate_json
from hearthpay.payroll.approval import (
    confirmations_needed,
    debit_of,
    refuse_beyond_the_bank,
    require_accounts,
    require_confirmations,
    unavailable,
)
from hearthpay.payroll.calculation import calculate_payroll, refuse_unknown_law
from hearthpay.payroll.commands import (
    NOTHING_CONFIRMED,
    Confirmations,
    Order,
    PayrollQuery,
    RoundedHours,
)
from hearthpay.payroll.dated_lists import is_of_all_households, newest_of_days
from hearthpay.payroll.issues.available_actions import with_available_actions
from hearthpay.payroll.ledger.earlier_pay import read_earlier_pay
from hearthpay.payroll.ledger.estimates import Estimate
from hearthpay.payroll.ledger.histories import read_histories
from hearthpay.payroll.ledger.overlaps import Overlap, find_overlaps
from hearthpay.payroll.ledger.payrolls import NewPayroll, insert_payroll, read_payroll
from hearthpay.payroll.ledger.posting import post_paychecks, postings_of
from hearthpay.payroll.ledger.preview_tokens import (
    PreviewChanges,
    changes_since_preview,
    hash_of,
    preview_token,
    refuse_used_token,
)
from hearthpay.payroll.ledger.rows import Owner, PayrollRecord, Preview, StoredPayroll
from hearthpay.payroll.ledger.years import NO_HISTORY, History
from hearthpay.payroll.lifecycle import PayrollStatus, Transition
from hearthpay.payroll.models import EntryRow, Payroll
from hearthpay.payroll.orders import (
    Payee,
    PayrollEntry,
    SettledOrder,
    find_employees,
    find_household,
    payee_of,
    refuse_unpayable,
    settle_order,
    way_of,
    with_salaries,
)
from hearthpay.payroll.orders.corrected_dates import settle_dates_of
from hearthpay.payroll.orders.pay_dates import DepositTiming, PayDates, deposit_timing
from hearthpay.payroll.years.fica_refund import calculate_refund, refuse_not_due, refuse_other_pay
from hearthpay.payroll.years.household_year import (
    HouseholdYear,
    lock_all,
    measure_household,
    read_household_year,
)
from hearthpay.taxes.messages import DollarAmount, Message, message
from hearthpay.taxes.money import from_cents
from hearthpay.time_zones import day_there
from hearthpay.wire.paging import page_of


@dataclass(frozen=True, slots=True)
class PreparedPayroll:
    """A checked and calculated payroll; ``histories`` are the employees' years before it."""

    employer: Employer
    order: SettledOrder
    record: PayrollRecord
    payees: Sequence[Payee]
    histories: Mapping[UUID, History]
    confirmations: tuple[str, ...]
    dated_ahead: bool
    """Whether the payroll has the dates of a direct deposit, although nothing goes through the bank."""

    by_deposit: DepositTiming | None
    """How a given pay date would work with direct deposit; only in a preview that names no method."""

    threshold_bases: Mapping[str, str]
    """How the household chose to count its thresholds; see `hearthpay.employers.threshold_basis`."""

    by_thresholds: bool
    """Whether the year is measured by thresholds, and must be measured again once the paychecks are posted."""


async def preview_payroll(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    order: Order,
    *,
    direct_deposit_enabled: bool,
    explain: bool = False,
) -> Preview:
    """Calculate a payroll as a run would, with all checks of a run; nothing is created.

    Confirmations aren't required yet: the preview returns those that the run needs. If neither a payment method nor a
    pay date is given, the dates are those of direct deposit, which needs them the earliest; a given pay date is used
    as the run would. With ``explain``, each paycheck explains its lines. Raises what `run_payroll` raises.
    """
    allow(actor, READ_PAYROLLS)
    prepared = await prepare_payroll(
        session,
        actor,
        clock,
        order,
        direct_deposit_enabled=direct_deposit_enabled,
        preview=True,
        explain=explain,
    )
    shown = _as_dated(prepared)
    accounts = await _accounts_of(session, shown)
    return Preview(
        prepared.record,
        prepared.confirmations,
        dated_ahead=prepared.dated_ahead,
        by_deposit=prepared.by_deposit,
        token=preview_token(session, actor, shown, prepared.record, accounts, clock.now()),
        metadata=order.metadata,
    )


async def explain_payroll(
    session: AsyncSession, actor: Actor, clock: Clock, order: Order, *, direct_deposit_enabled: bool
) -> PayrollRecord:
    """Calculate a payroll as `preview_payroll` does, and explain each line. Raises what that raises."""
    allow(actor, READ_PAYROLLS)
    return (
        await prepare_payroll(
            session,
            actor,
            clock,
            order,
            direct_deposit_enabled=direct_deposit_enabled,
            preview=True,
            explain=True,
        )
    ).record


async def run_payroll(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    order: Order,
    confirmed: Confirmations = NOTHING_CONFIRMED,
    *,
    direct_deposit_enabled: bool,
    preview_token: str | None = None,
) -> StoredPayroll:
    """Calculate and record a payroll.

    A payroll by check or cash, or of past pay, is completed at once. By direct deposit the household's money is
    collected now, or the payroll is scheduled if the pay date is later than the bank needs.
    ``direct_deposit_enabled`` says whether this installation sends real direct deposits. With ``preview_token``,
    only what that preview showed is run, and once.

    Its employees are locked while it is calculated, so of two runs for one employee the second sees the first
    one's year to date. Raises `validation_error`, `duplicate_employee`,
    `employee_not_in_household`, `employee_not_started`, `employee_incomplete` (no pay rate, or no salary),
    `invalid_state` (employment ended before the period),
    `payroll_overlap`, `autopilot_run_scheduled`, `period_ahead_of_anchor`, `pay_date_past_deadline`,
    `confirmation_required`, `direct_deposit_unavailable`,
    `unsupported_tax_year`, `tax_year_not_final`, `unsupported_jurisdiction`, `too_many_employees` for a list longer
    than the plan allows, `amounts_changed`, and what `resolve_employer` raises. Where other dates or a confirmation
    would help, the refusal's `example` is the `Corrections` of the order.
    """
    allow(actor, RUN_PAYROLL)
    prepared = await prepare_payroll(
        session,
        actor,
        clock,
        order,
        direct_deposit_enabled=direct_deposit_enabled,
        preview_token=preview_token,
    )
    if preview_token is not None:
        changes = await changes_since(session, actor, clock, prepared, preview_token)
        if changes is not None:
            raise changes.refusal()
    return await record_payroll(session, actor, clock, prepared, confirmed, preview_token=preview_token)


async def changes_since(
    session: AsyncSession, actor: Actor, clock: Clock, prepared: PreparedPayroll, token: str
) -> PreviewChanges | None:
    """Return how a prepared payroll differs from the preview of a token. Raises as `changes_since_preview` does."""
    accounts = await _accounts_of(session, prepared.order)
    return changes_since_preview(
        session, actor, token, prepared.order, prepared.record, accounts, clock.now()
    )


async def record_payroll(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    prepared: PreparedPayroll,
    confirmed: Confirmations,
    *,
    preview_token: str | None,
) -> StoredPayroll:
    """Record a prepared payroll, whose employees are locked, and collect or schedule its money.

    ``preview_token`` is that of the preview which it equals, and is used by it. Raises `confirmation_required`, and
    `direct_deposit_unavailable` where the household's account is gone.
    """
    employer, settled, record = prepared.employer, prepared.order, prepared.record
    if prepared.confirmations:
        require_confirmations(record, prepared.confirmations, confirmed)
    now = clock.now()
    status = _status_of(settled, record)
    owner = Owner(actor.organization_id, employer.id, actor.sandbox)
    estimate = estimate_json(record) if status == "scheduled" else None
    new = NewPayroll(
        owner,
        settled,
        record,
        status,
        (actor.kind, actor.id),
        estimate=estimate,
        preview_token_hash=None if preview_token is None else hash_of(preview_token),
    )
    payroll_id = await insert_payroll(session, new, now)
    if settled.direct_deposit and confirmed.confirm_ach_debit:
        await authorize(session, actor, employer, now)
    if estimate is None:
        await post_paychecks(session, postings_of(owner, payroll_id, record, prepared.histories), now)
        if prepared.by_thresholds:
            await measure_household(
                session, employer.id, record.tax_year, prepared.threshold_bases, prepared.payees
            )
    if status == "pending_funding":
        send_on = calendar.submission_day(now)
        debit = Debit(payroll_id, debit_of(record), send_on, calendar.next_banking_day(send_on))
        if payroll_id not in await collect(session, now, [debit]):
            raise unavailable(
                (Blocker("bank_account_missing", "The household's bank account is not connected."),)
            )
    await record_audit(
        session,
        actor,
        "payroll.run",
        employer_id=employer.id,
        subject_id=payroll_id,
        details={
            "status": status,
            "pay_date": settled.dates.pay_date,
            "employees": len(record.paychecks),
            "confirmed": [flag for flag, confirmed_now in asdict(confirmed).items() if confirmed_now],
        }
        | ({} if preview_token is None else {"as_previewed": True})
        # A grant is of real time, whatever the household's clock says.
        | ({"run_at": real_clock(clock).now()} if actor.kind == "mcp" else {}),
    )
    return StoredPayroll(
        id=payroll_id,
        employer_id=employer.id,
        status=status,
        dates=settled.dates,
        pay_frequency=settled.pay_frequency,
        notes=settled.notes,
        kind=settled.kind,
        metadata=settled.metadata,
        rulebook_version=record.rulebook_version,
        tax_year=record.tax_year,
        totals=record.totals,
        created_at=now,
        paychecks=record.paychecks if estimate is None else (),
        estimate=None if estimate is None else Estimate.parse(estimate),
        history=(Transition(status, actor.kind, None, now),),
        direct_deposit=settled.direct_deposit,
    )


def _as_dated(prepared: PreparedPayroll) -> SettledOrder:
    """Return the order with the payment method that its dates are for, which is the one a run may use."""
    order = prepared.order
    if not prepared.dated_ahead:
        return order
    return order._replace(
        entries=tuple(entry._replace(payment_method="direct_deposit") for entry in order.entries)
    )


async def _accounts_of(session: AsyncSession, order: SettledOrder) -> list[UUID]:
    """Return the bank accounts that a payroll debits and credits; none if it is paid by check or cash."""
    if not order.direct_deposit:
        return []
    household = await current_household_account(session, order.employer_id)
    paid = sorted({entry.employee_id for entry in order.entries if entry.payment_method == "direct_deposit"})
    held = await current_employee_accounts(session, paid)
    return [
        *([] if household is None else [household.id]),
        *(held[employee_id].id for employee_id in paid if employee_id in held),
    ]


def _status_of(order: SettledOrder, record: PayrollRecord) -> PayrollStatus:
    if order.dates.send_at is not None:
        return "scheduled"
    return "pending_funding" if order.direct_deposit and debit_of(record) else "completed"


async def prepare_payroll(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    asked: Order,
    *,
    direct_deposit_enabled: bool,
    preview: bool = False,
    explain: bool = False,
    preview_token: str | None = None,
) -> PreparedPayroll:
    """Check and calculate a payroll as it would run now, its employees locked unless it is for a preview.

    The caller has asked for the permission. Raises what `run_payroll` raises before it records anything, and
    `amounts_changed` for a ``preview_token`` that was used.
    """
    refuse_long_payroll(actor.terms, len(asked.employees))
    refunds = asked.kind == "fica_refund"
    employer = await find_household(session, actor, asked, hold=not preview)
    now = clock.now()
    if refunds:
        refuse_other_pay(asked)
    if not preview and employer.threshold_bases:
        await lock_all(session, employer.id)
    employees = await find_employees(session, asked, lock=not preview)
    await refuse_used_token(session, Owner(actor.organization_id, employer.id, actor.sandbox), preview_token)
    methods = [
        entry.payment_method
        or ("check" if refunds else asked.default_payment_method or employee.payment_method)
        for entry, employee in zip(asked.employees, employees, strict=True)
    ]
    way = way_of(asked, methods)
    unnamed = all(entry.payment_method is None for entry in asked.employees)
    open_way = preview and unnamed and way == "on_paper" and not refunds
    # A period that begins after the earliest direct deposit has no such date: then the run's date is used.
    dated_ahead = (
        open_way and asked.pay_date is None and asked.pay_period_start <= calendar.earliest_pay_date(now)
    )
    dates = settle_dates_of(
        asked,
        "direct_deposit" if dated_ahead else way,
        today=clock.today(),
        now=now,
        own_day=day_there(employer.zone, now),
    )
    by_deposit = deposit_timing(dates, now) if open_way and not dated_ahead else None
    refuse_unpayable(asked, employees, dates)
    order = settle_order(asked, methods, employer.id, dates)
    payees = {employee.id: payee_of(employee, employer.address) for employee in employees}
    if not order.fica_refund:
        order = with_salaries(order, payees)
    year = order.tax_year
    if order.direct_deposit:
        blockers = await household_blockers(session, employer, direct_deposit_enabled=direct_deposit_enabled)
        if blockers:
            raise unavailable(blockers)
        await require_accounts(session, order)
    ids = sorted({employee.id for employee in employees})
    warnings_by_employee: dict[UUID, list[Message]] = {}
    if not order.fica_refund:
        of_the_period = [entry.employee_id for entry in order.entries if entry.pays_the_period]
        warnings_by_employee = _field_problems(order, await find_overlaps(session, ids, of_the_period, dates))
    terms = await tax_terms(session, employer.id, year)
    histories = await read_histories(session, employees, year)
    thresholds: HouseholdYear | None = None
    refunded = order.fica_refund or any(history.fica_repaid for history in histories.values())
    if terms.threshold_bases or refunded:
        thresholds = await read_household_year(session, employer.id, year, terms.threshold_bases, histories)
    if order.fica_refund:
        assert thresholds is not None, "read just above"
        repayable = {
            employee.id: refuse_not_due(
                employee, dates, year, histories.get(employee.id, NO_HISTORY), thresholds
            )
            for employee in employees
        }
        record = calculate_refund(order, payees, histories, repayable)
    else:
        earlier = await read_earlier_pay(session, [order], histories)
        record = calculate_payroll(
            order, payees, histories, terms.sui_rates, thresholds, earlier, explain=explain
        )
    refuse_unknown_law(record)
    if by_deposit is not None and by_deposit.next_valid_pay_date is not None:
        for employee_id in ids:
            warnings_by_employee.setdefault(employee_id, []).append(
                _deposit_moved_warning(dates, by_deposit.next_valid_pay_date)
            )
    for pay in asked.employees:
        if pay.rounded:
            warnings_by_employee.setdefault(pay.employee_id, []).extend(map(_rounding_warning, pay.rounded))
    for employee_id in _paid_before_the_end(order, day_there(employer.zone, now)):
        warnings_by_employee.setdefault(employee_id, []).append(
            message("period_not_ended", end=dates.period_end)
        )
    record = _with_warnings(record, warnings_by_employee)
    confirmations: tuple[str, ...] = ()
    if order.direct_deposit:
        refuse_beyond_the_bank(record)
        unauthorized = await needs_authorization(session, employer.id, now)
        confirmations = confirmations_needed(record, authorization_needed=unauthorized)
    return PreparedPayroll(
        employer,
        order,
        record,
        tuple(payees.values()),
        histories,
        confirmations,
        dated_ahead,
        by_deposit,
        terms.threshold_bases,
        thresholds is not None,
    )


def _paid_before_the_end(order: SettledOrder, today: datetime.date) -> list[UUID]:
    """Return whose hours are paid on a day before the period's last one; a salary may be paid then.

    A salary is named only if its period hasn't begun.
    """
    start, end = order.dates.period_start, order.dates.period_end
    return [
        entry.employee_id
        for entry in order.entries
        if order.kind == "regular" and entry.pays_the_period and today < (end if entry.hours else start)
    ]


def _field_problems(order: SettledOrder, overlaps: Sequence[Overlap]) -> dict[UUID, list[Message]]:
    """Return, by employee, what else is paid for the period; raise `payroll_overlap` if hours would be paid twice.

    A bonus or other earnings without hours may be paid in addition to another payroll.
    """
    warnings_by_employee: dict[UUID, list[Message]] = {}
    entries = {entry.employee_id: entry for entry in order.entries}
    for overlap in overlaps:
        entry = entries[overlap.employee_id]
        if overlap.pays_the_period and entry.pays_the_period:
            raise Refusal(
                "payroll_overlap",
                _overlap_message(overlap, entry),
                details={
                    "employee_id": overlap.employee_id,
                    "payroll_id": overlap.payroll_id,
                    "pay_period": {"start": overlap.start, "end": overlap.end},
                },
            )
        warnings_by_employee.setdefault(overlap.employee_id, []).append(_overlap_warning(overlap, entry))
    return warnings_by_employee


def _overlap_message(overlap: Overlap, entry: PayrollEntry) -> str:
    span = f"{overlap.start} to {overlap.end}"
    if overlap.salary and entry.salary is not None:
        return (
            f"This employee's salary is already paid for {span}, and a period's salary is paid once. A bonus or other "
            "earnings can be paid beside it with pay_salary false."
        )
    return (
        f"This employee's hours are already paid for {span}; pay periods with hours of one employee cannot overlap. "
        "A bonus or other earnings, without hours, can be paid beside them."
    )


def _overlap_warning(overlap: Overlap, entry: PayrollEntry) -> Message:
    bonus, other = from_cents(overlap.earnings.bonus), from_cents(overlap.earnings.other_earnings)
    parts = (
        *([message("part_salary")] if overlap.salary else []),
        *([message("part_hours", hours=overlap.hours)] if overlap.hours else []),
        *([message("part_bonus", amount=DollarAmount(overlap.earnings.bonus))] if bonus else []),
        *(
            [message("part_other_earnings", amount=DollarAmount(overlap.earnings.other_earnings))]
            if other
            else []
        ),
    )
    paid = {
        "payroll": str(overlap.payroll_id),
        "day": overlap.pay_date,
        "parts": parts,
        "start": overlap.start,
        "end": overlap.end,
    }
    hours = entry.hours
    if not overlap.salary and (hours, entry.bonus, entry.other_earnings) == (overlap.hours, bonus, other):
        return message("period_paid_already", **paid)
    only_bonus = entry.bonus and not (hours or entry.other_earnings)
    return message("paid_beside_as_supplemental" if only_bonus else "paid_beside", **paid)


def _deposit_moved_warning(dates: PayDates, earliest: datetime.date) -> Message:
    return message("deposit_not_in_time", day=dates.pay_date, earliest=earliest)


def _rounding_warning(hours: RoundedHours) -> Message:
    return message("hours_rounded", field=hours.field, asked=hours.asked, paid=hours.paid)


def _with_warnings(
    record: PayrollRecord, warnings_by_employee: Mapping[UUID, Sequence[Message]]
) -> PayrollRecord:
    if not warnings_by_employee:
        return record
    paychecks = tuple(
        replace(paycheck, warnings=(*paycheck.warnings, *warnings_by_employee.get(paycheck.employee_id, ())))
        for paycheck in record.paychecks
    )
    return replace(record, paychecks=paychecks)


async def get_payroll(session: AsyncSession, actor: Actor, clock: Clock, payroll_id: UUID) -> StoredPayroll:
    """Return a payroll with its available actions; raises what `allow` raises, and `not_found` if the actor can't
    access it.
    """
    allow(actor, READ_PAYROLLS)
    payroll = await read_payroll(session, payroll_id)
    if payroll is None or not actor.reaches(payroll.employer_id):
        raise Refusal("not_found", "Payroll not found.")
    return await with_available_actions(session, payroll, clock.now())


async def list_payrolls(
    session: AsyncSession, actor: Actor, requested: PayrollQuery
) -> tuple[list[tuple[Payroll, int]], str | None]:
    """Return one page of payrolls with their employee counts, newest first, and the next page's cursor.

    Without ``employer_id`` they are those of the household that the key remembers, or of all its households if it
    remembers none. Raises `household_forbidden` and `key_mode_mismatch` for a household that the actor can't access.
    """
    statement = await query_payrolls(session, actor, requested)
    if is_of_all_households(actor, requested):
        statement = statement.where(Payroll.id.in_(await newest_of_days(session, actor.tenant, requested)))
    async with page_order(session, requested.metadata):
        payrolls, next_cursor = await page_of(session, statement, Payroll.id, requested)
    counted = (
        select(EntryRow.payroll_id, func.count())
        .where(EntryRow.payroll_id.in_([payroll.id for payroll in payrolls]))
        .group_by(EntryRow.payroll_id)
    )
    counts = {row[0]: row[1] for row in await session.execute(counted)}
    return [(payroll, counts.get(payroll.id, 0)) for payroll in payrolls], next_cursor


async def query_payrolls(session: AsyncSession, actor: Actor, requested: PayrollQuery) -> Select[Payroll]:
    """Return the statement that selects the requested payrolls, of all pages. Raises as `list_payrolls` does."""
    allow(actor, READ_PAYROLLS)
    # The policies check this anyway; stating it here lets the planner use the indexes that begin with it.
    statement = select(Payroll).where(
        Payroll.organization_id == actor.organization_id, Payroll.sandbox.is_(actor.sandbox)
    )
    owner = None
    household = None
    if requested.employee_id is not None:
        owner = await session.scalar(select(Employee.employer_id).where(Employee.id == requested.employee_id))
    named = (
        requested.employer_id is not None
        or actor.employer_id is not None
        or actor.employer_sandbox is not None
    )
    if named or owner is not None:
        missing = Refusal("employee_not_in_household", "employee_id is not an employee of this household.")
        employer = await resolve_employer_of(session, actor, requested.employer_id, owner, missing)
        household = employer.id
        statement = statement.where(Payroll.employer_id == household)
    elif actor.households is not None:
        statement = statement.where(Payroll.employer_id.in_(actor.households))
    if requested.status is not None:
        statement = statement.where(Payroll.status == requested.status)
    if requested.since is not None:
        statement = statement.where(Payroll.pay_date >= requested.since)
    if requested.until is not None:
        statement = statement.where(Payroll.pay_date <= requested.until)
    if requested.employee_id is not None:
        paid = exists().where(
            EntryRow.payroll_id == Payroll.id, EntryRow.employee_id == requested.employee_id
        )
        statement = statement.where(paid)
    if requested.method is not None:
        paid_so = exists().where(
            EntryRow.payroll_id == Payroll.id, EntryRow.payment_method == requested.method
        )
        statement = statement.where(paid_so)
    return with_metadata(
        statement,
        actor,
        "payroll",
        Payroll.id,
        requested.metadata,
        employer_id=household,
        before=requested.cursor,
    )
