"""The form about a person and the job: read, checked as the API checks it, and shown again with what was entered."""

from dataclasses import replace
from typing import Final

from hearthpay.employees.commands import AddEmployee, ChangeEmployee
from hearthpay.employees.schemas import EmployeeChanges, EmployeeDetail, NewEmployee
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.employees.words import FREQUENCIES, LANGUAGES, METHODS, RELATIONS
from hearthpay.web.household.entry import Entries
from hearthpay.web.household.place import AtHousehold

_ADDRESS: Final = ("line1", "line2", "city", "state", "zip")
CHOICES: Final = {
    "frequencies": FREQUENCIES,
    "methods": METHODS,
    "relations": RELATIONS,
    "languages": LANGUAGES,
    "states": tuple(sorted(STATES)),
}
"""What the form's lists have."""


def read_new(at: AtHousehold, entries: Entries) -> AddEmployee | None:
    """Return who is to be added; None where something is wrong, which the entries tell."""
    values = _person(entries) | {
        "employer_id": at.id,
        "pay_rate": entries.amount("pay_rate"),
        "overtime_rate": entries.amount("overtime_rate"),
        "payment_method": entries.text("payment_method"),
    }
    found = entries.checked(NewEmployee, values)
    return None if found is None else found.to_command()


def read_changes(entries: Entries) -> ChangeEmployee | None:
    """Return what is to change; a field that was emptied is taken out where the employee can be without it."""
    values = _person(entries)
    for name in ("first_name", "last_name", "start_date"):
        if values[name] is None:
            entries.problems.setdefault(name, "is required")
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


def entered_of(employee: EmployeeDetail) -> dict[str, str]:
    """Return what the form holds before anything was typed."""
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
    """Return the address as a request has it; None where nothing of it but the state was filled in."""
    typed = {name: entries.text(f"address_{name}") for name in _ADDRESS}
    filled = {name: value for name, value in typed.items() if value is not None}
    return filled if filled.keys() - {"state"} else None
