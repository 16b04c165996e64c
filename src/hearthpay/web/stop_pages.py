"""The pages of an alert's link: what it stops, and the confirmation. They need no sign-in."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.alerts.reversal import reverse_acts, reversible_acts, stop_record, stoppable
from hearthpay.alerts.wording import payroll_after, what_was_done
from hearthpay.http.envelope import request_id_of
from hearthpay.languages.catalogue import mark, moment_in
from hearthpay.people.account_freeze import freezes_account, stop_account
from hearthpay.people.secured_mails import ADDRESS_PATH
from hearthpay.people.stop_links import STOP_PATH, Stop, StopAccount, StopRecord, read_stop
from hearthpay.web.framework import message, page_of, show
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_SECURED: Final = mark("It was stopped")
_ACCOUNT_DONE: Final = mark(
    "What was done since then was ended. We sent a link for a new password to the address of your account; until you "
    "choose one, the old password works only in a browser that you used before, or with two-step verification."
)
_FROZEN: Final = mark("Until {until}, no new way to sign in can be added and the email address can't change.")
_DISPUTED: Final = mark(
    "What was done since then was ended, and we wrote to both addresses. We can't tell which mailbox is yours, so we "
    "mail no link for a new password until the address is decided. Sign in with a browser that you used before, or "
    "with two-step verification. If you can't, another owner of your organization or your administrator can decide it."
)
_RECORD_DONE: Final = mark(
    "The new bank account was canceled. Your pay goes to the same account as before. For a "
    "day we accept no other one. Tell the household, and check whether someone else can read "
    "your email."
)
_NOTHING_WAITS: Final = mark(
    "No new bank account waits any more. If one was connected that is not yours, tell the household at once."
)


@page_of(router, "GET", f"{STOP_PATH}/{{token}}", "anyone")
async def confirm_stop(visitor: Visitor) -> Response:
    """Show what the link stops, with the button that does it: programs that scan mail open links too."""
    stop = _stop(visitor)
    if isinstance(stop, StopAccount):
        freezes = await freezes_account(visitor.people_context, stop)
        return show(visitor, "stop.html", {"kind": "account", "change": stop.change, "freezes": freezes})
    if isinstance(stop, StopRecord):
        return show(visitor, "stop.html", {"kind": "record"})
    acts = await reversible_acts(visitor.people_context, stop)
    if not acts:
        raise Refusal("not_found", "Link not found.")
    listed = [
        (act.at, what_was_done(visitor.say, visitor.language, act), stoppable(act, stop.member))
        for act in acts
    ]
    facts = {
        "kind": "acts",
        "acts": listed,
        "organization": acts[0].organization,
        "payroll": payroll_after([act for act in acts if stoppable(act, stop.member)]),
    }
    return show(visitor, "stop.html", facts)


@page_of(router, "POST", f"{STOP_PATH}/{{token}}", "anyone")
async def take_stop(visitor: Visitor) -> Response:
    """Stop it."""
    stop, token, say = _stop(visitor), _token(visitor), visitor.say
    request_id = request_id_of(visitor.request)
    if isinstance(stop, StopAccount):
        done = await stop_account(visitor.people_context, stop, token, visitor.visit)
        if done.disputed:
            way_on = (f"/sign-in?next={ADDRESS_PATH}", mark("Choose the address"))
            return message(visitor, say(_SECURED), say(_DISPUTED), way_on=way_on)
        text = say(_ACCOUNT_DONE)
        if done.frozen_until is not None:
            text += " " + say(_FROZEN, until=moment_in(visitor.language, done.frozen_until))
        return message(visitor, say(_SECURED), text, way_on=("/reset", mark("Choose a new password")))
    if isinstance(stop, StopRecord):
        withdrawn = await stop_record(visitor.people_context, stop, request_id)
        return message(visitor, say(_SECURED), say(_RECORD_DONE if withdrawn else _NOTHING_WAITS))
    stopped = await reverse_acts(visitor.people_context, stop, token, request_id)
    facts = {
        "taken_back": [what_was_done(say, visitor.language, act) for act in stopped.taken_back],
        "left": [what_was_done(say, visitor.language, act) for act in stopped.left],
        "until": stopped.frozen_until,
        "payroll": payroll_after(stopped.taken_back),
    }
    return show(visitor, "stopped.html", facts)


def _stop(visitor: Visitor) -> Stop:
    return read_stop(visitor.people_context.keys(), visitor.people_context.clock.now(), _token(visitor))


def _token(visitor: Visitor) -> str:
    return str(visitor.request.path_params["token"])
