"""Four worlds that must know nothing of each other, and the means to tell whether one shows in another's answer.

A world is one organization in one mode: two organizations, each with real and with sandbox households. Each has names,
addresses, wages and rates that occur nowhere else, so that one look at an answer tells whose rows it came from.
"""

import base64
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any, Final
from uuid import UUID
from weakref import WeakKeyDictionary

import httpx
import psycopg
from psycopg.pq import TransactionStatus

from hearthpay.access.actor import Actor
from hearthpay.database.session import Tenant
from hearthpay.documents.archive import keep
from hearthpay.documents.paper import Paper
from hearthpay.employers.ein import keep_ein
from hearthpay.employers.models import Employer
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.boundary.row_queries import row_queries
from tests.database.damage import without_triggers
from tests.http.api import Account, Caller, data
from tests.worlds.snapshots import Snapshot, Snapshots
from tests.worlds.tables import EMPTYING

#: Amounts below this are shared by chance: hours, limits of the law, small taxes.
_TELLING_AMOUNT: Final = Decimal(1_000)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: Who uploads a wage file.
SUBMITTER: Final = {"user_id": "AB12CD34", "phone": "415-555-0134"}

_HELD_DEPOSIT: Final = (
    "UPDATE payrolls SET status = 'processing', direct_deposit = true WHERE id = %(payroll)s",
    "UPDATE payroll_entries SET payment_method = 'direct_deposit' WHERE payroll_id = %(payroll)s",
    "UPDATE paychecks SET payment_method = 'direct_deposit' WHERE payroll_id = %(payroll)s",
    """
    INSERT INTO bank_accounts (id, organization_id, employer_id, sandbox, employee_id, account_type, last_four, status,
                               verification, created_at, updated_at)
    SELECT new_id(), e.organization_id, e.id, e.sandbox, w.id, 'checking', '0000', w.status, 'instant', now(), now()
      FROM employers e, LATERAL (SELECT id, 'failed' AS status FROM employees WHERE employer_id = e.id
                                  UNION ALL SELECT NULL, 'active') w
     WHERE e.id = %(employer)s
    """,
    """
    INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, payroll_id,
                              paycheck_id, amount, status, send_on, settle_on, created_at, updated_at)
    SELECT new_id(), c.organization_id, c.employer_id, c.sandbox, 'credit', b.id, c.employee_id, c.payroll_id, c.id,
           c.net_pay, 'pending', '2026-11-27', '2026-11-30', now(), now()
      FROM paychecks c JOIN bank_accounts b ON b.employee_id = c.employee_id WHERE c.payroll_id = %(payroll)s
    """,
)

Bucket = tuple[str, str]
Fingerprint = Mapping[Bucket, tuple[tuple[str, int, str], ...]]

_LAST_FINGERPRINT: WeakKeyDictionary[psycopg.Connection, tuple[str | None, Fingerprint]] = WeakKeyDictionary()
"""The last fingerprint that a connection took, and the last transaction in it."""


class Leak(AssertionError):  # noqa: N818 - the name says what was found
    """Something of one world was seen, or changed, by another."""


@dataclass
class World:
    """One organization in one mode, with a household, an employee and a payroll to begin with."""

    word: str
    caller: Caller
    organization_id: UUID
    sandbox: bool
    pay_rate: Decimal
    sui_rate: Decimal
    employer_id: str = ""
    employee_id: str = ""
    payroll_id: str = ""
    #: A payroll that is paid, and the pay stub that was issued of it.
    paid_id: str = ""
    document_id: str = ""
    #: A package of papers that waits for the worker.
    package_id: str = ""
    #: What was paid to the IRS, and filed with California.
    tax_payment_id: str = ""
    filing_id: str = ""
    amounts: frozenset[Decimal] = frozenset()
    #: Every id the world ever had, by its table; in the order in which they appeared.
    ids: dict[str, list[str]] = field(default_factory=dict)

    @property
    def bucket(self) -> Bucket:
        """Where the world's rows are in a fingerprint."""
        return str(self.organization_id), str(self.sandbox).lower()

    @property
    def objects(self) -> dict[str, str]:
        """What a path may name, by the name of its parameter."""
        return {
            "employer_id": self.employer_id,
            "employee_id": self.employee_id,
            "payroll_id": self.payroll_id,
            "document_id": self.document_id,
            "package_id": self.package_id,
            "tax_payment_id": self.tax_payment_id,
            "filing_id": self.filing_id,
        }

    @property
    def every_id(self) -> set[str]:
        """All ids that only this world's answers may show."""
        return {identity for ids in self.ids.values() for identity in ids}

    def seen_by(self, client: httpx.AsyncClient) -> "World":
        """The same world, with a memory of its own of ids, and a key that speaks through `client`."""
        ids = {table: [*ids] for table, ids in self.ids.items()}
        return replace(self, caller=replace(self.caller, client=client), ids=ids)

    def household(self) -> dict[str, Any]:
        """A household to create."""
        return {
            "first_name": self.word,
            "last_name": "Lopez",
            "email": f"{self.word.lower()}@{self.word.lower()}.example",
            "state": "CA",
        }

    def person(self, name: str) -> dict[str, Any]:
        """An employee to create; the household is still to be named."""
        return {
            "first_name": name,
            "last_name": self.word,
            "email": f"{name.lower()}@{self.word.lower()}.example",
            "pay_rate": float(self.pay_rate),
            "start_date": "2026-01-05",
        }

    def payroll(self, *employee_ids: str, week: int = 0) -> dict[str, Any]:
        """A payroll of a week to run; the household is still to be named. Week 0 is the one in the past."""
        return {
            "pay_period_start": f"2026-11-{2 + 7 * week:02}",
            "pay_period_end": f"2026-11-{8 + 7 * week:02}",
            "pay_date": "2026-11-30",
            "pay_frequency": "weekly",
            "notes": f"for {self.word}",
            "employees": [
                {"employee_id": employee_id, "regular_hours": 40, "payment_method": "check"}
                for employee_id in employee_ids
            ],
        }


NewAccount = Callable[[str], Awaitable[Account]]


async def build_worlds(new_account: NewAccount, owner: psycopg.Connection) -> list[World]:
    """Two organizations, real and sandbox, in the order: first real, first sandbox, second real, second sandbox."""
    first, second = await new_account("Quillmoor"), await new_account("Harrowgate")
    worlds = [
        World("Zephandra", first.live, first.organization_id, False, Decimal("1117.31"), Decimal("0.01234561")),
        World("Bramwick", first.test, first.organization_id, True, Decimal("1223.57"), Decimal("0.02345672")),
        World("Oxtollen", second.live, second.organization_id, False, Decimal("1319.83"), Decimal("0.03456783")),
        World("Yurivane", second.test, second.organization_id, True, Decimal("1427.09"), Decimal("0.04567894")),
    ]  # fmt: skip
    seen = [await _furnish(world, owner) for world in worlds]
    for world, amounts in zip(worlds, seen, strict=True):
        others = frozenset().union(*(theirs for theirs in seen if theirs is not amounts))
        world.amounts = (amounts | {world.pay_rate, world.sui_rate}) - others
    learn_ids(worlds, owner)
    return worlds


@dataclass
class KeptWorlds:
    """The four worlds, built by whoever asks first; all who ask later get the same rows, and the same ids."""

    snapshots: Snapshots
    #: What their numbers are sealed by: applications must have it.
    ring: KeyRing = field(default_factory=lambda: KeyRing((EncryptionKey.generate(),)))
    _built: tuple[list[World], Snapshot] | None = None

    async def open(
        self, client: httpx.AsyncClient, new_account: NewAccount, owner: psycopg.Connection
    ) -> list[World]:
        """Leave nothing in the database but the four worlds, as they were built; their keys speak through `client`.

        What its application remembers must be of no earlier opening: the ids are the same.
        """
        if self._built is None:
            owner.execute(EMPTYING)
            worlds = await build_worlds(new_account, owner)
            self._built = worlds, self.snapshots.take()
        else:
            self._built[1].restore()
        return [world.seen_by(client) for world in self._built[0]]


async def _furnish(world: World, owner: psycopg.Connection) -> frozenset[Decimal]:
    """Give a world its first household, employee and payroll; returns the telling amounts of its answers."""
    caller = world.caller
    household = await caller.post("/employers", world.household())
    world.employer_id = data(household, 201)["id"]
    owner.execute(
        "INSERT INTO assigned_rates SELECT organization_id, id, sandbox, 2026, 'CA', %s FROM employers WHERE id = %s",
        (world.sui_rate, world.employer_id),
    )
    person = await caller.post("/employees", {**world.person("Ana"), "employer_id": world.employer_id})
    world.employee_id = data(person, 201)["id"]
    line = {"code": "US-MED-EE", "subject_wages": 0, "taxable_wages": 0, "amount": 0}
    prior = {"tax_year": 2025, "source": world.word, "as_of": "2025-12-31", "gross_pay": 0, "lines": [line]}
    data(await caller.post(f"/employees/{world.employee_id}/prior-wages", prior), 201)
    with without_triggers(owner):
        owner.execute(
            "INSERT INTO vault (id, organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, "
            "nonce, key_id, last_four) SELECT new_id(), organization_id, employer_id, sandbox, 'employee', id, "
            "'bank_routing', %s, %s, 'k', '0000' FROM employees WHERE id = %s",
            (world.word.encode() * 3, b"\x00" * 12, world.employee_id),
        )
    run = await caller.post(
        "/payroll/run", {**world.payroll(world.employee_id), "employer_id": world.employer_id}
    )
    world.payroll_id = data(run)["payroll_id"]
    hold_deposits(owner, world.employer_id, world.payroll_id)
    await _furnish_papers(world, owner)
    enroll(owner, world.employee_id, int(world.pay_rate * 100), world.word)
    return frozenset(number for number in numbers_in(run) if number >= _TELLING_AMOUNT)


async def _furnish_papers(world: World, owner: psycopg.Connection) -> None:
    """Give a world what its papers need, a payroll that is paid, and a pay stub that was issued."""
    home = json.dumps(
        {"line1": f"1 {world.word} St", "line2": None, "city": world.word, "state": "CA", "zip": "94110"}
    )
    for table, identity in (("employers", world.employer_id), ("employees", world.employee_id)):
        owner.execute(f"UPDATE {table} SET address = %s WHERE id = %s", (home, identity))
    runtime = world.caller.client._transport.app.state.runtime  # type: ignore[attr-defined]
    tenant = Tenant(world.organization_id, world.sandbox, UUID(world.employer_id))
    async with runtime.database.transaction(tenant) as session:
        employer = await session.get_one(Employer, UUID(world.employer_id))
        operator = Actor.operator(world.organization_id, sandbox=world.sandbox, request_id="req_worlds")
        await keep_ein(session, runtime.ring, operator, employer, "12-3456789")
    paid = world.payroll(world.employee_id) | {
        "pay_period_start": "2026-10-26",
        "pay_period_end": "2026-11-01",
        "pay_date": "2026-11-06",
        "employer_id": world.employer_id,
    }
    world.paid_id = data(await world.caller.post("/payroll/run", paid))["payroll_id"]
    async with runtime.database.transaction(tenant) as session:
        whose = Owner(world.organization_id, UUID(world.employer_id), world.sandbox)
        kept = await keep(session, runtime.ring, runtime.clock, whose, _stub(world), b"%PDF", None)
        world.document_id = str(kept.document.id)
    row = owner.execute(
        "INSERT INTO document_packages (id, organization_id, employer_id, sandbox, tax_year, status, papers, "
        "requested_at) VALUES (new_id(), %s, %s, %s, 2026, 'waiting', 93, now()) RETURNING id",
        (world.organization_id, world.employer_id, world.sandbox),
    ).fetchone()
    assert row is not None
    world.package_id = str(row[0])
    about = {"employer_id": world.employer_id}
    recorded = await world.caller.post("/tax-payments", tax_payment() | about)
    world.tax_payment_id = data(recorded, 201)["payment"]["id"]
    filing = {"key": "CA/wages-quarterly/2026-Q4", "filed_on": "2026-11-20"} | about
    world.filing_id = data(await world.caller.post("/filings", filing), 201)["id"]


def tax_payment() -> dict[str, Any]:
    """What was paid to the IRS; the household is still to be named."""
    return {
        "agency": "IRS",
        "account_type": "estimated-tax",
        "period": "2026-I4",
        "amount": 7,
        "paid_on": "2026-11-20",
        "method": "bank_account",
    }


def _stub(world: World) -> Paper:
    """A paper as if it had been issued: to draw one in each world would take long."""
    return Paper(
        kind="paystub",
        subject_id=UUID(world.paid_id),
        tax_year=2026,
        variant="employee-en",
        file_name=f"pay-stub-{world.word.lower()}.pdf",
        facts=b"{}",
        draw=lambda _: b"%PDF",
        title="Pay stub",
        employee_id=UUID(world.employee_id),
        payroll_id=UUID(world.paid_id),
    )


def hold_deposits(owner: psycopg.Connection, employer_id: str, payroll_id: str) -> None:
    """Make of a payroll one by direct deposit whose employees' accounts have failed after it was funded."""
    with without_triggers(owner):
        for statement in _HELD_DEPOSIT:
            owner.execute(statement, {"payroll": payroll_id, "employer": employer_id})


_ENROLLMENT = (
    """
    INSERT INTO autopilot_enrollments (id, organization_id, employer_id, sandbox, employee_id, status, first_start,
           next_start, next_end, next_pay_date, generate_at, enrolled_by_kind, enrolled_at, updated_at)
    SELECT new_id(), organization_id, employer_id, sandbox, id, 'active', '2027-06-07', '2027-06-07', '2027-06-13',
           '2027-06-18', '2027-06-08 19:00+00', 'user', '2026-11-20', '2026-11-20'
      FROM employees WHERE id = %(employee)s
    """,
    """
    INSERT INTO autopilot_versions (id, organization_id, employer_id, sandbox, enrollment_id, number, from_period,
           frequency, anchor, pay_days_after, standard_hours, expected_net, made_by_kind, made_at)
    SELECT new_id(), organization_id, employer_id, sandbox, id, 1, '2027-06-07', 'weekly', '2027-06-07', 5, 40,
           %(net)s, 'user', '2026-11-20' FROM autopilot_enrollments WHERE employee_id = %(employee)s
    """,
    """
    INSERT INTO autopilot_events (id, organization_id, employer_id, sandbox, enrollment_id, employee_id, event, at,
           actor_kind, source, details)
    SELECT new_id(), organization_id, employer_id, sandbox, id, employee_id, 'enroll', '2026-11-20', 'user', 'app',
           jsonb_build_object('for', %(word)s::text) FROM autopilot_enrollments WHERE employee_id = %(employee)s
    """,
)


def enroll(owner: psycopg.Connection, employee_id: str, net_pay: int = 100_000, word: str = "") -> None:
    """Enroll an employee in Autopilot, from a period on that is far away; net pay in cents."""
    about = {"employee": employee_id, "net": net_pay, "word": word}
    for statement in _ENROLLMENT:
        owner.execute(statement, about)


def numbers_in(response: httpx.Response) -> set[Decimal]:
    """Every number of an answer's JSON."""
    found: set[Decimal] = set()

    def read(spelled: str) -> Decimal:
        number = Decimal(spelled)
        found.add(number)
        return number

    if response.headers.get("Content-Type", "").startswith("application/json"):
        json.loads(response.content, parse_float=read, parse_int=read)
    return found


def ids_in(text: str) -> set[str]:
    """Every id spelled in a text."""
    return set(_UUID.findall(text.lower()))


def refuse_leaks(
    response: httpx.Response, own: World | None, worlds: Iterable[World], *, known: Iterable[str] = ()
) -> None:
    """Raise Leak where the answer holds anything of a world that is not `own`.

    What the caller sent itself, and the ids in `known`, may come back to it.
    """
    sent = f"{response.request.url}\n{response.request.content.decode('utf-8', 'replace')}".casefold()
    text = f"{response.text}\n{list(response.headers.items())}".casefold()
    numbers = numbers_in(response)
    what = f"{response.request.method} {response.request.url} {response.status_code} {response.text}"
    for world in worlds:
        if world is own:
            continue
        if world.word.casefold() in text and world.word.casefold() not in sent:
            raise Leak(f"{world.word} is named: {what}")
        for identity in world.every_id - set(known):
            if identity in text and identity not in sent:
                raise Leak(f"an id of {world.word}, {identity}: {what}")
            cursor = _cursor_of(identity)
            if cursor in response.text and cursor.casefold() not in sent:
                raise Leak(f"a cursor at an id of {world.word}, {identity}: {what}")
        amounts = {amount for amount in numbers & world.amounts if str(amount) not in sent}
        if amounts:
            raise Leak(f"amounts of {world.word}, {sorted(amounts)}: {what}")
        same_organization = own is not None and own.organization_id == world.organization_id
        if not same_organization and str(world.organization_id) in text:
            raise Leak(f"the organization of {world.word}: {what}")


@cache
def _cursor_of(identity: str) -> str:
    return base64.urlsafe_b64encode(UUID(identity).bytes).decode().rstrip("=")


def fingerprint(owner: psycopg.Connection) -> Fingerprint:
    """For each world, every table with the number of its rows and a checksum over all that stands in them.

    When a key was last used changes with its use, and says nothing of a world. Where no transaction that writes has
    ended since the last fingerprint, that one is returned again.
    """
    written = _last_written(owner)
    kept_at, kept = _LAST_FINGERPRINT.get(owner, (None, {}))
    if written is None or written != kept_at:
        kept = _fingerprint(owner)
        _LAST_FINGERPRINT[owner] = written, kept
    return kept


def _last_written(owner: psycopg.Connection) -> str | None:
    """One past the last transaction that wrote; None where an older one, or the connection's own, is under way."""
    if owner.info.transaction_status is not TransactionStatus.IDLE:
        return None
    row = owner.execute(
        "SELECT pg_snapshot_xmin(s)::text, pg_snapshot_xmax(s)::text FROM pg_current_snapshot() s"
    ).fetchone()
    assert row is not None
    oldest, following = row
    return following if oldest == following else None


def _fingerprint(owner: psycopg.Connection) -> Fingerprint:
    found: dict[Bucket, list[tuple[str, int, str]]] = {}
    for organization, mode, table, count, checksum in owner.execute(row_queries(owner).fingerprint):
        found.setdefault((organization, mode), []).append((table, count, checksum))
    return {bucket: tuple(tables) for bucket, tables in found.items()}


def refuse_changes(before: Fingerprint, after: Fingerprint, *, except_of: World | None) -> None:
    """Raise Leak where anything but `except_of`, and its organization's own rows, is not what it was."""
    may_change = set()
    if except_of is not None:
        organization, mode = except_of.bucket
        may_change = {(organization, mode), (organization, "")}
    for bucket in (before.keys() | after.keys()) - may_change:
        if before.get(bucket) != after.get(bucket):
            changed = set(before.get(bucket, ())) ^ set(after.get(bucket, ()))
            raise Leak(f"rows of {bucket} changed: {sorted({table for table, _, _ in changed})}")


def learn_ids(worlds: Iterable[World], owner: psycopg.Connection) -> None:
    """Let each world know the ids of its rows; those of rows that are gone stay known."""
    by_bucket = {world.bucket: world for world in worlds}
    for name, organization, mode, identity in owner.execute(row_queries(owner).ids):
        world = by_bucket.get((organization, mode))
        if world is not None and identity not in world.ids.setdefault(name, []):
            world.ids[name].append(identity)
