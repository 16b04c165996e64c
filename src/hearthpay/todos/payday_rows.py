"""To-dos from paydays: a payroll to run for each period that is not paid yet, where Autopilot doesn't run it.

For somebody who was never paid, the first one.
"""

import datetime
from collections.abc import Iterable, Iterator
from uuid import UUID

from hearthpay.payroll.never_paid import NeverPaid
from hearthpay.payroll.next_payday import LATE_FOR, NextPayday
from hearthpay.todos.to_do import ToDo


def to_dos_of_paydays(
    employer_id: UUID, paydays: Iterable[NextPayday], today: datetime.date, until: datetime.date
) -> Iterator[ToDo]:
    """Yield a to-do for each payday up to a day whose payroll is to be run by hand and is still expected."""
    for each in paydays:
        if each.autopilot or not today - LATE_FOR <= each.pay_date <= until:
            continue
        yield ToDo(
            employer_id=employer_id,
            kind="run_payroll",
            key=f"run_payroll/{each.frequency}/{each.start}/{each.pay_date}",
            subject_type="employer",
            subject_id=str(employer_id),
            path="/payrolls/new",
            due_on=each.pay_date,
            overdue=each.pay_date < today,
            name=", ".join(each.names),
            day=each.pay_date,
        )


def to_dos_of_never_paid(never_paid: Iterable[NeverPaid]) -> Iterator[ToDo]:
    """Yield a to-do for each employee who was never paid; it is never overdue, as nothing may be owed."""
    for each in never_paid:
        yield ToDo(
            employer_id=each.employer_id,
            kind="first_payroll",
            key=f"first_payroll/{each.employee_id}/{each.since}",
            subject_type="employee",
            subject_id=str(each.employee_id),
            path="/payrolls/new",
            name=each.name,
            day=each.since,
        )
