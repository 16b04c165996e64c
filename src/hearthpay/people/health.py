"""The installation's health, for its operators."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Final, NamedTuple

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import become_person
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn


class _HealthRow(NamedTuple):
    name: str
    figure: int
    moment: datetime.datetime | None


_HEALTH: Final = query(_HealthRow, "SELECT name, figure, moment FROM installation_health(:at)")


class Vital(NamedTuple):
    """One number, in cents if it is money, and the moment it applies to or has applied since; None if there is no
    moment.
    """

    figure: int
    moment: datetime.datetime | None


async def vitals(people_context: PeopleContext, who: SignedIn) -> Mapping[str, Vital]:
    """Return the installation's figures, over all organizations. Raises `not_found` for a person who isn't an
    operator.
    """
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        rows = await fetch_all(session, _HEALTH, {"at": people_context.clock.now()})
    if not rows:
        raise Refusal("not_found", "Page not found. Check the address.")
    return {row.name: Vital(row.figure, row.moment) for row in rows}
