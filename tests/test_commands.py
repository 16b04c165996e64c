"""Services are asked in plain values: no face's model gets into them, and nothing is lost on the way in."""

import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import date
from decimal import Decimal, InvalidOperation
from importlib import import_module
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID

import pytest
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.employees.commands import AddEmployee, ChangeEmployee
from hearthpay.employees.schemas import EmployeeChanges, NewEmployee
from hearthpay.employers.commands import ChangeEmployer, CreateEmployer, PostalAddress
from hearthpay.employers.schemas import EmployerChanges, NewEmployer
from hearthpay.payroll.commands import Confirmations, EmployeePay, Order, PayrollQuery, SetAsideChoice
from hearthpay.payroll.schemas import PayrollRequest, PayrollsQuery
from hearthpay.unchanged import UNCHANGED, changes_of

ROSA = UUID("019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11")
PACKAGES = ("accounts", "banking", "employees", "employers", "payroll", "registrations")


def _services() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function that works on a session, by its full name."""
    for package in PACKAGES:
        root = import_module(f"hearthpay.{package}")
        for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            for name, function in inspect.getmembers(import_module(module.name), inspect.isfunction):
                own = function.__module__ == module.name
                if own and {AsyncSession, "AsyncSession"} & set(
                    map(_plain, function.__annotations__.values())
                ):
                    yield f"{module.name}.{name}", function


def _plain(hint: Any) -> Any:
    return hint if isinstance(hint, type | str) else None


def _types(hint: Any) -> Iterator[Any]:
    if get_origin(hint) is None:
        yield hint
    for part in get_args(hint):
        yield from _types(part)


def test_no_service_is_given_a_model_of_the_wire() -> None:
    services = dict(_services())
    assert {"hearthpay.payroll.service.run_payroll", "hearthpay.employees.service.create_employee"} <= set(
        services
    )
    given = {
        name: hint.__name__
        for name, function in services.items()
        for given_as in get_type_hints(function).values()
        for hint in _types(given_as)
        if inspect.isclass(hint) and issubclass(hint, BaseModel)
    }
    assert given == {}


@pytest.mark.parametrize(
    ("model", "command"),
    [
        (NewEmployee, AddEmployee),
        (EmployeeChanges, ChangeEmployee),
        (NewEmployer, CreateEmployer),
        (EmployerChanges, ChangeEmployer),
    ],
)
def test_a_command_has_what_the_wire_has(model: type[BaseModel], command: Any) -> None:
    assert {each.name for each in fields(command)} == set(model.model_fields)


def test_of_changes_only_what_was_sent_is_told() -> None:
    assert changes_of(EmployeeChanges().to_command()) == {}
    assert changes_of(EmployerChanges().to_command()) == {}
    sent: dict[str, Any] = {
        "email": None,
        "pay_rate": 20,
        "federal_withholding": {"extra_withholding": 5},
        "state_withholding": {"additional_withholding": None},
    }
    told = EmployeeChanges.model_validate(sent).to_command()
    assert changes_of(told) == sent | {
        "pay_rate": Decimal(20),
        "federal_withholding": {"extra_withholding": Decimal(5)},
    }
    assert told.overtime_rate is UNCHANGED


def test_an_address_changes_as_a_whole() -> None:
    sent = {"line1": "350 5th Ave", "city": "New York", "state": "NY", "zip": "10118"}
    address = PostalAddress(**sent)
    assert changes_of(EmployerChanges.model_validate({"address": sent}).to_command()) == {"address": address}
    assert changes_of(EmployerChanges.model_validate({"address": None}).to_command()) == {"address": None}
    new = {"first_name": "Maria", "last_name": "Lopez", "state": "NY", "address": sent}
    assert NewEmployer.model_validate(new).to_command() == CreateEmployer(
        first_name="Maria", last_name="Lopez", state="NY", address=address
    )


def test_an_order_says_what_the_request_said() -> None:
    entry = {
        "employee_id": str(ROSA),
        "regular_hours": 80,
        "overtime_hours": 2.5,
        "bonus": 100,
        "other_earnings": 12.34,
        "payment_method": "cash",
        "voluntary_set_aside": {"amount": 25},
    }
    request = PayrollRequest.model_validate(
        {
            "pay_period_start": "2026-11-02",
            "pay_period_end": "2026-11-15",
            "pay_date": "2026-11-20",
            "pay_frequency": "biweekly",
            "notes": "catch-up",
            "employer_id": str(ROSA),
            "employees": [entry],
            "confirm_ach_debit": True,
        }
    )
    assert request.to_order() == Order(
        pay_period_start=date(2026, 11, 2),
        pay_period_end=date(2026, 11, 15),
        pay_date=date(2026, 11, 20),
        pay_frequency="biweekly",
        notes="catch-up",
        employer_id=ROSA,
        employees=(
            EmployeePay(
                employee_id=ROSA,
                regular_hours=Decimal(80),
                overtime_hours=Decimal("2.5"),
                bonus=Decimal(100),
                other_earnings=Decimal("12.34"),
                payment_method="cash",
                voluntary_set_aside=SetAsideChoice(amount=Decimal(25)),
            ),
        ),
    )
    assert request.to_confirmations() == Confirmations(confirm_ach_debit=True)
    assert request.to_confirmations().given == ("confirm_ach_debit",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"bonus": Decimal("0.001")},
        {"other_earnings": Decimal(-1)},
        {"regular_hours": Decimal("0.0001")},
        {"overtime_hours": Decimal("NaN")},
    ],
)
def test_what_no_face_may_let_pass_is_no_command(wrong: dict[str, Decimal]) -> None:
    """Stored as whole cents, a part of one would be lost in silence."""
    with pytest.raises((ValueError, InvalidOperation)):
        EmployeePay(employee_id=ROSA, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="amount"):
        SetAsideChoice(amount=Decimal("1.005"))
    with pytest.raises(ValueError, match="somebody"):
        Order(
            pay_period_start=date(2026, 11, 2),
            pay_period_end=date(2026, 11, 15),
            pay_frequency="biweekly",
            employees=(),
        )


def test_a_list_is_asked_for_as_the_query_says() -> None:
    query = PayrollsQuery.model_validate(
        {
            "from": "2026-01-01",
            "to": "2026-12-31",
            "status": "completed",
            "employee_id": str(ROSA),
            "limit": "7",
        }
    )
    assert query.to_command() == PayrollQuery(
        since=date(2026, 1, 1), until=date(2026, 12, 31), status="completed", employee_id=ROSA, limit=7
    )


def test_commands_and_replays_need_no_framework() -> None:
    """Whoever makes a command, a page or a tool, loads nothing of HTTP for it."""
    modules = ("employees.commands", "employers.commands", "payroll.commands", "http.idempotent_writes")
    imports = "; ".join(f"import hearthpay.{module}" for module in modules)
    script = f"{imports}; import sys; print(sorted({{'fastapi', 'starlette'}} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
