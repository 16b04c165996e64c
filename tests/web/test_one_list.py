"""Whatever state a household is in: home, the calendar, state accounts, the API and the mail have the same to-dos."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.refusal import Refusal
from hearthpay.accounts import service as accounts
from hearthpay.accounts.models import Organization
from hearthpay.clock import FixedClock
from hearthpay.database import audit
from hearthpay.database.session import Database
from hearthpay.duties.service import items_of, mark_duty
from hearthpay.employees.service import terminate_employee
from hearthpay.employers.ein_status import note_ein_status
from hearthpay.employers.models import Employer
from hearthpay.employers.service import find_employer
from hearthpay.filing.commands import RecordFiling, RecordTaxPayment
from hearthpay.filing.filings import record_filing_of_household
from hearthpay.filing.service import (
    balances_of_household,
    balances_span,
    record_payment_of_household,
    reverse_payment_of_household,
)
from hearthpay.payroll.voiding import void_payroll
from hearthpay.people.recipients import NoticeReader
from hearthpay.people.sessions import SignedIn
from hearthpay.registrations.service import keep_number, note_application
from hearthpay.security.key_ring import KeyRing
from hearthpay.todos.reminders import due_reminders, duties_due_mail
from hearthpay.todos.service import HORIZON, read_agenda
from hearthpay.todos.to_do import MONTH, Agenda, ToDo
from hearthpay.todos.wording import action_with_amount_text, days_late_text
from hearthpay.web.presentation import money_text
from tests.http.api import SCOPES, Caller, data
from tests.web.people_browser import HOME, Browser
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

STATES = ("CA", "NY", "TX", "WA", "NJ", "MA", "PA", "CO")
PAYMENTS = frozenset({"pay_taxes", "file_and_pay"})


@dataclass
class Life:
    """A household to which random things happen."""

    world: World
    chance: random.Random
    payrolls: list[UUID] = field(default_factory=list)
    payments: list[UUID] = field(default_factory=list)
    weeks: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, world: World, chance: random.Random) -> Life:
        return cls(world, chance, weeks=chance.sample(range(44), 44))

    async def happen(self, times: int) -> None:
        deeds: list[Callable[[], Awaitable[None]]] = [
            self.pay,
            self.pay,
            self.pay,
            self.void,
            self.pay_taxes,
            self.pay_taxes,
            self.reverse,
            self.mark,
            self.file,
            self.apply,
            self.use_a_key,
            self.use_an_app,
            self.assign_a_rate,
        ]
        for _ in range(times):
            try:
                await self.chance.choice(deeds)()
            except Refusal as refused:
                if refused.code not in ("validation_error", "invalid_state"):  # such as a second filing
                    raise

    async def pay(self) -> None:
        weeks_ago = self.weeks.pop()
        self.payrolls.append(await self.world.pay(weeks_ago=weeks_ago, hours=self.chance.randint(5, 60)))

    async def void(self) -> None:
        if self.payrolls:
            payroll = self.payrolls.pop(self.chance.randrange(len(self.payrolls)))
            async with self._books() as (session, actor, clock, _):
                await void_payroll(session, actor, clock, payroll, "wrong hours")

    async def pay_taxes(self) -> None:
        async with self._books() as (session, actor, clock, employer):
            balances = await balances_of_household(session, actor, clock, employer)
            owed = [period for agency in balances for period in agency.periods if period.owed > 0]
            if owed:
                period = self.chance.choice(owed)
                amount = max(1, int(period.owed * self.chance.choice((0.3, 1, 1, 1, 1.2))))
                paid = RecordTaxPayment(
                    agency=period.agency.id,
                    account_type=period.account,
                    period=period.period,
                    amount=amount,
                    paid_on=clock.today(),
                    method="bank_account",
                )
                details = await record_payment_of_household(session, actor, clock, employer, paid)
                self.payments.append(details.payment.id)

    async def reverse(self) -> None:
        if self.payments:
            payment = self.payments.pop(self.chance.randrange(len(self.payments)))
            async with self._books() as (session, actor, clock, employer):
                await reverse_payment_of_household(session, actor, clock, employer, payment)

    async def mark(self) -> None:
        async with self._books() as (session, actor, clock, employer):
            items = await items_of(session, employer, clock.today(), *balances_span(clock.today()))
            key = self.chance.choice([item.key for item in items])
            await mark_duty(session, actor, clock, employer, key=key, done_on=clock.today())

    async def file(self) -> None:
        async with self._books() as (session, actor, clock, employer):
            items = await items_of(session, employer, clock.today(), *balances_span(clock.today()))
            returns = [item.key for item in items if item.kind == "return"]
            if returns:
                filed = RecordFiling(key=self.chance.choice(returns), filed_on=clock.today())
                await record_filing_of_household(session, actor, clock, employer, filed)

    async def apply(self) -> None:
        async with self._books() as (session, actor, clock, employer):
            if employer.ein_status == "none" and self.chance.random() < 0.5:
                await note_ein_status(session, actor, employer, "pending")
            else:
                await note_application(
                    session,
                    actor,
                    clock,
                    employer,
                    state=employer.state,
                    account_id="sui",
                    applied_on=clock.today(),
                )

    async def use_a_key(self) -> None:
        """Use a key of the household that expires within two weeks, or did so lately."""
        now = self.world.people_context.clock.now()
        self.world.connection.execute(
            "INSERT INTO api_keys (id, organization_id, employer_id, mode, scopes, key_hash, last_four, created_at, "
            "expires_at, last_used_at, confined) SELECT new_id(), organization_id, id, 'live', '{payroll}', %s, %s, "
            "%s, %s, %s, false FROM employers WHERE id = %s",
            (
                self.chance.randbytes(32),
                f"{self.chance.randrange(10_000):04}",
                now - timedelta(days=200),
                now + timedelta(days=self.chance.randint(-35, 16)),
                now - timedelta(days=self.chance.randint(0, 32)),
                self.world.household_id,
            ),
        )

    async def use_an_app(self) -> None:
        """Connect an app whose access ends within two weeks, or later; mostly it has acted since."""
        now = self.world.people_context.clock.now()
        [[grant]] = self.world.connection.execute(
            "INSERT INTO agent_grants (id, organization_id, employer_id, sandbox, person_id, client_id, client_name, "
            "returns_to, tools, demands_preview, resource, created_at, expires_at) SELECT new_id(), organization_id, "
            "id, sandbox, %s, %s, 'Helper', 'localhost', '{list_employees}', true, 'https://pay.example.com/mcp', %s, "
            "%s FROM employers WHERE id = %s RETURNING id",
            (
                self.world.owner.person_id,
                f"c{self.chance.randrange(3)}",
                now - timedelta(days=80),
                now + timedelta(days=self.chance.randint(1, 16)),
                self.world.household_id,
            ),
        ).fetchall()
        if self.chance.random() < 0.8:
            async with self._books() as (session, actor, _, employer):
                await audit.record(
                    session,
                    actor_kind="mcp",
                    actor_id=grant,
                    organization_id=actor.organization_id,
                    employer_id=employer.id,
                    sandbox=actor.sandbox,
                    action="mcp.call",
                    subject_id=None,
                    request_id="r",
                    details={},
                )

    async def assign_a_rate(self) -> None:
        self.world.connection.execute(
            "INSERT INTO assigned_rates SELECT organization_id, id, sandbox, %s, state, 0.021 FROM employers "
            "WHERE id = %s ON CONFLICT DO NOTHING",
            (self.chance.choice((2025, 2026)), self.world.household_id),
        )

    def _books(self) -> Any:
        return books(self.world)


class books:  # noqa: N801 - reads as the context it opens
    """The household's books, open for writing as its owner."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def __aenter__(self) -> tuple[Any, Any, Any, Employer]:
        world = self.world
        self.opened = world.people_context.database.transaction(world.actor.tenant)
        session = await self.opened.__aenter__()
        employer = await find_employer(session, world.actor, world.household_id)
        return session, world.actor, world.people_context.clock, employer

    async def __aexit__(self, *how: Any) -> None:
        await self.opened.__aexit__(*how)


@pytest.fixture
async def caller(
    app: FastAPI, owner_database: Database, clock: FixedClock, people: dict[str, SignedIn]
) -> Caller:
    """A key of the owner's organization."""
    organization_id = people["owner"].actor("r").organization_id
    async with owner_database.transaction(None) as session:
        organization = await session.get_one(Organization, organization_id)
        issued = await accounts.create_key(session, clock, organization, mode="live", scopes=SCOPES)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HOME)
    return Caller(client, issued.text, issued.id)


Row = tuple[str, int | None, bool]
"""A to-do as any list shows it: the page that it leads to, the amount in cents, and whether it is late."""


def rows_in(tree: Any, root: str) -> Counter[Row]:
    """The rows of a page's lists of to-dos."""
    found: Counter[Row] = Counter()
    for row in tree.iterfind(".//ul[@class='rows']/li"):
        link = row.find(".//a[@class='go']")
        amount = row.find("p[@class='sum']")
        cents = None if amount is None else int(amount.text.strip("$").replace(",", "").replace(".", ""))
        found[link.get("href").removeprefix(root), cents, "late" in row.get("class", "")] += 1
    return found


def listed(to_dos: Sequence[ToDo]) -> Counter[Row]:
    return Counter((each.path, each.amount, each.overdue) for each in to_dos)


def section_of(tree: Any, heading: str) -> set[str]:
    """Where the links lead of the section with this heading."""
    for section in tree.iterfind(".//section"):
        title = section.find("h2")
        if title is not None and "".join(title.itertext()).strip() == heading:
            return {link.get("href") for link in section.iterfind(".//li//a")}
    return set()


def words_of(response: httpx.Response) -> str:
    return " ".join("".join(parsed(response).itertext()).split())


async def assert_all_say_the_same(
    world: World, browser: Browser, caller: Caller, worker: Database, connection: psycopg.Connection
) -> bool:
    """Compare all lists of the household; return whether they are all clear."""
    clock, root = world.people_context.clock, f"/app/{world.household_id}"
    now, today = clock.now(), clock.today()
    async with books(world) as (session, actor, _, employer):
        agenda = await read_agenda(session, employer, now, today)
        balances = await balances_of_household(session, actor, clock, employer)
    assert len({each.id for each in agenda.to_dos}) == len(agenda.to_dos)

    async def by_api(**query: int) -> list[dict[str, Any]]:
        of = {"employer_id": str(world.household_id), **query}
        found: list[dict[str, Any]] = data(await caller.get("/to-dos", **of))
        return found

    due_now, everything = await by_api(), await by_api(due_within=HORIZON.days)
    assert [each["id"] for each in due_now] == [str(each.id) for each in agenda.now]
    assert {each["id"] for each in everything} == {
        str(each.id) for each in agenda.due_before(today + HORIZON)
    }

    # The home page.
    home = await browser.look(root)
    shown = rows_in(parsed(home), root)
    within_a_month = listed(agenda.due_before(today + MONTH))
    assert within_a_month - shown == Counter()
    assert shown - listed(agenda.to_dos) == Counter()
    if "All clear" in words_of(home):
        assert due_now == []
    elif due_now == []:
        assert "Welcome" in words_of(home)

    # The calendar.
    calendar = parsed(await browser.look(f"{root}/calendar"))
    of_items = [each for each in agenda.to_dos if each.subject_type == "calendar_item"]
    assert section_of(calendar, "Overdue") == {f"{root}{each.path}" for each in of_items if each.overdue}
    assert section_of(calendar, "Also to do") == {
        f"{root}{each.path}" for each in of_items if each.due_on and each.due_on < today and not each.overdue
    }
    links = {link.get("href") for link in calendar.iterfind(".//a")}
    dated = [each for each in agenda.to_dos if each.due_on is not None]
    assert {each.address for each in dated} <= links

    # State accounts.
    page = words_of(await browser.look(f"{root}/state-accounts"))
    to_apply = sum(1 for each in agenda.to_dos if each.kind == "register")
    accounts = "1 account" if to_apply == 1 else f"{to_apply} accounts"
    assert (f"Apply for {accounts}." in page) == bool(to_apply)

    # What the worker writes.
    async with worker.transaction(None) as session:
        employer = await session.get_one(Employer, world.household_id)
        seen = await read_agenda(session, employer, now, today)
    assert seen.to_dos == agenda.to_dos
    assert_mail_says_the_same(seen)

    # The ledger.
    owed = [period for agency in balances for period in agency.periods if period.keep_aside]
    due = [each for each in owed if each.due is not None and each.due <= today + HORIZON]
    open_by_key = {each.key: each.keep_aside for each in due}
    assert open_by_key == {each.key: each.amount for each in agenda.to_dos if each.kind in PAYMENTS}
    late = sum(each.keep_aside for each in due if each.status == "late")
    assert late == sum(each.amount or 0 for each in agenda.to_dos if each.kind in PAYMENTS and each.overdue)
    (paid,) = connection.execute(
        "SELECT coalesce(sum(amount), 0)::bigint FROM tax_payments WHERE employer_id = %s",
        (world.household_id,),
    ).fetchone() or (0,)
    assert sum(each.paid for each in balances) == paid
    assert sum(each.open for each in balances) == sum(each.owed for each in balances) - paid
    kept = sum(each.keep_aside for each in balances)
    aside = parsed(home).findall(".//div[@class='stack rail']//p[@class='figure']")
    assert (money_text(kept) in [figure.text for figure in aside]) or not kept
    return agenda.is_clear


def assert_mail_says_the_same(agenda: Agenda) -> None:
    today = agenda.today
    late = [each for each in agenda.to_dos if each.overdue]
    for ahead in range(15):
        due = due_reminders(agenda.to_dos, today - timedelta(days=ahead + 1), today)
        if not due:
            continue
        assert set(due) <= set(agenda.to_dos)
        mail = duties_due_mail(NoticeReader("home@example.com", "en"), "Maria", due, late, today)
        for each in (*due, *late):
            assert action_with_amount_text(each, "en", today) in mail.text
        assert mail.text.count("late.") >= sum(1 for each in late if days_late_text(each, "en", today))


async def _live(
    seeds: range,
    app: FastAPI,
    people: dict[str, SignedIn],
    connection: psycopg.Connection,
    clock: FixedClock,
    caller: Caller,
    worker: Database,
) -> None:
    browser = await _browser(app, "owner", clock)
    for seed in seeds:
        chance = random.Random(seed)
        world = await World.make(
            app.state.people_context, connection, people["owner"], state=chance.choice(STATES)
        )
        life = Life.of(world, chance)
        for _ in range(2):
            await life.happen(chance.randint(0, 8))
            await assert_all_say_the_same(world, browser, caller, worker, connection)


async def test_all_lists_of_a_household_say_the_same(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    caller: Caller,
    worker_database: Database,
) -> None:
    await _live(range(4), app, people, owner_connection, clock, caller, worker_database)


@pytest.mark.long
async def test_all_lists_of_two_hundred_households_say_the_same(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    caller: Caller,
    worker_database: Database,
) -> None:
    await _live(range(1_000, 1_200), app, people, owner_connection, clock, caller, worker_database)


async def test_a_household_is_all_clear_once_everything_is_done_and_not_before(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    caller: Caller,
    worker_database: Database,
    ring: KeyRing,
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    browser = await _browser(app, "owner", clock)
    await world.pay(weeks_ago=1)
    root = f"/app/{world.household_id}"
    assert not await assert_all_say_the_same(world, browser, caller, worker_database, owner_connection)
    async with books(world) as (session, actor, here, employer):
        await note_ein_status(session, actor, employer, "pending")
        await terminate_employee(session, actor, here, world.employee_id, here.today())
    kinds = set()
    while True:
        async with books(world) as (session, actor, here, employer):
            agenda = await read_agenda(session, employer, here.now(), here.today())
            items = [each for each in agenda.now if each.subject_type == "calendar_item"]
            if not items:
                break
            kinds.add(items[0].kind)
            await mark_duty(session, actor, here, employer, key=items[0].key, done_on=here.today())
    assert {"file_return", "file_report", "give_notice"} <= kinds
    assert {each.kind for each in agenda.now} == {"register"}
    assert "All clear" not in words_of(await browser.look(root))
    async with books(world) as (session, actor, here, employer):
        await keep_number(
            session, ring, actor, here, employer, state="CA", account_id="sui", number="123-4567-8"
        )
    assert await assert_all_say_the_same(world, browser, caller, worker_database, owner_connection)
    home = words_of(await browser.look(root))
    assert "All clear until" in home
    assert "Just done" in home
    assert "Filed with" not in home.partition("Just done")[2]  # that was said, and not recorded with a date
