"""The to-dos about debits that nobody has authorized: of a scheduled payroll, and of Autopilot."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg

from hearthpay.access.actor import Actor
from hearthpay.banking.authorizations import authorize
from hearthpay.employers.models import Employer
from tests.http.api import data
from tests.sandbox.households import Lab


async def to_dos(lab: Lab, employer_id: str, kind: str) -> list[dict[str, Any]]:
    found = data(await lab.caller.get("/to-dos", employer_id=employer_id, due_within=150))
    return [each for each in found if each["kind"] == kind]


async def test_a_scheduled_payroll_without_an_authorization_is_a_to_do_until_there_is_one(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    ran = await lab.run(employer_id, employee_id, "2026-12-07", "2026-12-13", pay_date="2026-12-18")
    assert (await lab.payroll(ran))["status"] == "scheduled"
    assert await to_dos(lab, employer_id, "authorization_needed") == []
    owner_connection.execute("UPDATE ach_authorizations SET revoked_at = authorized_at")
    [row] = await to_dos(lab, employer_id, "authorization_needed")
    payroll = await lab.payroll(ran)
    amount = payroll["totals"]["total_net_pay"]
    assert (row["title"], row["amount"]) == (f"Authorize the ${amount:,.2f} debit by Fri, Dec 11", amount)
    assert (row["due_on"], row["overdue"], row["payment"]["stage"]) == ("2026-12-11", False, "authorize")
    assert row["subject"] == {"object_type": "payroll", "object_id": ran}
    assert row["link"].endswith(f"/app/{employer_id}/bank/authorization")
    actor = Actor.operator(lab.organization_id, sandbox=True, request_id="sandbox-test")
    async with lab.database.transaction(actor.tenant) as session:
        employer = await session.get_one(Employer, UUID(employer_id))
        await authorize(session, actor, employer, lab.clock.now() + timedelta(minutes=1))
    assert await to_dos(lab, employer_id, "authorization_needed") == []


async def test_autopilot_without_a_standing_authorization_is_a_to_do(
    lab: Lab, owner_connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    await lab.run(employer_id, employee_id, "2026-11-16", "2026-11-22")
    await lab.advance(employer_id, "2026-12-01")
    await lab.enroll(employer_id, employee_id, "2026-11-30")
    assert await to_dos(lab, employer_id, "authorize_autopilot") == []
    owner_connection.execute("UPDATE autopilot_authorizations SET ended_at = authorized_at")
    [row] = await to_dos(lab, employer_id, "authorize_autopilot")
    assert row["title"] == "Authorize Autopilot's debits for Rosa Diaz, payday December 15, 2026"
    [[enrollment]] = owner_connection.execute("SELECT id FROM autopilot_enrollments").fetchall()
    assert row["link"].endswith(f"/app/{employer_id}/autopilot/{enrollment}/agree")
    assert row["subject"] == {"object_type": "employee", "object_id": employee_id}
