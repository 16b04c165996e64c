"""The installation's health: a page for operators, appointed by `hearthpay people operator`."""

import datetime
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.database.session import become_person
from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.provisional_law.notices import (
    LIST_COMMAND,
    UPDATE_COMMAND,
    headline,
    pieces_in,
    standing,
)
from hearthpay.payroll.provisional_law.pay_dates import read_provisional_rules_for_operator
from hearthpay.people.health import Vital, vitals
from hearthpay.taxes.rules_in_use import rules_in_use
from hearthpay.web.framework import page_of, show
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_NOTHING: Final = Vital(0, None)
_DOCTOR_EVERY: Final = datetime.timedelta(days=7)


@page_of(router, "GET", "/operator", "signed_in")
async def health(visitor: Visitor) -> Response:
    """Show worker, mail, bank files, exposed money, tax rules, and the last doctor report; 404 for everyone else."""
    found = await vitals(visitor.people_context, visitor.signed_in)
    states = {name: found.get(name, _NOTHING) for name in _NAMES}
    doctor = found.get("doctor_differing")
    async with visitor.people_context.database.transaction(None) as session:
        await become_person(session, visitor.signed_in.person_id)
        awaited = await read_provisional_rules_for_operator(session, visitor.people_context.clock.today())
    say = say_in(visitor.language)
    facts = {
        "vitals": states,
        "doctor": doctor,
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
        "awaited_held": bool(awaited.held),
        "awaited_update": UPDATE_COMMAND,
        "awaited_list": LIST_COMMAND,
        "doctor_is_old": doctor is None
        or doctor.moment is None
        or visitor.people_context.clock.now() - doctor.moment > _DOCTOR_EVERY,
        "rules": rules_in_use(visitor.people_context.clock.today()),
    }
    return show(visitor, "health.html", facts, folder="household")


_NAMES: Final = (
    "workers",
    "problems",
    "payrolls_due",
    "mail_waiting",
    "mail_failed",
    "files_waiting",
    "files_delivered",
    "money_held",
    "doctor_exposed",
)
