"""Finding payrolls of one household by a day, an amount or who is paid."""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PAYROLLS, allow
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employers.service import resolve_employer

MOST_FOUND: Final = 10
"""The most payrolls that one search returns: the newest."""


@dataclass(frozen=True, slots=True)
class PayrollSearch:
    """What a payroll is found by; one of them is enough.

    `days`: its payday is one of these, or it pays for them. `cents`: its net pay, gross pay or total cost is within
    these, both included. `employees`: one of them is paid in it.
    """

    days: tuple[datetime.date, datetime.date] | None = None
    cents: tuple[int, int] | None = None
    employees: Collection[UUID] = ()


class FoundPayroll(NamedTuple):
    """A payroll that a search found; amounts in cents."""

    id: UUID
    pay_date: datetime.date
    period_start: datetime.date
    period_end: datetime.date
    status: str
    net_pay: int
    direct_deposit: bool
    handed_over_at: datetime.datetime | None


_FOUND: Final = query(
    FoundPayroll,
    "SELECT p.id, p.pay_date, p.period_start, p.period_end, p.status, p.net_pay, p.direct_deposit, "
    "p.handed_over_at FROM payrolls p "
    "WHERE p.employer_id = :employer_id AND (p.pay_date BETWEEN :first AND :last "
    "OR (p.period_start <= :last AND p.period_end >= :first) OR p.net_pay BETWEEN :least AND :most "
    "OR p.gross_pay BETWEEN :least AND :most OR p.total_cost BETWEEN :least AND :most "
    "OR EXISTS (SELECT FROM payroll_entries e WHERE e.payroll_id = p.id "
    "AND e.employee_id = ANY(CAST(:employees AS uuid[])))) ORDER BY p.pay_date DESC, p.id DESC LIMIT :limit",
)


async def search_payrolls(
    session: AsyncSession, actor: Actor, employer_id: UUID, requested: PayrollSearch
) -> list[FoundPayroll]:
    """Return the household's payrolls that the search finds, newest first.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_PAYROLLS)
    employer = await resolve_employer(session, actor, employer_id)
    if requested == PayrollSearch():
        return []
    first, last = requested.days or (None, None)
    least, most = requested.cents or (None, None)
    asked = {
        "employer_id": employer.id,
        "first": first,
        "last": last,
        "least": least,
        "most": most,
        "employees": list(requested.employees),
        "limit": MOST_FOUND,
    }
    return await fetch_all(session, _FOUND, asked)
