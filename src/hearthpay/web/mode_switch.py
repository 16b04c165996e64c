"""What a page that lists one mode says of the other: how much more is there, and the form that switches.

A list of real households' things must not look complete, or empty, while test households have some too, nor the
reverse. The page names what it counts, with the service function that its own list is made of, so that what people may
not see isn't counted. `mode_parts.html` shows it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.http.envelope import request_id_of
from hearthpay.languages.catalogue import mark
from hearthpay.security.api_keys import Mode
from hearthpay.web.household.worklist import find_households, first_households
from hearthpay.web.visitor import Visitor

MOST_COUNTED: Final = 100
"""Things of the other mode are counted up to this number."""

CountInMode = Callable[[AsyncSession, Actor], Awaitable[int]]
"""Counts what an actor of the other mode would find in a list, up to `MOST_COUNTED`; it asks `allow` itself."""

Listed = Literal["things", "households", "history"]

_SENTENCES: Final[Mapping[Listed, Mapping[Mode, tuple[str, str]]]] = {
    "things": {
        "test": (mark("1 more in test households"), mark("{count} more in test households")),
        "live": (mark("1 more in real households"), mark("{count} more in real households")),
    },
    "households": {
        "test": (mark("1 test household"), mark("{count} test households")),
        "live": (mark("1 real household"), mark("{count} real households")),
    },
    "history": {
        "test": (mark("Activity in test households is listed separately."),) * 2,
        "live": (mark("Activity in real households is listed separately."),) * 2,
    },
}
_BUTTONS: Final[Mapping[Mode, str]] = {
    "test": mark("Switch to test households"),
    "live": mark("Switch to real households"),
}


@dataclass(frozen=True, slots=True)
class ModeSwitch:
    """The form that switches to the other mode: its button, and the page that it leads to."""

    mode: Mode
    organization_id: UUID
    next_path: str

    @property
    def button(self) -> str:
        """What the button says, translated later."""
        return _BUTTONS[self.mode]


@dataclass(frozen=True, slots=True)
class OtherMode:
    """A line below a list: what the other mode has, in the visitor's language, and the form that switches to it."""

    text: str
    switch: ModeSwitch


def mode_switch(visitor: Visitor, next_path: str | None = None) -> ModeSwitch | None:
    """Return the form that switches to the other mode, and there to the same page, or to `next_path`.

    None for somebody in no organization, or whose plan has no test households.
    """
    who = visitor.signed_in
    if who.here is None or (not who.sandbox and "test_keys" not in who.here.terms.features):
        return None
    path = visitor.request.url.path if next_path is None else next_path
    return ModeSwitch("live" if who.sandbox else "test", who.here.organization_id, path)


async def count_households(session: AsyncSession, actor: Actor, text: str = "") -> int:
    """Return how many households that the actor reaches the text finds, all for an empty one, up to `MOST_COUNTED`.

    Raises what `allow` raises.
    """
    if not text:
        return len(await first_households(session, actor, MOST_COUNTED))
    found = await find_households(session, actor, text)
    return min(len(found), MOST_COUNTED)


async def in_other_mode(
    visitor: Visitor, *, kind: Listed = "things", next_path: str | None = None, **counts: CountInMode
) -> dict[str, Any]:
    """Return the fact `other_mode` for a page that lists one mode: by name, a line for each count that isn't zero."""
    switch = mode_switch(visitor, next_path)
    if switch is None:
        return {"other_mode": {}}
    who = replace(visitor.signed_in, sandbox=not visitor.signed_in.sandbox)
    actor = who.actor(request_id_of(visitor.request))
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        found = {name: await count(session, actor) for name, count in counts.items()}
    one, many = _SENTENCES[kind][switch.mode]
    return {
        "other_mode": {
            name: OtherMode(
                visitor.say(one) if number == 1 else visitor.say(many, count=counted(number)), switch
            )
            for name, number in found.items()
            if number
        }
    }


def counted(number: int) -> str:
    """Return a count, with a plus sign where there may be more."""
    return f"{MOST_COUNTED}+" if number >= MOST_COUNTED else str(number)
