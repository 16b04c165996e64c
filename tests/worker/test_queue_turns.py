"""Every queue, and how long a bystander waits in it behind an organization that has much more to do.

The delay is counted in rounds of the queue, never in time: a chunk, a turn, a paper. The table names every duty of the
worker, and what waits elsewhere.
"""

import importlib
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID, uuid4

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.alerts.delivery import send_alerts
from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.banking.account_changes import WAITS, change_account, connect_due
from hearthpay.banking.accounts import AccountDetails
from hearthpay.database.turns import Turns
from hearthpay.duties.dues_records import renew_dues
from hearthpay.mail.mailer import Mail, Mailer
from hearthpay.mail.notices import Notice, NotificationSettings, queue_notice
from hearthpay.mail.person_mail import LINKS, RESETS, queue_person_mail
from hearthpay.mail.postman import Postman
from hearthpay.payroll.payday.bank_day import advance
from hearthpay.payroll.payday.firing import fire_due
from hearthpay.payroll.payday.notices import find_paydays
from hearthpay.security.vault_numbers import parse_number
from hearthpay.todos.reminders import remind
from hearthpay.worker.duties import worker_duties
from tests.autopilot.pilot import Pilot, new_pilot
from tests.http.api import Account, NewAccount
from tests.lifecycle.test_firing import schedule
from tests.mail.servers import Postbox, mail_server
from tests.worlds.households import add_employee, add_household
from tests.worlds.town import ROUTING, Family, Town, new_family, rows

HERE: Final = "tests.worker.test_queue_turns"


class Wait(NamedTuple):
    """A bystander's delay behind each organization with more to do, and the test that shows it."""

    delay: str
    shown_by: str


QUEUES: Final = {
    "fire_due_payrolls": Wait("one chunk of payrolls", f"{HERE}.test_payrolls"),
    "bank_day": Wait("none: one round serves all that is due", f"{HERE}.test_the_bank_day"),
    "send_mail": Wait("one chunk of five", f"{HERE}.test_mail"),
    "expire": Wait("none: it ends what is over, and nobody waits for it", ""),
    "autopilot": Wait("one chunk of periods, or of notices", f"{HERE}.test_autopilot"),
    "alerts": Wait("one mail to each reader", f"{HERE}.test_alerts"),
    "news": Wait("one round of each kind of notice", f"{HERE}.test_notices"),
    "connect_accounts": Wait("one account", f"{HERE}.test_accounts"),
    "advance_clocks": Wait(
        "one turn of two seconds or fourteen instants",
        "tests.sandbox.test_turns.test_three_far_advances_keep_another_organization_waiting_for_one_turn",
    ),
    "make_packages": Wait(
        "one turn of eight seconds", "tests.documents.test_packages.test_two_organizations_take_turns"
    ),
    "settle_years": Wait("none: after an upgrade, every year is settled before the next payday", ""),
    "awaited_rules": Wait("none: it tells administrators", ""),
    "household_dues": Wait("one chunk of households", f"{HERE}.test_figures_of_households"),
    "number_endings": Wait("none: digits for display, after an upgrade", ""),
}
"""By the worker's duties."""

ELSEWHERE: Final = {
    "papers drawn in a web process": Wait(
        "one paper",
        "tests.documents.test_drawing.test_a_bystander_waits_for_one_paper_of_each_organization",
    ),
    "passwords being hashed": Wait("one password", "tests.people.test_hashing_turns"),
    "requests of the API": Wait("none below the limit of each organization", "tests.http.test_fair_share"),
}


def _exists(name: str) -> bool:
    """Whether there is such a test, or such a module of tests."""
    module, _, test = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), test) or bool(importlib.import_module(name))
    except ModuleNotFoundError:
        return False


@pytest.mark.completeness
def test_every_queue_has_a_row_and_every_row_a_test(town: Town) -> None:
    duties = {duty.name: duty for duty in worker_duties(town.worker, town.ring, town.bank, town.clock)}
    assert duties.keys() == QUEUES.keys(), "add the duty, and a test of a bystander's delay"
    for name, wait in (QUEUES | ELSEWHERE).items():
        assert wait.shown_by or wait.delay.startswith("none: "), name
        assert not wait.shown_by or _exists(wait.shown_by), wait.shown_by


@pytest.mark.completeness
def test_no_lengthy_duty_keeps_another_from_its_turn(town: Town) -> None:
    """Jobs wait by priority and then by age: what may last has the lowest, and one priority for all of it."""
    duties = {duty.name: duty for duty in worker_duties(town.worker, town.ring, town.bank, town.clock)}
    lengthy = {"advance_clocks", "make_packages", "household_dues", "number_endings"}
    (lowest,) = {duties[name].priority for name in lengthy}
    assert all(duty.priority > lowest for name, duty in duties.items() if name not in lengthy)


def _once() -> Callable[[], bool]:
    """Let one chunk be done, as the worker does between calls for help."""
    chunks = iter((False,))
    return lambda: next(chunks, True)


async def rounds_until(work: Callable[[], Awaitable[object]], served: Callable[[], bool]) -> int:
    """How many rounds are worked until the bystander is served."""
    for number in range(1, 30):
        await work()
        if served():
            return number
    raise AssertionError("never served")


@pytest.fixture
async def other(new_account: NewAccount) -> Account:
    return await new_account("Bystander")


async def test_payrolls(
    family: Family, town: Town, other: Account, owner_connection: psycopg.Connection
) -> None:
    await schedule(family, town, 4)
    (late,) = await schedule(await new_family(town, other.live), town, 1)
    town.go_to("2026-11-27", 15)
    turns = Turns[UUID]()

    def fired() -> bool:
        status = rows(owner_connection, "SELECT status FROM payrolls WHERE id = %s", UUID(late))
        return status != [("scheduled",)]

    async def work() -> None:
        await fire_due(town.worker, town.clock, chunk=1, stopping=_once(), turns=turns)

    assert await rounds_until(work, fired) == 2


async def test_the_bank_day(
    family: Family, town: Town, other: Account, owner_connection: psycopg.Connection
) -> None:
    await schedule(family, town, 4)
    await schedule(await new_family(town, other.live), town, 1)
    town.go_to("2026-11-27", 15)
    await advance(town.worker, town.ring, town.bank, town.clock)
    sent = "SELECT count(*), count(DISTINCT organization_id), count(DISTINCT file_id) FROM bank_entries"
    assert rows(owner_connection, f"{sent} WHERE status = 'sent'") == [(5, 2, 1)]


async def test_mail(account: Account, town: Town, other: Account) -> None:
    """Sixty mails of one organization, sixty that strangers request, then one of another organization and a reset."""

    async def notice(whose: Account, number: int) -> None:
        mail = Mail(f"{number}@example.com", "News", "News", "<p>News</p>")
        told = Notice(f"{whose.organization_id}:{number}", "problem", "person", mail, whose.organization_id)
        async with town.worker.transaction(None) as session:
            await queue_notice(session, town.ring, NotificationSettings(sends=True), town.clock.now(), told)

    for number in range(60):
        await notice(account, number)
    async with town.database.transaction(None) as session:
        until = town.clock.now() + timedelta(hours=1)
        for number in range(60):
            link = Mail(f"stranger-{number}@example.com", "Link", "Link", "<p>Link</p>")
            await queue_person_mail(session, town.ring, town.clock.now(), "sign_up", link, until, LINKS)
        reset = Mail("reset@example.com", "Reset", "Reset", "<p>Reset</p>")
        await queue_person_mail(session, town.ring, town.clock.now(), "reset", reset, until, RESETS)
    await notice(other, 1)
    postbox, turns = Postbox(), Turns[str]()
    async with mail_server(postbox) as url:
        postman = Postman(town.worker, town.ring, Mailer(url, "Hearthpay <payroll@example.com>"), town.clock)

        async def work() -> None:
            await postman.send_due(lambda: False, turns=turns)

        def arrived() -> bool:
            to = [address for each in postbox.envelopes for address in each.rcpt_tos]
            return to.count("1@example.com") == 2 and "reset@example.com" in to

        assert await rounds_until(work, arrived) == 3


async def test_autopilot(
    town: Town, account: Account, other: Account, owner_connection: psycopg.Connection
) -> None:
    """Periods are decided in turn; and so are the notices of it."""
    theirs = [await new_pilot(town, account.live, account) for _ in range(3)]
    bystander = await new_pilot(town, other.live, other)
    for each in (*theirs, bystander):
        await each.enroll()
    await _autopilot(town, owner_connection, bystander)


async def _autopilot(town: Town, connection: psycopg.Connection, bystander: Pilot) -> None:
    town.go_to("2026-11-20", 20)
    whose = bystander.actor.organization_id
    turns = Turns[UUID]()

    async def generate() -> None:
        await generate_due(
            town.worker, town.clock, direct_deposit_enabled=True, chunk=1, stopping=_once(), turns=turns
        )

    def decided() -> bool:
        return bool(rows(connection, "SELECT FROM autopilot_periods WHERE organization_id = %s", whose))

    assert await rounds_until(generate, decided) == 2

    done = 0

    async def tell() -> None:
        nonlocal done
        done = 0

        def two_chunks() -> bool:
            nonlocal done
            done += 1
            return done > 2

        await run_outbox_tasks(
            *(town.worker, town.ring, town.clock, NotificationSettings(sends=True)),
            chunk=1,
            stopping=two_chunks,
        )

    def told() -> bool:
        due = "SELECT FROM autopilot_errands WHERE organization_id = %s AND due_at <= %s"
        return not rows(connection, due, whose, town.clock.now())

    assert await rounds_until(tell, told) == 1


async def test_alerts(
    account: Account, new_account: NewAccount, town: Town, owner_connection: psycopg.Connection
) -> None:
    """One organization at a time here: of the one that keeps acting, the newer actions wait for the other's older."""
    other = await new_account("Bystander")
    asked = town.worker, town.ring, town.clock, NotificationSettings(sends=True)

    async def work() -> None:
        await send_alerts(*asked, limit=1)
        await new_account("Bystander's neighbor")

    def told() -> bool:
        open_ = "SELECT FROM security_alerts WHERE organization_id = %s AND told_at IS NULL"
        return not rows(owner_connection, open_, other.organization_id)

    assert await rounds_until(work, told) == 2


async def test_notices(
    account: Account, town: Town, other: Account, owner_connection: psycopg.Connection
) -> None:
    """Paydays, as every kind of notice, and the checks for reminders."""
    theirs = [await new_pilot(town, account.live, account) for _ in range(3)]
    bystander = await new_pilot(town, other.live, other)
    town.go_to("2026-11-21", 9)
    async with town.worker.transaction(None) as session:
        found = await find_paydays(session, town.clock.now(), 2)
    assert {notices[0].employer_id for notices in found} == {theirs[0].employer, bystander.employer}

    turns = Turns[UUID]()

    async def look() -> None:
        settings = NotificationSettings(sends=True)
        await remind(town.worker, town.ring, town.clock, settings, chunk=1, turns=turns)

    def looked() -> bool:
        seen = "SELECT duties_seen_on IS NOT NULL FROM employers WHERE id = %s"
        return rows(owner_connection, seen, bystander.employer) == [(True,)]

    assert await rounds_until(look, looked) == 2


async def test_accounts(
    account: Account, town: Town, other: Account, owner_connection: psycopg.Connection
) -> None:
    theirs = await new_family(town, account.live)
    second = await add_employee(account.live, theirs.employer_id, first_name="Second")
    await town.connect(account.live, theirs.employer_id, second)
    bystander = await new_family(town, other.live)

    async def change(whose: Account, employer_id: str, employee_id: str) -> None:
        details = AccountDetails(
            parse_number("bank_routing", ROUTING), parse_number("bank_account", "55554444"), "checking"
        )
        actor = Actor.employee(
            *(UUID(employee_id), whose.organization_id, UUID(employer_id)), sandbox=False, request_id="r"
        )
        async with town.database.transaction(actor.tenant) as session:
            asked = await change_account(session, town.ring, actor, town.clock, UUID(employee_id), details)
        assert asked.waiting is not None

    await change(account, theirs.employer_id, theirs.employee_id)
    await change(account, theirs.employer_id, second)
    await change(other, bystander.employer_id, bystander.employee_id)
    town.clock.advance(WAITS)
    assert await connect_due(town.worker, town.ring, town.clock, limit=2) == 2
    done = "SELECT DISTINCT organization_id FROM account_changes WHERE status = 'done'"
    assert len(rows(owner_connection, done)) == 2


async def test_figures_of_households(
    account: Account, town: Town, other: Account, owner_connection: psycopg.Connection
) -> None:
    """One whose households are changed again and again keeps nobody else's figures from being calculated."""
    busy = [await add_household(account.live, first_name=f"Number {number}") for number in range(3)]
    bystander = await add_household(other.live)
    turns = Turns[UUID]()

    async def work() -> None:
        await renew_dues(town.worker, town.clock, chunk=1, turns=turns)
        for each in busy:
            owner_connection.execute(
                "INSERT INTO outdated_dues (employer_id, organization_id, sandbox, id) VALUES (%s, %s, false, %s)",
                (UUID(each), account.organization_id, uuid4()),
            )

    def calculated() -> bool:
        kept = "SELECT computed_on IS NOT NULL FROM household_dues WHERE employer_id = %s"
        return rows(owner_connection, kept, UUID(bystander)) == [(True,)]

    assert await rounds_until(work, calculated) == 2
