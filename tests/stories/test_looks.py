"""Every page as it looks: with nothing yet, and with long names and much of everything; light, dark, wide and narrow.

axe-core reads each, and finds nothing serious. The addresses come from the table of pages: a new page is looked at too.
"""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import psycopg
import pyotp
import pytest
from playwright.async_api import BrowserContext, Page

from hearthpay.clock import FixedClock
from hearthpay.duties.dues import rules_fingerprint
from hearthpay.people import credentials, members, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.first_owner import offer_first_owner
from hearthpay.people.sessions import SignedIn
from hearthpay.security.key_ring import KeyRing
from tests.database.household import add_household
from tests.people.visitors import HERE, MARIA, PASSWORD, VISIT, link_in, mails
from tests.stories.looking import FOUND, axe_source, held_small, held_within, pictured
from tests.stories.readers import Reader, Way
from tests.web.foreign_things import FOREIGN, TOKENS
from tests.web.pages_by_role import ROWS

pytestmark = pytest.mark.long

LONG = "Maria Guadalupe Hernandez-Villanueva de la Santísima Trinidad"
LONG_ADDRESS = f"{'a-very-long-name-without-a-break' * 2}@mail.household-of-the-riveras.example"


@pytest.fixture(scope="session")
def axe() -> str:
    found = axe_source()
    if found is None:
        pytest.skip("axe-core could not be fetched (npm and its registry are asked once, then it is kept)")
    return found


async def sign_in(page: Page) -> None:
    await Reader(page, Way()).sign_in(MARIA, PASSWORD)
    await page.wait_for_url("**/app/start")


def addresses() -> list[str]:
    """The pages that are simply looked at."""
    return [
        path
        for method, _, path in (row.partition(" ") for row in ROWS)
        if method == "GET" and "{" not in path
    ]


def name_of(path: str) -> str:
    return path.strip("/").replace("/", "_").replace("{", "").replace("}", "")


async def test_with_nothing_yet(context: BrowserContext, maria: SignedIn, axe: str) -> None:
    page = await context.new_page()
    for path in ("/sign-in", "/sign-up", "/reset", "/sign-in/second-factor", "/no-such-page"):
        await page.goto(path)
        await pictured(page, f"stranger_{name_of(path)}", axe)
    await sign_in(page)
    for path in addresses():
        if path not in ("/sign-in", "/sign-up", "/reset", "/sign-in/second-factor"):
            await page.goto(path)
            await pictured(page, f"empty_{name_of(path)}", axe)


@pytest.mark.parametrize("language", ["en", "es"])
async def test_with_long_names_and_much_of_everything(
    language: str,
    context: BrowserContext,
    maria: SignedIn,
    people_context: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    axe: str,
) -> None:
    connection = owner_connection
    assert maria.here is not None
    organization = maria.here.organization_id
    app = pyotp.TOTP((await credentials.set_up_second_factor(people_context, maria)).secret)
    page = await context.new_page()
    await sign_in(page)
    await credentials.confirm_second_factor(people_context, maria, app.at(clock.now()), VISIT)
    things = {name: str(make(connection, maria)) for name, make in FOREIGN.items()}
    [(member,)] = connection.execute(
        "SELECT id FROM memberships WHERE person_id <> %s", (maria.person_id,)
    ).fetchall()
    things["membership_id"] = str(member)
    connection.execute("UPDATE people SET name = %s, language = %s", (LONG, language))
    connection.execute("UPDATE people SET email = %s WHERE id <> %s", (LONG_ADDRESS, maria.person_id))
    connection.execute("UPDATE organizations SET name = %s", (f"{LONG} and family",))
    connection.execute("UPDATE credentials SET name = left(%s, 60) WHERE kind = 'passkey'", (LONG,))
    for _ in range(3):
        add_household(connection, organization, sandbox=False)
    connection.execute("UPDATE employers SET first_name = left(%s, 60), last_name = 'Villanueva'", (LONG,))
    connection.execute(
        "UPDATE api_keys SET scopes = '{calculator,payroll,employees,ach}', employer_id = "
        "(SELECT id FROM employers WHERE NOT sandbox LIMIT 1), expires_at = now() + interval '1 year', "
        "last_used_at = now()"
    )
    connection.execute(
        "INSERT INTO memberships VALUES (%s, %s, %s, 'admin', now(), NULL)",
        (uuid4(), await another_organization(connection), maria.person_id),
    )
    for path in [
        *addresses(),
        *(p for r in ROWS if r.startswith("GET") for p in [r.partition(" ")[2]] if "{" in p),
    ]:
        if path in TOKENS or path == "/sign-in":
            continue
        if set(re.findall(r"{(\w+)}", path)) - things.keys():
            continue  # of a household, an employee or a program: looked at by other stories
        await page.goto(path.format(**things))
        await pictured(page, f"full_{language}_{name_of(path)}", axe)


@pytest.mark.parametrize(
    "path", ["/sign-in", "/help", "/help/first-payroll", "/help/terms", "/help/terms/net-pay"]
)
async def test_what_strangers_read(context: BrowserContext, axe: str, path: str) -> None:
    page = await context.new_page()
    for language in ("en", "es"):
        await page.goto(f"{path}?lang={language}")
        for held in (held_small, held_within):
            await held(page, path)
        await pictured(page, f"stranger_{language}_{name_of(path)}", axe)


@pytest.mark.parametrize("path", ["/docs", "/docs?plain"])
async def test_the_reference_can_be_read_by_everybody(context: BrowserContext, axe: str, path: str) -> None:
    page = await context.new_page()
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        await page.goto(path)
        await page.get_by_role("main").first.wait_for()
        await page.get_by_text("Calculate a payroll without running it").last.wait_for()
        await page.evaluate(axe)
        assert await page.evaluate(FOUND) == [], scheme


async def test_errors_have_the_focus_and_lead_to_their_fields(
    context: BrowserContext, maria: SignedIn, axe: str
) -> None:
    page = await context.new_page()
    await sign_in(page)
    await page.goto("/settings/profile")
    await page.evaluate("document.querySelectorAll('form').forEach(form => { form.noValidate = true })")
    await page.get_by_label("Your name").fill("")
    await page.get_by_role("button", name="Save").first.click()
    await page.locator(".errors").wait_for()
    assert (await page.title()).startswith("Error: ")
    assert await page.evaluate("document.activeElement.className") == "errors"
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "name"


async def test_the_slash_key_leads_to_the_search(context: BrowserContext, maria: SignedIn) -> None:
    page = await context.new_page()
    await sign_in(page)
    await page.goto("/settings/profile")
    await page.keyboard.press("/")
    await page.wait_for_url("**/search")
    assert await page.evaluate("document.activeElement.id") == "q"
    await page.keyboard.type("w-2/w-3")  # within a field it is a letter
    assert await page.get_by_role("searchbox").input_value() == "w-2/w-3"


async def another_organization(connection: psycopg.Connection) -> object:
    organization = uuid4()
    connection.execute("INSERT INTO organizations (id, name) VALUES (%s, 'Zamora family')", (organization,))
    return organization


async def test_in_the_middle_of_things(
    context: BrowserContext,
    maria: SignedIn,
    people_context: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    axe: str,
) -> None:
    """Forms with problems, what is shown once, questions, and the test households' band."""
    page = await context.new_page()
    reader = Reader(page, Way())
    await sign_in(page)
    await page.goto("/settings/security")
    await reader.press("Set it up")
    await reader.reads("Set up two-step verification")
    await pictured(page, "second_factor_setup", axe)
    secret = await page.locator(".secret").inner_text()
    await reader.fill("Six digits", "000000")
    await reader.press("Confirm")
    await page.locator(".problem").wait_for()
    await pictured(page, "second_factor_problem", axe)
    await reader.fill("Six digits", pyotp.TOTP(secret).at(clock.now()))
    await reader.press("Confirm")
    await reader.reads("Your recovery codes")
    await pictured(page, "recovery_codes", axe)
    await page.goto("/settings/keys")
    await reader.press("Make the key")
    await page.locator(".problem").wait_for()
    await pictured(page, "keys_problem", axe)
    await reader.check("Payroll")
    await reader.press("Make the key")
    await reader.reads("Your new key")
    await pictured(page, "key_made", axe)
    await page.goto("/households")
    await page.get_by_label("Households").select_option("test")
    await reader.press("Switch")
    await reader.sees("Test mode: no real money moves.")
    await pictured(page, "home_test", axe)
    clock.advance(timedelta(hours=1))
    await page.goto("/settings/members")
    await reader.fill("Email address", LONG_ADDRESS)
    await reader.press("Invite")
    await reader.reads("Confirm it's you")
    await reader.fill("Password", "wrong")
    await reader.fill("Code", pyotp.TOTP(secret).at(clock.now()))
    await reader.press("Continue")
    await page.locator("#password-problem").wait_for()
    await pictured(page, "again_problem", axe)
    await reader.fill("Password", PASSWORD)
    await reader.fill("Code", pyotp.TOTP(secret).at(clock.now()))
    await reader.press("Continue")
    await reader.reads("Send this now?")
    await pictured(page, "kept_form", axe)
    await reader.press("Send")
    await reader.sees("The invitation is on its way.")
    await pictured(page, "members_invited", axe)


async def test_what_links_open(
    context: BrowserContext,
    maria: SignedIn,
    people_context: PeopleContext,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    axe: str,
) -> None:
    await sign_up.ask_to_sign_up(people_context, "new@example.com", "en", HERE, VISIT)
    await credentials.ask_for_reset(people_context, MARIA, HERE, VISIT)
    await credentials.ask_for_new_email(people_context, maria, "maria@new.example", HERE, VISIT)
    links = [link_in(mail) for mail in mails(owner_connection, ring)[-3:]]
    actor = maria.actor("r")
    async with people_context.database.transaction(actor.tenant) as session:
        invited = await members.invite_member(session, actor, clock, "ana@example.com", "viewer")
    page = await context.new_page()
    for path, token in (
        ("/sign-up", links[0]),
        ("/reset", links[1]),
        ("/join", invited.token.text),
        ("/join", "x" * 43),
    ):
        await page.goto(f"{path}/{token}")
        await pictured(page, f"link_{name_of(path)}{'_none' if token[0] == 'x' * 43 else ''}", axe)
    await sign_in(page)
    for path, token in (("/new-email", links[2]), ("/join", invited.token.text)):
        await page.goto(f"{path}/{token}")
        await pictured(page, f"link_signed_in_{name_of(path)}", axe)


async def test_the_first_link(
    context: BrowserContext,
    people_context: PeopleContext,
    clock: FixedClock,
    owner_database: object,
    axe: str,
) -> None:
    async with owner_database.transaction(None) as session:  # type: ignore[attr-defined]
        token = await offer_first_owner(session, clock)
    assert token is not None
    page = await context.new_page()
    reader = Reader(page, Way())
    await page.goto(f"/welcome/{token.text}")
    await pictured(page, "welcome", axe)
    for label, text in (
        ("Email address", "nobody"),
        ("Your name", LONG),
        ("Password", "short"),
    ):
        await reader.fill(label, text)
    await page.get_by_label("Email address").evaluate("e => { e.type = 'text' }")
    await reader.press("Create account")
    await page.locator(".problem").first.wait_for()
    await pictured(page, "welcome_problem", axe)


@pytest.mark.parametrize("language", ["en", "es"])
async def test_an_agencys_many_households(
    context: BrowserContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
    axe: str,
    language: str,
) -> None:
    """A wide table of households, whose rows stand by themselves on a phone of 320 pixels."""
    assert maria.here is not None
    organization = maria.here.organization_id
    page = await context.new_page()
    await sign_in(page)
    for number in range(8):
        household = add_household(owner_connection, organization)
        owner_connection.execute(
            "UPDATE employers SET last_name = %s, is_primary = false WHERE id = %s",
            (f"{LONG} {number}", household.employer_id),
        )
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    owner_connection.execute("DELETE FROM outdated_dues")
    owner_connection.execute(
        "UPDATE household_dues d SET computed_on = %s, rules = %s, overdue_since = DATE '2026-11-02', "
        "overdue_count = 2, overdue_cents = 41250, payday_to_run = DATE '2026-11-24' FROM employers e "
        "WHERE e.id = d.employer_id AND e.last_name LIKE %s",
        (clock.today(), rules_fingerprint(), f"{LONG}%"),
    )
    for path in ("/households", "/households?sort=name&show=missing&q=maria", "/households?q=nobody"):
        await page.goto(path)
        await pictured(page, f"households_{language}_{name_of(path)[-6:]}", axe)
    await page.set_viewport_size({"width": 320, "height": 640})
    await page.goto("/households")
    assert await page.evaluate("document.documentElement.scrollWidth") == 320
    assert await page.evaluate("document.querySelector('.rowed').getBoundingClientRect().right") <= 320
