"""A paycheck's way, from request to answer: how many rooms it enters, and how often it climbs.

A room is a module or package of `hearthpay.payroll`, or another package as a whole. What every request stands on is
none, and making a value enters none. Rooms are told in the order in which they are first entered; where the next one
stands on a higher floor, the way climbs.
"""

import itertools
import sys
import tomllib
from pathlib import Path
from types import FrameType

import pytest

import hearthpay
from hearthpay.taxes import COMPILED
from tests.http.api import Account
from tests.worlds.households import payroll_of

MOST_ROOMS = 12
MOST_CLIMBS = 4

_HOUSE = Path(hearthpay.__file__).parent
_GROUND = {"access", "clock", "database", "security", "wire"}
#: Above and below payroll, as ARCHITECTURE draws them.
_BELOW = (("banking",), ("employees", "employers"), ("http",), ("taxes",))


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
    return {room: -depth for depth, floor in enumerate([*payroll, *_BELOW]) for room in floor}


@pytest.mark.skipif(COMPILED, reason="nobody sees what is called in a compiled engine")
@pytest.mark.parametrize("path", ["/payroll/preview", "/payroll/run"])
async def test_few_rooms_and_few_climbs(account: Account, employer_id, employee_id, path):
    visitor = Visitor()
    sys.setprofile(visitor)
    try:
        response = await account.live.post(path, payroll_of(employer_id, employee_id))
    finally:
        sys.setprofile(None)
    assert response.status_code == 200, response.text
    height = floors()
    way = visitor.rooms
    assert {"http", "taxes", "payroll.ledger", "payroll.answers"} <= set(way)
    assert set(way) <= height.keys(), "give it a floor in pyproject.toml"
    climbs = [after for before, after in itertools.pairwise(way) if height[after] > height[before]]
    assert len(way) <= MOST_ROOMS, way
    assert len(climbs) <= MOST_CLIMBS, (climbs, way)
