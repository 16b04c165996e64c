"""The page for one's own household in the other mode: it offers to switch, and continues to the requested page.

A link in a mail, or a saved one, names a household but not its mode.
"""

from typing import Final
from uuid import UUID

from starlette.responses import Response

from hearthpay.employers.service import owned_in_the_other_mode
from hearthpay.languages.catalogue import mark
from hearthpay.web.framework import show
from hearthpay.web.mode_switch import mode_switch
from hearthpay.web.visitor import Visitor

_TO_TEST: Final = {
    "title": mark("This is a test household"),
    "text": mark("You're looking at real households. Switch to test households to open this page."),
}
_TO_LIVE: Final = {
    "title": mark("This is a real household"),
    "text": mark("You're looking at test households. Switch to real households to open this page."),
}


async def mode_switch_page(visitor: Visitor, household_id: UUID) -> Response | None:
    """Return the page that offers to switch to this household's mode; None if that wouldn't open it.

    So another organization's household looks like a nonexistent one. The status is 404: there is nothing at this
    address in the current mode.
    """
    actor, switch = visitor.actor(), mode_switch(visitor)
    if switch is None:
        return None
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        hers = actor.reaches(household_id) and await owned_in_the_other_mode(session, actor, household_id)
    if not hers:
        return None
    facts = {"offer": _TO_LIVE if actor.sandbox else _TO_TEST, "switch": switch}
    return show(visitor, "other_mode.html", facts, status=404)
