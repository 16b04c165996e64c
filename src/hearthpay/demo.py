"""The demonstration: two sandbox households on a temporary database, through the real API."""

import asyncio
import datetime
import json
import shutil
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from uuid import UUID

from rich.console import Console
from rich.table import Table

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES
from hearthpay.accounts import service as accounts
from hearthpay.app import AppSettings, create_app
from hearthpay.banking.accounts import AccountDetails, connect_household_account
from hearthpay.banking.calendar import earliest_pay_date
from hearthpay.clock import Clock, FixedClock, SystemClock
from hearthpay.database.startup import Addresses, OpenedDatabase, open_database
from hearthpay.employers.models import Employer
from hearthpay.payroll.payday.bank_day import advance
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_numbers import parse_number
from hearthpay.server import running
from hearthpay.taxes.rulebook import supported_years

WEEKS = 3

_PATIENCE = 30  # seconds

_ROUTING = "021000021"
_ACCOUNT = "123456789"

_DAY_OF_THE_LAST_YEAR = (12, 15, 17)
"""15 December, noon in New York."""


@dataclass(frozen=True, slots=True)
class Family:
    """A sandbox household and its employee."""

    employer: dict[str, Any]
    employee: dict[str, Any]
    hours: tuple[Decimal, ...]


FAMILIES = (
    Family(
        {"first_name": "Maria", "last_name": "Lopez", "email": "maria.lopez@example.com", "state": "CA"},
        {
            "first_name": "Rosa",
            "last_name": "Diaz",
            "pay_rate": 28.5,
            "pay_frequency": "weekly",
            "federal_withholding": {"filing_status": "head_of_household", "dependents_credit": 2200},
            "state_withholding": {"filing_status": "head_of_household", "regular_allowances": 2},
        },
        (Decimal(40), Decimal("38.5"), Decimal(40)),
    ),
    Family(
        {"first_name": "David", "last_name": "Cohen", "email": "david.cohen@example.com", "state": "NY"},
        {
            "first_name": "Anna",
            "last_name": "Kowalska",
            "pay_rate": 32,
            "pay_frequency": "weekly",
            "locality": "NYC",
        },
        (Decimal(35), Decimal(35), Decimal(35)),
    ),
)


class Api:
    """The API as a client sees it: requests over a socket, each in a thread beside the server's event loop."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._key = key

    async def get(self, path: str, **query: Any) -> Any:
        """Return the data of a GET."""
        return await asyncio.to_thread(
            self._call, "GET", f"{path}?{urlencode(query)}" if query else path, None, {}
        )

    async def post(self, path: str, body: dict[str, Any], **headers: str) -> Any:
        """Return the data of a POST."""
        return await asyncio.to_thread(self._call, "POST", path, json.dumps(body).encode(), headers)

    async def fill_in(self, page: str, **fields: str) -> None:
        """Submit the form of a page, as a browser does; raises HTTPError if it is refused."""
        form = Request(page, urlencode(fields).encode())  # noqa: S310 - a link of our own server
        await asyncio.to_thread(lambda: urlopen(form, timeout=_PATIENCE).close())  # noqa: S310

    def _call(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
        every = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        url = f"{self._address}/api/v1{path}"
        request = Request(url, body, every | headers, method=method)  # noqa: S310 - our own server's address
        try:
            with urlopen(request, timeout=_PATIENCE) as response:  # noqa: S310
                answer = json.load(response)
        except HTTPError as error:
            answer = json.load(error)
        if not answer["success"]:
            raise RuntimeError(f"{path}: {answer['error']}")
        return answer["data"]


@dataclass(frozen=True, slots=True)
class Town:
    """The surroundings of the API: the worker, its clock, and the household's bank."""

    opened: OpenedDatabase
    clock: FixedClock
    ring: KeyRing
    organization_id: UUID

    async def connect_household(self, employer_id: str) -> None:
        """Connect the household's bank account, as its operator does."""
        operator = Actor.operator(self.organization_id, sandbox=True, request_id="demo")
        details = AccountDetails(
            parse_number("bank_routing", _ROUTING), parse_number("bank_account", _ACCOUNT), "checking"
        )
        async with self.opened.database.transaction(operator.tenant) as session:
            employer = await session.get_one(Employer, UUID(employer_id))
            now = self.clock.now()
            await connect_household_account(session, self.ring, operator, employer, details, now)

    async def pass_through(self, last_day: datetime.date) -> None:
        """Let the days pass through the last one, and the worker do what is due."""
        async with self.opened.as_worker(1) as database:
            while self.clock.today() <= last_day:
                await advance(database, self.ring, None, self.clock)
                # So that no cut-off of a bank is missed, whatever time it is now.
                self.clock.advance(datetime.timedelta(hours=3))


async def run_demo(today: Clock | None = None) -> int:
    """Run the demonstration as of now, or of another moment, and print it; return the exit code."""
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-demo-"))
    try:
        await run_demo_in(folder, today or SystemClock())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


async def run_demo_in(data_dir: Path, today: Clock) -> None:
    """Run the demonstration on the private PostgreSQL of a data directory, which is made if it is empty."""
    console = Console()
    with console.status("Starting a private PostgreSQL …") as status:
        async with open_database(data_dir, Addresses()) as opened:
            status.stop()
            await _show(console, opened, today)


def demo_clock(today: Clock) -> FixedClock:
    """Return the demonstration's clock: now, or in the last year with rules if the current year has none.

    At the end of a year, direct deposit already arrives in the next.
    """
    years = supported_years()
    if earliest_pay_date(today.now()).year in years:
        return FixedClock(today.now())
    return FixedClock(datetime.datetime(max(years), *_DAY_OF_THE_LAST_YEAR, tzinfo=datetime.UTC))


async def _show(console: Console, opened: OpenedDatabase, today: Clock) -> None:
    clock = demo_clock(today)
    async with opened.as_operator() as operator, operator.transaction(None) as session:
        organization = await accounts.create_organization(session, clock, "Demo agency")
        key = await accounts.create_key(session, clock, organization, mode="test", scopes=SCOPES)
    ring = KeyRing((EncryptionKey.generate(),))
    async with running(create_app(opened.database, clock, AppSettings(ring=ring)), "127.0.0.1", 0) as (
        address,
        _,
    ):
        console.print(f"The API answers at [bold]{address}[/]; a test key reaches sandbox households only.\n")
        api = Api(address, key.text)
        await _calculator(console, api)
        await _thresholds(console, api)
        for family in FAMILIES:
            employee = await _payrolls(console, api, family, clock.today())
        await _direct_deposit(console, api, employee, Town(opened, clock, ring, organization.id))


async def _calculator(console: Console, api: Api) -> None:
    table = Table(title="POST /calculate — 35,000 a year, biweekly, single", title_justify="left")
    for column in (
        "State",
        "Household taxes",
        "Effective rate",
        "Withheld",
        "Net paycheck",
        "Cost of a paycheck",
    ):
        table.add_column(column, justify="left" if column == "State" else "right")
    for family in FAMILIES:
        state = family.employer["state"]
        data = await api.post("/calculate", {"state": state, "annual_wages": 35000})
        table.add_row(
            data["state_name"],
            _money(data["employer_taxes"]["total"]),
            f"{data['employer_taxes']['effective_rate']:.2f} %",
            _money(data["employee_taxes_estimate"]["total"]),
            _money(data["per_paycheck"]["net_pay"]),
            _money(data["per_paycheck"]["total_cost"]),
        )
    console.print(table)


async def _thresholds(console: Console, api: Api) -> None:
    table = Table(title="GET /threshold", title_justify="left")
    for column in ("State", "Wages a year", "Social Security and Medicare", "State, a quarter", "State"):
        table.add_column(column, justify="right" if column == "Wages a year" else "left")
    for state, wages in (("CA", 2000), ("CA", 2900), ("NY", 3500)):
        data = await api.get("/threshold", state=state, annual_wages=wages)
        table.add_row(
            state,
            _money(wages),
            f"{data['federal']['status']} {_money(data['federal']['fica_threshold'])}",
            _money(data["state_threshold"]["threshold_quarterly"]),
            data["state_threshold"]["status"],
        )
    console.print(table)


async def _payrolls(console: Console, api: Api, family: Family, today: datetime.date) -> dict[str, Any]:
    """Hire, preview and run; return the employee with the household's id."""
    employer = await api.post("/employers", family.employer)
    hired = today - datetime.timedelta(days=60)
    employee = await api.post(
        "/employees", {"employer_id": employer["id"], "start_date": hired.isoformat(), **family.employee}
    )
    state = family.employer["state"]
    monday = today - datetime.timedelta(days=today.weekday() + 7 * WEEKS)
    bodies = [
        {
            "employer_id": employer["id"],
            "pay_period_start": (monday + datetime.timedelta(days=7 * week)).isoformat(),
            "pay_period_end": (monday + datetime.timedelta(days=7 * week + 6)).isoformat(),
            "pay_date": (monday + datetime.timedelta(days=7 * week + 6)).isoformat(),
            "pay_frequency": "weekly",
            "employees": [
                {"employee_id": employee["id"], "regular_hours": float(hours), "payment_method": "check"}
            ],
        }
        for week, hours in enumerate(family.hours)
    ]
    preview = await api.post("/payroll/preview", bodies[0])
    _show_paycheck(console, state, preview["employees"][0])
    table = Table(
        title=f"POST /payroll/run — {employee['name']}, {state}: three payrolls, year to date growing",
        title_justify="left",
    )
    for column in ("Pay date", "Gross", "Withheld", "Net", "Gross YTD", "Net YTD", "Status"):
        left = column in ("Pay date", "Status")
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for body in bodies:
        run = await api.post(
            "/payroll/run", body, **{"Idempotency-Key": f"{employee['id']}-{body['pay_date']}"}
        )
        (paycheck,) = run["employees"]
        table.add_row(
            run["pay_period"]["pay_date"],
            _money(paycheck["gross_pay"]),
            _money(paycheck["employee_taxes"]["total"]),
            _money(paycheck["net_pay"]),
            _money(paycheck["ytd"]["gross_pay"]),
            _money(paycheck["ytd"]["net_pay"]),
            run["status"],
        )
    console.print(table)
    return {**employee, "employer_id": employer["id"]}


async def _direct_deposit(console: Console, api: Api, employee: dict[str, Any], town: Town) -> None:
    """Connect both accounts, run a payroll by direct deposit, and let the days pass until the wages arrive."""
    await town.connect_household(employee["employer_id"])
    invitation = await api.post(f"/employees/{employee['id']}/invite", {"type": "bank_account"})
    await api.fill_in(
        invitation["portal_url"],
        routing_number=_ROUTING,
        account_number=_ACCOUNT,
        account_number_again=_ACCOUNT,
        account_type="checking",
    )
    monday = town.clock.today() - datetime.timedelta(days=town.clock.today().weekday())
    entry = {"employee_id": employee["id"], "regular_hours": 35, "payment_method": "direct_deposit"}
    run = await api.post(
        "/payroll/run",
        {
            "employer_id": employee["employer_id"],
            "pay_period_start": monday.isoformat(),
            "pay_period_end": (monday + datetime.timedelta(days=6)).isoformat(),
            "pay_frequency": "weekly",
            "employees": [entry],
            "confirm_ach_debit": True,
        },
    )
    pay_date = datetime.date.fromisoformat(run["pay_period"]["pay_date"])
    await town.pass_through(pay_date)
    payroll = await api.get(f"/payroll/{run['payroll_id']}")
    net = _money(payroll["totals"]["total_net_pay"])
    table = Table(
        title=f"Direct deposit — {employee['name']}, {net} on {pay_date}, through the sandbox's simulated bank",
        title_justify="left",
    )
    for column in ("Status", "Since (UTC)", "Caused by"):
        table.add_column(column)
    for step in payroll["status_history"]:
        table.add_row(step["status"], step["at"], step["actor"])
    console.print(table)
    if payroll["status"] != "completed":
        raise RuntimeError(f"the direct deposit is {payroll['status']}")


def _show_paycheck(console: Console, state: str, paycheck: dict[str, Any]) -> None:
    table = Table(
        title=f"POST /payroll/preview — {paycheck['name']}, {state}: every line of the first paycheck",
        title_justify="left",
    )
    for column in ("Code", "Tax", "Paid by", "Taxable wages", "Rate", "Amount"):
        table.add_column(column, justify="left" if column in ("Code", "Tax", "Paid by") else "right")
    for line in paycheck["lines"]:
        rate = "by table" if line["rate"] is None else f"{line['rate'] * 100:.4g} %"
        table.add_row(
            line["code"],
            line["name"],
            line["payer"],
            _money(line["taxable_wages"]),
            rate,
            _money(line["amount"]),
        )
    console.print(table)


def _money(amount: float) -> str:
    return f"{amount:,.2f}"
