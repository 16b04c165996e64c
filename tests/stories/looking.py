"""Looks at a page as its readers do: on a telephone, in both schemes, with a screen reader's eyes."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from playwright.async_api import Page

PICTURES: Final = os.environ.get("HEARTHPAY_TEST_PICTURES")
"""A folder for a picture of each page, light and dark, wide and narrow, and in print: to be looked at."""

ONLY: Final = os.environ.get("HEARTHPAY_TEST_PICTURES_ONLY", "")
"""A regular expression: `tests/stories/test_every_page.py` looks only at the pages whose address it finds."""

AXE_PACKAGE: Final = "axe-core@4.14.1"
_CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hearthpay-tests"
_SECONDS: Final = 40

FOUND: Final = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(each => ["serious", "critical", "moderate"].includes(each.impact))
    .map(each => each.id + ": " + each.nodes.map(node => node.html).join(" | "))"""


@cache
def axe_source() -> str | None:
    """axe-core, from whatever registry npm is set to, fetched once for this machine; None where it cannot be had."""
    kept = _CACHE / f"{AXE_PACKAGE}.min.js"
    try:
        _CACHE.mkdir(parents=True, exist_ok=True)
        with (_CACHE / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                _fetch(kept)
        return kept.read_text("utf-8")
    except (OSError, KeyError, subprocess.SubprocessError, tarfile.TarError):
        return None


def _fetch(kept: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm")
    with tempfile.TemporaryDirectory() as folder:
        asked = [
            npm,
            "pack",
            "--silent",
            "--fetch-retries=0",
            f"--fetch-timeout={_SECONDS * 500}",
            AXE_PACKAGE,
        ]
        subprocess.run(asked, cwd=folder, capture_output=True, timeout=_SECONDS, check=True)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as packed:
            file = packed.extractfile("package/axe.min.js")
            assert file is not None
            unfinished = kept.with_suffix(".part")
            unfinished.write_bytes(file.read())
            unfinished.rename(kept)


MOST_BYTES: Final = 40 * 1024
MOST_REQUESTS: Final = 3
"""What a page may take on its first visit: itself and the files it names, as they are sent."""

_LOADED: Final = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .map(each => [new URL(each.name).pathname, each.encodedBodySize])"""
NARROWEST: Final = ((320, 640), (256, 256), (1280, 256))
"""Windows in which nothing may overflow: the narrowest phone, 400 % zoom or large text, and a low one."""


async def held_small(page: Page, name: str) -> None:
    """Hold that the page that was just opened is small, and asks for few files."""
    loaded = await page.evaluate(_LOADED)
    assert len(loaded) <= MOST_REQUESTS, f"{name} asks for {len(loaded)} files: {loaded}"
    size = sum(encoded for _, encoded in loaded)
    assert size <= MOST_BYTES, f"{name} has {size} bytes: {loaded}"


async def held_within(page: Page, name: str) -> None:
    """Hold that nothing of the page is wider than the narrowest windows."""
    before = page.viewport_size
    for width, height in NARROWEST:
        await page.set_viewport_size({"width": width, "height": height})
        found = await page.evaluate("document.documentElement.scrollWidth")
        assert found <= width, f"{name} is {found} wide in a window of {width}"
    if before is not None:
        await page.set_viewport_size(before)


async def pictured(page: Page, name: str, axe: str | None = None) -> None:
    """Hold that the page fits every narrow window and that axe finds nothing; leave pictures where somebody wants them.

    Where axe-core cannot be had, the rest is held.
    """
    await held_within(page, name)
    axe = axe or axe_source()
    size = page.viewport_size
    await page.set_viewport_size({"width": 360, "height": 740})
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360, f"{name} is wider than a telephone: {width}"
    await page.emulate_media(reduced_motion="reduce")
    if axe is not None:
        await page.evaluate(axe)
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        if axe is not None:
            found = await page.evaluate(FOUND)
            assert found == [], f"{name}, {scheme}: {found}"
        if PICTURES is not None:
            await page.set_viewport_size({"width": 360, "height": 740})
            await page.screenshot(path=Path(PICTURES) / f"{name}_{scheme}_360.png", full_page=True)
            await page.set_viewport_size({"width": 1280, "height": 860})
            await page.screenshot(path=Path(PICTURES) / f"{name}_{scheme}_1280.png", full_page=True)
    await page.emulate_media(color_scheme="light")
    if PICTURES is not None:
        await page.emulate_media(media="print")
        await page.set_viewport_size({"width": 800, "height": 1000})
        await page.screenshot(path=Path(PICTURES) / f"{name}_print.png", full_page=True)
        await page.emulate_media(media="screen")
    if size is not None:
        await page.set_viewport_size(size)
