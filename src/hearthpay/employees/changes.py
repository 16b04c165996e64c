"""The new values of an employee's settings when some of them are sent again."""

import datetime
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Final

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock
from hearthpay.employees.certificates import merged
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.payable import (
    default_overtime_rate,
    localities_of,
    overtime_rate_of,
    refuse_future_birth,
    refuse_other_pay_type,
)
from hearthpay.employees.salaries import PaidBy, PayTerms, Salary, regular_rate
from hearthpay.employers.metadata import METADATA
from hearthpay.taxes.messages import Message, message
from hearthpay.unchanged import changes_of
from hearthpay.wire.metadata import merged as merged_metadata

_STORED_AS_SENT: Final = frozenset(
    {
        "first_name",
        "last_name",
        "email",
        "pay_frequency",
        "usual_weekly_hours",
        "start_date",
        "work_state",
        "residence_state",
        "payment_method",
        "relationship",
        "birth_year",
        "language",
        "lives_in",
        "city",
    }
)

_OF_PAY_ALONE: Final = frozenset({"pay_type", "pay_rate", "salary", "overtime_rate"})
_OF_PAY: Final = _OF_PAY_ALONE | {"pay_frequency", "usual_weekly_hours"}


def settings_after(
    employee: Employee, changes: ChangeEmployee, clock: Clock
) -> tuple[dict[str, Any], list[Message]]:
    """Return the columns that `changes` affect, with their new values; the employee isn't changed.

    A change of work state sets the old state's local taxes and certificate aside, and restores those set aside for
    the new one; the second value says so. Raises `validation_error` for contradictory changes or conflicts with what
    stays. The caller checks whether the tax engine can pay by it.
    """
    requested_changes = changes_of(changes)
    requested = {name: requested_changes[name] for name in sorted(requested_changes.keys() & _STORED_AS_SENT)}
    if "address" in requested_changes:
        requested["address"] = (
            None if requested_changes["address"] is None else asdict(requested_changes["address"])
        )
    refuse_future_birth(requested.get("birth_year"), clock)
    start_date = requested.get("start_date")
    if start_date is not None and employee.end_date is not None and start_date > employee.end_date:
        raise invalid("start_date", message("starts_after_last_day", day=employee.end_date))
    earlier = employee.earlier_employments
    if start_date is not None and earlier:
        left = datetime.date.fromisoformat(earlier[-1]["end_date"])
        if start_date <= left:
            raise invalid("start_date", message("starts_in_earlier_employment", day=left))
    if "working_days" in requested_changes:
        requested["working_days"] = (
            None if requested_changes["working_days"] is None else list(requested_changes["working_days"])
        )
    requested |= _pay(employee, requested_changes)

    warnings: list[Message] = []
    work_state = requested.get("work_state", employee.work_state)
    moved = work_state != employee.work_state
    certificate = employee.state_withholding
    if moved:
        certificate, warnings = _move(employee, requested_changes, clock, work_state, requested)
    if requested_changes.keys() & {"city", "locality"}:
        requested["localities"] = localities_of(
            clock, work_state, requested_changes.get("city"), requested_changes.get("locality")
        )
    if "federal_withholding" in requested_changes:
        federal = requested_changes["federal_withholding"]
        requested["federal_withholding"] = (
            {} if federal is None else merged(employee.federal_withholding, federal)
        )
    if moved or "state_withholding" in requested_changes:
        entries = requested_changes.get("state_withholding", {})
        requested["state_withholding"] = merged({} if entries is None else certificate, entries or {})
    if "metadata" in requested_changes:
        requested[METADATA] = merged_metadata(employee.metadata_, requested_changes["metadata"])
    return requested, warnings


def _move(
    employee: Employee, changes: Mapping[str, Any], clock: Clock, to: str, requested: dict[str, Any]
) -> tuple[dict[str, Any], list[Message]]:
    """Set aside what belongs to the old state, and restore what was set aside for the new one.

    A certificate belongs to its state: the old one's entries may mean something else in the new one. Return the new
    state's restored certificate, and what the household should know; `requested` is filled in.
    """
    warnings = []
    put_by = dict(employee.left_states)
    if employee.localities or employee.state_withholding:
        kept = {"localities": employee.localities, "state_withholding": employee.state_withholding}
        put_by[employee.work_state] = kept
        warnings.append(
            message(
                "settings_kept_after_move",
                from_state=employee.work_state,
                to_state=to,
                parts=_parts(kept),
            )
        )
    back = put_by.pop(to, {"localities": [], "state_withholding": {}})
    localities = [code for code in back["localities"] if _taxes(clock, to, code)]
    if changes.keys() & {"city", "locality"}:
        localities = []
    certificate = back["state_withholding"]
    if changes.get("state_withholding", certificate) is None:
        certificate = {}
    if localities or certificate:
        again = {"localities": localities, "state_withholding": certificate}
        warnings.append(message("settings_in_force_again", to_state=to, parts=_parts(again)))
    requested |= {"localities": localities, "left_states": put_by}
    return certificate, warnings


def _parts(settings: dict[str, Any]) -> tuple[Message, ...]:
    localities = settings["localities"]
    return (
        *([message("part_local_taxes", codes=", ".join(localities))] if localities else []),
        *([message("part_state_certificate")] if settings["state_withholding"] else []),
    )


def _taxes(clock: Clock, state: str, locality: str) -> bool:
    """Return whether the state's law still knows a locality."""
    try:
        return bool(localities_of(clock, state, None, locality))
    except Refusal:
        return False


def _pay(employee: Employee, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pay columns that change; another pay type removes the pay of the former one.

    Raises `validation_error` for a rate or a salary that doesn't match the pay type.
    """
    if not changes.keys() & _OF_PAY:
        return {}
    pay_type: str = changes.get("pay_type", employee.pay_type)
    stays = pay_type == employee.pay_type
    salary: Salary | None = changes.get("salary")
    refuse_other_pay_type(pay_type, changes.get("pay_rate"), salary)
    frequency = changes.get("pay_frequency", employee.pay_frequency)
    if stays and employee.salary_per == "period" and salary is None and frequency != employee.pay_frequency:
        raise invalid(
            "pay_frequency", "changes how often the salary of a period is paid: send salary with it"
        )
    pay: dict[str, Any] = {
        "pay_type": pay_type,
        "pay_rate": changes.get("pay_rate", employee.pay_rate if stays else None),
        "salary": (employee.salary if stays else None) if salary is None else salary.amount,
        "salary_per": (employee.salary_per if stays else None) if salary is None else salary.per,
    }
    terms = PaidBy(
        **pay,
        pay_frequency=frequency,
        usual_weekly_hours=changes.get("usual_weekly_hours", employee.usual_weekly_hours),
    )
    if changes.keys() & _OF_PAY_ALONE or pay_type == "salary":
        pay["overtime_rate"] = _overtime_rate(employee, changes, terms)
    return pay


def _overtime_rate(employee: Employee, changes: Mapping[str, Any], terms: PayTerms) -> Decimal | None:
    """Return the overtime rate for new pay: the one sent, else one and a half times the pay if that is what it was,
    or if the pay type changes."""
    rate, rate_so_far = regular_rate(terms), regular_rate(employee)
    hourly = terms.pay_type == "hourly"
    least = "pay_rate" if hourly else f"the regular rate of the salary, {rate}"
    if "overtime_rate" in changes:
        return overtime_rate_of(rate, changes["overtime_rate"], least)
    if terms.pay_type != employee.pay_type:
        return overtime_rate_of(rate, None)
    follows = rate_so_far is not None and employee.overtime_rate == default_overtime_rate(rate_so_far)
    if rate is None or employee.overtime_rate is None or follows:
        return overtime_rate_of(rate, None)
    if employee.overtime_rate < rate:
        raise invalid(
            "pay_rate" if hourly else "salary",
            message(
                "pay_above_overtime_rate" if hourly else "salary_above_overtime_rate",
                rate=str(employee.overtime_rate),
            ),
        )
    return employee.overtime_rate
