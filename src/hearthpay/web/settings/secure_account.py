"""Secure my account: all access methods on one page, recent ones marked, each ended with one button."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.alerts.access_methods import KINDS, access_methods_of, end_access_method
from hearthpay.http.envelope import request_id_of
from hearthpay.http.statuses import status_of
from hearthpay.languages.catalogue import mark
from hearthpay.web.device_names import device_name
from hearthpay.web.framework import go, id_in_path, message, page_of, show
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

SECURE_PATH: Final = "/settings/secure"
_NAMES: Final = {
    "passkey": mark("Passkeys"),
    "second_factor": mark("Two-step verification"),
    "agent": mark("Apps you connected"),
    "key": mark("API keys that you made"),
    "session": mark("Other sessions"),
}
_ENDS: Final = {
    "passkey": mark("Remove"),
    "second_factor": mark("Turn off"),
    "agent": mark("Disconnect"),
    "key": mark("Revoke"),
    "session": mark("End session"),
}
_NOT_ENDED: Final = mark("That did not work")


@page_of(router, "GET", SECURE_PATH, "signed_in", fresh=True)
async def secure(visitor: Visitor) -> Response:
    """Show everything that gives access to the account or acts in the person's name."""
    ways = await access_methods_of(visitor.people_context, visitor.signed_in, request_id_of(visitor.request))
    facts = {
        "groups": [(name, [each for each in ways if each.kind == kind]) for kind, name in _NAMES.items()],
        "device_name": device_name,
        "ends": _ENDS,
        "operator": visitor.people_context.operator,
    }
    return show(visitor, "secure.html", facts)


@page_of(router, "POST", SECURE_PATH + "/{way_kind}/{way_id}/end", "signed_in", fresh=True)
async def end(visitor: Visitor) -> Response:
    """End one of them."""
    kind = visitor.request.path_params["way_kind"]
    if kind not in KINDS:
        raise Refusal("not_found", "Page not found. Check the address.")
    requested = id_in_path(visitor, "way_id")
    try:
        await end_access_method(visitor.people_context, visitor.signed_in, kind, requested, visitor.visit)
    except Refusal as error:
        if error.code != "invalid_state":
            raise
        way_on = (SECURE_PATH, mark("Secure my account"))
        text = visitor.say(error.message)
        return message(visitor, visitor.say(_NOT_ENDED), text, status=status_of(error), way_on=way_on)
    return go(SECURE_PATH)
