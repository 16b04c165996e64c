"""Names that are pieces of a page, in every place that shows one, on every page there is: they stay words."""

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.mails import person_mail
from hearthpay.people.sessions import SignedIn
from tests.database.household import add_household
from tests.people.visitors import PASSWORD
from tests.web.foreign_things import FOREIGN
from tests.web.pages_by_role import ROWS
from tests.web.people_browser import Browser
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _all_things, app, people, people_context

__all__ = ["app", "people", "people_context"]

EVIL = "<script>alert('{0}')</script><img src=x onerror=alert(1)>\"'&{0}"
KINDS = ("person", "organization", "household", "passkey", "browser", "member")


@pytest.fixture
def hostile(owner_connection: psycopg.Connection, people: dict[str, SignedIn]) -> dict[str, str]:
    """Everything that has a name in the first organization is given a hostile one."""
    owner = people["owner"]
    assert owner.here is not None
    evil = {kind: EVIL.format(kind) for kind in KINDS}
    add_household(owner_connection, owner.here.organization_id, sandbox=False)
    passkey = FOREIGN["passkey_id"](owner_connection, owner)
    for statement, value, of in (
        ("UPDATE people SET name = %s WHERE id = %s", evil["person"][:100], owner.person_id),
        ("UPDATE people SET name = %s WHERE id = %s", evil["member"][:100], people["viewer"].person_id),
        (
            "UPDATE organizations SET name = %s WHERE id = %s",
            evil["organization"],
            owner.here.organization_id,
        ),
        (
            "UPDATE employers SET last_name = %s WHERE organization_id = %s",
            evil["household"],
            owner.here.organization_id,
        ),
        ("UPDATE credentials SET name = left(%s, 60) WHERE id = %s", evil["passkey"], passkey),
    ):
        owner_connection.execute(statement, (value, of))
    return evil | {"passkey": evil["passkey"][:60], "passkey_id": str(passkey)}


async def test_they_stay_words_on_every_page(
    app: FastAPI,
    people: dict[str, SignedIn],
    hostile: dict[str, str],
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    browser = Browser.of(app, hostile["browser"])
    assert (await browser.sign_in("maria@example.com", PASSWORD)).status_code == 303
    things = await _all_things(app, owner_connection, people)
    things |= {name: str(make(owner_connection, people["owner"])) for name, make in FOREIGN.items()}
    things |= {"passkey_id": hostile["passkey_id"], "token": "x" * 43}
    [(viewer,)] = owner_connection.execute(
        "SELECT id FROM memberships WHERE person_id = %s", (people["viewer"].person_id,)
    ).fetchall()
    things["membership_id"] = str(viewer)
    shown: set[str] = set()
    for page in ROWS:
        method, _, path = page.partition(" ")
        if method != "GET":
            continue
        response = await browser.client.get(path.format(**things), follow_redirects=True)
        if "/html" not in response.headers.get("content-type", ""):
            continue  # a paper, or a file for the telephone's calendar
        tree = parsed(response)
        for entry in tree.iter():
            assert entry.tag != "script" or (entry.get("src") or "").startswith("/assets/"), page
            assert entry.tag != "img", page
            assert not [name for name in entry.attrib if name.startswith("on")], page
        words = "".join(tree.itertext()) + "".join(v for e in tree.iter() for v in e.attrib.values())
        shown |= {kind for kind in KINDS if hostile[kind][:60] in words}
    assert shown == set(KINDS), "each was seen somewhere"


@pytest.mark.parametrize("name", ["A\r\nBcc: x@example.com", "A\nSubject: x", "A\x00", "A\u2028B", EVIL])
def test_a_name_makes_no_header_and_no_markup_of_a_mail(name: str) -> None:
    mail = person_mail(
        "invitation",
        "ana@example.com",
        "en",
        link="https://pay.example.com/join/x",
        inviter=name,
        organization=name,
    )
    assert len(mail.subject.splitlines()) == 1
    assert "Bcc" not in mail.subject.split("\n")[0] or "\n" not in mail.subject
    assert "<script" not in (mail.html or "")
    assert "<img" not in (mail.html or "")
