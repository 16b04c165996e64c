"""`/docs` in a real browser, without a network: the reference stands, and nothing was refused or asked of others.

The policy lets the page speak to its own address only, so whatever else it tried would stand in the console.
"""

import asyncio
import re
from pathlib import Path

import pytest

from tests.chromium import CHROMIUM
from tests.openapi.document import Document

OURS_ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


async def _look(address: str, profile: Path, *options: str) -> tuple[str, list[str]]:
    """The page as it stands once all has run, and what the console says."""
    assert CHROMIUM is not None
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"),
        *(
            "--enable-logging=stderr",
            "--virtual-time-budget=20000",
            OURS_ALONE,
            *options,
            "--dump-dom",
            address,
        ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        page, said = await asyncio.wait_for(process.communicate(), 120)
    finally:
        if process.returncode is None:
            process.kill()
    return page.decode(), [line for line in said.decode(errors="replace").splitlines() if "CONSOLE" in line]


def _shown(page: str) -> set[str]:
    """The operations that Swagger UI shows."""
    return set(re.findall(r'id="operations-(?!tag-)[\w-]+-(\w+)"', page))


async def test_the_reference_takes_the_place_of_the_plain_page(
    document: Document, address: str, tmp_path: Path
) -> None:
    page, console = await _look(f"{address}/docs", tmp_path)
    assert console == []
    assert _shown(page) == {operation["operationId"] for _, _, operation in document.operations()}
    assert 'class="plain"' not in page
    assert "Search operations" in page
    assert "Authorize" in page


async def test_a_refusals_link_opens_its_operation(address: str, tmp_path: Path) -> None:
    page, console = await _look(f"{address}/docs#runPayroll", tmp_path)
    assert console == []
    assert re.findall(r'<div class="opblock [\w -]*is-open" id="([\w-]+)"', page) == [
        "operations-Payroll-runPayroll"
    ]
    assert "Try it out" in page


async def test_the_plain_page_stays_for_who_asks_for_it(address: str, tmp_path: Path) -> None:
    page, console = await _look(f"{address}/docs?plain", tmp_path)
    assert console == []
    assert _shown(page) == set()
    assert 'class="scripted' not in page
    assert '<h3 id="runPayroll">' in page
