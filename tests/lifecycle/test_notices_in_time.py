"""What household, employees and operator are told of what goes wrong, step by step on a travelling clock."""

import asyncio
import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest
from structlog.testing import capture_logs

from hearthpay.access.actor import Actor
from hearthpay.banking.gateways.gateway import GatewayUnavailableError, IncomingFile
from hearthpay.banking.return_handling import mark_returned
from hearthpay.employees.models import Employee
from hearthpay.mail.notices import NotificationSettings
from hearthpay.payroll.payday.bank_day import Bank, BankDayReport, advance
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from hearthpay.payroll.payday.worker_counts import worker_figures
from hearthpay.payroll.set_asides import escrow
from hearthpay.security.content_seal import SealedContent, mail_place, open_content
from tests.http.api import Account, data, refusal
from tests.worlds.originator import ORIGINATOR
from tests.worlds.town import Family, Town, new_family, rows

EARLIEST = "2026-11-30"
DESK = NotificationSettings(sends=True, operator="operator@example.com")


async def read(family: Family, payroll_id: str) -> dict[str, Any]:
    return data(await family.caller.get(f"/payroll/{payroll_id}"))


@dataclass
class Post:
    """The outbox, read as the worker reads it."""

    town: Town
    owner: psycopg.Connection

    def notices(self) -> list[tuple[str, str, str, str | None]]:
        """Kind, recipient, status and reason of each notice, in the order in which they were queued."""
        return rows(
            self.owner,
            "SELECT substring(kind FROM 8), recipient, status, reason FROM mail_outbox "
            "WHERE notice_key IS NOT NULL ORDER BY id",
        )

    def told(self, recipient: str) -> list[dict[str, str]]:
        """What waits to be sent to them."""
        sealed = rows(
            self.owner,
            "SELECT id, content, nonce, key_id FROM mail_outbox WHERE recipient = %s AND content IS NOT NULL "
            "ORDER BY id",
            recipient,
        )
        return [
            orjson.loads(open_content(self.town.ring, mail_place(mail_id), SealedContent(*content)))
            for mail_id, *content in sealed
        ]


@pytest.fixture
def post(town: Town, owner_connection: psycopg.Connection) -> Post:
    return Post(town, owner_connection)


async def work(
    town: Town, notifications: NotificationSettings = DESK, bank: Bank | None = None
) -> BankDayReport:
    return await advance(town.worker, town.ring, bank or town.bank, town.clock, notifications=notifications)


async def bring_back(town: Town, owner: psycopg.Connection, kind: str, code: str) -> None:
    """Let the bank send back the latest payment of the kind."""
    [(entry_id,)] = rows(owner, "SELECT id FROM bank_entries WHERE kind = %s ORDER BY id DESC LIMIT 1", kind)
    async with town.worker.transaction(None) as session:
        returned = await mark_returned(session, town.clock.now(), {entry_id: code})
        await apply_returns(session, returned, town.clock.today(), town.clock.now())


async def until(town: Town, *days: str) -> None:
    """Work in the morning and at the cut-off of each of the days."""
    for day in days:
        for hour in (8, 15):
            town.go_to(day, hour)
            await work(town)


async def test_a_debit_presented_again_shows_at_once_and_goes_when_it_is_collected(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await until(town, "2026-11-20", "2026-11-23")
    assert "failure" not in await read(family, ran["payroll_id"])
    town.go_to("2026-11-24", 10)
    await bring_back(town, owner_connection, "debit", "R01")
    detail = await read(family, ran["payroll_id"])  # before any worker's next round
    assert detail["status"] == "pending_funding"
    assert [(each["status"], each["outcome"]) for each in detail["employees"]] == [("collecting", None)]
    failure = detail["failure"]
    assert (failure["kind"], failure["code"], failure["reason"]) == (
        "debit_returned",
        "R01",
        "Insufficient funds",
    )
    assert failure["next_try"] == "2026-11-24T20:00:00Z"
    assert failure["until"] == "2026-11-30T20:00:00Z"  # three banking days later, over Thanksgiving
    amount = f"${detail['totals']['total_net_pay']:,.2f}"
    assert failure["what_to_do"] == (
        f"Put {amount} in your account by Tue, Nov 24: we try again on Wed, Nov 25. Make sure the money is in the "
        "account by then."
    )
    assert post.notices() == []
    await work(town)
    assert post.notices() == [
        ("debit_returned", "household", "queued", None),
        ("debit_returned", "employee", "withheld", "no_address"),
    ]
    [mail] = post.told("household")
    assert mail["to"] == "maria@example.com"
    assert failure["message"] in mail["text"]
    assert failure["what_to_do"] in mail["text"]
    assert "123456789" not in mail["text"]
    [address] = re.findall(r"\w+://\S+", mail["text"])
    assert address.endswith(f"/app/{family.employer_id}/payrolls/{ran['payroll_id']}")
    await work(town)  # told once
    assert len(post.notices()) == 2
    await until(town, "2026-11-24", "2026-11-25", "2026-11-27")
    town.go_to("2026-11-30", 15)
    await work(town)
    detail = await read(family, ran["payroll_id"])
    assert detail["status"] == "processing"
    assert "failure" not in detail


async def test_after_the_last_failure_nothing_is_said_of_another_try(
    town: Town, account: Account, post: Post
):
    family = await new_family(town, account.test, household="11119001")
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await town.live_through("2026-11-20", "2026-12-11")
    detail = await read(family, ran["payroll_id"])
    failure = detail["failure"]
    assert (detail["status"], failure["kind"], failure["next_try"], failure["until"]) == (
        "failed",
        "debit_returned",
        None,
        None,
    )
    assert (
        failure["what_to_do"]
        == "Put the money into the account and run the payroll again, or run it by check."
    )
    assert [each["status"] for each in detail["employees"]] == ["undone"]
    # Twice presented again and failed once; and a sandbox never mails.
    assert [each[:2] for each in post.notices() if each[1] == "household"] == [
        ("debit_returned", "household")
    ] * 3
    assert {each[2:] for each in post.notices()} == {("withheld", "sandbox")}
    again = data(await family.caller.post("/payroll/run", family.order()))  # what it says is not refused
    assert again["status"] == "pending_funding"


async def test_a_debit_back_after_payday_is_owed_and_the_operator_knows(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await until(town, "2026-11-20", "2026-11-23", "2026-11-25", "2026-11-27", EARLIEST)
    await bring_back(town, owner_connection, "debit", "R10")
    await work(town)
    detail = await read(family, ran["payroll_id"])
    assert (detail["status"], detail["failure"]["kind"]) == ("completed", "wages_not_covered")
    assert [each["status"] for each in detail["employees"]] == ["paid"]
    assert "run the payroll again" not in detail["failure"]["what_to_do"].lower()
    assert [each[:3] for each in post.notices()] == [
        ("wages_not_covered", "household", "queued"),
        ("wages_not_covered", "operator", "queued"),
    ]
    [mail] = post.told("operator")
    assert mail["to"] == "operator@example.com"
    assert ran["payroll_id"] in mail["text"]


async def test_a_deposit_that_came_back_tells_its_paycheck_and_where_the_money_is(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    owner_connection.execute("UPDATE employees SET email = 'rosa@example.com'")
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await until(town, "2026-11-20", "2026-11-23", "2026-11-25", "2026-11-27", EARLIEST)
    await bring_back(town, owner_connection, "credit", "R02")
    detail = await read(family, ran["payroll_id"])
    net = ran["totals"]["total_net_pay"]
    assert detail["failure"]["kind"] == "deposit_returned"
    [paycheck] = detail["employees"]
    assert paycheck["status"] == "returned"
    assert paycheck["outcome"] == {
        "code": "R02",
        "reason": "Account closed",
        "refund": {"amount": net, "status": "waiting", "code": None},
    }
    await work(town)
    [mail] = post.told("employee")
    assert mail["to"] == "rosa@example.com"
    assert "ending in 4321" in mail["text"]
    assert "987654321" not in mail["text"]
    await until(town, "2026-12-01", "2026-12-02")
    [paycheck] = (await read(family, ran["payroll_id"]))["employees"]
    assert paycheck["outcome"]["refund"]["status"] == "paid"


async def test_a_deposit_that_cannot_leave_is_told_before_its_day_and_again_when_it_goes(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await until(town, "2026-11-20", "2026-11-23")
    town.go_to("2026-11-25", 15)
    await work(town)  # funded; the deposit leaves on Friday
    owner_connection.execute(
        "UPDATE bank_accounts SET status = 'failed', reason = 'Account closed (R02).' WHERE employee_id IS NOT NULL"
    )
    detail = await read(family, ran["payroll_id"])
    failure = detail["failure"]
    assert (detail["status"], failure["kind"], failure["employees"]) == (
        "processing",
        "held",
        [family.employee_id],
    )
    assert failure["next_try"] == "2026-11-27T20:00:00Z"
    assert failure["until"] == "2026-12-30T20:00:00Z"  # the last file whose deposits arrive in the year
    assert [each["status"] for each in detail["employees"]] == ["held"]
    with capture_logs() as logs:
        for hour in (16, 17, 18):
            town.go_to("2026-11-25", hour)
            await work(town)
    assert [each["event"] for each in logs].count("bank_entry.held") == 1
    assert [each[:2] for each in post.notices()] == [("held", "household"), ("held", "employee")]
    assert (await worker_figures(town.database, town.clock))["held"] == 1
    with capture_logs() as logs:
        await until(town, "2026-11-27")
    assert [each["event"] for each in logs].count("bank_entry.held") == 1  # once a day
    assert len(post.notices()) == 2
    # What it says is possible: void, or another account.
    assert "Or void the payroll" in failure["what_to_do"]
    await town.connect(family.caller, family.employer_id, family.employee_id, account="55554444")
    await until(town, EARLIEST, "2026-12-01")
    detail = await read(family, ran["payroll_id"])
    assert (detail["status"], detail.get("failure")) == ("completed", None)
    assert [each["status"] for each in detail["employees"]] == ["paid"]


async def test_voiding_what_is_held_is_not_refused(
    town: Town, family: Family, owner_connection: psycopg.Connection
):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    await until(town, "2026-11-20", "2026-11-23", "2026-11-25")
    owner_connection.execute("UPDATE bank_accounts SET status = 'failed' WHERE employee_id IS NOT NULL")
    await work(town)
    assert "void" in (await read(family, ran["payroll_id"]))["failure"]["what_to_do"]
    voided = data(await family.caller.post(f"/payroll/{ran['payroll_id']}/void", {}))
    assert voided["status"] == "voided"
    assert [each["status"] for each in voided["employees"]] == ["undone"]


async def test_a_payroll_that_cannot_be_sent_says_when_it_is_tried_again_and_until_when(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    owner_connection.execute("UPDATE bank_accounts SET status = 'failed' WHERE employee_id IS NULL")
    town.go_to("2026-11-27", 15)
    await work(town)
    failure = (await read(family, ran["payroll_id"]))["failure"]
    assert (failure["kind"], failure["code"]) == ("not_sent", "bank_account_not_ready")
    assert failure["next_try"] == "2026-11-27T20:01:00Z"
    assert failure["until"] == "2026-12-04T17:41:00Z"  # 4 + 16 + 64 + 256 and twenty times 480 minutes later
    assert "Or void the payroll" in failure["what_to_do"]
    for minutes in (1, 5, 21, 85, *range(341, 341 + 21 * 480, 480)):
        town.go_to("2026-11-27", 15)
        town.clock.advance(timedelta(minutes=minutes))
        await work(town)
    detail = await read(family, ran["payroll_id"])
    failure = detail["failure"]
    assert (detail["status"], failure["next_try"], failure["until"]) == ("failed", None, None)
    assert "void" not in failure["what_to_do"].lower()
    assert [each[:2] for each in post.notices()] == [
        ("not_sent", "household"),
        ("not_sent", "household"),
        ("not_sent", "employee"),
    ]
    refusal(await family.caller.post(f"/payroll/{ran['payroll_id']}/void", {}), 400, "invalid_state")


class DeafBank:
    """A gateway whose server is away."""

    async def deliver(self, name: str, content: bytes) -> None:
        raise GatewayUnavailableError("the server does not answer")

    async def pick_up(self) -> tuple[IncomingFile, ...]:
        raise GatewayUnavailableError("the server does not answer")

    async def acknowledge(self, name: str, content: bytes) -> None:
        raise GatewayUnavailableError("the server does not answer")


async def test_a_bank_out_of_reach_stands_in_the_payroll_and_is_logged_once_a_day(
    town: Town, family: Family, post: Post
):
    ran = data(await family.caller.post("/payroll/run", family.order()))
    deaf = Bank(ORIGINATOR, DeafBank())  # type: ignore[arg-type]
    with capture_logs() as logs:
        for minute in range(3):
            town.go_to("2026-11-20", 15, minute)
            await work(town, bank=deaf)
    told = [each for each in logs if each["event"] == "bank problem"]
    assert len(told) == 2  # files cannot be fetched, and none delivered: each once
    failure = (await read(family, ran["payroll_id"]))["failure"]
    assert (failure["kind"], failure["code"], failure["employees"]) == (
        "bank_unreachable",
        "bank_unreachable",
        [],
    )
    assert [each[:3] for each in post.notices()] == [("problem", "operator", "queued")] * 2
    with capture_logs() as logs:
        for _ in range(30):
            town.clock.advance(timedelta(minutes=50))
            await work(town, bank=deaf)
    assert len(post.notices()) == 2
    assert [each["event"] for each in logs].count("bank problem") == 2  # a day later
    town.go_to("2026-11-23", 9)
    await work(town)
    assert "failure" not in await read(family, ran["payroll_id"])


async def test_a_payroll_that_is_due_while_no_worker_works_says_so(family: Family, town: Town):
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    town.go_to("2026-11-27", 15, 30)
    assert "failure" not in await read(family, ran["payroll_id"])
    town.go_to("2026-11-27", 17)
    failure = (await read(family, ran["payroll_id"]))["failure"]
    assert (failure["kind"], failure["code"]) == ("delayed", "not_sent_yet")
    figures = await worker_figures(town.database, town.clock)
    assert (figures["due"], figures["oldest_due_seconds"]) == (1, 2 * 3600)
    await work(town)
    figures = await worker_figures(town.database, town.clock)
    assert (figures["due"], figures["oldest_due_seconds"], figures["fired"]) == (0, 0, 1)
    assert "failure" not in await read(family, ran["payroll_id"])


async def test_without_a_mail_server_the_outbox_says_who_was_to_be_told(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    data(await family.caller.post("/payroll/run", family.order()))
    await until(town, "2026-11-20", "2026-11-23")
    await bring_back(town, owner_connection, "debit", "R03")
    await work(town, NotificationSettings())
    assert post.notices() == [
        ("debit_returned", "household", "withheld", "no_mail_server"),
        ("debit_returned", "employee", "withheld", "no_address"),
    ]
    assert rows(owner_connection, "SELECT count(*) FROM mail_outbox WHERE content IS NOT NULL") == [(0,)]


async def test_two_workers_tell_once(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    data(await family.caller.post("/payroll/run", family.order()))
    await until(town, "2026-11-20", "2026-11-23")
    await bring_back(town, owner_connection, "debit", "R03")
    await asyncio.gather(*(work(town) for _ in range(4)))
    assert [each[1] for each in post.notices()] == ["household", "employee"]


async def test_no_mail_repeats_an_address_that_somebody_typed(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    """The household may be someone else's customer: names and messages come into its mail without addresses."""
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-04")))
    failure = {
        "code": "not_calculable",
        "message": "The payroll could not be calculated: locality pay-here.example.com is unknown.",
        "what_to_do": "",
        "reason": "The payroll cannot be calculated",
    }
    owner_connection.execute(
        "UPDATE payrolls SET failure = %s, attempts = 1, next_attempt_at = '2026-12-01' WHERE id = %s",
        (orjson.dumps(failure).decode(), ran["payroll_id"]),
    )
    owner_connection.execute("UPDATE employers SET first_name = 'Visit evil.example/now'")
    await work(town)
    [mail] = post.told("household")
    assert "The payroll could not be sent: the payroll cannot be calculated." in mail["text"]
    for part in (mail["text"], mail["html"], mail["subject"]):
        assert "example.com" not in part
        assert "evil.example" not in part


async def test_a_prenote_that_comes_back_is_told_to_whose_account_it_is_and_to_the_household(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    owner_connection.execute("UPDATE employees SET email = 'rosa@example.com'")
    await town.connect(family.caller, family.employer_id, account="5550001111", prenote=True)
    await town.connect(
        family.caller, family.employer_id, family.employee_id, account="5550002222", prenote=True
    )
    await until(town, "2026-11-20", "2026-11-23")
    assert post.notices() == []
    prenotes = rows(owner_connection, "SELECT id FROM bank_entries WHERE kind = 'prenote' ORDER BY id")
    for (entry_id,) in prenotes:
        async with town.worker.transaction(None) as session:
            await mark_returned(session, town.clock.now(), {entry_id: "R03"})
        await work(town)
        await work(town)  # told once
    assert post.notices() == [
        ("prenote_returned", "household", "queued", None),
        ("prenote_returned", "household", "queued", None),
        ("prenote_returned", "employee", "queued", None),
    ]
    own, theirs = post.told("household")
    assert "the account ending in 1111" in own["text"]
    assert "the account ending in 2222" in theirs["text"]
    [mail] = post.told("employee")
    assert mail["to"] == "rosa@example.com"
    assert "your account ending in 2222" in mail["text"]
    for each in (own, theirs, mail):
        assert "No account, or not the holder's (R03)" in each["text"]
        assert not any(number in each["text"] for number in ("5550001111", "5550002222"))
        addresses = re.findall(r"\w+://\S+", each["text"])
        assert [address.partition("/app/")[2].partition("/")[0] for address in addresses] == (
            [] if each is mail else [family.employer_id]
        )


async def test_a_payout_that_comes_back_is_told_and_its_money_stands_in_the_balance(
    town: Town, family: Family, owner_connection: psycopg.Connection, post: Post
):
    order = family.order()
    order["employees"][0]["voluntary_set_aside"] = {"amount": 50}
    data(await family.caller.post("/payroll/run", order))
    await until(town, "2026-11-20", "2026-11-23", "2026-11-24", "2026-11-25")
    async with town.database.transaction(operator_of(owner_connection).tenant) as session:
        employee = await session.get_one(Employee, UUID(family.employee_id))
        await escrow.payout(
            session,
            operator_of(owner_connection),
            town.clock,
            employee,
            amount=Decimal(50),
            method="direct_deposit",
        )
    await until(town, "2026-11-27", "2026-11-30")
    await bring_back(town, owner_connection, "payout", "R02")
    await work(town)
    assert post.notices() == [
        ("payout_returned", "household", "queued", None),
        ("payout_returned", "employee", "withheld", "no_address"),
    ]
    [mail] = post.told("household")
    assert "returned $50.00 of set-aside savings" in mail["text"]
    assert "in the employee's balance again" in mail["text"]
    balance = rows(owner_connection, "SELECT sum(amount) FROM escrow_movements")
    assert balance == [(5000,)]


def operator_of(owner: psycopg.Connection) -> Actor:
    [(organization,)] = rows(owner, "SELECT DISTINCT organization_id FROM employers")
    return Actor("operator", None, organization, "live", frozenset(), "r")
