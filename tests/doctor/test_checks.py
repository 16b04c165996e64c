"""Sound books pass every check, and whatever is damaged is found by the check whose law it breaks."""

from collections.abc import Sequence

import pytest

from hearthpay.doctor.checks import CHECKS, CHECKS_BY_ID, Check
from hearthpay.doctor.examination import CheckResult, examine
from hearthpay.doctor.proofs import PROOFS, PROOFS_BY_ID, Proof
from tests.doctor.books import Books
from tests.doctor.damage import DAMAGE, NO_DAMAGE
from tests.rights.damage import DAMAGE as DAMAGE_TO_RIGHTS

LAWS = (*CHECKS, *PROOFS)
IDS = (*CHECKS_BY_ID, *PROOFS_BY_ID)

FROM_THE_LOG = {law for law in DAMAGE_TO_RIGHTS if law not in ("account_sessions", "attempts_ahead")} | {
    "filings_kept",
    "tax_payments_noted",
}
"""Laws that hold what stands against what was noted of it, which may be what is damaged; or what nobody noted."""

BESIDES = {
    "entries_apart": {"periods", "autopilot_payrolls"},
    "histories": {"autopilot_payrolls", "autopilot_history"},
    "deposits_paid": {"accounts"},
    "tax_years": {"month_totals", "month_lines"},
    "paycheck_digests": {"month_totals", "month_lines"},
    "reversals": {"month_lines"},
    "year_caps": {"following_wages", "month_lines"},
    "threshold_wages": {"following_wages", "month_lines"},
    "following_wages": {"month_lines"},
    "month_totals": {"month_lines"},
    "autopilot_schedules": {"autopilot_ahead", "autopilot_terms"},
    "autopilot_payrolls": {"autopilot_terms"},
    "autopilot_history": {"autopilot_events_kept"},
    "autopilot_gaps": {"autopilot_events_kept"},
    "autopilot_standing": {"debits_authorized"},
    "autopilot_told": {"mails_kept"},
    "package_papers": {"documents_issued"},
    "autopilot_overdue": {"autopilot_ahead"},
    "audit_chain": FROM_THE_LOG,
    "traces": FROM_THE_LOG,
    "agents_runs": {"agent_rights"},
    "owners": FROM_THE_LOG,
    "ways_in": FROM_THE_LOG,
    "certificates": FROM_THE_LOG,
    "linked_people": FROM_THE_LOG,
    "document_contents": {"documents_issued"},
}
"""What else speaks up, since another of its laws is broken as well; the digest does whatever becomes of a paycheck."""


def silent(done: int, total: int, name: str) -> None:
    assert 0 <= done < total == len(LAWS)


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
    assert DAMAGE.keys() | DAMAGE_TO_RIGHTS.keys() == set(names)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        pytest.param(name, damage, id=f"{name}-{number}", marks=() if number == 1 else pytest.mark.long)
        for name, damages in DAMAGE.items()
        for number, damage in enumerate(damages, 1)
    ],
)
async def test_what_is_damaged_is_found_by_the_check_whose_law_it_breaks(books: Books, name, damage):
    """Where money is damaged, what cannot leave then or is missing is open as well."""
    found = await findings_after(books, *damage)
    wrong = {each: result.differences for each, result in found.items()}
    assert wrong.keys() - BESIDES.get(name, set()) - {name, "paycheck_digests", "open_money"} == set(), wrong
    assert name in wrong
    assert all(difference.recorded != difference.expected for difference in found[name].differences)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        pytest.param(name, damage, id=f"{name}-{number}")
        for name, damages in DAMAGE.items()
        for number, damage in enumerate(damages[1:], 2)
    ],
)
async def test_other_damage_is_found_by_the_same_check(books: Books, name, damage):
    """The check by itself; that no other one speaks up unasked is tried with the first damage, and by `-m long`."""
    law = {**CHECKS_BY_ID, **PROOFS_BY_ID}[name]
    found = await findings_after(books, *damage, laws=(law,))
    assert name in found
    assert all(difference.recorded != difference.expected for difference in found[name].differences)


@pytest.mark.parametrize("changes", NO_DAMAGE.values(), ids=NO_DAMAGE)
async def test_what_is_no_damage_is_passed_over(books: Books, changes):
    found = await findings_after(books, *changes)
    assert {name: result.differences for name, result in found.items()} == {}
