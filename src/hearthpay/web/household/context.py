"""The household context: how a page finds its household, and the actor for the member there.

`household_page` registers a page. A household of another organization and a nonexistent one give the same page with
404. For one of the visitor's own in the other mode, the page offers to switch.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CHANGE_HOUSEHOLD, Permission, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock, set_household_time
from hearthpay.database.household_clocks import household_time_of
from hearthpay.database.session import Tenant
from hearthpay.employers.schemas import EmployerDetail, detail_of
from hearthpay.employers.service import find_employer
from hearthpay.http.household_times import refuse_while_advancing
from hearthpay.http.runtime import Runtime, runtime_of
from hearthpay.languages.catalogue import Say, mark
from hearthpay.time_zones import day_there, set_shown_time_zone
from hearthpay.web.framework import Extra, go, page_of, show
from hearthpay.web.household.other_mode import mode_switch_page
from hearthpay.web.navigation import NavigationItem
from hearthpay.web.visitor import Visitor

ROOT: Final = "/app"

_SECTIONS: Final = (
    NavigationItem("", mark("Home"), "home"),
    NavigationItem("/payrolls", mark("Payroll"), "pay"),
    NavigationItem("/employees", mark("Employees"), "people"),
    NavigationItem("/taxes", mark("Taxes"), "paper"),
    NavigationItem("/calendar", mark("Calendar"), "day", "wide"),
    NavigationItem("/autopilot", mark("Autopilot"), "loop", "wide"),
    NavigationItem("/bank", mark("Bank"), "bank", "wide"),
    NavigationItem("/state-accounts", mark("State accounts"), "flag", "wide"),
    NavigationItem("/more", mark("More"), "more", "narrow"),
)
_KEPT: Final = NavigationItem("/household", mark("Your household"), "person", "wide")
"""For those who may change it."""
_BESIDE: Final = (
    NavigationItem("/households", mark("All households"), "list", "wide"),
    NavigationItem("/settings/profile", mark("Settings"), "gear", "wide"),
)


@dataclass(frozen=True, slots=True)
class HouseholdContext:
    """A visitor at one of their households, and the actor they are there. What belongs to the visit is in `visitor`."""

    visitor: Visitor
    household: EmployerDetail
    actor: Actor

    @property
    def id(self) -> UUID:
        """Which household."""
        return self.household.id

    @property
    def home_address(self) -> Mapping[str, str] | None:
        """The household's address, whose city and ZIP code decide which local labor law applies; None without one."""
        address = self.household.address
        return None if address is None else {"city": address.city, "state": address.state, "zip": address.zip}

    @property
    def root(self) -> str:
        """The start of its pages' paths: `/app/…`, without a slash at the end."""
        return f"{ROOT}/{self.household.id}"

    @property
    def say(self) -> Say:
        """Translates a sentence into the visitor's language."""
        return self.visitor.say

    @property
    def form(self) -> Mapping[str, str]:
        """What she sent."""
        return self.visitor.form

    @property
    def clock(self) -> Clock:
        """The clock."""
        return self.visitor.people_context.clock

    @property
    def runtime(self) -> Runtime:
        """The service's runtime, which the API's routes use too."""
        return runtime_of(self.visitor.request)

    @property
    def today(self) -> datetime.date:
        """Today where the household is: for what it shows and proposes. Deadlines are counted by `clock.today()`."""
        return day_there(ZoneInfo(self.household.time_zone), self.clock.now())

    def may(self, permission: Permission) -> bool:
        """Return whether the member may do this here, and so whether a page shows the way to it."""
        try:
            allow(self.actor, permission, self.household.id)
        except Refusal:
            return False
        return True

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """Open a transaction that sees only this household; it commits when the block ends without an error."""
        tenant = Tenant(self.actor.organization_id, self.actor.sandbox, self.household.id)
        async with self.visitor.people_context.database.transaction(tenant) as session:
            yield session

    def show(
        self,
        template: str,
        facts: Mapping[str, Any] | None = None,
        *,
        status: int = 200,
        extra: Extra | None = None,
    ) -> Response:
        """Return the page that a template of `templates/household/` makes of the facts, in the household's layout."""
        frame = {
            "household": self.household,
            "household_name": name_of(self.household),
            "root": self.root,
            "search_address": f"{self.root}/search",
            "may": self.may,
            "navigation": navigation_of(self.root, may_change=self.may(CHANGE_HOUSEHOLD)),
        }
        return show(
            self.visitor, template, frame | dict(facts or {}), status=status, extra=extra, folder="household"
        )

    def go(self, path: str = "") -> Response:
        """Return a redirect to a page of this household, after a form."""
        return go(self.root + path)


LookAt = Callable[[HouseholdContext], Awaitable[Response]]


def household_page(
    router: APIRouter,
    method: Literal["GET", "POST"],
    path: str,
    *,
    permission: Permission,
    fresh: bool = False,
) -> Callable[[LookAt], LookAt]:
    """Register `look` as the page at `/app/{household_id}` + `path`, for members with the permission there."""

    def register(look: LookAt) -> LookAt:
        @functools.wraps(look)
        async def at_it(visitor: Visitor) -> Response:
            household_id = _household_id(visitor)
            try:
                at = await _enter_household(visitor, household_id, permission)
            except Refusal as error:
                if error.code != "not_found" or method != "GET":
                    raise
                offer = await mode_switch_page(visitor, household_id)
                if offer is None:
                    raise
                return offer
            return await look(at)

        page_of(
            router, method, f"{ROOT}/{{household_id}}{path}", "member", permission=permission, fresh=fresh
        )(at_it)
        return look

    return register


def name_of(household: EmployerDetail) -> str:
    """Return the household's name: its employer's."""
    return f"{household.first_name} {household.last_name}"


def navigation_of(root: str, *, may_change: bool) -> tuple[NavigationItem, ...]:
    """Return the navigation of the household whose pages begin at `root`."""
    sections = (*_SECTIONS, _KEPT) if may_change else _SECTIONS
    here = (NavigationItem(root + each.address, each.name, each.symbol, each.seen) for each in sections)
    return (*here, *_BESIDE)


def _household_id(visitor: Visitor) -> UUID:
    try:
        return UUID(visitor.request.path_params["household_id"])
    except ValueError:
        raise Refusal("not_found", "No household has this id.") from None


async def _enter_household(visitor: Visitor, requested: UUID, permission: Permission) -> HouseholdContext:
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        household = detail_of(await find_employer(session, actor, requested))
        set_shown_time_zone(ZoneInfo(household.time_zone))
        if actor.sandbox:
            set_household_time(await household_time_of(session, requested))
    allow(actor, permission, requested)
    if visitor.request.method == "POST":
        refuse_while_advancing()
    return HouseholdContext(visitor, household, actor)
