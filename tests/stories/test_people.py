"""Stories of people, in real Chromium: first owner, second factor, an invitation, a passkey, a key, a reset."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs

import httpx
import psycopg
import pyotp
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import offer_first_owner
from hearthpay.security.key_ring import KeyRing
from tests.people.visitors import MARIA, PASSWORD, mails
from tests.stories.looking import pictured

pytestmark = pytest.mark.long

OTHER_PASSWORD = "walnut-lantern-77"


async def sign_in(page: Page, email: str, password: str) -> None:
    await page.goto("/sign-in")
    await page.get_by_label("Email address").fill(email)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def test_a_fresh_machine_gets_its_first_owner_who_invites_a_viewer(
    context: BrowserContext,
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
    page = await context.new_page()
    await page.goto(f"/welcome/{token.text}")
    await pictured(page, "welcome")
    await page.get_by_label("Email address").fill(MARIA)
    await page.get_by_label("Your name").fill("Maria Rivera")
    await page.get_by_label("Household or company").fill("Rivera family")
    await page.get_by_label("Password").fill("short")
    await page.get_by_role("button", name="Make my account").click()
    await expect(page.get_by_text("Must have at least 10 characters.")).to_be_visible()
    await expect(page.get_by_label("Your name")).to_have_value("Maria Rivera")
    await pictured(page, "welcome_problem")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Make my account").click()

    await page.get_by_role("heading", name="Password and second factor").wait_for()
    await pictured(page, "security")
    await page.get_by_role("button", name="Set it up").click()
    secret = await page.locator(".secret").inner_text()
    await pictured(page, "second_factor_setup")
    await page.get_by_label("Six digits").fill(pyotp.TOTP(secret).at(clock.now()))
    await page.get_by_role("button", name="Confirm").click()
    await page.get_by_role("heading", name="Your recovery codes").wait_for()
    codes = await page.locator(".codes li").all_inner_texts()
    assert len(codes) == 10
    await pictured(page, "recovery_codes")
    await page.get_by_role("link", name="I have kept them").click()
    await page.goto("/households")
    await pictured(page, "home")
    await page.get_by_role("button", name="Sign out").click()

    await sign_in(page, MARIA, PASSWORD)
    await pictured(page, "second_factor")
    await page.get_by_label("Code").fill(codes[0])
    await page.get_by_role("button", name="Go on").click()
    await page.get_by_role("heading", name="Hello, Maria Rivera").wait_for()

    await page.get_by_role("link", name="Members").click()
    await page.get_by_label("Email address").fill("ana@example.com")
    await page.get_by_role("button", name="Invite", exact=True).click()
    await expect(page.get_by_text("The invitation is on its way.")).to_be_visible()
    await pictured(page, "members")
    invitation = invitation_in(mails(owner_connection, ring)[-1])

    async with await browser.new_context(base_url=address, locale="es-US") as hers:
        other = await hers.new_page()
        await other.goto(f"/join/{invitation}")
        await expect(other.locator("html")).to_have_attribute("lang", "es")
        await other.get_by_label("Su nombre").fill("Ana López")
        await other.get_by_label("Contraseña").fill(OTHER_PASSWORD)
        await pictured(other, "join_es")
        await other.get_by_role("button", name="Crear mi cuenta").click()
        await other.get_by_role("heading", name="Hola, Ana López").wait_for()
        await pictured(other, "home_es")
        await other.get_by_role("link", name="Miembros").click()
        await expect(other.get_by_role("button", name="Invitar")).to_have_count(0)
        await other.goto("/settings/keys")
        await expect(other.get_by_role("button", name="Crear la clave")).to_have_count(0)
        await pictured(other, "keys_viewer_es")


def invitation_in(mail: dict[str, str]) -> str:
    """The token of a link in a mail, wherever the service is served."""
    return mail["text"].split("/join/")[1].split()[0]


async def test_a_passkey_is_made_and_opens_the_account(
    context: BrowserContext, maria: SignedIn, clock: FixedClock
) -> None:
    page = await context.new_page()
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
    await sign_in(page, MARIA, PASSWORD)
    await page.goto("/settings/passkeys")
    await pictured(page, "passkeys")
    await page.get_by_label("What to call it").fill("My telephone")
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.locator(".list").get_by_text("My telephone").first).to_be_visible()
    await page.goto("/households")
    await page.get_by_role("button", name="Sign out").click()
    sent: list[str] = []
    page.on(
        "request",
        lambda request: sent.append(request.post_data or "") if request.is_navigation_request() else None,
    )
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await page.get_by_role("heading", name="Hello, Maria Lopez").wait_for()
    (answer,) = [parse_qs(each)["answer"][0] for each in sent if "answer=" in each]

    clock.advance(timedelta(hours=1))
    await page.goto("/settings/passkeys")
    await page.get_by_role("heading", name="Is it still you?").wait_for()
    await page.get_by_role("button", name="Use a passkey").click()
    await page.get_by_role("heading", name="Passkeys", exact=True).wait_for()
    await page.goto("/households")
    await page.get_by_role("button", name="Sign out").click()
    token = await page.locator("[name=form_token]").first.get_attribute("value")
    replayed = await page.request.post(
        "/sign-in/passkey",
        form={"form_token": token or "", "answer": answer},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    assert replayed.status == 401, "a challenge is answered once"


async def test_a_key_is_made_used_and_revoked(
    context: BrowserContext, address: str, maria: SignedIn, clock: FixedClock
) -> None:
    page = await context.new_page()
    await sign_in(page, MARIA, PASSWORD)
    await page.goto("/settings/keys")
    await page.get_by_role("button", name="Make the key").click()
    await expect(page.get_by_text("Must name at least one.")).to_be_visible()
    await pictured(page, "keys_problem")
    await page.get_by_label("employees").check()
    await page.get_by_role("button", name="Make the key").click()
    key = await page.locator("#key").inner_text()
    await pictured(page, "key_made")
    async with httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {key}"}) as program:
        assert (await program.get("/api/v1/jurisdictions/CA")).status_code == 200
        await page.get_by_role("link", name="I have kept it").click()
        await expect(page.get_by_text(key)).to_have_count(0)
        await pictured(page, "keys")
        await page.get_by_role("link", name="Revoke").click()
        await pictured(page, "revoke")
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_text("Revoked", exact=True)).to_be_visible()
        clock.advance(timedelta(seconds=6))
        assert (await program.get("/api/v1/jurisdictions/CA")).status_code == 401
    await page.goto("/settings/audit")
    await expect(page.get_by_text("key.revoke")).to_be_visible()
    await pictured(page, "audit")


async def test_a_lost_password_with_the_keyboard_alone(
    context: BrowserContext, maria: SignedIn, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    page = await context.new_page()
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto("/sign-in")
    await pictured(page, "sign_in")
    await page.get_by_label("Email address").focus()
    await page.keyboard.type(MARIA)
    await page.keyboard.press("Tab")
    await page.keyboard.type("wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").first).to_have_text("The address or the password is not right.")
    await pictured(page, "sign_in_problem")
    await page.get_by_role("link", name="I do not know my password").focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Email address").focus()
    await page.keyboard.type(MARIA)
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Look into your mailbox").wait_for()
    token = mails(owner_connection, ring)[-1]["text"].split("/reset/")[1].split()[0]
    await page.goto(f"/reset/{token}")
    await page.get_by_label("Password").focus()
    await page.keyboard.type(OTHER_PASSWORD)
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Hello, Maria Lopez").wait_for()
    await page.goto(f"/reset/{token}")
    await page.get_by_role("heading", name="This link is over").wait_for()
    await pictured(page, "link_over")


async def test_the_rest_of_the_pages_fit(context: BrowserContext, maria: SignedIn) -> None:
    page = await context.new_page()
    await sign_in(page, MARIA, PASSWORD)
    for path in (
        "settings/profile",
        "settings/sessions",
        "sign-in/again",
        "settings/members/leave",
        "sign-up",
    ):
        await page.goto(f"/{path}")
        await pictured(page, path.replace("/", "_"))
    await page.get_by_role("link", name="Sign in").first.click()
    await page.goto("/households")
    await page.get_by_label("Households").select_option("test")
    await page.get_by_role("button", name="Switch").click()
    await expect(page.get_by_text("TEST: these are made-up households")).to_be_visible()
    await pictured(page, "home_test")
