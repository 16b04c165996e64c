"""The pages of a household in real Chromium: each fits a telephone and is fit for everybody, empty and full."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.stories.looking import pictured
from tests.web.rows.world import World

pytestmark = pytest.mark.long

PARTS = (
    "",
    "/payrolls",
    "/employees",
    "/taxes",
    "/calendar",
    "/autopilot",
    "/bank",
    "/state-accounts",
    "/more",
)


async def test_every_part_of_a_household(at_home: Page, world: World) -> None:
    for weeks_ago in (9, 5, 2, 1, 0):
        await world.pay(weeks_ago=weeks_ago)
    for part in PARTS:
        await at_home.goto(f"/app/{world.household_id}{part}")
        await pictured(at_home, f"household_{part.strip('/') or 'overview'}")
    await at_home.goto("/households")
    await pictured(at_home, "households")
