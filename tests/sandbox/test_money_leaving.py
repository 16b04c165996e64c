"""What leaves a household within a month is what its account is debited: net pay, and what employees set aside."""

from datetime import date
from uuid import UUID

import psycopg

from hearthpay.database.session import Tenant
from hearthpay.payroll.ledger.costs import coming_payrolls, net_pay_leaving
from tests.http.api import data
from tests.sandbox.households import Lab


async def test_what_is_set_aside_leaves_with_the_net_pay_in_the_month_of_the_debit(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    saving = {
        "employee_id": employee_id,
        "regular_hours": 40,
        "payment_method": "direct_deposit",
        "voluntary_set_aside": {"amount": 50},
    }
    ran = await lab.run(employer_id, employee_id, "2026-11-16", "2026-11-22", employees=[saving])
    await lab.advance(employer_id, "2026-12-15")
    payroll = await lab.payroll(ran)
    assert payroll["status"] == "completed"
    # A check of December: its set-aside stays in the household's hands, and is debited by nobody.
    by_check = saving | {"payment_method": "check"}
    december = data(
        await lab.caller.post(
            "/payroll/run",
            {
                "employer_id": employer_id,
                "pay_period_start": "2026-12-07",
                "pay_period_end": "2026-12-13",
                "pay_date": "2026-12-15",
                "pay_frequency": "weekly",
                "employees": [by_check],
            },
        )
    )
    debits = owner_connection.execute(
        "SELECT sum(amount)::bigint, min(settle_on) FROM bank_entries WHERE kind = 'debit' AND employer_id = %s",
        (employer_id,),
    ).fetchone()
    assert debits is not None
    debited, left_on = debits
    assert debited == round(payroll["totals"]["total_net_pay"] * 100) + 5_000
    assert left_on.month == 11

    async with lab.database.transaction(Tenant(lab.organization_id, True)) as session:
        november = await net_pay_leaving(session, UUID(employer_id), date(2026, 11, 1), date(2026, 11, 30))
        of_december = await net_pay_leaving(session, UUID(employer_id), date(2026, 12, 1), date(2026, 12, 31))
    assert november == debited
    assert of_december == round(december["totals"]["total_net_pay"] * 100)


async def test_a_debit_that_is_presented_again_leaves_on_the_day_of_its_last_attempt(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    """The first attempt came back unpaid: nothing left the account on its day."""
    employer_id = await lab.household("debit_returned_r01")
    employee_id = await lab.employee(employer_id)
    ran = await lab.run(employer_id, employee_id, "2026-11-16", "2026-11-22")
    await lab.advance(employer_id, "2026-11-25")
    debits = owner_connection.execute(
        "SELECT attempt, settle_on, amount FROM bank_entries WHERE kind = 'debit' AND employer_id = %s "
        "ORDER BY attempt",
        (employer_id,),
    ).fetchall()
    [(_, first_day, _), (second, last_day, amount)] = debits
    assert (second, first_day, last_day) == (2, date(2026, 11, 23), date(2026, 11, 27))

    async with lab.database.transaction(Tenant(lab.organization_id, True)) as session:
        [coming] = await coming_payrolls(session, UUID(employer_id), limit=5)
        before = await net_pay_leaving(session, UUID(employer_id), date(2026, 11, 1), date(2026, 11, 26))
        on_the_day = await net_pay_leaving(session, UUID(employer_id), last_day, last_day)
    assert (str(coming.payroll_id), coming.leaves_on) == (ran, last_day)
    assert (before, on_the_day) == (0, amount)
