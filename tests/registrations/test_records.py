"""From the records of a household to the facts, and from the rows to what the API tells."""

import datetime
from dataclasses import asdict
from uuid import UUID, uuid4

from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.registrations.derivation import (
    EmployeeFacts,
    HouseholdFacts,
    NumberOnFile,
    RegistrationApplication,
    WithholdingElection,
    registrations_of,
)
from hearthpay.registrations.records import household_facts
from hearthpay.registrations.schemas import item_of, revealed_item_of
from tests.registrations.facts import TODAY, first_hire, household, paid


def record(employee_id: UUID | None = None, **told: object) -> Employee:
    """A nanny in California as the database keeps her, with what is told otherwise."""
    usual: dict[str, object] = {
        "status": "active",
        "work_state": "CA",
        "residence_state": "CA",
        "relationship": "none",
        "federal_withholding": {},
        "state_withholding": {},
    }
    return Employee(id=employee_id or uuid4(), **usual | told)


def facts_of(*employees: Employee) -> tuple[EmployeeFacts, ...]:
    return household_facts(Employer(state="CA"), employees, {}, (), ()).employees


def test_a_record_without_elections_withholds():
    (nanny,) = facts_of(record())
    assert nanny == EmployeeFacts("CA", residence_state="CA")
    rows = registrations_of(household("CA", nanny), TODAY)
    assert next(row for row in rows if row.account_type == "withholding").required


def test_elections_and_certificates_are_taken_over():
    (commuter,) = facts_of(
        record(
            work_state="NJ",
            residence_state="PA",
            federal_withholding={"elected": False, "extra_withholding": "5.00"},
            state_withholding={"elected": True, "exempt": True, "reciprocity_certificate_on_file": True},
        )
    )
    assert commuter.election == WithholdingElection(False, True, True, True)
    assert (commuter.work_state, commuter.residence_state) == ("NJ", "PA")
    assert facts_of(record(state_withholding={"elected": False}))[0].election.state is False


def test_who_has_left_is_kept_with_the_wages_paid():
    gone, stays = uuid4(), uuid4()
    numbers = (NumberOnFile("CA", "edd", "6789"),)
    applications = (RegistrationApplication("NV", "sui", datetime.date(2026, 11, 2)),)
    facts = household_facts(
        Employer(state="NV"),
        [record(gone, status="terminated", end_date=TODAY), record(stays, relationship="parent")],
        {gone: paid("CA", 2000)},
        numbers,
        applications,
    )
    left = EmployeeFacts("CA", active=False, residence_state="CA", wages=paid("CA", 2000))
    mother = EmployeeFacts("CA", relationship="parent", residence_state="CA")
    assert facts == HouseholdFacts("NV", (left, mother), numbers, applications)


def test_an_item_tells_the_last_four_and_the_number_only_when_asked():
    facts = HouseholdFacts("NY", first_hire("NY"), (NumberOnFile("NY", "sui", "4567"),))
    sui, withholding, *_ = registrations_of(facts, TODAY)
    told = {
        "state_code": "NY",
        "account_type": "sui",
        "label": "New York UI employer registration number",
        "agency": "New York State Department of Labor",
        "registration_url": "https://www.businessexpress.ny.gov",
        "account_number_last_four": "4567",
        "status": "registered",
        "required": False,
        "required_from": None,
        "obligations": [],
        "assessment": {
            "status": "not_yet",
            "why": "An employee works in this state. The tax is owed once the wages of a quarter reach $500.00. "
            "This quarter has $0.00.",
            "why_codes": [{"code": "account_wages_below", "params": {"threshold": 500, "wages": 0}}],
        },
    }
    assert asdict(item_of(sui, {})) == told
    revealed = revealed_item_of(sui, {}, {("NY", "sui"): "12-34567 4"})
    assert asdict(revealed) == told | {"account_number": "12-34567 4"}
    assert "12-34567" not in repr(revealed)
    assert revealed_item_of(withholding, {}, {("NY", "sui"): "12-34567 4"}).account_number is None
