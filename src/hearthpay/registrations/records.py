"""The facts from employee records on which a household's registrations depend."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.registrations.derivation import (
    EmployeeFacts,
    HouseholdFacts,
    NumberOnFile,
    RegistrationApplication,
    WagesOfQuarter,
    WithholdingElection,
)


def household_facts(
    employer: Employer,
    employees: Sequence[Employee],
    wages: Mapping[UUID, tuple[WagesOfQuarter, ...]],
    numbers: tuple[NumberOnFile, ...],
    applications: tuple[RegistrationApplication, ...],
) -> HouseholdFacts:
    """Return the facts of a household, with all its employees, including those who left.

    ``wages`` are what each was paid this year and the one before, by the employee's id.
    """
    everyone = tuple(_employee_facts(employee, wages.get(employee.id, ())) for employee in employees)
    return HouseholdFacts(employer.state, everyone, numbers, applications)


def _employee_facts(employee: Employee, wages: tuple[WagesOfQuarter, ...]) -> EmployeeFacts:
    return EmployeeFacts(
        work_state=employee.work_state,
        active=employee.status == "active",
        relationship=employee.relationship,
        residence_state=employee.residence_state,
        localities=tuple(employee.localities or ()),
        certificate=employee.state_withholding,
        election=_election(employee.federal_withholding, employee.state_withholding),
        wages=wages,
    )


def _election(federal: Mapping[str, Any], state: Mapping[str, Any]) -> WithholdingElection:
    return WithholdingElection(
        federal=federal.get("elected", True),
        state=state.get("elected"),
        exempt=state.get("exempt", False),
        reciprocity_certificate=state.get("reciprocity_certificate_on_file", False),
    )
