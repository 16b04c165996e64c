"""Five calls with the client that openapi-python-client makes: `python calls.py ADDRESS KEY`."""

import sys
from datetime import date
from typing import TypeVar

from hearthpay_client import AuthenticatedClient
from hearthpay_client.api.calculator import calculate
from hearthpay_client.api.employees import create_employee
from hearthpay_client.api.employers import create_employer
from hearthpay_client.api.payroll import list_payrolls, preview_payroll, run_payroll
from hearthpay_client.models import (
    Calculation,
    ErrorEnvelope,
    NewEmployee,
    NewEmployer,
    PayrollEmployee,
    PayrollEmployeePaymentMethodType0,
    PayrollRequest,
    PayrollRequestPayFrequency,
)

Envelope = TypeVar("Envelope")


def accepted(answer: Envelope | ErrorEnvelope | None) -> Envelope:
    """The answer, which is neither a refusal nor undocumented."""
    assert answer is not None
    assert not isinstance(answer, ErrorEnvelope), answer
    return answer


def call(client: AuthenticatedClient) -> None:
    """Calculate, hire, preview, run and list."""
    estimate = accepted(calculate.sync(client=client, body=Calculation(state="CA", annual_wages=35000)))
    assert estimate.data.employer_taxes.total > 0
    household = accepted(
        create_employer.sync(
            client=client,
            body=NewEmployer(first_name="Maria", last_name="Lopez", state="CA", email="maria@example.com"),
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
    refusal = preview_payroll.sync(
        client=client, body=PayrollRequest.from_dict({**payroll.to_dict(), "employees": []})
    )
    assert isinstance(refusal, ErrorEnvelope)
    assert refusal.error.code == "validation_error"


if __name__ == "__main__":
    call(AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2]))
