"""What somebody left behind is taken away: on one's own page, with a member who goes, and told in the history."""

from __future__ import annotations

import re
from datetime import timedelta

import psycopg
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from tests.oauth.conftest import browser, dance, made_once, maria, ring, snapshots
from tests.oauth.dance import Dance
from tests.people.visitors import MARIA, PASSWORD
from tests.web.people_browser import Browser
from tests.web.test_pages_by_role import app, people_context

__all__ = ["app", "browser", "dance", "made_once", "maria", "people_context", "ring", "snapshots"]

SECURE = "/settings/secure"
YEAR = timedelta(days=365)


async def test_all_that_acts_in_ones_name_stands_on_one_page_and_ends_by_one_press(
    app: FastAPI, dance: Dance, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    tokens = await dance.tokens("payroll:run")
    made = await dance.browser.send(
        "/settings/keys", page="/settings/keys", scope_payroll="on", mode="live", expires_at=""
    )
    assert made.status_code == 200, made.text
    thief = Browser.of(app, "Thief's browser")
    await thief.sign_in(MARIA, PASSWORD)
    # An old key is hers for long: it is not marked.
    owner_connection.execute(
        "INSERT INTO api_keys (id, organization_id, mode, scopes, key_hash, last_four, created_at, made_by) SELECT "
        "new_id(), organization_id, mode, scopes, sha256('old'), 'olds', created_at - %s, made_by FROM api_keys",
        (YEAR,),
    )
    page = (await dance.browser.look(SECURE)).text
    ways = {
        each.group(1): each.group(0)
        for each in re.finditer(r"<li>.*?/secure/(\w+/[^/]+)/end.*?</li>", page, re.S)
    }
    kinds = sorted(each.partition("/")[0] for each in ways)
    assert kinds == ["agent", "key", "key", "session", "session"]
    young = sorted("New" in ways[each] for each in ways if each.startswith("key"))
    assert young == [False, True]
    for kind, button in (("agent", "Disconnect"), ("key", "Revoke"), ("session", "End session")):
        assert all(f">{button}<" in ways[each] for each in ways if each.startswith(kind)), kind
    [agent] = [each for each in ways if each.startswith("agent")]
    stranger = Browser.of(app)
    assert (
        (await stranger.send(f"{SECURE}/{agent}/end", page="/sign-in"))
        .headers["location"]
        .startswith("/sign-in")
    )
    for way in ways:
        ended = await dance.browser.send(f"{SECURE}/{way}/end", page=SECURE)
        assert (ended.status_code, ended.headers["location"]) == (303, SECURE), way
        assert (await dance.browser.send(f"{SECURE}/{way}/end", page=SECURE)).status_code == 404, way
    assert "/end" not in (await dance.browser.look(SECURE)).text
    assert (await dance.call(tokens["access_token"])).status_code == 401
    assert (await thief.look("/settings/profile")).headers["location"].startswith("/sign-in")
    assert owner_connection.execute("SELECT count(*) FROM api_keys WHERE revoked_at IS NULL").fetchone() == (
        0,
    )


async def test_with_a_member_go_the_keys_that_were_made_by_him_but_those_that_are_kept(
    app: FastAPI,
    browser: Browser,
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    owner_connection.execute("UPDATE organizations SET plan = 'professional'")
    owner_connection.execute(
        "WITH leaver AS (INSERT INTO people (id, email, name, language, created_at, updated_at) VALUES "
        "(new_id(), 'leaver@example.com', 'Ben Leaver', 'en', now(), now()) RETURNING id), "
        "joined AS (INSERT INTO memberships (id, organization_id, person_id, role, joined_at) "
        "SELECT new_id(), o.id, l.id, 'admin', now() FROM organizations o, leaver l) "
        "INSERT INTO api_keys (id, organization_id, mode, scopes, key_hash, last_four, created_at, made_by) "
        "SELECT new_id(), o.id, 'live', '{payroll}', sha256(convert_to(four, 'UTF8')), four, now(), l.id "
        "FROM organizations o, leaver l, unnest(ARRAY['aaaa', 'bbbb']) AS four"
    )
    keys = dict(owner_connection.execute("SELECT last_four, id FROM api_keys").fetchall())
    [(membership,)] = owner_connection.execute("SELECT id FROM memberships WHERE role = 'admin'").fetchall()
    page = f"/settings/members/{membership}/remove"
    shown = (await browser.look(page)).text
    assert "API keys that Ben Leaver made" in shown
    assert {"…aaaa", "…bbbb"} <= set(re.findall("…[ab]{4}", shown))
    gone = await browser.send(page, page=page, **{f"keep_{keys['bbbb']}": "on"})
    assert gone.headers["location"] == "/settings/members"
    left = owner_connection.execute("SELECT last_four FROM api_keys WHERE revoked_at IS NULL").fetchall()
    assert left == [("bbbb",)]
    revoked = owner_connection.execute(
        "SELECT subject_id FROM audit_log WHERE action = 'key.revoke'"
    ).fetchall()
    assert revoked == [(keys["aaaa"],)]


async def test_the_history_shows_before_and_after_by_kind_and_page_by_page(
    dance: Dance, maria: SignedIn, owner_connection: psycopg.Connection
) -> None:
    assert maria.here is not None
    owner_connection.execute(
        "INSERT INTO audit_log (id, organization_id, actor_kind, action, details) SELECT new_id(), %s, 'operator', "
        "'employee.update', jsonb_build_object('before', jsonb_build_object('pay_rate', n::text, 'email', "
        "'rosa' || n || '@example.com'), 'after', jsonb_build_object('pay_rate', (n + 1)::text, 'email', "
        "'thief@example.com')) FROM generate_series(1, 60) AS n ORDER BY n",
        (maria.here.organization_id,),
    )
    first = (await dance.browser.look("/settings/audit?what=employee.update")).text
    assert first.count("<li>") - first.partition("<main")[0].count("<li>") >= 50
    assert "changed the hourly pay from $60.00 to $61.00" in first
    assert "from r…@example.com to t…@example.com" in first
    assert "rosa60@example.com" not in first
    assert "from $1.00 to $2.00" not in first
    older = re.search(r'href="(/settings/audit\?what=employee\.update&amp;before=[^"]+)"', first)
    assert older is not None
    second = (await dance.browser.look(older[1].replace("&amp;", "&"))).text
    assert "from $1.00 to $2.00" in second
    assert "from $60.00 to $61.00" not in second
    others = (await dance.browser.look("/settings/audit?what=organization.create")).text
    assert "The organization was made" in others.partition("<main")[2].partition("</form>")[2]
    assert "from $60.00 to $61.00" not in others
