"""The installation's health: a page for operators, appointed by `hearthpay people operator`."""

import datetime
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.banking.unread_files import unread_files_for_operator
from hearthpay.database.session import become_person
from hearthpay.payroll.provisional_law.notices import (
    LIST_COMMAND,
    UPDATE_COMMAND,
    headline,
    pieces_in,
    standing,
)
from hearthpay.payroll.provisional_law.pay_dates import read_provisional_rules_for_operator
from hearthpay.people.health import vitals
from hearthpay.people.uncollected_wages import wages_not_collected
from hearthpay.taxes.rules_in_use import rules_in_use
from hearthpay.web.framework import page_of, show
from hearthpay.web.settings.operator_matters import heading_of, matters_of
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)


@page_of(router, "GET", "/operator", "signed_in")
async def health(visitor: Visitor) -> Response:
    """Show the operators' to-dos, then how the installation runs; 404 for everyone else."""
    context, who, clock = visitor.people_context, visitor.signed_in, visitor.people_context.clock
    found = await vitals(context, who)
    cases = await wages_not_collected(context, who)
    async with context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        awaited = await read_provisional_rules_for_operator(session, clock.today())
        files = await unread_files_for_operator(session)
    say, language = visitor.say, visitor.language
    held = headline(say, awaited) if awaited.held else ""
    matters = matters_of(say, language, found, cases, held, clock.now(), files)
    facts = {
        "heading": heading_of(say, matters),
        "matters": matters,
        "vitals": found,
        "awaited": [
            (
                each,
                pieces_in(say, each.pieces),
                [datetime.date.fromisoformat(f"{month}-01") for month in each.months],
            )
            for each in awaited.jurisdictions
        ],
        "awaited_headline": headline(say, awaited),
        "awaited_standing": standing(say, awaited),
        "awaited_update": UPDATE_COMMAND,
        "awaited_list": LIST_COMMAND,
        "rules": rules_in_use(clock.today()),
    }
    return show(visitor, "health.html", facts, folder="household")
