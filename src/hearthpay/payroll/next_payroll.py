"""The next payroll that a household runs by hand: its next payday, with what each was paid last.

It is for active employees whom Autopilot doesn't pay. Nothing is proposed before there was a first payroll, nor long
after the last one: then the household has stopped paying.
"""

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple, cast
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import AUTOPILOT_ENROLLMENTS, EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.commands import PayFrequency, PaymentMethod
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.next_payday import LATE_FOR, NextPayday, read_next_paydays

_NOTHING: Final = Decimal(0)


class LastPay(NamedTuple):
    """What an employee was last paid for, as it was asked for."""

    employee_id: UUID
    pay_frequency: str
    payment_method: str
    regular_hours: Decimal
    overtime_hours: Decimal
    pay_type: str


# Ids are made by the time: the last ones are looked through, as past pay may have been recorded after a later period.
_LAST: Final = query(
    LastPay,
    "SELECT w.id AS employee_id, l.pay_frequency, l.payment_method, l.regular_hours, l.overtime_hours, w.pay_type "
    "FROM {employees} w CROSS JOIN LATERAL ("
    "SELECT p.pay_frequency, e.payment_method, e.regular_hours, e.overtime_hours FROM ("
    "SELECT n.payroll_id, n.payment_method, n.regular_hours, n.overtime_hours, n.salary FROM payroll_entries n "
    "WHERE n.employee_id = w.id AND n.live ORDER BY n.payroll_id DESC LIMIT 60) e "
    "JOIN payrolls p ON p.id = e.payroll_id WHERE p.status NOT IN ('draft', 'voided', 'failed') "
    "AND p.kind <> 'fica_refund' "
    "AND (e.regular_hours > 0 OR e.overtime_hours > 0 OR e.salary IS NOT NULL) "
    "ORDER BY p.period_end DESC, p.id DESC LIMIT 1) l "
    "WHERE w.employer_id = ANY(CAST(:households AS uuid[])) AND w.status = 'active' "
    "AND coalesce(w.pay_rate_cents, w.salary_cents) IS NOT NULL "
    "AND NOT EXISTS (SELECT FROM {enrollments} a WHERE a.employee_id = w.id AND a.status = 'active')",
    employees=EMPLOYEES,
    enrollments=AUTOPILOT_ENROLLMENTS,
)


@dataclass(frozen=True, slots=True)
class NextPayroll:
    """The period, the payday and the employees of a household's next payroll, each as they were paid last."""

    employer_id: UUID
    start: datetime.date
    end: datetime.date
    pay_date: datetime.date
    frequency: str
    pays: tuple[LastPay, ...]

    def order(self, today: datetime.date) -> Order:
        """Return the order for the same regular hours as last time; a payday that has passed becomes today.

        Overtime isn't proposed again, because it is easily confirmed by mistake.
        Hours of a period of another length are left out, so that such a payroll can't be run before they are entered.
        """
        return Order(
            employer_id=self.employer_id,
            pay_period_start=self.start,
            pay_period_end=self.end,
            pay_date=max(self.pay_date, today),
            pay_frequency=cast("PayFrequency", self.frequency),
            notes=None,
            employees=tuple(
                EmployeePay(
                    employee_id=each.employee_id,
                    regular_hours=each.regular_hours if self._takes_hours(each) else _NOTHING,
                    payment_method=cast("PaymentMethod", each.payment_method),
                )
                for each in self.pays
            ),
        )

    def _takes_hours(self, last: LastPay) -> bool:
        return last.pay_type == "hourly" and last.pay_frequency == self.frequency


def next_payroll(
    employer_id: UUID, paydays: Sequence[NextPayday], pays: Mapping[UUID, LastPay], today: datetime.date
) -> NextPayroll | None:
    """Return the payroll of a household's first payday by hand, for those who are paid then for the same period."""
    for due in paydays:
        own = tuple(pays[each] for each in due.employees if each in pays)
        if own and not due.autopilot and due.pay_date >= today - LATE_FOR:
            return NextPayroll(employer_id, due.start, due.end, due.pay_date, due.frequency, own)
    return None


async def read_last_pay(session: AsyncSession, households: Collection[UUID]) -> Mapping[UUID, LastPay]:
    """Return what each active employee whom Autopilot doesn't pay was last paid for, by the employee's id."""
    rows = await fetch_all(session, _LAST, {"households": list(households)})
    return {row.employee_id: row for row in rows}


async def read_next_payrolls(
    session: AsyncSession, households: Collection[UUID], today: datetime.date
) -> Mapping[UUID, NextPayroll]:
    """Return the next payroll of each of these households that has one; the caller has checked that it may be read."""
    if not households:
        return {}
    last = await read_last_pay(session, households)
    paydays = await read_next_paydays(session, households) if last else {}
    nexts = {household: next_payroll(household, due, last, today) for household, due in paydays.items()}
    return {household: each for household, each in nexts.items() if each is not None}
