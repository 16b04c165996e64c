"""Stories of people, in real Chromium: first owner, second factor, an invitation, a passkey, a key, a reset.

Each is told in English with a mouse, and in the long run also in Spanish, and on a telephone with the keyboard alone.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from urllib.parse import parse_qs

import httpx
import psycopg
import pyotp
import pytest
from playwright.async_api import Browser, BrowserContext, expect

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.people.first_owner import offer_first_owner
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.people.visitors import MARIA, PASSWORD, mails
from tests.stories.readers import Reader, Way
from tests.web.pages_by_role import ROWS

OTHER_PASSWORD = "walnut-lantern-77"

in_each_way = pytest.mark.parametrize(
    "way",
    [
        Way(),
        pytest.param(Way("es"), marks=pytest.mark.long),
        pytest.param(Way(keyboard=True, width=360), marks=pytest.mark.long),
    ],
    ids=str,
)


@in_each_way
async def test_a_fresh_machine_gets_its_first_owner_who_invites_a_viewer(
    reader: Reader,
    browser: Browser,
    address: str,
    clock: FixedClock,
    owner_database: Database,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
) -> None:
    async with owner_database.transaction(None) as session:
        token = await offer_first_owner(session, clock)
    assert token is not None
    await reader.open("/")
    await reader.reads("Sign in")
    await reader.open(f"/welcome/{token.text}")
    await reader.reads("Welcome to Hearthpay")
    await reader.fill("Email address", MARIA)
    await reader.fill("Your name", "Maria Rivera")
    await reader.fill("Password", "short")
    await reader.press("Create account")
    await expect(reader.page.locator("#password-problem")).to_be_visible()
    await expect(reader.page.get_by_label(reader.words("Your name"))).to_have_value("Maria Rivera")
    await reader.fill("Password", PASSWORD)
    await reader.press("Create account")

    await reader.reads("Who are you, and in which state?")
    await reader.open("/settings/security")
    await reader.reads("Password and two-step verification")
    await reader.press("Set it up")
    await reader.reads("Set up two-step verification")
    secret = await reader.page.locator(".secret").inner_text()
    await reader.fill("Six digits", pyotp.TOTP(secret).at(clock.now()))
    await reader.press("Confirm")
    await reader.reads("Your recovery codes")
    codes = await reader.page.locator(".codes li").all_inner_texts()
    assert len(codes) == 10
    await reader.follow("I saved them")
    await reader.reads("Password and two-step verification")
    await reader.open("/")
    await reader.reads("Who are you, and in which state?")
    await reader.open("/households")
    await reader.press("Sign out")
    await reader.reads("Sign in")
    await reader.open(f"/welcome/{token.text}")
    await reader.reads("This link no longer works")

    await reader.sign_in(MARIA, PASSWORD)
    await reader.reads("Two-step verification")
    await reader.fill("Code", codes[0])
    await reader.press("Continue")
    await reader.reads("Who are you, and in which state?")
    await reader.open("/households")
    await reader.follow("Members")
    await reader.reads("Members")
    clock.advance(timedelta(hours=1))
    await reader.fill("Email address", "ana@example.com")
    await reader.press("Invite")
    await reader.reads("Confirm it's you")
    await reader.fill("Password", PASSWORD)
    await reader.fill("Code", codes[1])
    await reader.press("Continue")
    await reader.reads("Send this now?")
    await expect(reader.page.get_by_text("ana@example.com")).to_be_visible()
    await reader.press("Send")
    await reader.reads("Members")
    await reader.sees("The invitation is on its way.")
    invitation = mails(owner_connection, ring)[-1]["text"].split("/join/")[1].split()[0]

    locale = {"en": "en-US", "es": "es-US"}[reader.way.language]
    async with await browser.new_context(base_url=address, locale=locale) as hers:
        ana = Reader(await hers.new_page(), reader.way)
        await ana.page.set_viewport_size({"width": reader.way.width, "height": 740})
        await ana.open(f"/join/{invitation}")
        await ana.reads("You are invited to {organization}", organization="Maria Rivera")
        await ana.fill("Your name", "Ana López")
        await ana.fill("Password", OTHER_PASSWORD)
        await ana.press("Create account")
        await ana.reads("Households")
        await ana.sees("Maria Rivera")
        await ana.follow("Members")
        await ana.reads("Members")
        await ana.misses("button", "Invite")
        await ana.follow("API keys")
        await ana.reads("API keys")
        await ana.misses("button", "Make the key")
        await tries_to_change_every_thing(ana, owner_connection)


async def tries_to_change_every_thing(viewer: Reader, connection: psycopg.Connection) -> None:
    """Whatever is an owner's or an admin's to do, sent from the viewer's own browser with the token of its forms."""
    key = connection.execute(
        "INSERT INTO api_keys (id, organization_id, mode, scopes, key_hash, last_four) SELECT gen_random_uuid(), id, "
        "'live', '{payroll}', sha256(''), 'abcd' FROM organizations RETURNING id::text"
    ).fetchone()
    owner = connection.execute("SELECT id::text FROM memberships WHERE role = 'owner'").fetchone()
    assert key is not None
    assert owner is not None
    things = defaultdict(lambda: owner[0], key_id=key[0], decision="approved")
    await viewer.open("/settings/profile")
    token = await viewer.page.locator("[name=form_token]").first.get_attribute("value")
    assert token is not None
    count = "SELECT (SELECT count(*) FROM audit_log), (SELECT max(id::text) FROM audit_log)"
    before = connection.execute(count).fetchone()
    refused = 0
    for page, row in ROWS.items():
        method, _, path = page.partition(" ")
        if method != "POST" or row.viewer != 403 or "{household_id}" in path:
            continue  # a household that he may look at has its own table of who may what
        refused += 1
        answer = await viewer.page.request.post(
            path.format_map(things),
            form={**row.form, "form_token": token},
            headers={"Sec-Fetch-Site": "same-origin"},
        )
        assert answer.status == 403, page
    assert refused >= 6
    assert connection.execute(count).fetchone() == before


@in_each_way
async def test_a_passkey_is_made_and_opens_the_account(
    context: BrowserContext, reader: Reader, marias: SignedIn, clock: FixedClock
) -> None:
    page = reader.page
    devtools = await context.new_cdp_session(page)
    await devtools.send("WebAuthn.enable")
    await devtools.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    await reader.sign_in(MARIA, PASSWORD)
    await reader.reads("Who are you, and in which state?")
    await reader.open("/settings/passkeys")
    await reader.reads("Passkeys")
    await reader.fill("What to call it", "My telephone")
    await reader.press("Add a passkey")
    await expect(page.locator(".list").get_by_text("My telephone").first).to_be_visible()
    await reader.open("/households")
    await reader.press("Sign out")
    await reader.reads("Sign in")
    sent: list[str] = []
    page.on(
        "request",
        lambda request: sent.append(request.post_data or "") if request.is_navigation_request() else None,
    )
    await reader.press("Sign in with a passkey")
    await reader.reads("Who are you, and in which state?")
    (answer,) = [parse_qs(each)["answer"][0] for each in sent if "answer=" in each]

    clock.advance(timedelta(hours=1))
    await reader.open("/settings/passkeys")
    await reader.reads("Confirm it's you")
    await reader.press("Use a passkey")
    await reader.reads("Passkeys")
    await reader.open("/households")
    await reader.press("Sign out")
    await reader.reads("Sign in")
    token = await page.locator("[name=form_token]").first.get_attribute("value")
    replayed = await page.request.post(
        "/sign-in/passkey",
        form={"form_token": token or "", "answer": answer},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    assert replayed.status == 401, "a challenge is answered once"


@in_each_way
async def test_a_key_is_made_used_and_revoked(
    reader: Reader, address: str, marias: SignedIn, clock: FixedClock
) -> None:
    await reader.sign_in(MARIA, PASSWORD)
    await reader.reads("Who are you, and in which state?")
    await reader.open("/households")
    await reader.follow("API keys")
    await reader.reads("API keys")
    await reader.press("Make the key")
    await expect(reader.page.locator("#scopes-problem")).to_be_visible()
    await reader.check("Employees")
    await reader.press("Make the key")
    await reader.reads("Your new key")
    key = await reader.page.locator("#key").inner_text()
    async with httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {key}"}) as program:
        assert (await program.get("/api/v1/jurisdictions/CA")).status_code == 200
        await reader.follow("I saved it")
        await reader.reads("API keys")
        await expect(reader.page.get_by_text(key)).to_have_count(0)
        await reader.follow("Revoke", begins=True)
        await reader.reads("Revoke the key …{ending}?", ending=key[-4:])
        await reader.press("Revoke")
        await reader.reads("API keys")
        await reader.sees("Revoked")
        clock.advance(timedelta(seconds=6))
        assert (await program.get("/api/v1/jurisdictions/CA")).status_code == 401
    await reader.follow("History")
    await reader.reads("History")
    await reader.sees("An API key was revoked")


@in_each_way
async def test_a_lost_password_is_replaced_by_a_link(
    reader: Reader, marias: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    await reader.sign_in(MARIA, "wrong")
    await expect(reader.page.get_by_role("alert").first).to_have_text(
        reader.words("That email and password don't match.")
    )
    await reader.follow("Forgot your password?")
    await reader.reads("Choose a new password")
    await reader.fill("Email address", MARIA)
    await reader.press("Send the link")
    await reader.reads("Check your email")
    token = mails(owner_connection, ring)[-1]["text"].split("/reset/")[1].split()[0]
    await reader.open(f"/reset/{token}")
    await reader.fill("Password", OTHER_PASSWORD)
    await reader.press("Save")
    await reader.reads("Secure my account")
    await reader.open("/home")
    await reader.reads("Who are you, and in which state?")
    await reader.open(f"/reset/{token}")
    await reader.reads("This link no longer works")
