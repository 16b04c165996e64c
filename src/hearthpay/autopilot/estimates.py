"""What a period of an enrollment pays: its order, made from the enrolled hours, and the expected amounts."""

import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.schedule import AutopilotPeriod
from hearthpay.banking.authorizations import HIGHEST_PERCENT
from hearthpay.payroll.approval import confirmations_needed
from hearthpay.payroll.ledger.rows import Owner, PayrollRecord
from hearthpay.payroll.orders import PayrollEntry, SettledOrder, read_payees
from hearthpay.payroll.scheduling import NotPlanned, Planned, calculate_planned, dates_ahead

_NOTHING: Final = Decimal(0)


def planned(
    owner: Owner,
    employee_id: UUID,
    frequency: str,
    standard_hours: Decimal,
    period: AutopilotPeriod,
    now: datetime.datetime,
) -> Planned:
    """Return the payroll of a period: the enrolled hours by direct deposit, at the employee's pay rate by then."""
    dates = dates_ahead(period.start, period.end, period.nominal_pay_date, period.pay_date, now)
    entry = PayrollEntry(employee_id, "direct_deposit", standard_hours, _NOTHING, _NOTHING, _NOTHING)
    return Planned(owner, SettledOrder(owner.employer_id, dates, frequency, None, (entry,)))


def held_for(record: PayrollRecord, expected_net: int, *, large_confirmed: bool = False) -> tuple[str, ...]:
    """Return what the household must approve before a payroll is sent; ``expected_net`` is cents.

    Pay confirmed as large at enrollment needs approval again only if it exceeds the expected pay by more than tax
    changes explain.
    """
    above = 100 * record.net_pay > HIGHEST_PERCENT * expected_net
    agreed = large_confirmed and not above
    large = () if agreed else confirmations_needed(record, authorization_needed=False)
    return (*large, *(("above_enrolled_net",) if above else ()))


async def estimate(session: AsyncSession, payroll: Planned) -> PayrollRecord | NotPlanned:
    """Return the expected payroll; its employee stays locked until the transaction ends."""
    payees = await read_payees(session, [entry.employee_id for entry in payroll.order.entries])
    (result,) = await calculate_planned(session, [payroll], payees)
    return result
