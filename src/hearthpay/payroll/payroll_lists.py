"""Lists of payrolls for people: the latest payday first, who is paid in each, and the totals of the list.

The API lists payrolls by when they were made. A list for people is by payday, and then by id: its cursor holds both.
"""

import base64
import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self
from uuid import UUID

from sqlalchemy import Select, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.commands import PayrollQuery
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.service import query_payrolls


class _PaidRow(NamedTuple):
    payroll_id: UUID
    names: list[str]
    first_names: list[str]
    methods: list[str]
    set_aside: int


# What is set aside of a payroll that isn't calculated yet is in its estimate, in dollars.
_PAID: Final = query(
    _PaidRow,
    "SELECT e.payroll_id, array_agg(m.first_name || ' ' || m.last_name ORDER BY e.position) AS names, "
    "array_agg(m.first_name ORDER BY e.position) AS first_names, "
    "array_agg(DISTINCT e.payment_method) AS methods, coalesce("
    "(SELECT CAST(sum(c.set_aside) AS bigint) FROM paychecks c "
    "WHERE c.payroll_id = e.payroll_id AND c.reverses IS NULL), "
    "(SELECT CAST(100 * sum(CAST(x.paycheck -> 'voluntary_set_aside' ->> 'amount' AS numeric)) AS bigint) "
    "FROM payroll_estimates s CROSS JOIN LATERAL jsonb_array_elements(s.estimate -> 'employees') AS x(paycheck) "
    "WHERE s.payroll_id = e.payroll_id), 0) AS set_aside FROM payroll_entries e "
    "JOIN {employees} m ON m.id = e.employee_id WHERE e.payroll_id = ANY(:payrolls) GROUP BY e.payroll_id",
    employees=EMPLOYEES,
)
_PLACE_BYTES: Final = 3
_UNDONE: Final = ("voided", "failed")
_BY_PAYDAY: Final = (Payroll.pay_date.desc(), Payroll.id.desc())
MOST_IN_A_FILE: Final = 10_000
"""The most payrolls in one file; the newest are included."""


@dataclass(frozen=True, slots=True)
class PaydayPlace:
    """Where a list by payday continues: after the payroll of this payday and id."""

    pay_date: datetime.date
    payroll_id: UUID

    def encode(self) -> str:
        """Return the place as a cursor for an address."""
        packed = self.pay_date.toordinal().to_bytes(_PLACE_BYTES) + self.payroll_id.bytes
        return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")

    @classmethod
    def decode(cls, cursor: str) -> Self:
        """Return the place that a cursor holds. Raises ValueError for text that isn't one of ours."""
        try:
            packed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            place = cls(
                datetime.date.fromordinal(int.from_bytes(packed[:_PLACE_BYTES])),
                UUID(bytes=packed[_PLACE_BYTES:]),
            )
        except (ValueError, OverflowError):
            raise ValueError("not a cursor") from None
        if place.encode() != cursor:
            raise ValueError("not a cursor")
        return place


@dataclass(frozen=True, slots=True)
class PaidIn:
    """Who is paid in a payroll, in its order, and by which methods; what they set aside of it, in cents."""

    names: Sequence[str] = ()
    methods: Sequence[str] = ()
    first_names: Sequence[str] = ()
    set_aside: int = 0


@dataclass(frozen=True, slots=True)
class ListTotals:
    """The number of payrolls on all pages of a list, and the totals of those not voided; amounts in cents.

    What employees set aside is not part of `net_pay`; it is in `gross_pay`.
    """

    count: int
    gross_pay: int
    net_pay: int
    total_cost: int


@dataclass(frozen=True, slots=True)
class PayrollsPage:
    """One page of payrolls, the latest payday first; the totals cover all pages."""

    payrolls: Sequence[Payroll]
    next_cursor: str | None
    paid: Mapping[UUID, PaidIn]
    totals: ListTotals


async def who_is_paid(session: AsyncSession, payrolls: Collection[UUID]) -> Mapping[UUID, PaidIn]:
    """Return who is paid in each of the payrolls, which must be visible to the session."""
    rows = await fetch_all(session, _PAID, {"payrolls": list(payrolls)})
    return {row.payroll_id: PaidIn(row.names, row.methods, row.first_names, row.set_aside) for row in rows}


async def look_through(
    session: AsyncSession, actor: Actor, requested: PayrollQuery, after: PaydayPlace | None = None
) -> PayrollsPage:
    """Return one page of payrolls, with who is paid in each and the totals of all pages.

    The page begins after a place; the request's own cursor is that of another order. Raises as `list_payrolls` does.
    """
    statement = await query_payrolls(session, actor, requested)
    payrolls, next_cursor = await _page_by_payday(session, statement, after, requested.limit)
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
    """Return the requested payrolls of all pages, the latest payday first, with who is paid in each.

    Returns at most `MOST_IN_A_FILE`. Raises as `list_payrolls` does.
    """
    statement = await query_payrolls(session, actor, requested)
    found = (await session.scalars(statement.order_by(*_BY_PAYDAY).limit(MOST_IN_A_FILE))).all()
    return found, await who_is_paid(session, [payroll.id for payroll in found])


async def _page_by_payday(
    session: AsyncSession, statement: Select[Payroll], after: PaydayPlace | None, limit: int
) -> tuple[Sequence[Payroll], str | None]:
    if after is not None:
        place = tuple_(after.pay_date, after.payroll_id)
        statement = statement.where(tuple_(Payroll.pay_date, Payroll.id) < place)
    found = (await session.scalars(statement.order_by(*_BY_PAYDAY).limit(limit + 1))).all()
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], PaydayPlace(last.pay_date, last.id).encode()
