"""What an employee's settings become when some of them are sent anew."""

from decimal import Decimal
from typing import Any, Final

from hearthpay.clock import Clock
from hearthpay.employees.certificates import merged
from hearthpay.employees.models import Employee
from hearthpay.employees.payable import default_overtime_rate, localities_of, refuse_future_birth
from hearthpay.employees.schemas import EmployeeChanges
from hearthpay.http.errors import invalid

_STORED_AS_SENT: Final = frozenset(
    {
        "first_name",
        "last_name",
        "email",
        "pay_rate",
        "pay_frequency",
        "start_date",
        "work_state",
        "residence_state",
        "payment_method",
        "relationship",
        "birth_year",
        "lives_in",
    }
)


def settings_after(employee: Employee, changes: EmployeeChanges, clock: Clock) -> dict[str, Any]:
    """The columns that `changes` speak of, with their new values; the employee is left alone.

    Raises `validation_error` for what contradicts itself or what stays. Whether the tax engine can pay by it
    is for the caller to check.
    """
    sent = changes.model_fields_set
    wanted: dict[str, Any] = {name: getattr(changes, name) for name in sorted(sent & _STORED_AS_SENT)}
    refuse_future_birth(wanted.get("birth_year"), clock)
    start_date = wanted.get("start_date")
    if start_date is not None and employee.end_date is not None and start_date > employee.end_date:
        raise invalid("start_date", f"must not be after the last day, {employee.end_date}")
    if sent & {"pay_rate", "overtime_rate"}:
        wanted["overtime_rate"] = _overtime_rate(employee, changes, wanted.get("pay_rate", employee.pay_rate))

    work_state = wanted.get("work_state", employee.work_state)
    moved = work_state != employee.work_state
    if moved or sent & {"city", "locality"}:
        wanted["localities"] = localities_of(clock, work_state, changes.city, changes.locality)
    if "federal_withholding" in sent:
        federal = changes.federal_withholding
        wanted["federal_withholding"] = (
            {}
            if federal is None
            else merged(employee.federal_withholding, federal.model_dump(exclude_unset=True))
        )
    if moved or "state_withholding" in sent:
        # A certificate belongs to its state: what the old one says may mean something else in the new one.
        replaced = moved or changes.state_withholding is None
        earlier = {} if replaced else employee.state_withholding
        wanted["state_withholding"] = merged(earlier, changes.state_withholding or {})
    return wanted


def _overtime_rate(employee: Employee, changes: EmployeeChanges, pay_rate: Decimal) -> Decimal:
    """The overtime rate that goes with a new pay rate: the one sent, else one and a half times the pay where
    that is what it was."""
    if changes.overtime_rate is not None:
        if changes.overtime_rate < pay_rate:
            raise invalid("overtime_rate", "must not be below pay_rate")
        return changes.overtime_rate
    asked = "overtime_rate" in changes.model_fields_set
    if asked or employee.overtime_rate == default_overtime_rate(employee.pay_rate):
        return default_overtime_rate(pay_rate)
    if employee.overtime_rate < pay_rate:
        raise invalid(
            "pay_rate", f"must not be above the overtime_rate of {employee.overtime_rate}; send both"
        )
    return employee.overtime_rate
