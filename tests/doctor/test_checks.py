"""Sound books pass every check, and whatever is damaged is found by the check whose law it breaks.

And how the doctor looks: at one moment, changing nothing, telling enough; and what its command prints. In one file,
since the books take longer to keep than these tests take.
"""

import os
import subprocess
from collections.abc import Sequence
from datetime import datetime

import orjson
import pytest
from sqlalchemy import text

from hearthpay.database.embedded import OWNER_ROLE, EmbeddedServer
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.doctor import examination
from hearthpay.doctor.balance_checks import year_totals
from hearthpay.doctor.checks import CHECKS, CHECKS_BY_ID, Check
from hearthpay.doctor.digest_checks import DIGESTED
from hearthpay.doctor.escrow_checks import escrow_balances
from hearthpay.doctor.examination import MOST_TOLD, CheckResult, examine, open_for_reading
from hearthpay.doctor.proofs import PROOFS, PROOFS_BY_ID, Proof
from tests.cases import every_case
from tests.doctor.books import Books
from tests.doctor.damage import DAMAGE, NO_DAMAGE
from tests.doctor.trace_damage import TRACES
from tests.rights.damage import DAMAGE as DAMAGE_TO_RIGHTS
from tests.worlds.commands import hearthpay_says

BALANCES = text("UPDATE escrow_accounts SET balance = balance + :cents")

LAWS = (*CHECKS, *PROOFS)
IDS = (*CHECKS_BY_ID, *PROOFS_BY_ID)

FROM_THE_LOG = {law for law in DAMAGE_TO_RIGHTS if law not in ("account_sessions", "attempts_ahead")} | {
    "filings_kept",
    "tax_payments_noted",
    "handed_over",
    "feed_links",
    "audit_chain",
    *TRACES,
}
"""Laws that hold what stands against what was noted of it, which may be what is damaged; or what nobody noted."""

WHATEVER_CHANGES = {
    "paycheck_digests",
    "row_digests",
    "bank_entry_steps",
    "open_money",
    "records_changed",
    "schema",
}
"""What speaks up whatever becomes of a paycheck, a row or a bank entry, and what cannot leave then or is missing; a
record that was changed without an entry; and the schema, where a guard went first."""

PROVED_OTHERWISE = {("payrolls", "metadata"), ("bank_entries", "steps")}
"""Columns that no role may change, and no digest names: `metadata_entries` and `bank_entry_steps` prove them."""

TRACES_BESIDES = {
    "row_digests": {"household_dues", "payrolls_made", "prior_wages_entered"},
    "payrolls_made": {"metadata_entries", "references"},
    "authorizations_revoked": {"debits_authorized"},
    "account_requests": {"ways_in", "account_history", "records_entered"},
    "prior_wages_entered": {"records_entered"},
    "set_asides_requested": {"records_entered"},
    "filings_kept": {"household_dues"},
    "tax_payments_noted": {"household_dues", "references"},
    "audit_chain": {"autopilot_events_kept", "account_requests"},
    "traces": set(IDS),
}

BESIDES = {
    "entries_apart": {"autopilot_payrolls", "periods"},
    "histories": {"autopilot_history", "autopilot_payrolls", "payrolls_made"},
    "deposits_paid": {"accounts"},
    "tax_years": {"month_lines", "month_totals", "pay_dates"},
    "paycheck_digests": {"month_lines", "month_totals"},
    "reversals": {"month_lines"},
    "year_caps": {"following_wages", "month_lines"},
    "threshold_wages": {"following_wages", "month_lines"},
    "following_wages": {"month_lines"},
    "month_totals": {"household_dues", "month_lines"},
    "autopilot_schedules": {"autopilot_ahead", "autopilot_terms"},
    "autopilot_payrolls": {"autopilot_terms"},
    "autopilot_history": {"autopilot_events_kept", "autopilot_skips"},
    "autopilot_gaps": {"autopilot_events_kept"},
    "autopilot_standing": {"debits_authorized"},
    "autopilot_told": {"mails_kept"},
    "package_papers": {"documents_issued", "records_kept", "records_entered"},
    "autopilot_overdue": {"autopilot_ahead"},
    "audit_chain": FROM_THE_LOG,
    "traces": FROM_THE_LOG,
    "agents_runs": {"agent_rights"},
    "owners": FROM_THE_LOG,
    "ways_in": FROM_THE_LOG,
    "certificates": FROM_THE_LOG,
    "linked_people": FROM_THE_LOG,
    "document_contents": {"documents_issued"},
    "entries_paid": {"payrolls_made"},
    "entries_live": {"household_dues"},
    "reversed_when": {"returns_recorded"},
    "month_lines": {"household_dues"},
    "open_money": {"account_standing", "returns_recorded"},
    "escrow_deposits": {"payouts_recorded"},
    "escrow_payouts": {"returns_recorded"},
    "drafts": {"drafts_kept"},
    "filings": {"entries_by_households"},
    "duties_marked": {"entries_by_households"},
    "policies_entered": {"entries_by_households"},
    "tax_payments_known": {"tax_payments_noted"},
    "tax_payments_reversed": {"filings_kept", "tax_payments_noted"},
    "waiting_accounts": {"account_requests"},
    "references": {"account_standing"},
}
"""What else speaks up, since another of its laws is broken as well."""


def silent(done: int, total: int, name: str) -> None:
    assert 0 <= done < total == len(LAWS)


def quiet(done: int, total: int, name: str) -> None:
    assert done < total


async def findings_after(
    books: Books, *damage: str, laws: Sequence[Check | Proof] = LAWS
) -> dict[str, CheckResult]:
    """The checks that find something once the statements have done their damage, which is rolled back."""
    async with books.owner.transaction(None) as session:
        connection = await session.connection()
        for statement in damage:
            changed = await connection.exec_driver_sql(statement)
            assert changed.rowcount != 0, f"nothing to damage: {statement}"
        results = await examine(session, books.clock.now(), lambda *_: None, laws, ring=books.ring)
        await session.rollback()
    return {result.name: result for result in results if result.found}


async def test_sound_books_pass(books: Books):
    async with books.owner.transaction(None) as session:
        results = await examine(session, books.clock.now(), silent, ring=books.ring)
    assert [(result.name, result.differences) for result in results if result.found] == []
    assert [result.name for result in results] == list(IDS)
    assert all(result.law.endswith(".") for result in results)


async def test_the_books_hold_everything_that_happens(books: Books):
    async with books.owner.transaction(None) as session:
        connection = await session.connection()

        async def all_of(query: str) -> set[tuple[object, ...]]:
            return {tuple(row) for row in await connection.exec_driver_sql(query)}

        assert await all_of("SELECT status FROM payrolls WHERE sandbox") == {
            ("scheduled",), ("pending_funding",), ("processing",), ("completed",), ("failed",), ("voided",)
        }  # fmt: skip
        assert await all_of("SELECT status FROM payrolls WHERE NOT sandbox") == {("completed",), ("voided",)}
        assert await all_of("SELECT kind, status FROM bank_entries") >= {
            ("debit", "settled"), ("debit", "returned"), ("credit", "settled"), ("credit", "returned"),
            ("refund", "settled"), ("payout", "settled"), ("payout", "returned"),
        }  # fmt: skip
        assert await all_of("SELECT kind, payment_method FROM escrow_movements") == {
            ("deposit", "check"), ("deposit", "cash"), ("deposit", "direct_deposit"), ("reversal", "check"),
            ("reversal", "direct_deposit"), ("payout", "cash"), ("payout", "direct_deposit"),
            ("payout_returned", "direct_deposit"),
        }  # fmt: skip
        assert await all_of("SELECT max(attempt) FROM bank_entries WHERE kind = 'debit'") == {(3,)}


@pytest.mark.completeness
def test_every_check_is_damaged():
    assert not DAMAGE.keys() & DAMAGE_TO_RIGHTS.keys()
    names = list(IDS)
    assert list(DAMAGE) == [name for name in names if name in DAMAGE]
    assert DAMAGE.keys() | DAMAGE_TO_RIGHTS.keys() | TRACES.keys() == set(names)


def _in_turn(position: int, name: str) -> tuple[Check | Proof, ...]:
    """The check that must speak up, and another third of all others for each damage.

    That of the schema takes longest, and no row concerns it.
    """
    return tuple(
        law
        for number, (each, law) in enumerate(zip(IDS, LAWS, strict=True))
        if each == name or (number % 3 == position % 3 and each != "schema")
    )


@pytest.mark.parametrize(
    ("name", "damage", "laws"),
    [
        *(
            pytest.param(name, damages[0], _in_turn(position, name), id=f"{name}-in turn")
            for position, (name, damages) in enumerate(DAMAGE.items())
        ),
        *(
            pytest.param(name, damage, LAWS, id=f"{name}-{number}", marks=pytest.mark.long)
            for name, damages in DAMAGE.items()
            for number, damage in enumerate(damages, 1)
        ),
    ],
)
async def test_what_is_damaged_is_found_by_the_check_whose_law_it_breaks(books: Books, name, damage, laws):
    """Where money is damaged, what cannot leave then or is missing is open as well; where a guard went first, the
    schema differs.
    """
    found = await findings_after(books, *damage, laws=laws)
    wrong = {each: result.differences for each, result in found.items()}
    assert wrong.keys() - BESIDES.get(name, set()) - {name, *WHATEVER_CHANGES} == set(), wrong
    assert name in wrong
    assert all(difference.recorded != difference.expected for difference in found[name].differences)


async def test_other_damage_is_found_by_the_same_check(books: Books):
    """The check by itself; that no other one speaks up unasked is tried with the first damage, and by `-m long`."""
    with every_case() as case:
        for name, damages in DAMAGE.items():
            law = {**CHECKS_BY_ID, **PROOFS_BY_ID}[name]
            for number, damage in enumerate(damages[1:], 2):
                with case(f"{name}-{number}"):
                    found = await findings_after(books, *damage, laws=(law,))
                    assert name in found
                    assert all(
                        difference.recorded != difference.expected for difference in found[name].differences
                    )


async def test_a_fact_that_was_changed_or_removed_is_found_by_its_trace(books: Books):
    with every_case() as case:
        for name, damages in TRACES.items():
            law = {**CHECKS_BY_ID, **PROOFS_BY_ID}[name]
            for what, damage in damages.items():
                with case(f"{name}: {what}"):
                    found = await findings_after(books, *damage, laws=(law,))
                    assert name in found
                    assert all(
                        difference.recorded != difference.expected for difference in found[name].differences
                    )


@pytest.mark.long
async def test_no_other_check_speaks_up_for_a_trace(books: Books):
    with every_case() as case:
        for name, damages in TRACES.items():
            for what, damage in damages.items():
                with case(f"{name}: {what}"):
                    found = await findings_after(books, *damage)
                    assert found.keys() - TRACES_BESIDES.get(name, set()) - {name, *WHATEVER_CHANGES} == set()


@pytest.mark.completeness
async def test_every_table_with_a_digest_is_proved_and_leaves_nothing_out(books: Books):
    """A column that no role may change is part of a row's digest, or has a law of its own."""
    async with books.owner.transaction(None) as session:
        digested = set(
            await session.scalars(
                text(
                    "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'write_digest' "
                    "AND tgrelid <> 'paychecks'::regclass"
                )
            )
        )
        fixed = {
            (row.source, row.name)
            for row in await session.execute(
                text(
                    "SELECT c.relname AS source, a.attname AS name FROM pg_class c "
                    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
                    "WHERE c.relname = ANY(:tables) AND a.attgenerated = '' AND a.attname NOT LIKE '%digest' "
                    "AND NOT has_column_privilege('hearthpay_service', c.oid, a.attname, 'UPDATE') "
                    "AND NOT has_column_privilege('hearthpay_worker', c.oid, a.attname, 'UPDATE') "
                    "AND NOT EXISTS (SELECT FROM pg_proc p WHERE p.proname = c.relname || '_digest' "
                    "AND p.prosrc ~ ('entry[.]' || a.attname || '\\M'))"
                ),
                {"tables": list(DIGESTED)},
            )
        }
    assert digested == set(DIGESTED)
    assert fixed == PROVED_OTHERWISE


@pytest.mark.parametrize("changes", NO_DAMAGE.values(), ids=NO_DAMAGE)
async def test_what_is_no_damage_is_passed_over(books: Books, changes):
    found = await findings_after(books, *changes)
    assert {name: result.differences for name, result in found.items()} == {}


# How it looks, and what it tells.


async def test_what_is_written_meanwhile_is_no_difference(books: Books, server: EmbeddedServer):
    database = open_for_reading(server.owner_url(), OWNER_ROLE)
    try:
        async with database.transaction(None) as session:
            before = await examine(session, books.clock.now(), quiet, [escrow_balances])
            async with books.owner.transaction(None) as writer:
                await writer.execute(BALANCES, {"cents": 1})
            during = await examine(session, books.clock.now(), quiet, [escrow_balances])
        async with database.transaction(None) as session:
            after = await examine(session, books.clock.now(), quiet, [escrow_balances])
    finally:
        await database.dispose()
        async with books.owner.transaction(None) as writer:
            await writer.execute(BALANCES, {"cents": -1})
    assert [result[0].found > 0 for result in (before, during, after)] == [False, False, True]


async def test_nothing_can_be_written_while_looking(server: EmbeddedServer, books: Books):
    database = open_for_reading(server.owner_url(), OWNER_ROLE)
    try:
        with pytest.raises(DatabaseUnavailable, match="takes no writes"):
            async with database.transaction(None) as session:
                await session.execute(BALANCES, {"cents": 1})
        async with database.transaction(None) as session:
            # Long enough for every check, and it ends when it is forgotten.
            assert await session.scalar(text("SHOW statement_timeout")) == "12h"
            assert await session.scalar(text("SHOW idle_in_transaction_session_timeout")) == "30min"
            assert await session.scalar(text("SHOW transaction_isolation")) == "repeatable read"
    finally:
        await database.dispose()


async def test_an_examination_that_takes_too_long_gives_its_snapshot_back(
    books: Books, server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(examination, "SNAPSHOT_SECONDS", 0)
    database = open_for_reading(server.owner_url(), OWNER_ROLE)
    try:
        with pytest.raises(DatabaseUnavailable, match="held its snapshot"):
            async with database.transaction(None) as session:
                await examine(session, books.clock.now(), quiet, [escrow_balances, escrow_balances])
    finally:
        await database.dispose()


async def test_many_differences_are_counted_and_the_first_are_told(books: Books):
    async with books.owner.transaction(None) as session:
        await session.execute(
            text(
                "INSERT INTO year_balances (organization_id, employer_id, sandbox, employee_id, tax_year, codes, "
                "taxable_wages, amounts, gross_pay, net_pay, employee_taxes, employer_taxes) "
                "SELECT organization_id, employer_id, sandbox, id, year, '{}', '{}', '{}', "
                "7, 0, 0, 0 FROM employees, generate_series(1900, 2000) AS year"
            )
        )
        (result,) = await examine(session, books.clock.now(), quiet, [year_totals])
        employees = await session.scalar(text("SELECT count(*) FROM employees"))
        await session.rollback()
    assert result.found == 101 * employees
    assert len(result.differences) == MOST_TOLD
    assert {(each.subject, each.recorded, each.expected) for each in result.differences} == {
        ("employee", "0.07", "0.00")
    }


async def test_progress_names_each_check_before_it_runs(books: Books):
    told = []
    async with books.owner.transaction(None) as session:
        await examine(session, books.clock.now(), lambda *step: told.append(step))
    assert told == [(number, len(IDS), each) for number, each in enumerate(IDS)]


def hearthpay(server: EmbeddedServer, *arguments: str, at: datetime) -> subprocess.CompletedProcess[str]:
    """Run the command on the tests' own server, at the time of its books."""
    return hearthpay_says(
        *arguments, environment={**os.environ, "DATABASE_URL": server.owner_url()}, timeout=60, at=at
    )


async def test_the_command_tells_what_differs_and_ends_with_one(books: Books, server: EmbeddedServer):
    at = books.clock.now()
    async with books.owner.transaction(None) as session:
        await session.execute(BALANCES, {"cents": 123})
        account = await session.scalar(text("SELECT min(employee_id::text) FROM escrow_accounts"))
    try:
        printed = hearthpay(server, "doctor", at=at)
        as_json = hearthpay(server, "doctor", "--json", at=at)
    finally:
        async with books.owner.transaction(None) as session:
            await session.execute(BALANCES, {"cents": -123})
    sound = hearthpay(server, "doctor", at=at)

    assert printed.returncode == 1, printed.stderr
    wrong = [line for line in printed.stdout.splitlines() if line.startswith("WRONG")]
    assert len(wrong) == 1
    assert "escrow_balances" in wrong[0]
    assert f"employee {account}: balance is " in printed.stdout
    assert "figures differ" in printed.stdout
    assert f"{len(IDS)} of {len(IDS)}: {IDS[-1]}" in printed.stderr

    assert as_json.returncode == 1
    document = orjson.loads(as_json.stdout)
    assert document["sound"] is False
    assert [check["name"] for check in document["checks"] if check["found"]] == ["escrow_balances"]
    assert document["checks"][0].keys() == {"name", "law", "found", "differences", "seconds"}

    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert sound.stdout.splitlines()[-1] == "The books are right."
    assert sound.stdout.count("\nok ") + sound.stdout.startswith("ok ") == len(IDS)
