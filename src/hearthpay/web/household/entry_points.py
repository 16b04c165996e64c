"""The entry points of a household: the home page, paths without a household that the API links to, and `More`."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CREATE_HOUSEHOLD, READ_HOUSEHOLD, READ_PAYROLLS, Permission, allow
from hearthpay.access.refusal import Refusal
from hearthpay.languages.catalogue import mark
from hearthpay.web.framework import go, page_of, show
from hearthpay.web.household.comparison import HouseholdLine, households_of, matching, with_to_dos
from hearthpay.web.household.context import ROOT, HouseholdContext, household_page
from hearthpay.web.household.to_dos import SENTENCES
from hearthpay.web.navigation import NavigationItem
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

WITHOUT_HOUSEHOLD: Final = (
    "/payrolls",
    "/employees",
    "/autopilot",
    "/taxes",
    "/calendar",
    "/bank",
    "/state-accounts",
)
"""Paths that work without naming a household: they lead to the only one there is."""

_OTHERS: Final = (NavigationItem("/taxes/cost", mark("Estimate cost"), "paper"),)
"""Pages of the household that aren't in the navigation, for the page `More`."""

_SETTINGS: Final = (
    NavigationItem("/households", mark("All households"), "list"),
    NavigationItem("/settings/profile", mark("Profile"), "person"),
    NavigationItem("/settings/members", mark("Members"), "people"),
    NavigationItem("/settings/keys", mark("API keys"), "key"),
    NavigationItem("/settings/agents", mark("Connected apps"), "key"),
    NavigationItem("/settings/audit", mark("History"), "list"),
)
_LONGEST_SEARCH: Final = 100
_ROLES: Final = {"viewer": mark("viewer"), "admin": mark("admin"), "owner": mark("owner")}


@page_of(router, "GET", "/home", "signed_in")
async def home(visitor: Visitor) -> Response:
    """Show the home page: the only household, a choice of several, creating the first, or one's own pay."""
    who = visitor.signed_in
    if who.here is None and who.employed:
        return go("/my")
    return await _door(visitor, "")


@page_of(router, "GET", "/households", "signed_in")
async def households(visitor: Visitor) -> Response:
    """List the households of the mode that is being viewed."""
    return await _comparison(visitor, await _reached(visitor))


@page_of(router, "GET", ROOT, "signed_in")
async def app(visitor: Visitor) -> Response:
    """The same as the home page."""
    return await _door(visitor, "")


async def _without_household(visitor: Visitor) -> Response:
    """Redirect to that part of the only household."""
    return await _door(visitor, visitor.request.url.path.removeprefix(ROOT))


for _part in WITHOUT_HOUSEHOLD:
    page_of(router, "GET", f"{ROOT}{_part}", "signed_in")(_without_household)


@household_page(router, "GET", "/more", permission=READ_HOUSEHOLD)
async def more(at: HouseholdContext) -> Response:
    """Show everything that the navigation has no room for on a phone."""
    others = [NavigationItem(f"{at.root}{each.address}", each.name, each.symbol) for each in _OTHERS]
    return at.show("more.html", {"settings": _SETTINGS, "others": others})


async def _door(visitor: Visitor, part: str) -> Response:
    found = await _reached(visitor)
    if len(found) == 1:
        return go(f"{ROOT}/{found[0].id}{part}")
    if not found and _may_begin(visitor):
        return go(f"{ROOT}/start")
    return await _comparison(visitor, found)


async def _reached(visitor: Visitor) -> tuple[HouseholdLine, ...]:
    if visitor.signed_in.here is None:
        return ()
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        return await households_of(session, visitor)


async def _comparison(visitor: Visitor, found: tuple[HouseholdLine, ...]) -> Response:
    who = visitor.signed_in
    requested = visitor.request.query_params.get("q", "")[:_LONGEST_SEARCH]
    shown = matching(found, requested)
    if shown and _may(visitor.actor(), READ_PAYROLLS):
        actor = visitor.actor()
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            shown = await with_to_dos(session, visitor, shown)
    facts = {
        "households": shown,
        "how_many": len(found),
        "may_begin": _may_begin(visitor) and not _are_enough(visitor, len(found)),
        "may_own": visitor.people_context.sign_up_open
        and all(each.role != "owner" for each in who.memberships),
        "is_operator": who.operates,
        "requested": requested,
        "sentences": SENTENCES,
        "role_name": "" if who.here is None else _ROLES[who.here.role],
        "may_test": who.here is not None and "test_keys" in who.here.terms.features,
    }
    return show(visitor, "comparison.html", facts, folder="household")


def _may_begin(visitor: Visitor) -> bool:
    return visitor.signed_in.here is not None and _may(visitor.actor(), CREATE_HOUSEHOLD)


def _are_enough(visitor: Visitor, households: int) -> bool:
    """Return whether the plan allows no more of these households."""
    actor = visitor.actor()
    limits = actor.terms.limits
    allowed = limits.sandbox_households if actor.sandbox else limits.households
    return allowed is not None and households >= allowed


def _may(actor: Actor, permission: Permission) -> bool:
    try:
        allow(actor, permission)
    except Refusal:
        return False
    return True
