"""`hearthpay bank` as the operator types it, on an embedded database of its own."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.security.key_ring import load_key_ring
from tests.banking.families import Family, add_family
from tests.conftest import plain_url
from tests.database.damage import without_triggers
from tests.database.household import NOW
from tests.people.visitors import mails
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedServer]:
    server = install(Path(tempfile.mkdtemp(prefix="hearthpay-bank-")))
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.data_dir, ignore_errors=True)


@pytest.fixture(scope="module")
def data_dir(running: EmbeddedServer) -> Path:
    return running.data_dir


@pytest.fixture(scope="module")
def families(running: EmbeddedServer) -> list[Family]:
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        return [add_family(connection), add_family(connection, last_name="Chen", sandbox=True)]


def connect(data_dir: Path, household: UUID, value: object, *more: str):
    where = ("--stdin", "--data-dir", str(data_dir))
    return hearthpay("bank", "connect", str(household), *more, *where, stdin=json.dumps(value).encode())


NUMBERS = {"routing": "021000021", "account": "77712345678"}


def test_an_account_is_connected(data_dir: Path, families: list[Family]):
    real, sandbox = families
    household = connect(data_dir, real.employer_id, NUMBERS | {"bank_name": "A Bank"})
    assert household.returncode == 0, household.stderr
    assert household.stdout.decode().strip().endswith("checking …5678, verifying.")
    employee = connect(
        data_dir, real.employer_id, NUMBERS, "--employee", str(real.employee_ids[0]), "--type", "savings"
    )
    assert "savings …5678, verifying." in employee.stdout.decode()
    assert "active." in connect(data_dir, sandbox.employer_id, NUMBERS).stdout.decode()
    assert b"77712345678" not in household.stdout + household.stderr + employee.stdout + employee.stderr


def test_the_employee_is_told_of_an_account_that_the_operator_connects(running: EmbeddedServer):
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        family = add_family(connection, last_name="Reyes")
        employee = family.employee_ids[0]
        connection.execute(
            "UPDATE employers SET email = 'reyes@example.com' WHERE id = %s", (family.employer_id,)
        )
        connection.execute(
            "UPDATE employees SET email = 'Rosa@example.com', language = 'es' WHERE id = %s", (employee,)
        )
        for number in ("77712345678", "88812340000"):
            done = connect(
                running.data_dir,
                family.employer_id,
                NUMBERS | {"account": number},
                "--employee",
                str(employee),
            )
            assert done.returncode == 0, done.stderr
        told = mails(connection, load_key_ring(running.data_dir, {}))
        kept = connection.execute(
            "SELECT DISTINCT status FROM mail_outbox WHERE recipient = 'person'"
        ).fetchall()
    assert [each["to"] for each in told] == ["rosa@example.com"] * 2  # the operator tells the household
    assert "Anterior: ninguna. Nueva: cuenta terminada en 5678." in told[0]["text"]
    assert "Anterior: cuenta terminada en 5678. Nueva: cuenta terminada en 0000." in told[1]["text"]
    assert kept == [("queued",)]  # for the worker


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "must be a JSON object"),
        ({"routing": "021000021"}, "must be a JSON object"),
        (NUMBERS | {"pin": "1"}, "must be a JSON object"),
        (NUMBERS | {"account": 77712345678}, "must be a string"),
        (NUMBERS | {"routing": "021000022"}, "routing number isn't valid"),
        (NUMBERS | {"account": "12"}, "4 to 17 digits"),
        (NUMBERS | {"type": "loan"}, "checking or savings"),
    ],
)
def test_bad_numbers_are_refused_and_not_repeated(data_dir: Path, families, value, message):
    result = connect(data_dir, families[0].employer_id, value)
    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert b"77712345678" not in result.stderr
    assert b"Traceback" not in result.stderr


def test_only_the_households_own_employee_is_connected(data_dir: Path, families: list[Family]):
    real, sandbox = families
    stranger = connect(data_dir, real.employer_id, NUMBERS, "--employee", str(sandbox.employee_ids[0]))
    assert stranger.returncode == 2
    assert b"no such employee" in stranger.stderr
    assert b"no such household" in connect(data_dir, uuid4(), NUMBERS).stderr


@pytest.mark.parametrize(
    "arguments",
    [("nobody",), (str(UUID(int=1)), "--employee", "nobody"), (str(UUID(int=1)), "--type", "loan")],
)
def test_bad_arguments_are_refused_before_anything_starts(arguments):
    result = hearthpay("bank", "connect", *arguments, "--data-dir", "/nonexistent/hearthpay")
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr


def test_files_and_reconciliation(running: EmbeddedServer, families: list[Family]):
    where = ("--data-dir", str(running.data_dir))
    clean = hearthpay("bank", "reconcile", *where)
    assert (clean.returncode, clean.stdout.decode().strip()[:7]) == (0, "0 files"), clean.stderr
    with (
        psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection,
        without_triggers(connection),
    ):
        connection.execute(
            "INSERT INTO bank_files VALUES (%s, 'hearthpay-20261120.ach', '2026-11-20', 'built', 3, 123456, 5, %s, "
            "'', %s, 'lost', now())",
            (families[0].payroll_id, b"\0" * 32, b"\0" * 12),
        )
    listed = hearthpay("bank", "files", *where).stdout.decode()
    assert "hearthpay-20261120.ach  built" in listed
    assert "debits 1,234.56  credits 0.05  returned 0" in listed
    found = hearthpay("bank", "reconcile", "--json", *where)
    assert found.returncode == 1
    [finding] = json.loads(found.stdout)["findings"]
    assert (finding["check"], finding["subject_id"]) == ("file_unreadable", str(families[0].payroll_id))


def test_what_is_open_is_listed_and_settled(running: EmbeddedServer):
    where = ("--data-dir", str(running.data_dir))
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        family = add_family(connection, last_name="Ortiz", status="processing")
        connect(running.data_dir, family.employer_id, NUMBERS)
        connect(running.data_dir, family.employer_id, NUMBERS, "--employee", str(family.employee_ids[0]))
        connection.execute(
            "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, "
            "payroll_id, paycheck_id, amount, status, send_on, settle_on, created_at, updated_at) SELECT new_id(), "
            "organization_id, employer_id, sandbox, 'credit', id, employee_id, %s, %s, 93800, 'pending', '2026-01-02', "
            "'2026-01-05', now(), now() FROM bank_accounts WHERE employee_id = %s",
            (family.payroll_id, family.paycheck_ids[0], family.employee_ids[0]),
        )
        connection.execute(
            "UPDATE bank_accounts SET status = 'failed' WHERE employee_id = %s", (family.employee_ids[0],)
        )
    about = (str(family.payroll_id), str(family.employee_ids[0]))
    listed = hearthpay("bank", "exposure", *where, at=NOW)
    assert listed.returncode == 1
    assert "deposit_waits  938.00" in listed.stdout.decode()
    assert "the employee's account is failed. Pay it by check" in listed.stdout.decode()
    [case] = json.loads(hearthpay("bank", "exposure", "--json", *where, at=NOW).stdout)
    assert (case["kind"], case["amount"], case["payroll_id"]) == ("deposit_waits", 93_800, about[0])
    for more, message in (
        (("--action", "burn"), b"--action must be one of"),
        (("--action", "wait_for_account", "--until", "soon"), b"--until must be a day"),
        (("--action", "wait_for_account"), b"until"),
    ):
        refused = hearthpay("bank", "remedy", *about, *more, *where, at=NOW)
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
    done = hearthpay("bank", "remedy", *about, "--action", "refund", *where, at=NOW)
    assert done.stdout.decode().strip() == "Done: refund. The payroll is failed.", done.stderr
    assert hearthpay("bank", "exposure", *where, at=NOW).stdout.decode().strip() == "Nothing is open."


def test_a_mistake_is_taken_back_once_its_amount_is_confirmed(
    running: EmbeddedServer, data_dir: Path, families: list[Family]
):
    _, family = families
    employee = family.employee_ids[0]
    assert connect(data_dir, family.employer_id, NUMBERS, "--employee", str(employee)).returncode == 0
    credit = family.credits[0]
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as owner:
        owner.execute(
            "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, employee_id, "
            "payroll_id, paycheck_id, amount, status, send_on, settle_on, effective_date, created_at, updated_at) "
            "SELECT new_id(), organization_id, employer_id, true, 'credit', id, employee_id, %s, %s, %s, 'settled', "
            "current_date - 1, current_date, current_date, now(), now() FROM bank_accounts WHERE employee_id = %s "
            "AND status = 'active'",
            (family.payroll_id, credit.paycheck_id, credit.amount, employee),
        )

    def reverse(reason: str, amount: str):
        who = (str(family.payroll_id), str(employee))
        where = ("--data-dir", str(data_dir))
        return hearthpay("bank", "reverse", *who, "--reason", reason, "--amount", amount, *where)

    amount = f"{credit.amount / 100:,.2f}"
    for reason, typed, message in (
        ("regret", amount, b"--reason must be one of"),
        ("duplicate", "x", b"not a number"),
        ("duplicate", "0.01", b"not that of the direct deposit"),
    ):
        refused = reverse(reason, typed)
        assert refused.returncode == 2
        assert message in refused.stderr
    done = reverse("duplicate", amount)
    assert done.returncode == 0, done.stderr
    assert b"is taken back on" in done.stdout
    assert b"taken back already" in reverse("duplicate", amount).stderr
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as owner:
        query = "SELECT actor_kind, details ->> 'reason' FROM audit_log WHERE action = 'bank_entry.reverse'"
        assert owner.execute(query).fetchall() == [("operator", "duplicate")]


def test_wages_whose_debit_came_back_are_open_until_they_are_settled(running: EmbeddedServer):
    where = ("--data-dir", str(running.data_dir))
    with psycopg.connect(plain_url(running.owner_url()), autocommit=True) as connection:
        family = add_family(connection, last_name="Novak", status="completed", sandbox=True)
        connect(running.data_dir, family.employer_id, NUMBERS)
        for kind, status, code in (("debit", "returned", "R10"), ("credit", "settled", None)):
            connection.execute(
                "INSERT INTO bank_entries (id, organization_id, employer_id, sandbox, kind, bank_account_id, "
                "payroll_id, paycheck_id, employee_id, amount, status, return_code, send_on, settle_on, "
                "effective_date, created_at, updated_at) "
                "SELECT new_id(), organization_id, employer_id, sandbox, %(kind)s, id, "
                "%(payroll)s, %(paycheck)s, %(employee)s, 93800, %(status)s, %(code)s, current_date - 3, "
                "current_date - 2, current_date - 2, now(), now() FROM bank_accounts WHERE employer_id = %(employer)s",
                {
                    "kind": kind,
                    "status": status,
                    "code": code,
                    "payroll": family.payroll_id,
                    "paycheck": family.paycheck_ids[0] if kind == "credit" else None,
                    "employee": family.employee_ids[0] if kind == "credit" else None,
                    "employer": family.employer_id,
                },
            )
        [(today,)] = connection.execute(
            "SELECT (now() AT TIME ZONE 'America/New_York')::date::text"
        ).fetchall()
    payroll, household = str(family.payroll_id), str(family.employer_id)
    listed = hearthpay("households", "open-matters", household, *where)
    assert listed.returncode == 3
    assert b"OPEN    wages_not_collected (sandbox): household " + household.encode() in listed.stdout
    paid = ("--received", today, "--told-by", "check 118")
    for arguments, message in (
        (("nothing", *paid), b"payroll"),
        ((payroll, "--received", "yesterday", "--told-by", "check 118"), b"--received must be a day"),
        ((payroll, *paid, "--amount", "much"), b"amount"),
        ((payroll, *paid, "--amount", "1.005"), b"at most two decimals"),
        ((payroll, *paid, "--amount", "938.01"), b"at most what is owed, 938.00"),
        ((household, *paid), b"no such payroll"),
    ):
        refused = hearthpay("bank", "settle", *arguments, *where)
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
    part = hearthpay("bank", "settle", payroll, *paid, "--amount", "38.00", *where)
    assert part.stdout.decode().strip().endswith("The household still owes 900.00."), part.stderr
    rest = hearthpay("bank", "settle", payroll, *paid, *where)
    assert rest.stdout.decode().strip().endswith("The household owes nothing more of it."), rest.stderr
    nothing = hearthpay("households", "open-matters", household, *where)
    assert (nothing.returncode, nothing.stdout.strip()) == (0, b"Nothing is open.")
    assert b"owes nothing of this payroll" in hearthpay("bank", "settle", payroll, *paid, *where).stderr
