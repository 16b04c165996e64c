"""Schedules many payrolls at once, as the worker does for households that requested it in advance.

The orders, calculation and rows are those of a run, but each has one employee and no caller to refuse. A problem with
one payroll is reported and doesn't stop the others.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking import calendar
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.payroll.answers import estimate_json
from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.earlier_pay import read_earlier_pay
from hearthpay.payroll.ledger.histories import read_histories
from hearthpay.payroll.ledger.payrolls import NewPayroll, insert_payrolls
from hearthpay.payroll.ledger.rows import Owner, PayrollRecord
from hearthpay.payroll.orders import Payee, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.years.households import terms_of_households, years_of_households
from hearthpay.taxes import TaxInputError

_TRY_AT_ONCE: Final = text(
    "UPDATE payrolls SET next_attempt_at = :now WHERE id = ANY(:payrolls) AND status = 'scheduled' "
    "AND next_attempt_at > :now"
)


class Planned(NamedTuple):
    """A payroll to be scheduled: its household, employee, amounts and dates."""

    owner: Owner
    order: SettledOrder


@dataclass(frozen=True, slots=True)
class NotPlanned:
    """Why a payroll can't or must not be calculated: one of the service's error codes, and a message."""

    code: str
    message: str


def dates_ahead(
    start: datetime.date,
    end: datetime.date,
    nominal: datetime.date,
    pay_date: datetime.date,
    now: datetime.datetime,
) -> PayDates:
    """Return the dates of a scheduled payroll: paid on ``pay_date``, or as soon as money sent from now on can arrive.

    ``nominal`` is the planned day, on which banks may be closed.
    """
    arrives = max(pay_date, calendar.earliest_pay_date(now))
    return PayDates(
        start,
        end,
        arrives,
        defaulted=False,
        send_at=calendar.send_at(arrives),
        asked=None if arrives == nominal else nominal,
    )


async def calculate_planned(
    session: AsyncSession, planned: Sequence[Planned], payees: Mapping[UUID, Payee]
) -> list[PayrollRecord | NotPlanned]:
    """Return each payroll's expected amounts, based on the years to date; nothing is written.

    A payroll with a line that can't be known yet is `tax_year_not_final`: such a payroll must not be scheduled.
    """
    if not planned:
        return []
    orders = [each.order for each in planned]
    histories = {
        year: await read_histories(session, payees.values(), year)
        for year in sorted({order.dates.pay_date.year for order in orders})
    }
    terms = await terms_of_households(session, list({order.employer_id for order in orders}))
    thresholds = await years_of_households(session, orders, terms.bases, histories)
    people = {employee: history for year in histories.values() for employee, history in year.items()}
    earlier = await read_earlier_pay(session, orders, people)
    results: list[PayrollRecord | NotPlanned] = []
    for order in orders:
        key = order.employer_id, order.dates.pay_date.year
        try:
            record = calculate_payroll(
                order, payees, histories[key[1]], terms.rates.get(key, {}), thresholds.get(key), earlier
            )
        except TaxInputError as error:
            code = error.code if error.code != "validation_error" else "not_calculable"
            results.append(NotPlanned(code, f"{error.field} {error.message}"))
        else:
            missing = ", ".join(each.code for each in record.unknown)
            results.append(
                NotPlanned("tax_year_not_final", f"figures of {record.tax_year} are not published: {missing}")
                if missing
                else record
            )
    return results


async def schedule_planned(
    session: AsyncSession, planned: Sequence[tuple[Planned, PayrollRecord]], now: datetime.datetime
) -> list[UUID]:
    """Write calculated payrolls as scheduled by the worker, with one statement; return their ids in order.

    Their employees must be locked.
    """
    new = [
        NewPayroll(
            each.owner,
            each.order,
            record,
            "scheduled",
            ("system", None),
            estimate=estimate_json(record),
        )
        for each, record in planned
    ]
    ids = await insert_payrolls(session, new, now)
    entries = [
        WorkerAuditEntry(
            *each.owner, payroll_id, {"status": "scheduled", "pay_date": each.order.dates.pay_date}
        )
        for payroll_id, each in zip(ids, new, strict=True)
    ]
    await record_worker_audit(session, "payroll.schedule", entries)
    return ids


async def try_at_once(session: AsyncSession, payrolls: Sequence[UUID], now: datetime.datetime) -> None:
    """Make payrolls that were put off due for firing now: the problem may have been fixed."""
    await session.execute(_TRY_AT_ONCE, {"payrolls": list(payrolls), "now": now})
