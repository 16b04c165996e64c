"""A household's wage costs at a glance: by month, paycheck by paycheck, and what is upcoming.

All amounts are whole cents. The caller has checked that they may be shown.
"""

import datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import debited_on
from hearthpay.banking.debit_days import DebitDays, days_of_debit
from hearthpay.database.relations import BANK_ENTRIES, EMPLOYEES
from hearthpay.database.statements import Fragment, compose
from hearthpay.database.typed_rows import fetch_all, query

_STANDING: Final = Fragment(
    "c.reverses IS NULL AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)"
)
"""Excludes both a reversed paycheck and the one that reversed it."""


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
    status: str
    pay_date: datetime.date
    employee_id: UUID
    employee_name: str
    net_pay: int
    total_cost: int


_LATEST: Final = query(
    LatestPaycheck,
    "SELECT p.id AS payroll_id, p.status, p.pay_date, c.employee_id, c.employee_name, c.net_pay, c.total_cost "
    "FROM (SELECT id, status, pay_date FROM payrolls WHERE employer_id = :employer "
    "AND status NOT IN ('draft', 'voided') ORDER BY pay_date DESC, id DESC LIMIT :limit) p "
    "CROSS JOIN LATERAL (SELECT c.employee_id, c.employee_name, c.net_pay, c.total_cost, c.position FROM paychecks c "
    "WHERE c.payroll_id = p.id AND {standing} ORDER BY c.position LIMIT :limit) c "
    "ORDER BY p.pay_date DESC, p.id DESC, c.position LIMIT :limit",
    standing=_STANDING,
)


EXPECTED_SET_ASIDE: Final = compose(
    "CAST(coalesce((SELECT sum(c.set_aside) FROM paychecks c WHERE c.payroll_id = p.id AND {standing}), "
    "(SELECT sum(CAST(x -> 'voluntary_set_aside' ->> 'amount' AS numeric) * 100) FROM payroll_estimates e, "
    "jsonb_array_elements(e.estimate -> 'employees') x WHERE e.payroll_id = p.id), 0) AS bigint)",
    standing=_STANDING,
)
"""SQL: what employees set aside with the payroll `p`: as posted, or as expected before that."""


class _ComingRow(NamedTuple):
    payroll_id: UUID
    status: str
    pay_date: datetime.date
    net_pay: int
    direct_deposit: bool
    send_at: datetime.datetime | None
    debit: str | None
    settle_on: datetime.date | None
    effective_date: datetime.date | None
    names: list[str]
    hours: Decimal
    gross_pay: int
    employer_taxes: int
    set_aside: int


_COMING: Final = query(
    _ComingRow,
    "SELECT p.id AS payroll_id, p.status, p.pay_date, p.net_pay, p.direct_deposit, "
    "p.scheduled_send_at AS send_at, d.status AS debit, d.settle_on, d.effective_date, "
    "who.names, who.hours, p.gross_pay, p.employer_taxes, {set_aside} AS set_aside "
    "FROM payrolls p CROSS JOIN LATERAL ("
    "SELECT array_agg(w.first_name || ' ' || w.last_name ORDER BY w.last_name, w.id) AS names, "
    "sum(n.regular_hours + n.overtime_hours) AS hours "
    "FROM payroll_entries n JOIN {employees} w ON w.id = n.employee_id WHERE n.payroll_id = p.id) who "
    "LEFT JOIN LATERAL (SELECT e.status, e.settle_on, e.effective_date FROM {bank_entries} e "
    "WHERE e.payroll_id = p.id AND e.kind = 'debit' ORDER BY e.attempt DESC, e.id DESC LIMIT 1) d ON true "
    "WHERE p.employer_id = :employer AND (p.status IN ('scheduled', 'firing', 'pending_funding', 'processing') "
    "OR p.status = 'completed' AND NOT p.direct_deposit AND p.handed_over_at IS NULL AND p.pay_date >= :today) "
    "ORDER BY p.pay_date, p.id LIMIT :limit",
    bank_entries=BANK_ENTRIES,
    employees=EMPLOYEES,
    set_aside=EXPECTED_SET_ASIDE,
)


class ComingPayroll(NamedTuple):
    """A payroll that isn't paid yet. `leaves_on`: when the household's account is debited; None by check or cash.

    `arrives_on` is the pay date, or when the pay arrives if its debit is late.
    """

    payroll_id: UUID
    status: str
    pay_date: datetime.date
    net_pay: int
    direct_deposit: bool
    leaves_on: datetime.date | None
    arrives_on: datetime.date
    names: list[str]
    hours: Decimal
    set_aside: int
    """What the employees set aside, on top of their net pay."""

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


async def coming_payrolls(
    session: AsyncSession, employer_id: UUID, today: datetime.date, now: datetime.datetime, *, limit: int
) -> list[ComingPayroll]:
    """Return the payrolls that are scheduled, in progress, or to be handed over later, the next pay date first."""
    rows = await fetch_all(session, _COMING, {"employer": employer_id, "today": today, "limit": limit})
    days = {row.payroll_id: _days_of(row, now) for row in rows}
    return [
        ComingPayroll(
            row.payroll_id,
            row.status,
            row.pay_date,
            row.net_pay,
            row.direct_deposit,
            None if (own := days[row.payroll_id]) is None else own.leaves_on,
            row.pay_date if own is None else max(row.pay_date, own.earliest_arrival),
            row.names,
            row.hours,
            row.set_aside,
            row.gross_pay - row.net_pay - row.set_aside,
            row.employer_taxes,
        )
        for row in rows
    ]


def _days_of(row: _ComingRow, now: datetime.datetime) -> DebitDays | None:
    """Return the days of the debit for a direct deposit; None for a check or cash."""
    if not row.direct_deposit:
        return None
    if row.debit is not None and row.settle_on is not None:
        return days_of_debit(row.debit, row.settle_on, row.effective_date, now)
    return None if row.send_at is None else days_of_debit("pending", debited_on(row.send_at), None, now)
