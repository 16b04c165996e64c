"""The server's time for the list of payrolls at a thousand of them, beside a page that does nothing.

Run by itself: `python -m benchmarks.payroll_pages [--payrolls 1000]`. Each figure is the median of requests to the
application in this process, without a network; the page that does nothing is `More`, which finds the visitor and the
household as every page does.
"""

import argparse
import asyncio
import time
from statistics import median
from typing import Final
from uuid import UUID

import httpx
import psycopg

from benchmarks.event_loop import new_event_loop
from benchmarks.installation import Installation, installation
from benchmarks.report import Aim, Row, print_table
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import SystemClock
from hearthpay.database.session import Database
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.first_owner import become_first_owner, offer_first_owner
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.web.visitor import SESSION_COOKIE

PAYROLLS: Final = 1_000
AIM: Final = Aim(50, at_least=False)
_TIMES: Final = 60
_HOME: Final = "https://bench.example.com"
_PLAN: Final = "UPDATE organizations SET plan = 'professional' WHERE id = %(organization)s"
_HOUSEHOLD: Final = (
    "INSERT INTO employers (id, organization_id, sandbox, first_name, last_name, state, email, is_primary, created_at) "
    "VALUES (new_id(), %(organization)s, false, 'Ada', 'Household', 'TX', 'ada@example.com', true, now()) RETURNING id"
)
_EMPLOYEE: Final = (
    "INSERT INTO employees (id, organization_id, employer_id, sandbox, first_name, last_name, work_state, "
    "residence_state, pay_frequency, start_date, payment_method, pay_rate_cents, overtime_rate_cents, created_at, "
    "updated_at) VALUES (new_id(), %(organization)s, %(household)s, "
    "false, 'Rosa', 'Diaz', 'TX', 'TX', 'weekly', '2005-01-01', 'check', 2500, 3750, now(), now()) RETURNING id"
)
# Ids grow with the pay date, as they do where payrolls are run week by week.
_PAYROLLS: Final = (
    "INSERT INTO payrolls (id, organization_id, employer_id, sandbox, status, period_start, period_end, pay_date, "
    "pay_date_defaulted, pay_frequency, kind, rulebook_version, tax_year, gross_pay, total_deductions, net_pay, "
    "employer_taxes, total_cost, direct_deposit, created_by_kind, created_at) "
    "SELECT new_id(), %(organization)s, %(household)s, false, 'completed', d.day - 7, d.day - 1, d.day, false, "
    "'weekly', 'regular', '2026', extract(year FROM d.day), 100000, 7650, 92350, 7650, 107650, false, 'key', now() "
    "FROM (SELECT date '2026-11-20' - 7 * (%(number)s - n) AS day FROM generate_series(1, %(number)s) n) d "
    "ORDER BY d.day"
)
_ENTRIES: Final = (
    "INSERT INTO payroll_entries (organization_id, employer_id, sandbox, payroll_id, position, employee_id, period, "
    "live, payment_method, regular_hours, regular_pay, overtime_hours, overtime_pay, bonus, other_earnings) "
    "SELECT organization_id, employer_id, false, id, 0, %(employee)s, "
    "daterange(period_start, period_end, '[]'), true, 'check', 40, 100000, 0, 0, 0, 0 FROM payrolls"
)


def fill(owner: psycopg.Connection[tuple[UUID, ...]], organization: UUID, payrolls: int) -> UUID:
    """Write a household that paid one employee week after week; return its id."""
    facts = {"organization": organization, "number": payrolls}
    owner.execute(_PLAN, facts)
    (household,) = owner.execute(_HOUSEHOLD, facts).fetchone() or ()
    facts["household"] = household
    (employee,) = owner.execute(_EMPLOYEE, facts).fetchone() or ()
    owner.execute(_PAYROLLS, facts)
    owner.execute(_ENTRIES, facts | {"employee": employee})
    owner.execute("ANALYZE")
    return household


async def sign_in(installed: Installation, people_context: PeopleContext) -> str:
    """Make the organization's first owner; return what her browser is known by."""
    operator = Database(installed.owner_url, role=installed.owner, pool_size=1)
    try:
        async with operator.transaction(None) as session:
            token = await offer_first_owner(session, people_context.clock)
    finally:
        await operator.dispose()
    assert token is not None, "nobody owns it yet"
    new = NewPerson("Ada", "orchid-tractor-58", "en")
    entered = await become_first_owner(
        people_context, token.text, "ada@example.com", new, "Benchmark", Visit(None, None, "benchmark")
    )
    return entered.token.text


async def measure(browser: httpx.AsyncClient, household: UUID, payrolls: int) -> list[Row]:
    """Ask for the pages in turn, so that what else the machine does meets them alike."""
    at = f"/app/{household}"
    paths = {
        "the page that does nothing": f"{at}/more",
        f"the list, {payrolls:,} payrolls": f"{at}/payrolls",
        "the list of one year, by check": f"{at}/payrolls?year=2026&method=check",
        "the form of a new one": f"{at}/payrolls/new",
        f"the file of all {payrolls:,}": f"{at}/payrolls/download",
    }
    took: dict[str, list[float]] = {name: [] for name in paths}
    for turn in range(_TIMES + 5):
        for name, path in paths.items():
            began = time.perf_counter()
            response = await browser.get(path)
            milliseconds = (time.perf_counter() - began) * 1000
            assert response.status_code == 200, (path, response.status_code)
            if turn >= 5:  # the first ones load what the others find loaded
                took[name].append(milliseconds)
    medians = {name: median(samples) for name, samples in took.items()}
    nothing, *others = medians
    rows = [Row(nothing, f"{medians[nothing]:.1f} ms")]
    for name in others:
        against = f"{medians[nothing]:.1f} ms"
        aim = AIM if name.startswith("the list") else None
        ratio = medians[name] / medians[nothing]
        rows.append(Row(name, f"{medians[name]:.1f} ms", against, ratio, aim, medians[name]))
    return rows


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--payrolls", type=int, default=PAYROLLS)
    payrolls = parser.parse_args().payrolls
    async with installation() as installed:
        clock, ring = SystemClock(), KeyRing((EncryptionKey.generate(),))
        app = create_app(installed.database, clock, AppSettings(public_url=_HOME, ring=ring))
        token = await sign_in(installed, app.state.people_context)
        url = installed.owner_url.replace("postgresql+psycopg://", "postgresql://")
        with psycopg.connect(url, autocommit=True) as owner:
            household = fill(owner, installed.organization_id, payrolls)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url=_HOME, cookies={SESSION_COOKIE: token}
        ) as browser:
            print_table(await measure(browser, household, payrolls))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
