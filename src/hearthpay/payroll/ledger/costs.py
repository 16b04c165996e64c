"""A household's wage costs at a glance: by month, paycheck by paycheck, and what is upcoming.

All amounts are whole cents. The caller has checked that they may be shown.
"""

import datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import debited_on
from hearthpay.database.relations import BANK_ENTRIES, EMPLOYEES
from hearthpay.database.statements import Fragment, compose
from hearthpay.database.typed_rows import fetch_all, query

_STANDING: Final = Fragment(
    "c.reverses IS NULL AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)"
)
"""Excludes both a reversed paycheck and the one that reversed it."""

_SETTLES: Final = compose(
    "(SELECT max(e.settle_on) FROM {bank_entries} e WHERE e.payroll_id = p.id AND e.kind = 'debit')",
    bank_entries=BANK_ENTRIES,
)


class MonthlyCost(NamedTuple):
    """The cost of the paychecks in a month of pay dates: the total is the sum of the three pots."""

    month: datetime.date
    to_employees: int
    """Net pay and what employees set aside."""

    held: int
    """Taxes withheld."""

    employer_taxes: int


_BY_MONTH: Final = query(
    MonthlyCost,
    "SELECT CAST(date_trunc('month', p.pay_date) AS date) AS month, "
    "CAST(sum(c.net_pay + c.set_aside) AS bigint) AS to_employees, "
    "CAST(sum(c.employee_taxes) AS bigint) AS held, "
    "CAST(sum(c.employer_taxes) AS bigint) AS employer_taxes "
    "FROM payrolls p JOIN paychecks c ON c.payroll_id = p.id "
    "WHERE p.employer_id = :employer AND p.pay_date BETWEEN :first AND :last AND {standing} "
    "GROUP BY 1 ORDER BY 1",
    standing=_STANDING,
)


class LatestPaycheck(NamedTuple):
    """A paycheck that isn't reversed, as a list shows it."""

    payroll_id: UUID
    pay_date: datetime.date
    employee_id: UUID
    employee_name: str
    net_pay: int
    total_cost: int


_LATEST: Final = query(
    LatestPaycheck,
    "SELECT p.id AS payroll_id, p.pay_date, c.employee_id, c.employee_name, c.net_pay, c.total_cost "
    "FROM (SELECT id, pay_date FROM payrolls WHERE employer_id = :employer AND status NOT IN ('draft', 'voided') "
    "ORDER BY pay_date DESC, id DESC LIMIT :limit) p JOIN paychecks c ON c.payroll_id = p.id "
    "WHERE {standing} ORDER BY p.pay_date DESC, p.id DESC, c.position LIMIT :limit",
    standing=_STANDING,
)


_SET_ASIDE: Final = compose(
    "CAST(coalesce((SELECT sum(c.set_aside) FROM paychecks c WHERE c.payroll_id = p.id AND {standing}), "
    "(SELECT sum(CAST(x -> 'voluntary_set_aside' ->> 'amount' AS numeric) * 100) FROM payroll_estimates e, "
    "jsonb_array_elements(e.estimate -> 'employees') x WHERE e.payroll_id = p.id), 0) AS bigint)",
    standing=_STANDING,
)
"""What employees set aside with a payroll: as posted, or as expected before that."""


class _ComingRow(NamedTuple):
    payroll_id: UUID
    status: str
    pay_date: datetime.date
    net_pay: int
    direct_deposit: bool
    send_at: datetime.datetime | None
    settles_on: datetime.date | None
    names: list[str]
    hours: Decimal
    gross_pay: int
    employer_taxes: int
    set_aside: int


_COMING: Final = query(
    _ComingRow,
    "SELECT p.id AS payroll_id, p.status, p.pay_date, p.net_pay, p.direct_deposit, "
    "p.scheduled_send_at AS send_at, {settles} AS settles_on, "
    "who.names, who.hours, p.gross_pay, p.employer_taxes, {set_aside} AS set_aside "
    "FROM payrolls p CROSS JOIN LATERAL ("
    "SELECT array_agg(w.first_name || ' ' || w.last_name ORDER BY w.last_name, w.id) AS names, "
    "sum(n.regular_hours + n.overtime_hours) AS hours "
    "FROM payroll_entries n JOIN {employees} w ON w.id = n.employee_id WHERE n.payroll_id = p.id) who "
    "WHERE p.employer_id = :employer AND p.status IN ('scheduled', 'firing', 'pending_funding', 'processing') "
    "ORDER BY p.pay_date, p.id LIMIT :limit",
    settles=_SETTLES,
    employees=EMPLOYEES,
    set_aside=_SET_ASIDE,
)
_DEBITED_SET_ASIDES: Final = compose(
    "coalesce((SELECT sum(c.set_aside) FROM paychecks c WHERE c.payroll_id = p.id "
    "AND c.payment_method = 'direct_deposit' AND {standing}), 0)",
    standing=_STANDING,
)
"""What employees set aside is debited together with their direct deposits, and isn't part of net pay."""


class _LeavingRow(NamedTuple):
    money: Decimal
    pay_date: datetime.date
    direct_deposit: bool
    send_at: datetime.datetime | None
    settles_on: datetime.date | None


# Nothing is debited after its pay date except what the bank returned and is presented again.
_LEAVING: Final = query(
    _LeavingRow,
    "SELECT p.net_pay + {debited_set_asides} AS money, p.pay_date, p.direct_deposit, "
    "p.scheduled_send_at AS send_at, {settles} AS settles_on "
    "FROM payrolls p WHERE p.employer_id = :employer AND p.pay_date >= CAST(:first AS date) - 31 "
    "AND p.status NOT IN ('draft', 'voided', 'failed')",
    debited_set_asides=_DEBITED_SET_ASIDES,
    settles=_SETTLES,
)


class ComingPayroll(NamedTuple):
    """A payroll in progress. `leaves_on`: when the household's account is debited; None by check or cash."""

    payroll_id: UUID
    status: str
    pay_date: datetime.date
    net_pay: int
    direct_deposit: bool
    leaves_on: datetime.date | None
    names: list[str]
    hours: Decimal
    to_employees: int
    """Net pay, and what the employees set aside from it."""

    withheld: int
    employer_taxes: int


async def costs_by_month(
    session: AsyncSession, employer_id: UUID, first: datetime.date, last: datetime.date
) -> list[MonthlyCost]:
    """Return what was paid from ``first`` to ``last`` by month of the pay dates; months without pay are left out."""
    return await fetch_all(session, _BY_MONTH, {"employer": employer_id, "first": first, "last": last})


async def latest_paychecks(session: AsyncSession, employer_id: UUID, *, limit: int) -> list[LatestPaycheck]:
    """Return the latest paychecks, the latest pay date first."""
    return await fetch_all(session, _LATEST, {"employer": employer_id, "limit": limit})


async def coming_payrolls(session: AsyncSession, employer_id: UUID, *, limit: int) -> list[ComingPayroll]:
    """Return the payrolls that are scheduled or in progress, the next pay date first."""
    rows = await fetch_all(session, _COMING, {"employer": employer_id, "limit": limit})
    return [
        ComingPayroll(
            row.payroll_id,
            row.status,
            row.pay_date,
            row.net_pay,
            row.direct_deposit,
            _leaves_on(row),
            row.names,
            row.hours,
            row.net_pay + row.set_aside,
            row.gross_pay - row.net_pay - row.set_aside,
            row.employer_taxes,
        )
        for row in rows
    ]


async def net_pay_leaving(
    session: AsyncSession, employer_id: UUID, first: datetime.date, last: datetime.date
) -> int:
    """Return the net pay, and the set-asides debited with it, that leave the household's account within these days.

    Upcoming payrolls are included; one that isn't sent yet counts with its net pay only.

    A direct deposit counts on the day of its debit, a check or cash on the pay date.
    """
    rows = await fetch_all(session, _LEAVING, {"employer": employer_id, "first": first})
    return sum(int(row.money) for row in rows if first <= (_leaves_on(row) or row.pay_date) <= last)


def _leaves_on(row: _ComingRow | _LeavingRow) -> datetime.date | None:
    """Return when the household's account is debited for a direct deposit; None for a check or cash."""
    if not row.direct_deposit:
        return None
    return row.settles_on or (None if row.send_at is None else debited_on(row.send_at))
