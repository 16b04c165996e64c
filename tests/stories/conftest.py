"""A served instance and a real browser: the stories of people who use the pages. Without Chromium they skip."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext, async_playwright

from hearthpay.app import create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mailer
from hearthpay.security.key_ring import KeyRing
from hearthpay.server import running
from tests.http.api import account, client, household, new_account, new_key
from tests.people.visitors import desk, maria, ring
from tests.stories.looking import AXE

AXE_PACKAGE = "axe-core@4.14.1"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

__all__ = ["account", "client", "desk", "household", "maria", "new_account", "new_key", "ring"]


@pytest.fixture(scope="session", autouse=True)
def axe(tmp_path_factory: pytest.TempPathFactory) -> None:
    """axe-core, from whatever package index npm is set to; where there is none, it is not asked."""
    npm = shutil.which("npm")
    if npm is None:
        return
    folder = tmp_path_factory.mktemp("axe")
    packed = subprocess.run(
        [npm, "pack", "--silent", AXE_PACKAGE],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    archives = list(folder.glob("*.tgz"))
    if packed.returncode == 0 and archives:
        with tarfile.open(archives[0]) as archive:
            file = archive.extractfile("package/axe.min.js")
            assert file is not None
            AXE.append(file.read().decode())


@pytest.fixture
async def app(database: Database, clock: FixedClock, ring: KeyRing) -> FastAPI:
    return create_app(database, clock, ring=ring, mailer=Mailer("smtp://127.0.0.1:9", "payroll@example.com"))


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    """Where the service is, by the name that passkeys work with."""
    async with running(app, "127.0.0.1", 0) as (served, _):
        yield served.replace("127.0.0.1", "localhost")


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"],
        )
        yield launched
        await launched.close()


@pytest.fixture
async def context(browser: Browser, address: str) -> AsyncIterator[BrowserContext]:
    """A fresh browser; nothing that it says on its console, and no address but ours, goes unnoticed."""
    made = await browser.new_context(base_url=address)
    said: list[str] = []
    made.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    made.on(
        "request",
        lambda request: None if request.url.startswith((address, "data:")) else said.append(request.url),
    )
    yield made
    await made.close()
    assert [each for each in said if "status of 4" not in each] == []
