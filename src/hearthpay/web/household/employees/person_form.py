"""The form for profile and job: read, checked as the API checks it, and shown again with what was entered."""

from dataclasses import replace
from decimal import Decimal
from typing import Final

from hearthpay.employees.commands import AddEmployee, ChangeEmployee
from hearthpay.employees.schemas import EmployeeChanges, EmployeeDetail, NewEmployee
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.context import HouseholdContext
from hearthpay.web.household.employees.words import (
    FREQUENCIES,
    LANGUAGES,
    METHODS,
    PAY_TYPES,
    RELATIONS,
    SALARY_SPANS,
)
from hearthpay.web.household.form_parsing import Entries

_ADDRESS: Final = ("line1", "line2", "city", "state", "zip")
_LARGEST_SALARY: Final = Decimal("9999999.99")
_NO_SALARY: Final = mark("Leave this blank, or choose “A salary” above.")
_NO_RATE: Final = mark("Leave this blank, or choose “By the hour” above.")
_SALARY_RANGE: Final = mark("Enter an amount above $0, up to $9,999,999.99.")
CHOICES: Final = {
    "frequencies": FREQUENCIES,
    "methods": METHODS,
    "pay_types": PAY_TYPES,
    "salary_spans": SALARY_SPANS,
    "relations": RELATIONS,
    "languages": LANGUAGES,
    "states": tuple(STATES.items()),
}
"""The options of the form's lists."""


def read_new(at: HouseholdContext, entries: Entries) -> AddEmployee | None:
    """Return the employee to add; None if something is wrong, which the form then shows."""
    values = _person(entries) | {"employer_id": at.id, "payment_method": entries.text("payment_method")}
    values |= pay_in(entries)
    found = entries.checked(NewEmployee, values)
    return None if found is None else found.to_command()


def read_changes(entries: Entries) -> ChangeEmployee | None:
    """Return the changes; an emptied field is cleared if it is optional."""
    values = _person(entries)
    for name in ("first_name", "last_name", "start_date"):
        if values[name] is None:
            entries.problems.setdefault(name, "Fill in this field.")
    found = entries.checked(EmployeeChanges, values)
    if found is None:
        return None
    changes = found.to_command()
    return replace(
        changes,
        email=None if values["email"] is None else changes.email,
        birth_year=None if values["birth_year"] is None else changes.birth_year,
        address=None if values["address"] is None else changes.address,
    )


def pay_in(entries: Entries) -> dict[str, object]:
    """Return the pay as in a request; reports a mix of hourly rate and salary."""
    pay_type = entries.text("pay_type") or "hourly"
    salary, pay_rate = entries.amount("salary"), entries.amount("pay_rate")
    if pay_type == "hourly" and salary is not None:
        entries.problems.setdefault("salary", _NO_SALARY)
    if pay_type == "salary" and pay_rate is not None:
        entries.problems.setdefault("pay_rate", _NO_RATE)
    if salary is not None and not 0 < salary <= _LARGEST_SALARY:
        entries.problems.setdefault("salary", _SALARY_RANGE)
    return {
        "pay_type": pay_type,
        "pay_rate": pay_rate,
        "salary": None if salary is None else {"amount": salary, "per": entries.text("salary_per") or "year"},
        "usual_weekly_hours": entries.amount("usual_weekly_hours"),
        "overtime_rate": entries.amount("overtime_rate"),
    }


def form_values_of(employee: EmployeeDetail) -> dict[str, str]:
    """Return the form's values before anything was typed."""
    address = employee.address
    held = {
        "first_name": employee.first_name,
        "last_name": employee.last_name,
        "email": employee.email,
        "start_date": employee.start_date.isoformat(),
        "pay_frequency": employee.pay_frequency,
        "relationship": employee.relationship,
        "birth_year": employee.birth_year,
        "work_state": employee.work_state,
        "language": employee.language,
        "lives_in": "on" if employee.lives_in else None,
    } | {f"address_{name}": None if address is None else getattr(address, name) for name in _ADDRESS}
    return {name: str(value) for name, value in held.items() if value is not None}


def _person(entries: Entries) -> dict[str, object]:
    return {
        "first_name": entries.text("first_name"),
        "last_name": entries.text("last_name"),
        "email": entries.text("email"),
        "start_date": entries.day("start_date"),
        "pay_frequency": entries.text("pay_frequency"),
        "relationship": entries.text("relationship"),
        "birth_year": entries.number("birth_year"),
        "lives_in": entries.ticked("lives_in"),
        "work_state": entries.text("work_state"),
        "language": entries.text("language"),
        "address": address_in(entries),
    }


def address_in(entries: Entries) -> dict[str, str] | None:
    """Return the address as in a request; None if nothing but the state was filled in."""
    typed = {name: entries.text(f"address_{name}") for name in _ADDRESS}
    filled = {name: value for name, value in typed.items() if value is not None}
    return filled if filled.keys() - {"state"} else None
