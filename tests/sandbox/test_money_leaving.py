"""What an upcoming payroll takes from a household is what its account is debited: net pay, and what is set aside."""

from datetime import UTC, date, datetime
from uuid import UUID

import psycopg

from hearthpay.database.session import Tenant
from hearthpay.payroll.ledger.costs import coming_payrolls, costs_by_month
from tests.http.api import data
from tests.sandbox.households import Lab

NOW = datetime(2026, 11, 25, 17, tzinfo=UTC)


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
    async with lab.database.transaction(Tenant(lab.organization_id, True)) as session:
        [coming] = await coming_payrolls(
            session, UUID(employer_id), date(2026, 11, 20), lab.clock.now(), limit=5
        )
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
    assert (coming.net_pay + coming.set_aside, coming.leaves_on) == (debited, left_on)

    async with lab.database.transaction(Tenant(lab.organization_id, True)) as session:
        assert (
            await coming_payrolls(
                session,
                UUID(employer_id),
                date(2026, 12, 16),
                datetime(2026, 12, 16, 17, tzinfo=UTC),
                limit=5,
            )
            == []
        )
        months = await costs_by_month(session, UUID(employer_id), date(2026, 11, 1), date(2026, 12, 31))
    by_month = {each.month: each.to_employees for each in months}
    paid_on = coming.pay_date
    by_hand = round(december["totals"]["total_net_pay"] * 100) + 5_000
    expected = {date(2026, 12, 1): by_hand}
    expected[paid_on.replace(day=1)] = expected.get(paid_on.replace(day=1), 0) + debited
    assert by_month == expected


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
        [coming] = await coming_payrolls(session, UUID(employer_id), date(2026, 11, 25), NOW, limit=5)
    assert (str(coming.payroll_id), coming.leaves_on, coming.net_pay + coming.set_aside) == (
        ran,
        last_day,
        amount,
    )
