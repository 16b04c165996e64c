"""The table of states, and the guard of every move."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.database.session import Database
from hearthpay.payroll.lifecycle import (
    PEOPLE,
    STATUSES,
    TRANSITIONS,
    WORKER,
    Cause,
    ForbiddenTransitionError,
    move,
)
from tests.database.household import Household, add_household, add_organization

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
ENDS = {"voided", "failed"}


@pytest.fixture
def smiths(owner_connection, empty_tables) -> Household:
    return add_household(owner_connection, add_organization(owner_connection, "Smith"))


def test_every_state_is_reached_and_only_the_ends_are_ends():
    """Of what has failed, the part that was paid by check can be taken back."""
    assert {enter for _, enter in TRANSITIONS} == set(STATUSES)
    assert (
        set(STATUSES) - {leave for leave, enter in TRANSITIONS if (leave, enter) != ("failed", "voided")}
        == ENDS
    )


def test_money_is_moved_by_the_worker_alone_and_voiding_is_for_people():
    for (leave, enter), actors in TRANSITIONS.items():
        assert actors
        if enter == "voided":
            assert actors == PEOPLE
        elif leave == "processing":  # a person may settle what cannot leave
            assert actors == WORKER | PEOPLE
        elif leave in ("firing", "pending_funding"):
            assert actors == WORKER


@given(
    leave=st.sampled_from(STATUSES),
    enter=st.sampled_from(STATUSES),
    kind=st.sampled_from([*PEOPLE, *WORKER]),
)
async def test_no_move_but_those_of_the_table(leave, enter, kind):
    if kind in TRANSITIONS.get((leave, enter), ()):
        return
    with pytest.raises(ForbiddenTransitionError):
        await move(None, [], leave, enter, Cause(kind, NOW))


async def test_a_move_leaves_only_the_state_it_names(
    worker_database: Database, smiths: Household, owner_connection
):
    cause = Cause("system", NOW)
    owner_connection.execute("UPDATE payrolls SET status = 'pending_funding'")
    async with worker_database.transaction(None) as session:
        assert await move(session, [smiths.payroll_id], "processing", "completed", cause) == []
        steps = ("processing", "completed")
        assert await move(session, [smiths.payroll_id], "pending_funding", steps, cause) == [
            smiths.payroll_id
        ]
        assert await move(session, [smiths.payroll_id], "pending_funding", steps, cause) == []
    history = owner_connection.execute(
        "SELECT from_status, to_status, actor_kind FROM payroll_transitions WHERE from_status IS NOT NULL ORDER BY id"
    ).fetchall()
    assert history == [("pending_funding", "processing", "system"), ("processing", "completed", "system")]
