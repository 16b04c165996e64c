"""The entry points of a household: the home page, paths without a household that the API links to, and `More`."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import (
    CREATE_HOUSEHOLD,
    READ_HOUSEHOLD,
    READ_PAYROLLS,
    RUN_PAYROLL,
    may,
)
from hearthpay.duties.dues import SIX_DAYS
from hearthpay.duties.dues_lists import MOST_COUNTED, DuesCounts
from hearthpay.languages.catalogue import Say, mark
from hearthpay.todos.wording import action_text, label_text
from hearthpay.web.framework import go, page_of, show
from hearthpay.web.household.context import ROOT, HouseholdContext, household_page
from hearthpay.web.household.idempotent_forms import new_form_id
from hearthpay.web.household.payrolls.several import CHOSEN
from hearthpay.web.household.worklist import (
    SHOWN,
    SORTS,
    Show,
    Worklist,
    WorklistQuery,
    WorklistSort,
    first_households,
    read_worklist,
)
from hearthpay.web.mode_switch import Listed, count_households, in_other_mode
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

_EMPLOYEES: Final = NavigationItem("/settings/employees", mark("Employees"), "people")
_HELP: Final = NavigationItem("/help", mark("Help"), "help")
_SETTINGS: Final = (
    NavigationItem("/households", mark("All households"), "list"),
    NavigationItem("/settings/profile", mark("Profile"), "person"),
    NavigationItem("/settings/members", mark("Members"), "badge"),
    NavigationItem("/settings/keys", mark("API keys"), "key"),
    NavigationItem("/settings/agents", mark("Connected apps"), "plug"),
    NavigationItem("/settings/audit", mark("History"), "clock"),
)
_LONGEST_SEARCH: Final = 100
_FEW: Final = 5
"""As many households need no search."""

_FILTERS: Final[Mapping[Show, str]] = {
    "all": mark("All"),
    "run": mark("To run this week"),
    "overdue": mark("Overdue"),
    "missing": mark("Missing details"),
    "to_do": mark("To do"),
    "week": mark("Payday in 7 days"),
}
_SORTS: Final[Mapping[WorklistSort, str]] = {
    "payday": mark("Next payday"),
    "overdue": mark("Overdue longest"),
    "name": mark("Last name"),
}
_ONE_TO_RUN: Final = mark("1 payroll to run this week")
_TO_RUN: Final = mark("{count} payrolls to run this week")
_ONE_OVERDUE: Final = mark("1 household has something overdue")
_OVERDUE: Final = mark("{count} households have something overdue")
_NONE_TO_RUN: Final = mark("No payrolls to run this week")
_HOUSEHOLDS: Final = mark("Households")
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
    """List the households of the mode that is being viewed, as the address asks: search, order, filter and page."""
    return await _show_worklist(visitor)


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
    return at.show("more.html", {"settings": _SETTINGS, "others": [*others, _HELP]})


@page_of(router, "GET", "/more", "signed_in")
async def more_settings(visitor: Visitor) -> Response:
    """Show everything that the navigation of settings has no room for on a phone."""
    return show(visitor, "more.html", {"settings": (_EMPLOYEES, *_SETTINGS, _HELP)})


async def _door(visitor: Visitor, part: str) -> Response:
    if visitor.signed_in.here is None:
        return await _show_worklist(visitor)
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        first = await first_households(session, actor, 2)
    if len(first) == 1:
        return go(f"{ROOT}/{first[0]}{part}")
    if not first and may(actor, CREATE_HOUSEHOLD):
        return go(f"{ROOT}/start")
    return await _show_worklist(visitor)


async def _show_worklist(visitor: Visitor) -> Response:
    who = visitor.signed_in
    requested = _query_in(visitor)
    found, may_begin, several, reads_payrolls = Worklist((), None), False, False, False
    if who.here is not None:
        actor = visitor.actor()
        reads_payrolls = may(actor, READ_PAYROLLS)
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            found = await read_worklist(session, actor, visitor.people_context.clock, requested)
            several = len(await first_households(session, actor, _FEW + 1)) > _FEW
            may_begin = may(actor, CREATE_HOUSEHOLD) and not await _are_enough(session, actor)
    today, counts = visitor.people_context.clock.today(), found.counts
    facts = {
        "today": today,
        "week_ends": today + SIX_DAYS,
        "headline": _headline(visitor.say, found),
        "being_checked": _counted(counts.being_checked) if counts is not None else "",
        "may_run": found.counts is not None
        and may(visitor.actor(), RUN_PAYROLL)
        and any(item.run_on is not None and item.run_on <= today + SIX_DAYS for item in found.items),
        "chosen": CHOSEN,
        "form_id": new_form_id(),
        "found": found,
        "requested": requested,
        "searchable": several or requested != WorklistQuery(),
        "reads_payrolls": reads_payrolls,
        "filters": _filters(counts),
        "sorts": _SORTS,
        "looked_at": found.stopped_at,
        "may_begin": may_begin,
        "may_own": visitor.people_context.sign_up_open
        and all(each.role != "owner" for each in who.memberships),
        "is_operator": who.operates,
        "text_of": partial(action_text, language=visitor.language, today=today),
        "label_of": partial(label_text, language=visitor.language, today=today),
        "role_name": "" if who.here is None else _ROLES[who.here.role],
        "may_test": who.here is not None and "test_keys" in who.here.terms.features,
    }
    matching = partial(count_households, text=requested.text)
    kind: Listed = "things" if requested.text else "households"
    facts |= await in_other_mode(visitor, kind=kind, households=matching)
    return show(visitor, "households.html", facts, folder="household")


def _headline(say: Say, found: Worklist) -> str:
    """Return what is most urgent over all households; nothing is said to be done while some are being checked."""
    counts = found.counts
    if counts is None:
        return say(_HOUSEHOLDS)
    if counts.to_run:
        return say(_ONE_TO_RUN) if counts.to_run == 1 else say(_TO_RUN, count=_counted(counts.to_run))
    if counts.overdue:
        return say(_ONE_OVERDUE) if counts.overdue == 1 else say(_OVERDUE, count=_counted(counts.overdue))
    return say(_HOUSEHOLDS if counts.being_checked or not found.items else _NONE_TO_RUN)


def _counted(number: int) -> str:
    """Return a count, with a plus sign where there may be more."""
    return f"{number}+" if number >= MOST_COUNTED else str(number)


def _filters(counts: DuesCounts | None) -> list[tuple[Show, str, str | None]]:
    """Return the filters with their names, and how many households two of them find."""
    known = {} if counts is None else {"run": counts.to_run, "overdue": counts.overdue}
    return [
        (each, name, _counted(known[each]) if each in known else None)
        for each, name in _FILTERS.items()
        if counts is not None or each not in ("run", "overdue")
    ]


def _query_in(visitor: Visitor) -> WorklistQuery:
    """Return what the address asks for; what it says wrong is left out."""
    asked = visitor.request.query_params
    shown: Show = next((each for each in SHOWN if each == asked.get("show")), "all")
    return WorklistQuery(
        text=" ".join(asked.get("q", "")[:_LONGEST_SEARCH].split()),
        sort=next((each for each in SORTS if each == asked.get("sort")), "payday"),
        show=shown,
        cursor=asked.get("cursor", ""),
    )


async def _are_enough(session: AsyncSession, actor: Actor) -> bool:
    """Return whether the plan allows no more of these households."""
    limits = actor.terms.limits
    allowed = limits.sandbox_households if actor.sandbox else limits.households
    return allowed is not None and len(await first_households(session, actor, allowed)) >= allowed
