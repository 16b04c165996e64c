"""A paycheck's way, from request to answer: how many rooms it enters, and how often it climbs.

A room is a module or package of `hearthpay.payroll`, a module of `hearthpay.web` (its templates are one), or another
package as a whole. What every request stands on is none, and making a value enters none. Rooms are listed in the order
in which they are first entered; where the next one stands on a higher floor, the way climbs.
"""

import itertools
import sys
import tomllib
from collections.abc import Awaitable
from pathlib import Path
from types import FrameType

import httpx
import pytest

import hearthpay
from hearthpay.taxes import COMPILED
from tests.http.api import Account
from tests.web.conftest import made_once, ring
from tests.web.people_browser import OWN, Browser
from tests.web.rows.payrolls import draft_of
from tests.web.rows.world import World
from tests.web.test_payroll_pages import SEEN, app, maria, people, people_context, world
from tests.worlds.households import payroll_of
from tests.worlds.snapshots import snapshots

__all__ = ["app", "made_once", "maria", "people", "people_context", "ring", "snapshots", "world"]

MOST = {"api": (12, 4), "page": (17, 6), "pages": (48, 18)}
"""Rooms and climbs: of a preview or a run by API; of the POST that runs a draft; of review, run and receipt, which also
say by when the taxes are due, and so go through the calendar, and word each step of a calculation in two languages."""

_HOUSE = Path(hearthpay.__file__).parent
_GROUND = {"access", "clock", "database", "legal_holidays", "security", "time_zones", "wire"}
#: Above and below the floors of payroll's contract, as imports point.
_ABOVE = (
    ("web.household.payrolls",),
    ("web.household",),
    ("web.settings",),
    ("web",),
    ("documents",),
    ("filing",),
    ("duties",),
    ("registrations",),
    ("insurance",),
    ("autopilot",),
    (
        "payroll.drafts",
        "payroll.approval",
        "payroll.corrections",
        "payroll.display_status",
        "payroll.issues",
        "payroll.next_payday",
        "payroll.pay_periods",
        "payroll.pots",
    ),
)
_BELOW = (
    ("banking",),
    ("employees", "employers"),
    ("people",),
    ("http",),
    ("languages",),
    ("taxes",),
)


class Visitor:
    """Notes each room in which something is called."""

    def __init__(self) -> None:
        self.rooms: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event != "call" or not path.is_relative_to(_HOUSE) or _checks_itself(frame):
            return
        room, *inner = path.relative_to(_HOUSE).with_suffix("").parts
        if room == "payroll":
            room = f"payroll.{inner[0]}"
        elif room == "web":
            room = ".".join((room, *inner)) if inner[0] != "templates" else "web.templates"
        if room not in _GROUND and room not in self.rooms:
            self.rooms.append(room)


def _checks_itself(frame: FrameType) -> bool:
    """Whether a value is only being made: it goes along with what travels, and whoever makes it stays where he is."""
    return "__post_init__" in (
        frame.f_code.co_name,
        frame.f_back.f_code.co_name if frame.f_back is not None else "",
    )


def floors() -> dict[str, int]:
    """The height of each room; those of payroll as the contract of its imports has them."""
    project = tomllib.loads((_HOUSE.parents[1] / "pyproject.toml").read_text())
    (contract,) = (
        each
        for each in project["tool"]["importlinter"]["contracts"]
        if each["name"] == "The floors of payroll, along a paycheck's way"
    )
    payroll = [
        [f"payroll.{name}" for name in layer.replace("|", " ").replace(":", " ").split()]
        for layer in contract["layers"]
    ]
    every = [*_ABOVE, *payroll, *_BELOW]
    return {room: -depth for depth, floor in enumerate(every) for room in floor}


def height_of(room: str, heights: dict[str, int]) -> int:
    """The height of a room: a module of the web has that of its package."""
    name = room
    while name not in heights:
        name, _, _ = name.rpartition(".")
        assert name, f"give {room} a floor here, or in pyproject.toml"
    return heights[name]


def check_way(rooms: list[str], kind: str) -> None:
    """Hold a way to the most rooms and climbs of its kind."""
    heights = [height_of(room, floors()) for room in rooms]
    climbs = [rooms[at + 1] for at, (one, other) in enumerate(itertools.pairwise(heights)) if other > one]
    most_rooms, most_climbs = MOST[kind]
    assert len(rooms) <= most_rooms, rooms
    assert len(climbs) <= most_climbs, (climbs, rooms)


async def watched(request: Awaitable[httpx.Response]) -> tuple[httpx.Response, list[str]]:
    """Send a request; return its answer and the rooms on its way."""
    visitor = Visitor()
    sys.setprofile(visitor)
    try:
        response = await request
    finally:
        sys.setprofile(None)
    return response, visitor.rooms


@pytest.mark.skipif(COMPILED, reason="nobody sees what is called in a compiled engine")
@pytest.mark.parametrize("path", ["/payroll/preview", "/payroll/run"])
async def test_few_rooms_and_few_climbs(account: Account, employer_id, employee_id, path):
    response, rooms = await watched(account.live.post(path, payroll_of(employer_id, employee_id)))
    assert response.status_code == 200, response.text
    assert {"http", "taxes", "payroll.ledger", "payroll.answers"} <= set(rooms)
    assert not any(room.startswith("web.") for room in rooms)
    check_way(rooms, "api")


@pytest.mark.skipif(COMPILED, reason="nobody sees what is called in a compiled engine")
async def test_a_page_runs_a_draft_in_few_rooms(maria: Browser, world: World) -> None:
    """The POST of the review page; and it together with the review before it and the payroll's page after it."""
    draft = f"/app/{world.household_id}/payrolls/drafts/{await draft_of(world)}"
    token = await maria.token("/settings/profile")
    review, before = await watched(maria.look(draft))
    form = {"form_token": token, **dict(SEEN.findall(review.text))}
    ran, rooms = await watched(maria.client.post(f"{draft}/run", data=form, headers=OWN))
    assert ran.status_code == 303, ran.text
    payroll, after = await watched(maria.look(ran.headers["location"]))
    assert payroll.status_code == 200, payroll.text
    assert {"http", "people", "taxes", "payroll.drafts", "payroll.ledger"} <= set(rooms)
    together = list(dict.fromkeys((*before, *rooms, *after)))
    assert "payroll.answers" not in together
    check_way(rooms, "page")
    check_way(together, "pages")
