"""Calls with the client that openapi-python-client makes, and files: `python calls.py ADDRESS TEST_KEY FOLDER`."""

import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from hearthpay_client import AuthenticatedClient
from hearthpay_client.api.calculator import calculate
from hearthpay_client.api.documents import (
    get_document,
    issue_efw_2,
    issue_paystub,
    issue_year_package,
    list_documents,
)
from hearthpay_client.api.employees import create_employee
from hearthpay_client.api.employers import create_employer
from hearthpay_client.api.payroll import list_payrolls, preview_payroll, run_payroll
from hearthpay_client.api.sandbox import set_sandbox_ein
from hearthpay_client.models import (
    Address,
    Calculation,
    Efw2Request,
    Efw2Submitter,
    ErrorCode,
    ErrorEnvelope,
    NewEmployee,
    NewEmployer,
    OtherError,
    PayDatePastDeadlineError,
    PayrollEmployee,
    PayrollEmployeePaymentMethodType0,
    PayrollRequest,
    PayrollRequestPayFrequency,
    PaystubRequest,
    TestEin,
    TestEinMagic,
    ValidationError,
    YearPackageRequest,
)
from hearthpay_client.types import File

Envelope = TypeVar("Envelope")


HOME = Address(line1="2201 Mission St", city="San Francisco", state="CA", zip_="94110")


def accepted(answer: Envelope | ErrorEnvelope | None) -> Envelope:
    """The answer, which is neither a refusal nor undocumented."""
    assert answer is not None
    assert not isinstance(answer, ErrorEnvelope), answer
    return answer


def call(client: AuthenticatedClient, folder: Path) -> None:
    """Calculate, hire, preview, run and list; then save what papers there are of it."""
    estimate = accepted(calculate.sync(client=client, body=Calculation(state="CA", annual_wages=35000)))
    assert estimate.data.employer_taxes.total > 0
    household = accepted(
        create_employer.sync(
            client=client,
            body=NewEmployer(
                first_name="Maria", last_name="Lopez", state="CA", email="maria@example.com", address=HOME
            ),
        )
    ).data
    employee = accepted(
        create_employee.sync(
            client=client,
            body=NewEmployee(
                first_name="Rosa",
                last_name="Diaz",
                pay_rate=28.5,
                start_date=date(2026, 1, 5),
                employer_id=household.id,
                address=HOME,
            ),
            idempotency_key="rosa",
        )
    ).data
    payroll = PayrollRequest(
        pay_period_start=date(2026, 11, 2),
        pay_period_end=date(2026, 11, 15),
        pay_frequency=PayrollRequestPayFrequency.BIWEEKLY,
        pay_date=date(2026, 11, 20),
        employer_id=household.id,
        employees=[
            PayrollEmployee(
                employee_id=employee.id,
                regular_hours=80,
                payment_method=PayrollEmployeePaymentMethodType0.CHECK,
            )
        ],
    )
    preview = accepted(preview_payroll.sync(client=client, body=payroll)).data
    run = accepted(run_payroll.sync(client=client, body=payroll)).data
    assert run.totals.total_net_pay == preview.totals.total_net_pay > 0
    (listed,) = accepted(list_payrolls.sync(client=client, employer_id=household.id)).data
    assert listed.payroll_id == run.payroll_id
    refused(client, payroll)
    accepted(set_sandbox_ein.sync(household.id, client=client, body=TestEin(magic=TestEinMagic.ASSIGNED)))
    save(client, folder, household.id, run.payroll_id)


def refused(client: AuthenticatedClient, payroll: PayrollRequest) -> None:
    """Read the details of refusals, each with its types."""
    nobody = preview_payroll.sync(
        client=client, body=PayrollRequest.from_dict({**payroll.to_dict(), "employees": []})
    )
    assert isinstance(nobody, ErrorEnvelope)
    assert isinstance(nobody.error, ValidationError)
    assert nobody.error.details
    assert nobody.error.details[0].field == "employees"
    deposit = PayrollRequest.from_dict(payroll.to_dict())
    deposit.employees[0].payment_method = PayrollEmployeePaymentMethodType0.DIRECT_DEPOSIT
    too_early = preview_payroll.sync(client=client, body=deposit)
    assert isinstance(too_early, ErrorEnvelope)
    assert isinstance(too_early.error, PayDatePastDeadlineError), too_early
    days: timedelta = too_early.error.details.next_valid_pay_date - too_early.error.details.pay_date
    assert days > timedelta(0)
    stranger = preview_payroll.sync(
        client=AuthenticatedClient(base_url=sys.argv[1], token="none"), body=payroll
    )
    assert isinstance(stranger, ErrorEnvelope)
    assert isinstance(stranger.error, OtherError)
    assert stranger.error.code == ErrorCode.AUTHENTICATION_REQUIRED
    newer = {**stranger.to_dict(), "error": {"code": "of_tomorrow", "message": "", "details": {"a": 1}}}
    unknown = ErrorEnvelope.from_dict(newer).error
    assert isinstance(unknown, OtherError)
    assert unknown.code == "of_tomorrow"
    assert unknown["details"] == {"a": 1}


def save(client: AuthenticatedClient, folder: Path, employer_id: UUID, payroll_id: UUID) -> None:
    """Save a pay stub, the wage file and the year's package; and the pay stub again, from the archive."""
    year = date(2026, 12, 31).year
    submitter = Efw2Submitter(user_id="AB12CD34", phone="415-555-0134")
    stub = accepted(
        issue_paystub.sync(client=client, body=PaystubRequest(payroll_id=payroll_id, employer_id=employer_id))
    )
    (folder / "stub.pdf").write_bytes(stub.payload.read())
    listed = accepted(list_documents.sync(client=client, employer_id=employer_id)).data
    (issued,) = (each.id for each in listed if each.kind == "paystub")
    again = accepted(get_document.sync(issued, client=client))
    assert isinstance(again, File)
    (folder / "again.pdf").write_bytes(again.payload.read())
    wages = accepted(
        issue_efw_2.sync(
            client=client, body=Efw2Request(tax_year=year, submitter=submitter, employer_id=employer_id)
        )
    )
    (folder / "wages.txt").write_text(wages, encoding="ascii", newline="")
    package = accepted(
        issue_year_package.sync(
            client=client,
            body=YearPackageRequest(tax_year=year, submitter=submitter, employer_id=employer_id),
        )
    )
    assert isinstance(package, File)
    (folder / "package.zip").write_bytes(package.payload.read())


if __name__ == "__main__":
    call(AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2]), Path(sys.argv[3]))
