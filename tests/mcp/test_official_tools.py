"""The protocol's own tools against a real server: the Inspector's command line, and the conformance suite.

They come by `npx` and need Node 22 or later and a package index, so they run with `make test-long` alone. Of the suite
those scenarios are chosen that ask for no fixtures of a test server.
"""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI

from hearthpay.http.deadlines import Deadlines
from hearthpay.server import running
from tests.http.api import Account

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
SCENARIOS = (
    *("server-initialize", "ping", "tools-list", "resources-list", "prompts-list"),
    "dns-rebinding-protection",
)

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def node() -> None:
    found = shutil.which("node") and shutil.which("npx")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout if found else ""
    number = re.match(r"v(\d+)", version)
    if number is None or int(number[1]) < 22:
        pytest.skip(f"needs Node 22 or later with npx; found {version.strip() or 'none'}")


async def _npx(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "npx", "--yes", *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await asyncio.wait_for(process.communicate(), 200)
    text = output.decode()
    if "ENOTFOUND" in text or "ECONNREFUSED" in text.partition("\n")[0]:
        pytest.skip("the package index cannot be reached")
    assert process.returncode == 0, text
    return text


async def test_the_inspector_calls_tools_over_both_transports(app: FastAPI, account: Account) -> None:
    asked = ("--method", "tools/call", "--tool-name", "check_threshold")
    asked = (*asked, "--tool-arg", "state=CA", "--tool-arg", "annual_wages=3500")
    async with running(app, "127.0.0.1", 0, Deadlines()) as (address, _):
        header = ("--header", f"Authorization: Bearer {account.live.key}")
        hosted = await _npx(INSPECTOR, "--cli", f"{address}/mcp", "--transport", "http", *header, *asked)
        settings = ("-e", f"HEARTHPAY_API_KEY={account.live.key}", "-e", f"HEARTHPAY_API_URL={address}")
        program = (sys.executable, "-m", "hearthpay.cli", "mcp")
        desk = await _npx(INSPECTOR, "--cli", *settings, *program, *asked)
    for answer in (hosted, desk):
        assert "above" in answer
        assert "structuredContent" in answer


async def test_the_conformance_suite_finds_nothing(app: FastAPI, account: Account) -> None:
    async with (
        running(app, "127.0.0.1", 0, Deadlines()) as (address, _),
        _with_key(address, account.live.key) as open_address,
    ):
        for scenario in SCENARIOS:
            told = await _npx(CONFORMANCE, "server", "--url", f"{open_address}/mcp", "--scenario", scenario)
            assert re.search(r"Passed: (\d)/\1, 0 failed, 0 warnings", told), told


@asynccontextmanager
async def _with_key(address: str, key: str) -> AsyncIterator[str]:
    """Put the key into each request: the suite knows of none."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    header = f"\r\nAuthorization: Bearer {key}\r\nHost: ".encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, int(port))

        async def forth() -> None:
            while chunk := await reader.read(65_536):
                back.write(re.sub(rb"\r\nhost: ", header, chunk, flags=re.IGNORECASE))
            back.close()

        sending = asyncio.create_task(forth())
        while chunk := await there.read(65_536):
            writer.write(chunk)
        sending.cancel()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
