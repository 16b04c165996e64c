"""Every page whose address names something × every role: what is somebody else's is not there, and stays as it is.

Made from the routes: a parameter for which `foreign_things.py` has nothing fails, and so does an address with a token.
"""

import re
from collections.abc import Iterator

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people import credentials, members, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_in_links import ask_for_sign_in_link
from hearthpay.people.tokens import leave_token
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.portal_tokens import generate_token
from tests.people.visitors import HERE, VISIT, link_in, mails
from tests.web.foreign_things import FOREIGN, TOKENS
from tests.web.pages_by_role import ROWS
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, names_by_id, people, people_context, things_of
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context"]

_PARAMETER = re.compile(r"{(\w+)}")
_WATCHED = (
    *("memberships", "member_invitations", "api_keys", "credentials", "person_sessions", "people"),
    *("employers", "employees", "payrolls", "payroll_drafts", "agent_grants", "employee_links"),
)


def addresses(app: FastAPI) -> Iterator[tuple[str, str, list[str]]]:
    """Method, path and parameters of every page whose address names something."""
    for route in app.routes:
        if hasattr(getattr(route, "endpoint", None), "page_rule"):
            for method in sorted(route.methods):  # type: ignore[attr-defined]
                if found := _PARAMETER.findall(route.path):  # type: ignore[attr-defined]
                    yield method, route.path, found  # type: ignore[attr-defined]


def by_id(app: FastAPI) -> list[tuple[str, str]]:
    """Those that name something by its id; looking before doing, and what ends the visitor's own session last."""
    found = [(method, path) for method, path, _ in addresses(app) if names_by_id(f"{method} {path}")]
    return sorted(found, key=lambda each: (each[0], "session_id" in each[1], each[1]))


async def foreign(
    people_context: PeopleContext, connection: psycopg.Connection, people: dict[str, SignedIn]
) -> dict[str, str]:
    """What every parameter can name, all of it the other organization's."""
    theirs = people | {"owner": people["other"], "viewer": people["other"]}
    things = await things_of(await World.make(people_context, connection, people["other"]), theirs)
    return things | {name: str(make(connection, people["other"])) for name, make in FOREIGN.items()}


@pytest.fixture
async def things(
    people_context: PeopleContext,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    made_once: MadeOnce,
) -> dict[str, str]:
    """What is foreign, made for the first test and put back for each other one."""
    return await made_once.get(
        "people, all foreign things", lambda: foreign(people_context, owner_connection, people)
    )


async def test_every_parameter_has_something_foreign_to_name(app: FastAPI, things: dict[str, str]) -> None:
    named = {name for _, _, names in addresses(app) for name in names}
    assert named - set(things) == set(), "tell tests/web/foreign_things.py of it, or the area's `things`"
    assert set(FOREIGN) <= named
    assert {path for _, path, names in addresses(app) if names == ["token"]} == set(TOKENS)


_SEEN = " UNION ALL ".join(
    f"SELECT '{table}', jsonb_agg(to_jsonb(t) - 'last_seen_at' - 'authenticated_at' ORDER BY id)::text "
    f"FROM {table} t"
    for table in _WATCHED
)


def seen(connection: psycopg.Connection) -> dict[str, str | None]:
    """All rows that could have been changed, by table, but for what a session notes with each request."""
    return dict(connection.execute(_SEEN).fetchall())


ROLES = ("viewer", "admin", "owner")


def asked_by(role: str, app: FastAPI) -> list[tuple[str, str]]:
    """In the suite: the pages that it is this role's turn to ask for, of the roles that may use them."""
    found = []
    for place, (method, path) in enumerate(by_id(app)):
        may = [each for each in ROLES if getattr(ROWS[f"{method} {path}"], each) != 403]
        if may[place % len(may)] == role:
            found.append((method, path))
    return found


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["in turn", "every"]
)
@pytest.mark.parametrize("role", ROLES)
async def test_what_is_anothers_is_not_there_and_stays(
    role: str,
    every: bool,
    app: FastAPI,
    things: dict[str, str],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    browser = await _browser(app, role, clock)
    before = seen(owner_connection)
    wrong: dict[str, int | str] = {}
    for method, path in by_id(app) if every else asked_by(role, app):
        page = f"{method} {path}"
        row = ROWS[page]
        # Who may not at all is told so before anything is looked up.
        expected = 403 if getattr(row, role) == 403 else 404
        response = await ask(browser, method, path.format(**things), row.form)
        if response != expected:
            wrong[page] = response
        if (
            method == "POST" and seen(owner_connection) != before
        ):  # the first also tells of the looks before it
            wrong[page] = "something was changed"
    assert wrong == {}
    assert seen(owner_connection) == before


async def test_what_is_ones_own_is_there(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    subtests: pytest.Subtests,
) -> None:
    """Or the test above would prove nothing."""
    browser = await _browser(app, "other", clock)
    for method, path in by_id(app):
        if not set(_PARAMETER.findall(path)) <= FOREIGN.keys():
            continue  # of a household: `test_pages_by_role.py` sees that they are there
        with subtests.test(f"{method} {path}"):
            owner_connection.execute("DELETE FROM member_invitations")
            things = {name: str(make(owner_connection, people["other"])) for name, make in FOREIGN.items()}
            before = seen(owner_connection)
            form = ROWS[f"{method} {path}"].form
            response = await ask(browser, method, path.format(**things), form)
            assert response == (200 if method == "GET" else 303)
            assert (seen(owner_connection) == before) is (method == "GET")


async def ask(browser: Browser, method: str, path: str, form: dict[str, str]) -> int:
    if method == "GET":
        return (await browser.look(path)).status_code
    return (await browser.send(path, page="/settings/profile", **form)).status_code


async def test_a_token_opens_what_it_was_made_for_and_nothing_else(
    app: FastAPI,
    people: dict[str, SignedIn],
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    await sign_up.ask_to_sign_up(people_context, "new@example.com", "en", HERE, VISIT)
    await credentials.ask_for_reset(people_context, "admin@example.com", HERE, VISIT)
    await credentials.ask_for_new_email(people_context, people["other"], "elsewhere@example.com", HERE, VISIT)
    await ask_for_sign_in_link(people_context, "admin@example.com", HERE, VISIT)
    made = [link_in(mail) for mail in mails(owner_connection, ring)[-4:]]
    actor = people["owner"].actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        invited = (await members.invite_member(session, actor, clock, "ana@example.com", "owner")).token.text
    async with people_context.database.transaction(None) as session:
        welcome = await leave_token(session, clock.now(), "challenge", bound_to=b"x" * 32)
    asked = generate_token()
    grant_id = FOREIGN["grant_id"](owner_connection, people["owner"])
    owner_connection.execute(
        "UPDATE agent_requests SET token_hash = %s, expires_at = '2027-01-01', answered_at = NULL, grant_id = NULL, "
        "code_hash = NULL, code_expires_at = NULL WHERE grant_id = %s",
        (asked.hash, grant_id),
    )
    tokens = dict(zip(("sign_up", "reset", "new_email", "sign_in"), made, strict=True))
    tokens |= {"invitation": invited, "question": asked.text}
    before = seen(owner_connection)
    wrong: dict[str, int | str] = {}
    for visitor in ("stranger", "owner"):
        browser = await _browser(app, visitor, clock)
        before["person_sessions"] = seen(owner_connection)["person_sessions"]
        for path, kind in TOKENS.items():
            for other, token in (tokens | {"challenge": welcome.text}).items():
                if other == kind:
                    continue
                for method in ("GET", "POST"):
                    what = f"{visitor}: {method} {path} with {other}"
                    row = ROWS[f"{method} {path}"]
                    page = "/settings/profile" if visitor == "owner" else "/sign-in"
                    status = (
                        (await browser.look(path.format(token=token))).status_code
                        if method == "GET"
                        else (await browser.send(path.format(token=token), page=page, **row.form)).status_code
                    )
                    gone = 410 if kind == "question" else 404
                    # The question about a new address is shown before its link is looked at.
                    asks_first = (method, kind) == ("GET", "new_email")
                    if status != getattr(row, visitor) or (status not in (gone, 303) and not asks_first):
                        wrong[what] = status
                    if seen(owner_connection) != before:
                        wrong[what] = "something was changed"
    assert wrong == {}
    owner = await _browser(app, "owner", clock)
    stolen = await owner.send(f"/new-email/{tokens['new_email']}", page="/settings/profile")
    assert stolen.status_code == 410, "another's new address"
    assert (await owner.look(f"/connect/{tokens['question']}")).status_code == 200
    for kind, path in (
        ("sign_up", "/sign-up"),
        ("reset", "/reset"),
        ("invitation", "/join"),
        ("sign_in", "/sign-in/link"),
    ):
        opened = await Browser.of(app).look(f"{path}/{tokens[kind]}")
        assert opened.status_code == 200, "it was worth something all the time"
