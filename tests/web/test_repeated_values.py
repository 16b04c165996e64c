"""What a form shows again after a problem: not what reads like a number of the vault, wherever it was typed."""

from __future__ import annotations

import re

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.people.sessions import SignedIn
from tests.cases import every_case
from tests.web.people_browser import Browser
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]

_BYTES = re.compile(r"[0-9a-f-]{32,}")
"""Ids and encrypted values, in which four digits may follow each other by chance."""

NUMBERS = (
    "536-22-8145",
    "536 22 8145",
    "536.22.8145",
    "536-22-8145@example.com",
    "536228145",
    "５３６-２２-８１４５",
)


@pytest.mark.parametrize("path", ["/sign-in", "/sign-up", "/reset"])
async def test_a_number_in_the_place_of_an_address(
    path: str, app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection
) -> None:
    browser = Browser.of(app)
    queued = owner_connection.execute("SELECT count(*) FROM mail_outbox").fetchone()
    with every_case() as case:
        for number in NUMBERS:
            with case(number):
                answered = await browser.send(path, email=number, password="wrong")
                assert "8145" not in answered.text
                assert "８１４５" not in answered.text
    assert owner_connection.execute("SELECT count(*) FROM mail_outbox").fetchone() == queued
    for table in ("one_time_tokens", "person_events", "mail_outbox"):
        kept = owner_connection.execute(f"SELECT t::text FROM {table} t").fetchall()
        stored = _BYTES.sub("", str(kept))
        assert "8145" not in stored, table


async def test_other_values_are_shown_again(app: FastAPI, people: dict[str, SignedIn]) -> None:
    browser = Browser.of(app)
    for typed in ("maria@example.com", "1234567890@example.com", "nobody"):
        answered = await browser.send("/sign-in", email=typed, password="wrong")
        assert f'value="{typed}"' in answered.text


@pytest.mark.parametrize(
    "name", ["536-22-8145", "\u200b", "Ma\u200bria", "Maria\u2060", "\u3164", "Ma\u00adria", "Ma\u200dria"]
)
async def test_names_that_are_none(
    name: str,
    app: FastAPI,
    people: dict[str, SignedIn],
    clock: FixedClock,
    owner_connection: psycopg.Connection,
) -> None:
    """Of a person, and of an organization."""
    browser = await _browser(app, "owner", clock)
    kept = "SELECT name FROM people ORDER BY id", "SELECT name FROM organizations ORDER BY id"
    before = [owner_connection.execute(each).fetchall() for each in kept]
    for path, form in (
        ("/settings/profile", {"name": name, "language": "en"}),
        ("/begin", {"organization": name}),
    ):
        refused = await browser.send(path, page=path, **form)
        assert refused.status_code == 400, refused.text
        assert "8145" not in refused.text
    assert [owner_connection.execute(each).fetchall() for each in kept] == before


async def test_an_address_longer_than_mail_has_it(
    app: FastAPI, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    browser = await _browser(app, "owner", clock)
    for email, status in ((f"{'x' * 65}@example.com", 400), (f"{'x' * 64}@example.com", 200)):
        invited = await browser.send(
            "/settings/members", page="/settings/members", email=email, role="viewer"
        )
        assert invited.status_code == status, invited.text
