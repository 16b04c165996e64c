"""A worker that is killed in the middle of an advance loses nothing, doubles nothing, and the next one goes on."""

import random
from typing import Any

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.session import Database
from hearthpay.security.key_ring import KeyRing
from tests.autopilot.mortal_worker import mortal_workers
from tests.autopilot.proving import proved
from tests.autopilot.test_worker_kills import nothing_under_way
from tests.sandbox.households import Lab
from tests.worlds.households import payroll_of

FACTS = {
    "payrolls": "status, pay_date, net_pay, scheduled_send_at, period_start FROM payrolls",
    "transitions": "t.from_status, t.to_status, t.at FROM payroll_transitions t",
    "money": "kind, amount, attempt, status, send_on, settle_on, effective_date, return_code, updated_at "
    "FROM bank_entries",
    "periods": "period_start, pay_date, send_at, outcome, net_pay, decided_at FROM autopilot_periods",
    "events": "event, at FROM autopilot_events",
    "mails": "kind, status, reason, created_at FROM mail_outbox",
    "paychecks": "gross_pay, net_pay, tax_year, reverses IS NULL FROM paychecks",
}
"""What came of an advance, without the ids."""


async def settle_in(lab: Lab) -> str:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    await lab.caller.post("/payroll/run", payroll_of(employer_id, employee_id))
    await lab.enroll(employer_id, employee_id, "2026-11-16")
    second = await lab.employee(employer_id, "credit_returned_r03", first_name="Ines")
    await lab.run(employer_id, second, "2026-11-16", "2026-11-22")
    return employer_id


@pytest.mark.parametrize(
    ("until", "most"), [("2026-12-04", 600), pytest.param("2026-12-20", 250, marks=pytest.mark.long)]
)
async def test_an_advance_survives_its_workers(
    lab: Lab,
    ring: KeyRing,
    server: EmbeddedServer,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    until: str,
    most: int,
) -> None:
    undisturbed, killed = await settle_in(lab), await settle_in(lab)
    await lab.advance(undisturbed, until)
    await lab.ask(killed, until)

    chance, deaths = random.Random(7), 0
    with mortal_workers(server.owner_url(), ring.newest.entry()) as workers:
        while workers.work("clocks", lab.clock.now(), chance.randint(1, most)):
            nothing_under_way(owner_connection)
            deaths += 1
    assert deaths >= 3

    assert (await lab.now(killed))["status"] == "ready"
    assert facts(owner_connection, killed) == facts(owner_connection, undisturbed)
    await proved(owner_database, lab.clock, whole=True)


def facts(connection: psycopg.Connection, employer_id: str) -> dict[str, list[Any]]:
    return {
        what: sorted(
            connection.execute(f"SELECT {columns} WHERE employer_id = %s", (employer_id,)).fetchall(), key=str
        )
        for what, columns in FACTS.items()
    }
