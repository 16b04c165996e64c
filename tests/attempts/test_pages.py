"""Pages count together too, and never while they hold a connection to the database."""

from dataclasses import replace

from hearthpay.people.sessions import SignedIn
from hearthpay.people.throttle import OF_ACCOUNT
from tests.attempts.conftest import Hosts
from tests.people.visitors import MARIA, PASSWORD
from tests.web.people_browser import Browser


async def test_an_invitation_is_counted_outside_of_its_transaction(hosts: Hosts, maria: SignedIn) -> None:
    """Here the second application asks its store for the first time: a connection to Valkey within a transaction is
    refused in every test.
    """
    for app in hosts.apps:
        app.state.people_context = replace(app.state.people_context, sends_mail=True)
    browser = Browser.of(hosts.apps[0])
    assert (await browser.sign_in(MARIA, PASSWORD)).status_code == 303
    other = Browser.of(hosts.apps[1])
    other.client.cookies = browser.client.cookies
    form = {"email": "ana@example.com", "role": "viewer"}
    for _ in range(5):
        answer = await other.send("/settings/members", page="/settings/members", **form)
        assert "The invitation is on its way." in answer.text
    for each in (browser, other):
        answer = await each.send("/settings/members", page="/settings/members", **form)
        assert "Too many links were requested." in answer.text
    invalid = await other.send("/settings/members", page="/settings/members", email="ana", role="viewer")
    assert "Too many links" not in invalid.text


async def test_the_page_for_signing_in_tells_to_wait_on_both_hosts(hosts: Hosts, maria: SignedIn) -> None:
    browsers = [Browser.of(app) for app in hosts.apps]
    for number in range(OF_ACCOUNT.burst):
        assert (await browsers[number % 2].sign_in(MARIA, "wrong")).status_code == 401
    for browser in browsers:
        answer = await browser.sign_in(MARIA, PASSWORD)
        assert answer.status_code == 429
        assert answer.headers["Retry-After"] == "120"
