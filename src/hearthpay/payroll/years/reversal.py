"""Reverses paychecks: each by another of the opposite sign, so that the year to date is as if it had never existed."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.payroll.ledger.histories import read_histories, read_standing_wages
from hearthpay.payroll.ledger.paychecks import Posted, read_paychecks
from hearthpay.payroll.ledger.posting import Posting, post_paychecks
from hearthpay.payroll.ledger.rows import PaycheckRow, SetAside, YearToDate
from hearthpay.payroll.ledger.years import NO_HISTORY, History, seen_by_others
from hearthpay.payroll.models import FoundPaycheck
from hearthpay.payroll.orders import read_payees
from hearthpay.payroll.years.household_year import lock_household, measure_household

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
    """Reverse a payroll's paychecks, or only those with the ids ``only``, and free their pay periods; return what was
    posted.

    A paycheck that is already reversed stays as it is. The payroll's row must be locked; its employees are locked
    here.
    """
    undone = set(
        await session.scalars(
            select(FoundPaycheck.reverses).where(
                FoundPaycheck.payroll_id == payroll_id, FoundPaycheck.reverses.is_not(None)
            )
        )
    )
    standing = [
        each
        for each in await read_paychecks(session, payroll_id)
        if each.id not in undone and (only is None or each.id in only)
    ]
    if not standing:
        return []
    employees = [each.paycheck.employee_id for each in standing]
    employer_id, tax_year = standing[0].owner.employer_id, standing[0].tax_year
    bases = await lock_household(session, employer_id, employees)
    payees = await read_payees(session, employees)
    histories = await read_histories(session, payees.values(), tax_year)
    left = await read_standing_wages(session, histories, tax_year, without=[each.id for each in standing])
    postings = []
    for each in standing:
        paycheck = each.paycheck
        employee = paycheck.employee_id
        before = histories.get(employee, NO_HISTORY)
        negative = opposite_of(paycheck, before)
        after = replace(
            before.without_paycheck(negative, left.get(employee, ()), tax_year),
            fica_refunded=before.fica_refunded
            and not (paycheck.is_refund and not await _refunded_otherwise(session, each)),
        )
        histories |= {employee: after, **seen_by_others(histories, employee, after)}
        postings.append(
            Posting(
                id=uuid7(),
                owner=each.owner,
                payroll_id=payroll_id,
                position=-1 - each.position,
                tax_year=each.tax_year,
                period_start=each.period_start,
                period_end=each.period_end,
                pay_date=each.pay_date,
                paycheck=negative,
                after=after,
                reverses=each.id,
            )
        )
    await post_paychecks(session, postings, now)
    repaid = [payees[employee] for employee in employees if histories[employee].fica_repaid]
    if bases or repaid:
        await measure_household(session, employer_id, tax_year, bases, repaid)
    await session.execute(_RELEASE, {"payroll_id": payroll_id, "employees": employees})
    return postings


async def _refunded_otherwise(session: AsyncSession, refund: Posted) -> bool:
    """Return whether the year has another standing refund besides this one."""
    which = {"employee": refund.paycheck.employee_id, "tax_year": refund.tax_year, "id": refund.id}
    return bool(await session.scalar(_REFUNDED, which))


async def release_periods(session: AsyncSession, payroll_id: UUID) -> None:
    """Free the pay periods of a payroll that was never paid, so that another can pay them."""
    await session.execute(_RELEASE_ALL, {"payroll_id": payroll_id})


def opposite_of(paycheck: PaycheckRow, before: History) -> PaycheckRow:
    """Return the paycheck that reverses this one after a year of ``before``, with the year as it is afterward."""
    year = before.totals_to_date
    taxes = before.year_to_date.taxes
    return PaycheckRow(
        employee_id=paycheck.employee_id,
        employee_name=paycheck.employee_name,
        payment_method=paycheck.payment_method,
        earnings=paycheck.earnings.opposite(),
        gross_pay=-paycheck.gross_pay,
        employee_taxes=-paycheck.employee_taxes,
        employer_taxes=-paycheck.employer_taxes,
        set_aside=SetAside(
            -paycheck.set_aside.amount,
            paycheck.set_aside.source,
            before.set_aside_balance - paycheck.set_aside.amount,
        ),
        lines=tuple(
            line._replace(
                subject_wages=-line.subject_wages,
                taxable_wages=-line.taxable_wages,
                amount=-line.amount,
                ytd_amount=taxes.get(line.code, 0) - line.amount,
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
        provisional=paycheck.provisional,
        salary=paycheck.salary,
    )
