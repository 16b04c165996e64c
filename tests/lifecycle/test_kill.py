"""A payday under fire: workers, API and PostgreSQL are killed at random, and yet everything happens exactly once."""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from benchmarks.payday_data import PAYDAY, Payday, PaydayHousehold, make_payday

from hearthpay.access.actor import Actor
from hearthpay.access.plans import LIMITS, terms_of
from hearthpay.banking.calendar import add_banking_days, is_banking_day
from hearthpay.banking.entries import effective_by
from hearthpay.banking.files import current_cut_off
from hearthpay.banking.settlement import RETURN_DAYS
from hearthpay.clock import BUSINESS_TIME, FixedClock
from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine, open_for_reading
from hearthpay.doctor.reconciliation import reconcile
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.service import run_payroll
from hearthpay.payroll.voiding import void_payroll
from hearthpay.security.key_ring import KEY_FILE, KeyRing, open_key_file
from tests.database.sealing import service_database
from tests.lifecycle.killing.bank import RefusingBank
from tests.lifecycle.killing.families import Families
from tests.lifecycle.killing.place import Place, TravellingClock
from tests.lifecycle.killing.staff import VICTIMS, Books, Staff, wait_until
from tests.worlds.installations import install

LONGEST = timedelta(days=20)
"""By then all payments of a payday have come to rest: the last is a third debit's credit."""

ALREADY = 5
"""Payrolls run at once shortly before the cut-off: their debits wait for the same file."""

FILE_BEFORE = add_banking_days(PAYDAY, -2)
"""The day of an earlier file, whose debits come back while the payday goes on."""

MOMENTS = 12
"""After the payday, at which the kills are spread; there are some more."""

SENT = ["scheduled", "firing", "pending_funding"]
DUE = "SELECT count(*) FROM payrolls WHERE status = 'scheduled' AND scheduled_send_at <= %s"
SENT_SO_FAR = "SELECT count(*) FROM bank_entries WHERE kind = 'debit' AND attempt = 1"
UNSETTLED = (
    "SELECT count(*) FROM bank_entries WHERE status = 'sent' "
    "AND effective_date <= CASE WHEN kind = 'debit' THEN %s::date ELSE %s::date END"
)
UNSENT = (
    "SELECT count(*) FROM bank_entries WHERE status = 'pending' AND send_on <= %s "
    "AND NOT EXISTS (SELECT FROM bank_files WHERE cut_off = %s)"
)
UNDELIVERED = "SELECT count(*) FROM bank_files WHERE status <> 'delivered'"
UNDER_WAY = (
    "SELECT (SELECT count(*) FROM bank_entries WHERE status IN ('pending', 'sent')) + (SELECT count(*) FROM payrolls "
    "WHERE status NOT IN ('completed', 'voided', 'failed'))"
)


@dataclass(frozen=True, slots=True)
class Before:
    """Households whose only debits left in an earlier file, and may come back on the payday; the payrolls of these."""

    households: tuple[PaydayHousehold, ...]
    payrolls: tuple[UUID, ...]


@dataclass
class Siege:
    """A payday of households at a place, lived through under kills; `seed` makes every choice but the system's own."""

    place: Place
    server: EmbeddedServer
    clock: TravellingClock
    ring: KeyRing
    payday: Payday
    already: tuple[UUID, ...]
    """Payrolls whose money is being collected when the payday begins."""
    before: Before
    seed: int
    refusals: int

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.books = Books(self.server.owner_url())
        self.bank = RefusingBank(self.place, random.Random(self.seed + 1), self.refusals)
        self.staff = Staff(self.place)
        self.families = Families(
            self.staff, self.payday, random.Random(self.seed + 2), len(self.payday.households) // 10
        )
        self.in_time = 0
        """Kills while payrolls were still to be sent or their file to be delivered."""
        self.returned_in_time = 0
        """Return files that came while payrolls were still to be sent or their file to be delivered."""

    def live_through(self, payday_kills: int, later_kills: int) -> None:
        """Let it be payday, and the days after it until no money is on its way any more."""
        self.clock.go_to(at(FILE_BEFORE, 15, 1))
        with self.staff:
            wait_until(lambda: self.staff.has_worker() and self.staff.address)
            wait_until(self._at_rest)
            self.clock.go_to(at(PAYDAY, 14, 59))
            self.families.start()
            try:
                self.clock.go_to(self.payday.due_at)
                self._payday(payday_kills)
            finally:
                self.families.finish()
            self._days_after(later_kills)
            self.families.ask_all_again()
            wait_until(self.staff.everybody_is_at_work)
            assert set(self.staff.stop().values()) == {0}

    def _payday(self, kills: int) -> None:
        due = len(self.payday.households)
        victims = self._victims(kills)
        answers = self.bank.answers(PAYDAY, parts=max(1, kills // 2))
        for number, progress in enumerate(sorted([0.0, *(self.chance.random() for _ in victims[1:])])):
            wait_until(lambda progress=progress: self._sent() >= progress * due or self._at_rest())
            if answers and number % 2 == 0:
                self.returned_in_time += not self._at_rest()
                self.bank.leave(answers.pop(), self.clock.now())
            time.sleep(self.chance.uniform(0, 0.5))
            self.in_time += not self._at_rest()
            self.staff.kill(victims.pop(), self.chance)
        wait_until(self._at_rest)

    def _days_after(self, kills: int) -> None:
        victims = self._victims(kills)
        at_once = -(-kills // MOMENTS)
        day = PAYDAY
        while self.books.one(UNDER_WAY):
            day += timedelta(days=1)
            assert day < PAYDAY + LONGEST, self._outline()
            if not is_banking_day(day):
                continue
            morning = at(day, 10)
            self.clock.go_to(morning)
            if self.bank.answer(day, morning):
                self._kill_some(victims, at_once)
                wait_until(self._at_rest)
            self.clock.go_to(at(day, 15, 1))
            self._kill_some(victims, at_once)
            wait_until(self._at_rest)

    def _kill_some(self, victims: list[str], most: int) -> None:
        for _ in range(min(most, len(victims))):
            time.sleep(self.chance.uniform(0, 0.8))
            self.staff.kill(victims.pop(), self.chance)

    def _victims(self, count: int) -> list[str]:
        """So many, of each sort in turn, in random order."""
        victims = [VICTIMS[number % len(VICTIMS)] for number in range(count)]
        self.chance.shuffle(victims)
        return victims

    def _sent(self) -> int:
        return self.books.one(SENT_SO_FAR) - len(self.before.payrolls)

    def _at_rest(self) -> bool:
        """Whether all that is due now is done, down to the bank's folder."""
        self.staff.require_health()
        now = self.clock.now()
        cut_off = current_cut_off(now)
        return not (
            [path for path in self.place.inbox.glob("*") if path.suffix != ".part"]
            or self.books.one(DUE, now)
            or self.books.one(UNSETTLED, effective_by(now, RETURN_DAYS), effective_by(now, 0))
            or self.books.one(UNSENT, cut_off, cut_off)
            or self.books.one(UNDELIVERED)
        )

    def _outline(self) -> list[tuple[Any, ...]]:
        return self.books.ask(
            "SELECT p.status, e.kind, e.status, e.send_on, count(*) FROM payrolls p "
            "JOIN bank_entries e ON e.payroll_id = p.id GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        )

    def check_payrolls(self) -> Counter[str]:
        """Each payroll of the payday was sent once or voided once, and ended as the bank has it; returns the ends."""
        due = [each.payroll_id for each in self.payday.households]
        begun = {*self.already, *self.before.payrolls}
        steps: dict[UUID, list[str]] = {each: [] for each in (*due, *begun)}
        for payroll_id, status in self.books.ask(
            "SELECT payroll_id, to_status FROM payroll_transitions WHERE payroll_id = ANY(%s) ORDER BY id",
            list(steps),
        ):
            steps[payroll_id].append(status)
        refused = self._payrolls_refused()
        ends: Counter[str] = Counter()
        for payroll_id, history in steps.items():
            if payroll_id in begun:
                history[:0] = SENT[:2]  # these began with what is left of a sent one's history
            if payroll_id in self.families.voided:
                assert history == ["scheduled", "voided"], history
            elif payroll_id in refused:
                assert history[:3] == SENT, history
                assert history[3:] in (
                    ["failed"],
                    ["processing", "failed"],
                    ["processing", "completed", "failed"],
                )
            else:
                assert history == [*SENT, "processing", "completed"], history
            ends[history[-1]] += 1
        assert not self.families.voided & self.families.too_late
        return ends

    def _payrolls_refused(self) -> set[UUID]:
        """The payrolls that must fail: a debit may be tried three times where money is all it lacked."""
        rows = self.books.ask(
            "SELECT trace_number, payroll_id, attempt, status, return_code FROM bank_entries "
            "WHERE trace_number = ANY(%s)",
            list(self.bank.refused),
        )
        assert len(rows) == len(self.bank.refused)
        assert {row[0]: row[4] for row in rows} == self.bank.refused
        assert {row[3] for row in rows} == {"returned"}
        return {row[1] for row in rows if row[4] != "R01" or row[2] == 3}

    def check_files(self) -> None:
        """What lies at the bank is what was built, each file once, each payment once, each to its own account."""
        built = self.books.ask("SELECT name, sha256, status FROM bank_files ORDER BY name")
        files = {path.name: path.read_bytes() for path in sorted(self.place.outbox.glob("*"))}
        assert [(name, hashlib.sha256(content).digest()) for name, content in files.items()] == [
            (name, bytes(digest)) for name, digest, _ in built
        ]
        assert {status for _, _, status in built} == {"delivered"}
        said = Counter(
            (name, entry.trace, entry.account, entry.amount_cents, entry.code.is_debit)
            for name, file in self.bank.files().items()
            for batch in file.batches
            for entry in batch.entries
        )
        accounts = {each.employer_id: each for each in (*self.payday.households, *self.before.households)}
        requested = Counter(
            (
                name,
                trace,
                accounts[employer].own_account if own else accounts[employer].employee_account,
                amount,
                kind == "debit",
            )
            for name, trace, employer, own, amount, kind in self.books.ask(
                "SELECT f.name, e.trace_number, e.employer_id, a.employee_id IS NULL, e.amount, e.kind "
                "FROM bank_entries e JOIN bank_files f ON f.id = e.file_id "
                "JOIN bank_accounts a ON a.id = e.bank_account_id"
            )
        )
        assert said == requested
        assert set(said.values()) == {1}

    def check_pay_dates(self) -> None:
        """Everything due at the cut-off of the payday is in that day's file, so that wages arrive when they must."""
        days = self.books.ask(
            "SELECT f.cut_off, count(*) FROM bank_entries e JOIN bank_files f ON f.id = e.file_id "
            "WHERE e.kind = 'debit' AND e.attempt = 1 GROUP BY 1 ORDER BY 1"
        )
        sent = len(self.payday.households) - len(self.families.voided) + len(self.already)
        assert days == [(FILE_BEFORE, len(self.before.payrolls)), (PAYDAY, sent)]
        arrivals = self.books.ask(
            "SELECT DISTINCT e.effective_date FROM bank_entries e WHERE e.kind = 'credit' AND e.status <> 'cancelled' "
            "AND NOT EXISTS (SELECT FROM bank_entries d WHERE d.payroll_id = e.payroll_id AND d.attempt > 1) "
            "AND e.payroll_id <> ALL(%s)",
            list(self.before.payrolls),
        )
        assert arrivals == [(self.payday.pay_date,)]

    def check_runs(self) -> None:
        """What was answered to families stands in the books, once."""
        found = Counter(
            (employer_id, start, payroll_id)
            for employer_id, start, payroll_id in self.books.ask(
                "SELECT employer_id, period_start, id FROM payrolls WHERE NOT direct_deposit"
            )
        )
        assert found == Counter(
            (check.household.employer_id, check.day, payroll_id)
            for check, payroll_id in self.families.paid.items()
        )

    async def check_books(self) -> None:
        """The files reconcile, and the doctor finds nothing."""
        owner = Database(self.server.owner_url(), role=OWNER_ROLE, pool_size=1)
        reading = open_for_reading(self.server.owner_url(), OWNER_ROLE)
        try:
            async with owner.transaction(None) as session:
                reconciled = await reconcile(session, self.ring, self.clock.now())
            async with reading.transaction(None) as session:
                results = await examine(session, self.clock.now(), lambda *_: None)
        finally:
            await owner.dispose()
            await reading.dispose()
        assert reconciled.findings == ()
        assert reconciled.files >= 4
        assert [(result.name, result.differences) for result in results if result.found] == []


def at(day: date, hour: int, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=BUSINESS_TIME)


@pytest.fixture
def place() -> Iterator[Place]:
    root = Path(tempfile.mkdtemp(prefix="hearthpay-siege-"))
    root.chmod(0o755)  # the database's own account must reach its directory below
    try:
        yield Place(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


@asynccontextmanager
async def besieged(place: Place, *, seed: int, households: int, refusals: int) -> AsyncIterator[Siege]:
    """A database of its own with a payday in it, and debits of an earlier file: seven for each sort of refusal."""
    server = await asyncio.to_thread(install, place.data)
    await asyncio.to_thread(server.start)
    try:
        ring = open_key_file(place.data / KEY_FILE)
        earlier = 7 * refusals
        made = await make_payday(
            server.owner_url(), server.service_url(), ring, households=households + earlier
        )
        payday = replace(made, households=made.households[:households])
        before = await run_before(server.service_url(), payday, made.households[households:])
        clock = TravellingClock(place.time)
        place.inbox.mkdir(parents=True)
        already = await run_now(
            server.service_url(), payday, random.Random(seed).sample(payday.households, ALREADY)
        )
        siege = Siege(place, server, clock, ring, payday, already, before, seed, refusals)
        yield siege
        siege.books.close()
    finally:
        await asyncio.to_thread(server.stop)


async def run_now(
    service_url: str, payday: Payday, households: Sequence[PaydayHousehold]
) -> tuple[UUID, ...]:
    """Run the week before by direct deposit, shortly before the payday's cut-off."""
    return await run_week_before(service_url, payday, households, payday.due_at - timedelta(hours=1))


async def run_before(service_url: str, payday: Payday, households: Sequence[PaydayHousehold]) -> Before:
    """Run the week before in time for the earlier file, and void what these would have paid on the payday."""
    now = at(FILE_BEFORE, 14)
    payrolls = await run_week_before(service_url, payday, households, now)
    actor, clock = actor_of(payday), FixedClock(now)
    service = service_database(service_url, pool_size=1)
    try:
        for household in households:
            async with service.transaction(actor.tenant) as session:
                voided = await void_payroll(session, actor, clock, household.payroll_id)
            assert voided.status == "voided"
    finally:
        await service.dispose()
    return Before(tuple(households), payrolls)


def actor_of(payday: Payday) -> Actor:
    terms = terms_of("professional", dict.fromkeys(LIMITS))
    return Actor("key", None, payday.organization_id, "live", frozenset({"payroll"}), "siege", terms=terms)


async def run_week_before(
    service_url: str, payday: Payday, households: Sequence[PaydayHousehold], now: datetime
) -> tuple[UUID, ...]:
    clock, actor = FixedClock(now), actor_of(payday)
    service = service_database(service_url, pool_size=1)
    ran = []
    try:
        for household in households:
            entry = EmployeePay(
                employee_id=household.employee_id, regular_hours=Decimal(20), payment_method="direct_deposit"
            )
            order = Order(
                employer_id=household.employer_id,
                pay_period_start=PAYDAY - timedelta(days=15),
                pay_period_end=PAYDAY - timedelta(days=9),
                pay_frequency="weekly",
                employees=(entry,),
            )
            async with service.transaction(actor.tenant) as session:
                stored = await run_payroll(session, actor, clock, order, direct_deposit_enabled=True)
            assert stored.status == "pending_funding"
            ran.append(stored.id)
    finally:
        await service.dispose()
    return tuple(ran)


async def endure(
    place: Place, *, seed: int, households: int, refusals: int, payday_kills: int, later_kills: int
) -> None:
    began = time.monotonic()
    async with besieged(place, seed=seed, households=households, refusals=refusals) as siege:
        made = time.monotonic()
        await asyncio.to_thread(siege.live_through, payday_kills, later_kills)
        lived = time.monotonic()
        ends = siege.check_payrolls()
        siege.check_files()
        siege.check_pay_dates()
        siege.check_runs()
        await siege.check_books()
        print(
            f"\nseed {seed}: {households} payrolls made in {made - began:.1f} s, lived in {lived - made:.1f} s, "
            f"checked in {time.monotonic() - lived:.1f} s; kills {dict(siege.staff.kills)}, {siege.in_time} of them "
            f"before the payday was done; ends {dict(ends)}; returned {Counter(siege.bank.refused.values())}, "
            f"{siege.returned_in_time} files of them while the payday went on; "
            f"{len(siege.families.paid)} checks, {len(siege.families.too_late)} voids too late, "
            f"{siege.families.asked_again} requests repeated; ended by themselves {dict(siege.staff.ended)}"
        )
        assert sum(siege.staff.kills.values()) == payday_kills + later_kills
        assert siege.in_time >= 1
        assert siege.returned_in_time >= 1


async def test_kills_on_a_payday_lose_nothing_and_repeat_nothing(place: Place) -> None:
    await endure(place, seed=1, households=250, refusals=2, payday_kills=4, later_kills=2)


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_six_kills_on_a_payday_of_hundreds(place: Place) -> None:
    await endure(place, seed=1, households=800, refusals=3, payday_kills=4, later_kills=2)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", [2026, 2027])
async def test_twenty_kills_on_a_payday_of_thousands(place: Place, seed: int) -> None:
    await endure(place, seed=seed, households=5_000, refusals=40, payday_kills=20, later_kills=12)


@pytest.mark.long
@pytest.mark.timeout(3 * 3600)
async def test_two_hundred_kills_on_a_payday_of_twenty_thousand(place: Place) -> None:
    await endure(place, seed=2028, households=20_000, refusals=60, payday_kills=140, later_kills=60)
