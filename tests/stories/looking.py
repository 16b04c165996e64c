"""Looks at a page as its readers do: on a telephone, in both schemes, with a screen reader's eyes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from playwright.async_api import Page

PICTURES: Final = os.environ.get("HEARTHPAY_TEST_PICTURES")
"""A folder for a picture of each page, light and dark, wide and narrow: to be looked at."""

AXE: Final[list[str]] = []
"""The source of axe-core, where it can be had (`conftest.py`)."""

_FOUND: Final = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(each => ["serious", "critical", "moderate"].includes(each.impact))
    .map(each => each.id + ": " + each.nodes.map(node => node.html).join(" | "))"""


async def pictured(page: Page, name: str) -> None:
    """Hold that the page fits a telephone and that axe finds nothing; leave pictures where somebody wants them."""
    size = page.viewport_size
    await page.set_viewport_size({"width": 360, "height": 740})
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360, f"{name} is wider than a telephone: {width}"
    await page.emulate_media(reduced_motion="reduce")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        for source in AXE:
            await page.evaluate(source)
            assert await page.evaluate(_FOUND) == [], f"{name}, {scheme}"
        if PICTURES is not None:
            await page.set_viewport_size({"width": 360, "height": 740})
            await page.screenshot(path=Path(PICTURES) / f"{name}_{scheme}_360.png", full_page=True)
            await page.set_viewport_size({"width": 1280, "height": 860})
            await page.screenshot(path=Path(PICTURES) / f"{name}_{scheme}_1280.png")
    await page.emulate_media(color_scheme="light")
    if size is not None:
        await page.set_viewport_size(size)
