"""Every page × every kind of visitor, from the routes themselves: what each is answered, and that no form is forged."""

import re
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from itertools import cycle
from uuid import UUID, uuid4
from xml.etree.ElementTree import Element

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from html5lib.html5parser import ParseError

from hearthpay.access.permissions import may
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.people import members, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from hearthpay.web.framework import PageRule
from tests.banking.families import add_family
from tests.people.visitors import PASSWORD, VISIT, Newcomers, signed_in
from tests.web.pages_by_role import ROWS
from tests.web.people_browser import HOME, OWN, Browser
from tests.web.rows import AREAS
from tests.web.rows.row import Row
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.worlds.snapshots import MadeOnce

_TOKEN = re.compile(r"\b[0-9a-f]{64}\b")
_FORM_TOKEN = re.compile(r"[0-9a-f]{64}\.(-|[0-9a-f-]{36}\.(live|test))")
_CHECKED: set[bytes] = set()
"""Pages that were looked at, but for their tokens: many are answered alike that a page is not there, or not theirs."""
_COME_AGAIN = {
    "POST /sign-out",
    "POST /sign-in/again",
    "POST /settings/sessions/{session_id}/end",
    "POST /settings/security/password",
}
"""After these the visitor is not who he was, or not as fresh."""

VISITORS = ("stranger", "viewer", "admin", "owner", "other", "stale")

_IN_TURN = ("viewer", "admin", "stale")
"""Visitors who, in the suite, don't ask for every page that they may use as the owner does."""
_PLACES = {
    page: number
    for method in ("GET", "POST")
    for number, page in enumerate(page for page in ROWS if page.startswith(method))
}
"""The number of each page among those of its method."""
_DRAFT = "POST /app/{household_id}/payrolls/drafts/{draft_id}"
_PAPERS = "POST /app/{household_id}/taxes/papers"
_ACCOUNTS = "POST /app/{household_id}/state-accounts"
_ACCOUNT = f"{_ACCOUNTS}/{{state}}/{{account_id}}"
_BEFORE = {
    f"{_DRAFT}/drop": f"{_DRAFT}/run",
    f"{_PAPERS}/address": f"{_PAPERS}/schedule-h",
    f"{_ACCOUNTS}/ein/status": f"{_PAPERS}/schedule-h",
    f"{_ACCOUNT}/number": f"{_ACCOUNT}/reveal",
}
"""Forms that the same visitor must have sent for another to be answered as the table says."""


@pytest.fixture
def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    """With the way to a mail server, which is not spoken to here: mail leaves by the worker."""
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    app = create_app(database, clock, AppSettings(public_url=HOME, ring=ring, mailer=mailer))
    app.state.people_context = PeopleContext(
        database, clock, ring, app.state.people_context.throttle, sends_mail=True, no_sooner_than=0
    )
    return app


@pytest.fixture
def people_context(app: FastAPI) -> PeopleContext:
    found: PeopleContext = app.state.people_context
    return found


@pytest.fixture
async def people(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing, made_once: MadeOnce
) -> dict[str, SignedIn]:
    """An owner with a viewer and an admin, and the owner of another organization."""
    return await made_once.get("people", lambda: _made_people(people_context, owner_connection, ring))


async def _made_people(
    people_context: PeopleContext, connection: psycopg.Connection, ring: KeyRing
) -> dict[str, SignedIn]:
    newcomers = Newcomers(people_context, connection, ring)
    owner = await newcomers.make("maria@example.com")
    found = {"owner": owner, "other": await newcomers.make("other@example.com", "Others")}
    actor = owner.actor("r")
    for role in ("viewer", "admin"):
        async with people_context.database.transaction(actor.tenant) as session:
            sent = await members.invite_member(
                session, actor, people_context.clock, f"{role}@example.com", role
            )
        entered = await sign_up.join_as_new_person(
            people_context, sent.token.text, NewPerson(role, PASSWORD, "en"), VISIT
        )
        found[role] = await signed_in(people_context, entered.token.text)
    return found


def _rules(app: FastAPI) -> dict[str, PageRule]:
    return {
        f"{method} {route.path}": route.endpoint.page_rule
        for route in app.routes
        if hasattr(getattr(route, "endpoint", None), "page_rule")
        for method in route.methods
    }


@pytest.mark.completeness
def test_every_page_has_a_row(app: FastAPI) -> None:
    assert sorted(_rules(app)) == sorted(ROWS), "add a new page to tests/web/pages_by_role.py"


def _things(connection: psycopg.Connection, people: dict[str, SignedIn]) -> dict[str, str]:
    """What paths and forms name: all of it is the first organization's, most of it its owner's."""
    here = people["owner"].here
    assert here is not None
    organization = here.organization_id
    key, invitation = uuid4(), uuid4()
    connection.execute(
        "INSERT INTO api_keys (id, organization_id, mode, scopes, key_hash, last_four) "
        "VALUES (%s, %s, 'live', '{payroll}', %s, 'abcd')",
        (key, organization, key.bytes * 2),
    )
    connection.execute(
        "INSERT INTO member_invitations (id, organization_id, email, role, token_hash, created_at, expires_at) "
        "VALUES (%s, %s, 'waits@example.com', 'viewer', %s, '2026-11-20', '2026-12-01')",
        (invitation, organization, invitation.bytes * 2),
    )
    family = add_family(connection, organization, employees=2)
    link, request = add_employees_things(connection, family.employee_ids[0], people["viewer"].person_id)
    [(membership,)] = connection.execute(
        "SELECT id FROM memberships WHERE person_id = %s", (people["viewer"].person_id,)
    ).fetchall()
    return {
        "organization": str(organization),
        "membership_id": str(membership),
        "key_id": str(key),
        "invitation_id": str(invitation),
        "passkey_id": str(uuid4()),
        "way_kind": "passkey",
        "way_id": str(uuid4()),
        "token": "x" * 43,
        "proof": "y" * 43,
        "employee_id": str(family.employee_ids[1]),
        "payroll_id": str(family.payroll_id),
        "file_id": str(uuid4()),
        "certificate_id": str(uuid4()),
        "document_id": str(uuid4()),
        "request_id": request,
        "decision": "approved",
        "link_id": link,
        "jurisdiction": "US",
        "year": "2026",
    }


async def _all_things(
    app: FastAPI, connection: psycopg.Connection, people: dict[str, SignedIn]
) -> dict[str, str]:
    return await things_of(await World.make(app.state.people_context, connection, people["owner"]), people)


async def things_made_once(
    app: FastAPI, connection: psycopg.Connection, people: dict[str, SignedIn], made_once: MadeOnce
) -> dict[str, str]:
    """What paths and forms name, made for the first test that asks and put back for each other one."""
    return dict(await made_once.get("people, all things", lambda: _all_things(app, connection, people)))


async def things_of(world: World, people: dict[str, SignedIn]) -> dict[str, str]:
    """What paths and forms name, of every area."""
    found = _things(world.connection, people)
    for area in AREAS:
        if hasattr(area, "things"):
            found |= await area.things(world)
    return found


def add_employees_things(
    connection: psycopg.Connection, employee_id: UUID, person_id: UUID
) -> tuple[str, str]:
    """An account that is linked to an employee, and what he asks to have set aside."""
    invitation, link, request = uuid4(), uuid4(), uuid4()
    of_employee = "organization_id, employer_id, sandbox, id FROM employees WHERE id = %s"
    connection.execute(
        "INSERT INTO invitations (id, type, email_sent, token_hash, created_at, expires_at, organization_id, "
        "employer_id, sandbox, employee_id) SELECT %s, 'tax_info', false, %s, '2026-11-20', '2026-11-27', "
        + of_employee,
        (invitation, invitation.bytes * 2, employee_id),
    )
    connection.execute(
        "INSERT INTO employee_links (id, person_id, invitation_id, linked_at, organization_id, employer_id, sandbox, "
        "employee_id) SELECT %s, %s, %s, '2026-11-20', " + of_employee,
        (link, person_id, invitation, employee_id),
    )
    connection.execute(
        "INSERT INTO set_aside_requests (id, amount, asked_at, organization_id, employer_id, sandbox, employee_id) "
        "SELECT %s, 100, '2026-11-20', " + of_employee,
        (request, employee_id),
    )
    return str(link), str(request)


async def _browser(app: FastAPI, visitor: str, clock: FixedClock) -> Browser:
    browser = Browser.of(app)
    if visitor != "stranger":
        email = {"owner": "maria", "stale": "maria"}.get(visitor, visitor) + "@example.com"
        assert (await browser.sign_in(email, PASSWORD)).headers["location"] == "/home"
    if visitor == "stale":
        clock.advance(timedelta(hours=1))
    return browser


@pytest.mark.parametrize(
    ("visitor", "every"),
    [
        *((visitor, False) for visitor in VISITORS),
        *(
            pytest.param(visitor, True, marks=pytest.mark.long)
            for visitor in VISITORS
            if visitor != "stranger"
        ),
    ],
)
async def test_each_visitor_is_answered_as_the_table_says(
    visitor: str,
    every: bool,
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    made_once: MadeOnce,
) -> None:
    """In the suite a page that viewer, admin and stale owner may use as the owner does is asked for by one of them.

    A form by one of these four; and what the other organization's owner is told is not there, by none: there
    `test_foreign_ids.py` asks for everything that is somebody else's.
    """
    things = await things_made_once(app, owner_connection, people, made_once)
    browser: Browser | None = None
    wrong: list[str] = []
    pages = sorted(ROWS.items(), key=lambda each: _ending_last(each[0]))
    if not every:
        pages = [each for each in pages if _is_asked_by(visitor, *each)]
    for page, row in pages:
        if browser is None:
            browser = await _browser(app, visitor, clock)
        if "{session_id}" in page:
            things["session_id"] = _latest_session(owner_connection, people["owner"].person_id)
        method, _, path = page.partition(" ")
        response = await _ask(browser, method, path.format(**things), row, things)
        if response.status_code != getattr(row, visitor):
            wrong.append(f"{page}: {response.status_code} {response.text[:2000]}")
        elif "/html" in response.headers.get("content-type", ""):
            try:
                _check(response)
            except (AssertionError, ParseError) as error:
                wrong.append(f"{page}: {error!r}")
        if response.status_code < 400 and (page in _COME_AGAIN or _ending_last(page)[0]):
            browser = None
    assert wrong == []
    if visitor != "owner":
        return
    made = sum(page == "POST /settings/keys" for page, _ in pages)
    assert owner_connection.execute("SELECT count(*) FROM api_keys").fetchone() == (1 + made,)


def _is_asked_by(visitor: str, page: str, row: Row) -> bool:
    """Whether the visitor asks for a page in the suite: the answer isn't the owner's, or it is their turn."""
    if visitor == "stranger":
        return True
    if visitor == "other":
        return row.other != 404 or not names_by_id(page)
    if getattr(row, visitor) != row.owner:
        return True
    if page in _BEFORE and _is_asked_by(visitor, _BEFORE[page], ROWS[_BEFORE[page]]):
        return True
    form = page.startswith("POST")
    if visitor == "owner" and not form:
        return True
    as_the_owner = [each for each in (*_IN_TURN, "owner") if getattr(row, each) == row.owner]
    if not form:
        as_the_owner.remove("owner")
    return as_the_owner[_PLACES[page] % len(as_the_owner)] == visitor


def names_by_id(page: str) -> bool:
    """Whether the page's address names something by its id: not by a token, and nothing of everybody's."""
    return "{" in page and "{token}" not in page and " /help/" not in page


def test_pages_ask_for_a_fresh_sign_in_as_the_table_says(app: FastAPI) -> None:
    """By the rules that the framework goes by: of forms answered by a redirect the table can't tell."""
    rules = _rules(app)
    told = {page: row.stale != row.owner for page, row in ROWS.items() if row.owner != 303}
    assert {page: rules[page].fresh for page in told} == told


@pytest.mark.parametrize("visitor", ["viewer", "admin", "owner"])
def test_rules_refuse_whom_the_table_refuses(visitor: str, app: FastAPI, people: dict[str, SignedIn]) -> None:
    """For every page, of which not every visitor asks for each in the suite."""
    actor = people[visitor].actor("r")
    refused = {
        page
        for page, rule in _rules(app).items()
        if rule.permission is not None and not may(actor, rule.permission)
    }
    assert refused == {page for page, row in ROWS.items() if getattr(row, visitor) == 403}


def _ending_last(page: str) -> tuple[int, str]:
    """What ends the visitor's own way in comes at the end."""
    ends = [ending for ending in ("/remove", "/leave") if page.startswith("POST") and page.endswith(ending)]
    return (0 if not ends else 1 + ends[0].count("l"), page)


async def _ask(browser: Browser, method: str, path: str, row: Row, things: dict[str, str]):  # type: ignore[no-untyped-def]
    if method == "GET":
        return await browser.look(path)
    form = {name.format(**things): value.format(**things) for name, value in row.form.items()}
    page = "/sign-in" if "__Host-hearthpay" not in browser.client.cookies else "/settings/profile"
    return await browser.send(path, page=page, **form)


def _latest_session(connection: psycopg.Connection, person_id: UUID) -> str:
    row = connection.execute(
        "SELECT id FROM person_sessions WHERE person_id = %s AND ended_at IS NULL ORDER BY id DESC",
        (person_id,),
    ).fetchone()
    assert row is not None
    return str(row[0])


def _check(response) -> None:  # type: ignore[no-untyped-def]
    """Well formed, labelled, hardened; nothing inline, nothing of others."""
    text = _TOKEN.sub("0" * 64, response.text).replace(response.headers["x-request-id"], "0")
    known = sha256(text.encode()).digest()
    if known not in _CHECKED:
        _check_tree(parsed(response))
        _CHECKED.add(known)
    policy = response.headers["content-security-policy"]
    assert policy.startswith(
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-anc"
    )
    assert "unsafe" not in policy
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-frame-options"] == "DENY"


def _check_tree(tree: Element) -> None:
    assert len(list(tree.iter("h1"))) == 1
    ids = [entry.get("id") for entry in tree.iter() if entry.get("id")]
    assert len(ids) == len(set(ids))
    labels = {label.get("for") for label in tree.iter("label")}
    for entry in tree.iter():
        assert entry.get("style") is None
        assert not [name for name in entry.attrib if name.startswith("on")]
        if entry.tag == "a" and entry.get("rel") == "external noreferrer":  # an agency's page, or the law
            assert (entry.get("href") or "").startswith(("https://", "http://")), entry.attrib
            continue
        for name in ("src", "href", "action"):
            assert (entry.get(name) or "/").startswith(("/", "#", "data:image/svg")), entry.attrib
        for described in (entry.get("aria-describedby") or "").split():
            assert described in ids
        if entry.tag in ("input", "select") and entry.get("type") != "hidden":
            assert entry.get("id") in labels or entry.get("aria-label"), entry.attrib
        if entry.tag == "form" and entry.get("method") == "post":
            (token,) = [each for each in entry.iter("input") if each.get("name") == "form_token"]
            assert _FORM_TOKEN.fullmatch(token.get("value") or ""), "without the organization and mode"


def _changeable(connection: psycopg.Connection) -> list[tuple[object, ...]]:
    """What the forms could have changed."""
    return [
        row
        for table in (
            "people",
            "memberships",
            "member_invitations",
            "api_keys",
            "credentials",
            "one_time_tokens",
        )
        for row in connection.execute(f"SELECT to_jsonb(t)::text FROM {table} t ORDER BY id").fetchall()
    ]


def _forgeries(token: str, foreign: str) -> list[tuple[dict[str, str], str | None]]:
    """Headers and token of forms that are not our own browser's: first those from elsewhere, then those of others."""
    return [
        ({"Sec-Fetch-Site": "cross-site"}, token),
        ({"Sec-Fetch-Site": "same-site"}, token),
        ({"Sec-Fetch-Site": "none"}, token),
        ({"Sec-Fetch-Site": "cross-site", "Origin": HOME}, token),
        ({"Origin": "null"}, token),
        ({"Origin": "https://evil.example"}, token),
        ({}, token),
        (OWN, foreign),
        (OWN, token.upper()),
        (OWN, ""),
        (OWN, None),
    ]


_FROM_ELSEWHERE = 7


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["one", "every"])
async def test_no_form_is_taken_from_elsewhere(
    every: bool,
    app: FastAPI,
    people: dict[str, SignedIn],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    made_once: MadeOnce,
) -> None:
    """Of every form: from another site, of a browser that says neither, with a foreign token, without one.

    In the suite each form is sent from elsewhere in one way and with a wrong token in one, the next form in the next.
    """
    made = await things_made_once(app, owner_connection, people, made_once)
    things = made | {"session_id": str(uuid4())}
    browser = await _browser(app, "owner", clock)
    token = await browser.token("/settings/profile")
    other = await _browser(app, "other", clock)
    foreign = await other.token("/settings/profile")
    before = _changeable(owner_connection)
    forgeries = _forgeries(token, foreign)
    elsewhere, of_others = cycle(forgeries[:_FROM_ELSEWHERE]), cycle(forgeries[_FROM_ELSEWHERE:])
    for page, row in ROWS.items():
        method, _, path = page.partition(" ")
        if method == "GET":
            continue
        form = {name.format(**things): value.format(**things) for name, value in row.form.items()}
        for headers, sent in forgeries if every else (next(elsewhere), next(of_others)):
            fields = form if sent is None else {**form, "form_token": sent}
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            response = await browser.client.post(path.format(**things), data=fields, headers=headers | kind)
            assert response.status_code == 403, (page, headers)
            assert "set-cookie" not in response.headers
    assert before == _changeable(owner_connection)
    assert (await browser.look("/households")).status_code == 200
    accepted = await browser.client.post(
        "/settings/profile",
        data={"form_token": token, "name": "M", "language": "en"},
        headers={"Origin": HOME},
    )
    assert accepted.status_code == 303


async def test_the_session_is_new_with_each_sign_in_and_kept_from_scripts(
    app: FastAPI, people: dict[str, SignedIn]
) -> None:
    browser = Browser.of(app)
    first = await browser.sign_in("maria@example.com", PASSWORD)
    planted = browser.client.cookies["__Host-hearthpay"]
    cookie = next(
        each for each in first.headers.get_list("set-cookie") if each.startswith("__Host-hearthpay=")
    )
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    second = await browser.send(
        "/sign-in", page="/settings/profile", email="other@example.com", password=PASSWORD
    )
    assert second.status_code == 303
    assert browser.client.cookies["__Host-hearthpay"] != planted


@pytest.mark.parametrize(
    "requested",
    ["https://evil.example", "//evil.example", "/\\evil.example", "/%0d%0aX: y", "javascript:x", "/a?b=c"],
)
async def test_nobody_is_sent_elsewhere(requested: str, app: FastAPI, people: dict[str, SignedIn]) -> None:
    browser = Browser.of(app)
    response = await browser.send("/sign-in", email="maria@example.com", password=PASSWORD, next=requested)
    assert response.headers["location"] == "/home"


async def test_strangers_cannot_tell_who_has_an_account(app: FastAPI, people: dict[str, SignedIn]) -> None:
    def told(text: str) -> str:
        return re.sub(r"[0-9a-f]{64}|[0-9a-f-]{36}|maria|nobody", "…", text)

    for path, form in (("/sign-in", {"password": "wrong"}), ("/reset", {}), ("/sign-up", {})):
        answers = [
            await Browser.of(app).send(path, email=f"{name}@example.com", **form)
            for name in ("maria", "nobody")
        ]
        assert told(answers[0].text) == told(answers[1].text), path
        assert answers[0].status_code == answers[1].status_code


async def test_pages_speak_spanish_to_who_asks_for_it(app: FastAPI) -> None:
    browser = Browser.of(app)
    page = await browser.look("/sign-in", **{"Accept-Language": "es-US,es;q=0.9,en;q=0.5"})
    assert '<html lang="es">' in page.text
    assert "Iniciar sesión" in page.text


async def test_over_plain_http_it_says_why_nobody_can_sign_in(
    database: Database, clock: FixedClock, ring: KeyRing
) -> None:
    app = create_app(database, clock, AppSettings(ring=ring))
    for address, warned in (("http://pay.example.com", True), ("http://localhost:8000", False)):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=address) as client:
            page = await client.get("/sign-in")
        assert ("encrypted connection" in page.text) is warned


async def test_strangers_make_no_accounts_where_the_operator_says_so(
    database: Database, clock: FixedClock, ring: KeyRing
) -> None:
    mailer = Mailer("smtp://127.0.0.1:9", "payroll@example.com")
    for closed in (
        create_app(
            database, clock, AppSettings(public_url=HOME, ring=ring, mailer=mailer, sign_up_open=False)
        ),
        create_app(database, clock, AppSettings(public_url=HOME, ring=ring)),
    ):
        browser = Browser.of(closed)
        assert "by invitation" in (await browser.look("/sign-in")).text
        assert (await browser.look("/sign-up")).status_code == 404
        assert (await browser.send("/sign-up", email="new@example.com")).status_code == 404


async def test_without_mail_the_owner_is_shown_the_link_once(
    app: FastAPI, people: dict[str, SignedIn], people_context: PeopleContext, clock: FixedClock
) -> None:
    app.state.people_context = replace(people_context, sends_mail=False)
    browser = await _browser(app, "owner", clock)
    page = await browser.send(
        "/settings/members", page="/settings/members", email="ana@example.com", role="viewer"
    )
    found = re.search(rf"{HOME}/join/(\w{{43}})", page.text)
    assert found is not None
    assert found[0] not in (await browser.look("/settings/members")).text
    assert "You are invited to Lopez" in (await Browser.of(app).look(f"/join/{found[1]}")).text
