"""Undoing paychecks: each by another of the opposite sign, so that the year to date is as if it had never been."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.payroll.earnings import Earnings
from hearthpay.payroll.household_year import lock_household, measure_household
from hearthpay.payroll.ledger import (
    Owner,
    Posting,
    post_paychecks,
    read_histories,
    read_paychecks,
    read_standing_wages,
)
from hearthpay.payroll.models import PaycheckRow
from hearthpay.payroll.orders import read_payees
from hearthpay.payroll.records import LineRecord, PaycheckRecord, SetAside, YearToDate
from hearthpay.payroll.register import NO_HISTORY, History, seen_by_others

_REFUNDED: Final = text(
    "SELECT EXISTS (SELECT FROM paychecks c WHERE c.employee_id = :employee AND c.tax_year = :tax_year "
    "AND c.gross_pay = 0 AND c.reverses IS NULL AND c.id <> :id "
    "AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id))"
)
_RELEASE: Final = text(
    "UPDATE payroll_entries SET live = false WHERE payroll_id = :payroll_id AND employee_id = ANY(:employees) AND live"
)
_RELEASE_ALL: Final = text("UPDATE payroll_entries SET live = false WHERE payroll_id = :payroll_id AND live")


async def reverse_paychecks(
    session: AsyncSession, payroll_id: UUID, now: datetime.datetime, *, only: Sequence[UUID] | None = None
) -> list[Posting]:
    """Undo a payroll's paychecks, or those ``only`` of its ids, and free their pay periods; return what was posted.

    A paycheck that is undone already stays as it is. The payroll's row must be locked; its employees are locked here.
    """
    undone = set(
        await session.scalars(
            select(PaycheckRow.reverses).where(
                PaycheckRow.payroll_id == payroll_id, PaycheckRow.reverses.is_not(None)
            )
        )
    )
    standing = [
        (row, record)
        for row, record in await read_paychecks(session, payroll_id)
        if row.id not in undone and (only is None or row.id in only)
    ]
    if not standing:
        return []
    employees = [row.employee_id for row, _ in standing]
    employer_id = standing[0][0].employer_id
    bases = await lock_household(session, employer_id, employees)
    payees = await read_payees(session, employees)
    tax_year = standing[0][0].tax_year
    histories = await read_histories(session, payees.values(), tax_year)
    left = await read_standing_wages(session, histories, tax_year, without=[row.id for row, _ in standing])
    postings = []
    for row, record in standing:
        before = histories.get(row.employee_id, NO_HISTORY)
        negative = opposite_of(record, before)
        after = replace(
            before.without_paycheck(negative, left.get(row.employee_id, ()), tax_year),
            fica_refunded=before.fica_refunded
            and not (record.is_refund and not await _refunded_otherwise(session, row)),
        )
        histories |= {row.employee_id: after, **seen_by_others(histories, row.employee_id, after)}
        postings.append(
            Posting(
                id=uuid7(),
                owner=Owner(row.organization_id, row.employer_id, row.sandbox),
                payroll_id=payroll_id,
                position=-1 - row.position,
                tax_year=row.tax_year,
                period_start=row.period.lower,
                period_end=row.period.upper - datetime.timedelta(days=1),
                paycheck=negative,
                after=after,
                reverses=row.id,
            )
        )
    await post_paychecks(session, postings, now)
    repaid = [payees[employee] for employee in employees if histories[employee].fica_repaid]
    if bases or repaid:
        await measure_household(session, employer_id, tax_year, bases, repaid)
    await session.execute(_RELEASE, {"payroll_id": payroll_id, "employees": employees})
    return postings


async def _refunded_otherwise(session: AsyncSession, refund: PaycheckRow) -> bool:
    """Whether another refund of the year stands beside this one."""
    which = {"employee": refund.employee_id, "tax_year": refund.tax_year, "id": refund.id}
    return bool(await session.scalar(_REFUNDED, which))


async def release_periods(session: AsyncSession, payroll_id: UUID) -> None:
    """Let the pay periods of a payroll that was never paid be paid by another."""
    await session.execute(_RELEASE_ALL, {"payroll_id": payroll_id})


def opposite_of(paycheck: PaycheckRecord, before: History) -> PaycheckRecord:
    """Return the paycheck that undoes this one after a year of ``before``, with the year as it is afterwards."""
    earnings = paycheck.earnings
    year = before.totals_to_date
    taxes = before.year_to_date.taxes
    return PaycheckRecord(
        employee_id=paycheck.employee_id,
        employee_name=paycheck.employee_name,
        payment_method=paycheck.payment_method,
        earnings=Earnings(
            _minus(earnings.regular_hours),
            _minus(earnings.regular_pay),
            _minus(earnings.overtime_hours),
            _minus(earnings.overtime_pay),
            _minus(earnings.bonus),
            _minus(earnings.other_earnings),
        ),
        gross_pay=-paycheck.gross_pay,
        employee_taxes=-paycheck.employee_taxes,
        employer_taxes=-paycheck.employer_taxes,
        set_aside=SetAside(
            -paycheck.set_aside.amount,
            paycheck.set_aside.source,
            before.set_aside_balance - paycheck.set_aside.amount,
        ),
        lines=tuple(
            LineRecord(
                line.code,
                line.name,
                line.payer,
                line.agency,
                line.category,
                -line.subject_wages,
                -line.taxable_wages,
                line.rate,
                -line.amount,
                taxes.get(line.code, 0) - line.amount,
            )
            for line in paycheck.lines
        ),
        ytd=YearToDate(
            year.gross_pay - paycheck.gross_pay,
            year.net_pay - paycheck.net_pay,
            year.employee_taxes - paycheck.employee_taxes,
            year.employer_taxes - paycheck.employer_taxes,
        ),
        warnings=(),
        residence_state=paycheck.residence_state,
        reciprocity_certificate=paycheck.reciprocity_certificate,
        work_state=paycheck.work_state,
    )


def _minus(amount: Decimal) -> Decimal:
    return -amount if amount else amount
