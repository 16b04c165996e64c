"""The record that a page under `/my` is about: one of the visitor's own, found again for each request."""

import datetime
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.clock import set_household_time
from hearthpay.database.household_clocks import household_time_of
from hearthpay.database.types import from_cents
from hearthpay.employees.links import OwnEmployment, employment_of, own_employee_at, own_transaction
from hearthpay.employees.models import Employee
from hearthpay.employees.own_notices import NoticeRecipient
from hearthpay.http.envelope import request_id_of
from hearthpay.http.household_times import refuse_while_advancing
from hearthpay.languages.catalogue import short_day_in
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.time_zones import set_shown_time_zone
from hearthpay.web.framework import id_in_path, show
from hearthpay.web.visitor import Visitor


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """One of the visitor's records, and the visitor as its employee."""

    visitor: Visitor
    employment: OwnEmployment

    @property
    def actor(self) -> Actor:
        """The visitor as an employee of the record."""
        return self.employment.actor(request_id_of(self.visitor.request))

    @property
    def path(self) -> str:
        """The start of the paths of this record's pages."""
        return f"/my/{self.employment.employee_id}"

    @property
    def reader(self) -> NoticeRecipient:
        """The recipient of notices about changes."""
        who = self.visitor.signed_in
        return NoticeRecipient(who.email, who.language, who.person_id, who.session_id)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """Open a transaction that sees only this record of the household."""
        database = self.visitor.people_context.database
        async with own_transaction(database, self.visitor.signed_in.person_id, self.employment) as session:
            yield session

    async def employee(self, session: AsyncSession) -> Employee:
        """Return the employee herself."""
        return await own_employee_at(session, self.employment.employee_id)

    def show(self, template: str, facts: Mapping[str, Any] | None = None, *, status: int = 200) -> Response:
        """Return a page of this record."""
        language = self.visitor.language
        common: dict[str, Any] = {
            "record": self.employment,
            "here": self.path,
            "money": money,
            "hours": hours,
            "day": lambda when: short_day_in(language, when),
            "this_year": today_of(self.visitor).year,
            "section": "/my",
            "states": STATES,
        }
        return show(self.visitor, template, common | dict(facts or {}), status=status)


async def record_of(visitor: Visitor) -> OwnRecord:
    """Return the record named in the path. Raises `not_found` for another person's or an unknown one."""
    employee_id = id_in_path(visitor, "employee_id")
    person_id = visitor.signed_in.person_id
    record = OwnRecord(visitor, await employment_of(visitor.people_context.database, person_id, employee_id))
    set_shown_time_zone(record.employment.zone)
    if record.employment.sandbox:
        async with record.transaction() as session:
            set_household_time(await household_time_of(session, record.employment.employer_id))
        if visitor.request.method == "POST":
            refuse_while_advancing()
    return record


def money(cents: int) -> str:
    """Return cents as dollars in US format."""
    return f"{'-' if cents < 0 else ''}${from_cents(abs(cents)):,.2f}"


def hours(count: Decimal) -> str:
    """Return hours without trailing zeros: 40, 7.5."""
    whole, dot, part = f"{count:,f}".partition(".")
    return whole + (dot + part).rstrip("0").rstrip(".")


def today_of(visitor: Visitor) -> datetime.date:
    """Return today's date in the time zone of payroll."""
    return visitor.people_context.clock.today()
