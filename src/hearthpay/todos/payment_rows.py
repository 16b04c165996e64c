"""To-dos from a household's payments: what is open about debits and deposits, first in the list until it ends."""

import datetime
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from hearthpay.payroll.issues.open_payments import OpenPayment, PaymentStage
from hearthpay.payroll.never_paid import NeverPaid
from hearthpay.payroll.next_payday import NextPayday
from hearthpay.todos.to_do import SubjectType, ToDo

_PAGES: Final[dict[PaymentStage, str]] = {
    "authorize": "/bank/authorization",
    "authorize_held": "/bank/authorization",
    "connect": "/bank",
    "debit_verifying": "/bank",
}
"""The page for it, relative to the household's own address; the others are about a payroll."""

_UNPAID: Final = frozenset({"unpaid", "returned", "reversed", "refunded", "failed"})
"""The stages at which a payroll that was run must be paid in another way."""

_LATE_ONCE_DUE: Final = _UNPAID | {"choose", "authorize"}


def to_dos_of_payments(payments: Iterable[OpenPayment], today: datetime.date) -> Iterator[ToDo]:
    """Yield a to-do for each open payment."""
    for each in payments:
        subject: SubjectType = "payroll"
        subject_id, page = each.payroll_id, _PAGES.get(each.stage, f"/payrolls/{each.payroll_id}")
        if each.payroll_id is None:
            subject, subject_id = "employee", each.employees[0]
            page = f"/employees/{subject_id}/invitations"
        parts = [each.kind, *(str(one) for one in (each.payroll_id, each.to_employee) if one)]
        if each.stage == "owed":
            parts.append(each.stage)
        yield ToDo(
            employer_id=each.employer_id,
            kind=each.kind,
            key="/".join(parts),
            subject_type=subject,
            subject_id=str(subject_id),
            path=page,
            due_on=each.due_on,
            overdue=each.stage in _LATE_ONCE_DUE and each.due_on is not None and each.due_on < today,
            amount=each.amount,
            name=", ".join(each.names) or None,
            day=each.pay_date,
            payment=each,
        )


def without_failed_paydays(
    paydays: Iterable[NextPayday], payments: Collection[OpenPayment]
) -> tuple[NextPayday, ...]:
    """Return the paydays without those whose payroll was run and failed: the open payment says how to pay them."""
    kept = []
    for each in paydays:
        people = [
            (employee, name)
            for employee, name in zip(each.employees, each.names, strict=True)
            if not any(_is_left(payment, each) for payment in payments if employee in payment.employees)
        ]
        if len(people) == len(each.employees):
            kept.append(each)
        elif people:
            employees, names = zip(*people, strict=True)
            kept.append(replace(each, employees=tuple(employees), names=tuple(names)))
    return tuple(kept)


def without_failed_people(
    never_paid: Iterable[NeverPaid], payments: Collection[OpenPayment]
) -> tuple[NeverPaid, ...]:
    """Return who was never paid, without those for whom a payroll was run and failed."""
    failed = {employee for each in payments if each.stage in _UNPAID for employee in each.employees}
    return tuple(each for each in never_paid if each.employee_id not in failed)


def _is_left(payment: OpenPayment, payday: NextPayday) -> bool:
    """Return whether the payment is what a failed payroll of this period left unpaid."""
    if payment.stage not in _UNPAID or payment.period is None:
        return False
    start, end = payment.period
    return start <= payday.end and payday.start <= end
