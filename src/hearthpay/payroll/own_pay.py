"""An employee's own pay in the employee portal: the paychecks of a year and their totals. Amounts are cents.

A voided paycheck and its reversal add up to zero.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import OWN_RECORD
from hearthpay.clock import Clock
from hearthpay.database.typed_rows import fetch_all, fetch_one, query
from hearthpay.employees.links import allow_own, own_employee_at
from hearthpay.payroll.lifecycle import HAS_PAY_STUBS


class _StubsRow(NamedTuple):
    payroll_id: UUID
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    gross_pay: int
    net_pay: int
    undone: bool


# A voided paycheck stays on the list, marked as voided; with its reversal it adds nothing to the totals.
_STUBS: Final = query(
    _StubsRow,
    "SELECT c.payroll_id, p.pay_date, p.period_start, p.period_end, c.gross_pay, c.net_pay, "
    "EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) AS undone "
    "FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "WHERE c.employee_id = :employee AND c.reverses IS NULL AND p.status = ANY(:with_stubs) AND c.tax_year = :year "
    "ORDER BY p.pay_date DESC, c.id DESC",
)
_YEARS: Final = text(
    "SELECT DISTINCT c.tax_year FROM paychecks c WHERE c.employee_id = :employee ORDER BY 1 DESC"
)


class _YearRow(NamedTuple):
    hours: Decimal
    gross: int
    taxes: int
    net: int
    set_aside: int


_YEAR: Final = query(
    _YearRow,
    "SELECT coalesce(sum(c.regular_hours + c.overtime_hours), 0) AS hours, "
    "coalesce(sum(c.gross_pay), 0)::bigint AS gross, coalesce(sum(c.employee_taxes), 0)::bigint AS taxes, "
    "coalesce(sum(c.net_pay), 0)::bigint AS net, coalesce(sum(c.set_aside), 0)::bigint AS set_aside "
    "FROM paychecks c JOIN payrolls p ON p.id = c.payroll_id "
    "WHERE c.employee_id = :employee AND c.tax_year = :year AND p.status = ANY(:with_stubs)",
)


@dataclass(frozen=True, slots=True)
class OwnStub:
    """One of the employee's paychecks that has a pay stub; `undone`: it was voided later."""

    payroll_id: UUID
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    gross: int
    net: int
    undone: bool


@dataclass(frozen=True, slots=True)
class OwnYear:
    """The totals of the employee's paychecks of a year: hours, and cents."""

    year: int
    hours: Decimal
    gross: int
    taxes: int
    net: int
    set_aside: int


@dataclass(frozen=True, slots=True)
class OwnPay:
    """A year of the employee's pay, and the years in which they were paid, latest first."""

    years: Sequence[int]
    year: OwnYear
    stubs: Sequence[OwnStub]


async def own_pay(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, year: int | None = None
) -> OwnPay:
    """Return a year of the employee's pay; by default the latest in which they were paid, otherwise the current one.

    Raises what `allow_own` raises, and `not_found`.
    """
    allow_own(actor, OWN_RECORD, employee_id)
    employee = await own_employee_at(session, employee_id)
    years = list(await session.scalars(_YEARS, {"employee": employee.id}))
    requested = year if year is not None else next(iter(years), clock.today().year)
    values = {"employee": employee.id, "year": requested, "with_stubs": sorted(HAS_PAY_STUBS)}
    stubs = [OwnStub(*row) for row in await fetch_all(session, _STUBS, values)]
    return OwnPay(years, OwnYear(requested, *await fetch_one(session, _YEAR, values)), stubs)
