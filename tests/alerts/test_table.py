"""Every sensitive action × every holder of a link: the links are pressed, and the rows looked at afterward.

What comes out is the table that people read, `docs/explanation/stop-links.md`.
"""

import re
from datetime import timedelta
from pathlib import Path
from typing import Final

import psycopg
import pytest

import hearthpay
from hearthpay.access.refusal import Refusal
from hearthpay.alerts.reach import UNSTOPPABLE
from hearthpay.alerts.reversal import ReversedActs, reverse_acts
from hearthpay.clock import FixedClock
from hearthpay.database.sensitive_actions import DELICATE_ACTS
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.stop_links import StopActs, read_stop
from hearthpay.security.key_ring import KeyRing
from tests.alerts.readers import Alerted, Tell
from tests.alerts.thefts import (
    ACCOUNT,
    CONTACT,
    EMPLOYEE,
    MINUTE,
    NEW_EMPLOYEE,
    OTHER,
    OWNER,
    REMOVED,
    THIEF,
    UNDONE,
    settle,
    steal,
)
from tests.cases import every_case
from tests.web.rows.world import World
from tests.worlds.snapshots import Snapshots

PAGE: Final = Path(hearthpay.__file__).parents[2] / "docs" / "explanation" / "stop-links.md"
HOLDERS: Final = {
    "Owner, admin": OWNER,
    "Account that did it": ACCOUNT,
    "Household, before": CONTACT,
    "Household, for a minute": MINUTE,
    "Household, since": THIEF,
    "Employee, before": EMPLOYEE,
    "Employee, since": NEW_EMPLOYEE,
    "Other household": OTHER,
    "Removed member": REMOVED,
}
"""The columns of the table: whose mailbox it is."""
NOT_REACHED: Final = "–"

GAINS: Final = {
    "members": "SELECT person_id::text || role FROM memberships WHERE ended_at IS NULL",
    "keys": "SELECT id::text FROM api_keys WHERE revoked_at IS NULL",
    "apps": "SELECT id::text FROM agent_grants WHERE ended_at IS NULL",
    "links": "SELECT id::text FROM invitations WHERE status = 'pending'",
    "calendars": "SELECT id::text FROM calendar_links WHERE revoked_at IS NULL",
    "invitations": "SELECT id::text FROM member_invitations WHERE status = 'pending'",
    "accounts": "SELECT id::text FROM bank_accounts WHERE status IN ('active', 'verifying')",
    "changes": "SELECT id::text FROM account_changes WHERE status = 'waiting'",
    "credentials": "SELECT id::text FROM credentials WHERE ended_at IS NULL",
    "sessions": "SELECT id::text FROM person_sessions WHERE ended_at IS NULL",
    "resets": "SELECT id::text FROM one_time_tokens WHERE used_at IS NULL",
}
"""By what somebody may do something: no link adds to any of these."""


def table() -> dict[str, dict[str, str]]:
    """The table of the page: by action and holder."""
    rows = [
        [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    header = next(row for row in rows if row[0] == "Action")
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows if row[0] in DELICATE_ACTS}


async def press(people_context: PeopleContext, mail: Alerted) -> ReversedActs:
    """Press the button of the mail's link."""
    token = mail.link.removeprefix("/stop/")
    stop = read_stop(people_context.keys(), people_context.clock.now(), token)
    assert isinstance(stop, StopActs)
    return await reverse_acts(people_context, stop, token, "request")


@pytest.fixture
async def told(
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
    alerted: Tell,
) -> dict[str, Alerted]:
    """The mails about everything that a thief can do, by their address."""
    world = await World.make(people_context, owner_connection, maria, email=CONTACT)
    await settle(world, ring)
    await alerted()
    clock.advance(timedelta(days=8))
    await steal(world, ring)
    return {each.to: each for each in await alerted()}


def standing(connection: psycopg.Connection) -> dict[str, set[str]]:
    """What somebody may do something by."""
    return {name: {row[0] for row in connection.execute(query).fetchall()} for name, query in GAINS.items()}


def _outcome(action: str, stopped: ReversedActs | None, connection: psycopg.Connection) -> str:
    """Return the word of the table, once the rows have shown that it is true."""
    if stopped is None:
        return NOT_REACHED
    done = [act for act in stopped.taken_back if act.action == action]
    left = [act for act in stopped.left if act.action == action]
    if not done and not left:
        return NOT_REACHED
    for act in done or left:
        found = connection.execute(UNDONE[action], {"subject": act.subject_id}).fetchone()
        assert found == (bool(done),), action
    return "undone" if done else "stays"


async def test_the_table_is_what_the_links_do(
    told: dict[str, Alerted],
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    snapshots: Snapshots,
) -> None:
    written = table()
    kept = snapshots.take()
    found: dict[str, dict[str, str]] = {action: {} for action in DELICATE_ACTS}
    frozen: dict[str, str] = {}
    for holder, address in HOLDERS.items():
        before = standing(owner_connection)
        stopped = None
        if address in told and re.search("/stop/", told[address].text):
            stopped = await press(people_context, told[address])
        for action in DELICATE_ACTS:
            found[action][holder] = _outcome(action, stopped, owner_connection)
        after = standing(owner_connection)
        assert {name for name in GAINS if after[name] - before[name]} == set(), holder
        frozen[holder] = _frozen(owner_connection)
        kept.restore()
    assert found == written
    assert frozen == dict(_freezes())


def _frozen(connection: psycopg.Connection) -> str:
    if connection.execute("SELECT count(*) FROM organizations WHERE frozen_until IS NOT NULL").fetchone() == (
        1,
    ):
        return "organization"
    households = connection.execute(
        "SELECT array_agg(is_primary) FROM employers WHERE frozen_until IS NOT NULL"
    ).fetchone()
    return {None: "nothing", (True,): "household"}[None if households == (None,) else tuple(households[0])]


def _freezes() -> list[tuple[str, str]]:
    line = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| Frozen"))
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return list(zip(HOLDERS, cells[1:], strict=True))


@pytest.mark.completeness
def test_every_action_has_its_row() -> None:
    written = table()
    assert written.keys() == DELICATE_ACTS.keys()
    with every_case() as case:
        for action, row in written.items():
            with case(action):
                assert tuple(row) == tuple(HOLDERS)
                assert action not in UNSTOPPABLE or set(row.values()) == {NOT_REACHED}


async def test_a_link_works_once_for_each_holder_and_freezes_no_longer(
    told: dict[str, Alerted], people_context: PeopleContext, clock: FixedClock
) -> None:
    first = await press(people_context, told[CONTACT])
    with pytest.raises(Refusal) as caught:
        await press(people_context, told[CONTACT])
    assert caught.value.code == "gone"
    clock.advance(timedelta(hours=5))
    again = await press(people_context, told[EMPLOYEE])
    assert again.frozen_until == first.frozen_until
    clock.advance(timedelta(days=1))
    assert (await press(people_context, told[OWNER])).frozen_until is not None, "an owner freezes all of it"
