"""A process is ready once what first requests need is loaded."""

import asyncio
from datetime import date

import httpx
import pytest
from fastapi import FastAPI

from hearthpay import app as application
from hearthpay.app import create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.rules import duties_of
from hearthpay.registrations.accounts import accounts_of
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.warming import load_for_first_requests
from hearthpay.web.pages import compile_templates


def test_nothing_is_loaded_a_second_time() -> None:
    load_for_first_requests(date(2026, 11, 24))
    before = duties_of.cache_info().misses, accounts_of.cache_info().misses
    for state in STATES:
        duties_of(state)
        accounts_of(state)
    compile_templates()
    assert (duties_of.cache_info().misses, accounts_of.cache_info().misses) == before


async def test_it_is_not_ready_before(
    database: Database, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "_LOADED_WITHIN", 0.2)
    app: FastAPI = create_app(database, clock)
    transport = httpx.ASGITransport(app)
    loaded = asyncio.Event()
    app.state.loading = asyncio.create_task(loaded.wait())
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/readyz")).status_code == 503
        loaded.set()
        assert (await client.get("/readyz")).status_code == 200
