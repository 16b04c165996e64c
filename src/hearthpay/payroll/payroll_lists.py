"""Lists of payrolls for people: who is paid in each, and the totals of the list."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.commands import PayrollQuery
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.service import query_payrolls
from hearthpay.wire.paging import page_of


class _PaidRow(NamedTuple):
    payroll_id: UUID
    names: list[str]
    methods: list[str]


_PAID: Final = query(
    _PaidRow,
    "SELECT e.payroll_id, array_agg(m.first_name || ' ' || m.last_name ORDER BY e.position) AS names, "
    "array_agg(DISTINCT e.payment_method) AS methods FROM payroll_entries e "
    "JOIN {employees} m ON m.id = e.employee_id WHERE e.payroll_id = ANY(:payrolls) GROUP BY e.payroll_id",
    employees=EMPLOYEES,
)
_UNDONE: Final = ("voided", "failed")
MOST_IN_A_FILE: Final = 10_000
"""The most payrolls in one file; the newest are included."""


@dataclass(frozen=True, slots=True)
class PaidIn:
    """Who is paid in a payroll, in its order, and by which methods."""

    names: Sequence[str] = ()
    methods: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ListTotals:
    """The number of payrolls on all pages of a list, and the totals of those not voided; amounts in cents."""

    count: int
    gross_pay: int
    net_pay: int
    total_cost: int


@dataclass(frozen=True, slots=True)
class PayrollsPage:
    """One page of payrolls, newest first; the totals cover all pages."""

    payrolls: Sequence[Payroll]
    next_cursor: str | None
    paid: Mapping[UUID, PaidIn]
    totals: ListTotals


async def who_is_paid(session: AsyncSession, payrolls: Collection[UUID]) -> Mapping[UUID, PaidIn]:
    """Return who is paid in each of the payrolls, which must be visible to the session."""
    rows = await fetch_all(session, _PAID, {"payrolls": list(payrolls)})
    return {row.payroll_id: PaidIn(row.names, row.methods) for row in rows}


async def look_through(session: AsyncSession, actor: Actor, requested: PayrollQuery) -> PayrollsPage:
    """Return one page of payrolls, with who is paid in each and the totals of all pages.

    Raises as `list_payrolls` does.
    """
    statement = await query_payrolls(session, actor, requested)
    payrolls, next_cursor = await page_of(session, statement, Payroll.id, requested)
    paid = await who_is_paid(session, [payroll.id for payroll in payrolls])
    listed = statement.subquery()
    stands = listed.c.status.not_in(_UNDONE)
    sums = [
        func.coalesce(func.sum(column).filter(stands), 0)
        for column in (listed.c.gross_pay, listed.c.net_pay, listed.c.total_cost)
    ]
    row = (await session.execute(select(func.count(), *sums).select_from(listed))).one()
    return PayrollsPage(payrolls, next_cursor, paid, ListTotals(*(int(each) for each in row)))


async def payrolls_for_a_file(
    session: AsyncSession, actor: Actor, requested: PayrollQuery
) -> tuple[Sequence[Payroll], Mapping[UUID, PaidIn]]:
    """Return the requested payrolls of all pages, newest first, with who is paid in each.

    Returns at most `MOST_IN_A_FILE`. Raises as `list_payrolls` does.
    """
    statement = await query_payrolls(session, actor, requested)
    found = (await session.scalars(statement.order_by(Payroll.id.desc()).limit(MOST_IN_A_FILE))).all()
    return found, await who_is_paid(session, [payroll.id for payroll in found])
