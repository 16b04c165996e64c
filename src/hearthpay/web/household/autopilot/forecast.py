"""What Autopilot will do, shown before anyone agrees to it: the next paydays, and the cost of one.

The days come from the schedule's own functions, the amounts from the same calculation that generates payrolls.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.commands import EnrolledTerms
from hearthpay.autopilot.eligibility import Reason, read_facts, reason_of_code, reasons_against
from hearthpay.autopilot.estimates import estimate, planned
from hearthpay.autopilot.schedule import AutopilotPeriod, Schedule, Stage, first_still_sent, preview
from hearthpay.employees.models import Employee
from hearthpay.payroll.approval import confirmations_needed, debit_of
from hearthpay.payroll.ledger.rows import Owner, PayrollRecord
from hearthpay.payroll.scheduling import NotPlanned


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a period, in cents: net pay and set-asides make up the debit; the taxes are paid to the agencies."""

    net_pay: int
    set_aside: int
    debit: int
    withheld: int
    employer_taxes: int
    total: int
    large: bool
    """Whether it exceeds the limits for large payrolls and must be confirmed."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The next paydays with the cost of the first, or the reasons why there are none."""

    coming: tuple[AutopilotPeriod, ...]
    reasons: tuple[Reason, ...]
    cost: Cost | None


async def forecast(
    session: AsyncSession,
    employee: Employee,
    terms: EnrolledTerms,
    now: datetime.datetime,
    *,
    direct_deposit_enabled: bool,
) -> Forecast:
    """Return the result of enrolling an employee with these terms. Raises ValueError for terms without a schedule."""
    stages = (Stage(terms.anchor, Schedule(terms.frequency, terms.anchor, terms.pay_days_after)),)
    first = first_still_sent(stages, terms.anchor, now)
    coming = preview(stages, first.start)
    facts = (await read_facts(session, [employee.id], direct_deposit_enabled=direct_deposit_enabled))[
        employee.id
    ]
    reasons = reasons_against(facts, authorized=True, period_end=first.end, pay_date=first.pay_date)
    if reasons:
        return Forecast(coming, reasons, None)
    owner = Owner(employee.organization_id, employee.employer_id, employee.sandbox)
    found = await cost_of(session, owner, employee.id, terms.frequency, terms.standard_hours, first, now)
    return Forecast(coming, (), found) if isinstance(found, Cost) else Forecast(coming, (found,), None)


async def cost_of(
    session: AsyncSession,
    owner: Owner,
    employee_id: UUID,
    frequency: str,
    hours: Decimal,
    period: AutopilotPeriod,
    now: datetime.datetime,
) -> Cost | Reason:
    """Return what the period would cost now, or why that can't be calculated; writes nothing."""
    record = await estimate(session, planned(owner, employee_id, frequency, hours, period, now))
    if isinstance(record, NotPlanned):
        return reason_of_code(record.code)
    return _cost(record)


def _cost(record: PayrollRecord) -> Cost:
    set_aside = sum(each.set_aside.amount for each in record.paychecks)
    withheld = record.gross_pay - record.net_pay - set_aside
    return Cost(
        record.net_pay,
        set_aside,
        debit_of(record),
        withheld,
        record.employer_taxes,
        record.total_cost,
        large=bool(confirmations_needed(record, authorization_needed=False)),
    )
