"""Server time of a household's pages at 1,000 payrolls, beside a page that asks for nothing of its own.

Run by itself: `python -m benchmarks.household_pages [--payrolls 1000] [--employees 20] [--times 15]`.
The pages are asked in this process, without a network; the page to compare with is `more`, which finds the visitor and
the household and draws the frame.
"""

import argparse
import asyncio
import datetime
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Final
from uuid import UUID

import httpx
from sqlalchemy import text

from benchmarks.event_loop import new_event_loop
from benchmarks.report import Aim, Row, print_table
from hearthpay.access.actor import Actor
from hearthpay.accounts import service as accounts
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import SystemClock
from hearthpay.database.session import Database
from hearthpay.database.startup import Addresses, open_database
from hearthpay.employees.commands import AddEmployee
from hearthpay.employees.service import create_employee
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.service import create_employer
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.service import run_payroll
from hearthpay.people.events import Visit
from hearthpay.people.operators import invite_by_operator
from hearthpay.people.sessions import find_session
from hearthpay.people.sign_up import NewPerson, join_as_new_person
from hearthpay.process import collect_garbage_rarely, configure_logging
from hearthpay.security.key_ring import EncryptionKey, KeyRing

AIM: Final = Aim(30, at_least=False)
NOTHING: Final = "more"
PAGES: Final = (
    "",
    "taxes",
    "taxes/owed",
    "taxes/owed.csv",
    "taxes/wages",
    "taxes/wages.csv",
    "taxes/estimated",
    "taxes/papers",
    "state-accounts",
    "calendar",
    "bank",
    "bank/authorization",
    "bank/set-asides",
)
_HOME: Final = "https://pay.example.com"
_ROOM: Final = {"requests_per_day": 1_000_000_000, "employees_per_household": None}
_VISIT: Final = Visit("127.0.0.1", "benchmark", "benchmark")


@dataclass(frozen=True, slots=True)
class BenchmarkVisit:
    """Somebody who is signed in at a household."""

    client: httpx.AsyncClient
    household_id: UUID

    async def look(self, page: str) -> float:
        """Return how many milliseconds a page takes."""
        began = time.perf_counter()
        response = await self.client.get(f"/app/{self.household_id}/{page}".rstrip("/"))
        took = (time.perf_counter() - began) * 1000
        if response.status_code != httpx.codes.OK:
            raise RuntimeError(f"{page} answers {response.status_code}")
        return took


async def main(payrolls: int, employees: int, times: int, pages: Sequence[str]) -> None:
    """Fill a household, ask for each page, print the table."""
    async with _visiting(payrolls, employees) as visit:
        for page in (NOTHING, *pages):
            await visit.look(page)
        collect_garbage_rarely()  # as a server does once it has started
        # Taken in turns: whatever else the machine does meets all of them alike.
        samples: dict[str, list[float]] = {page: [] for page in (NOTHING, *pages)}
        for _ in range(times):
            for page, taken in samples.items():
                taken.append(await visit.look(page))
    nothing = median(samples[NOTHING])
    rows = [Row(f"/{NOTHING}, the page that asks for nothing", f"{nothing:.1f} ms")]
    for page in pages:
        taken = median(samples[page])
        rows.append(Row(f"/{page}", f"{taken:.1f} ms", f"{nothing:.1f} ms", taken / nothing, AIM, taken))
    print(f"{payrolls:,} payrolls of {employees} employees, medians of {times}")
    print_table(rows)


@asynccontextmanager
async def _visiting(payrolls: int, employees: int) -> AsyncIterator[BenchmarkVisit]:
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-bench-"))
    clock, ring = SystemClock(), KeyRing((EncryptionKey.generate(),))
    try:
        async with open_database(folder, Addresses()) as opened:
            async with opened.as_operator() as operator, operator.transaction(None) as session:
                organization = await accounts.create_organization(session, clock, "Benchmark")
                await accounts.set_plan(session, organization, "professional")
                await accounts.lift_limits(session, organization, _ROOM)
                email = "owner@example.com"
                invited = await invite_by_operator(session, clock, organization.id, email, "owner")
            app = create_app(opened.database, clock, AppSettings(public_url=_HOME, ring=ring))
            people_context = app.state.people_context
            new = NewPerson("Owner", "orchid-tractor-58", "en")
            entered = await join_as_new_person(people_context, invited.token.text, new, _VISIT)
            who = await find_session(people_context, entered.token.text)
            if who is None:
                raise RuntimeError("nobody is signed in")
            household = await _fill(opened.database, who.actor("benchmark"), clock, payrolls, employees)
            async with opened.as_operator() as operator, operator.transaction(None) as session:
                await session.execute(text("ANALYZE"))  # as the server does within a minute
            cookies = {"__Host-hearthpay": entered.token.text}
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url=_HOME, cookies=cookies) as client:
                yield BenchmarkVisit(client, household)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _fill(database: Database, actor: Actor, clock: SystemClock, payrolls: int, employees: int) -> UUID:
    """Make a household whose payrolls each paid one employee a week, in retrospect."""
    weeks = -(-payrolls // employees)
    last = clock.today() - datetime.timedelta(days=7)
    began = last - datetime.timedelta(weeks=weeks)
    async with database.transaction(actor.tenant) as session:
        told = CreateEmployer(first_name="Maria", last_name="Lopez", state="CA", email="maria@example.com")
        household = (await create_employer(session, actor, clock, told)).id
        people = [
            (
                await create_employee(
                    session,
                    actor,
                    clock,
                    AddEmployee(
                        first_name=f"Rosa {number}",
                        last_name="Diaz",
                        employer_id=household,
                        email=f"rosa{number}@example.com",
                        pay_rate=Decimal("28.50"),
                        pay_frequency="weekly",
                        start_date=began,
                    ),
                )
            ).employee.id
            for number in range(employees)
        ]
    for number in range(payrolls):
        end = began + datetime.timedelta(weeks=number // employees, days=6)
        order = Order(
            employer_id=household,
            pay_period_start=end - datetime.timedelta(days=6),
            pay_period_end=end,
            pay_date=end,
            pay_frequency="weekly",
            employees=(
                EmployeePay(
                    employee_id=people[number % employees], regular_hours=Decimal(20), payment_method="check"
                ),
            ),
            notes="catch-up",
        )
        async with database.transaction(actor.tenant) as session:
            await run_payroll(session, actor, clock, order, direct_deposit_enabled=False)
    return household


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--payrolls", type=int, default=1_000)
    parser.add_argument("--employees", type=int, default=20)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--pages", nargs="*", default=PAGES)
    asked = parser.parse_args()
    configure_logging("info")  # as a server does: a line of JSON for each request
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main(asked.payrolls, asked.employees, asked.times, tuple(asked.pages)))
