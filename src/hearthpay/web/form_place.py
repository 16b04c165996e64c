"""What to say of a form that was shown in another organization or mode than the one its sender is viewing now.

A session views one organization in one mode. A form left in another browser tab from before a switch would otherwise
invite its member, or create its key, where nobody meant to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from hearthpay.languages.catalogue import mark
from hearthpay.people.sessions import OrganizationMembership
from hearthpay.security.api_keys import Mode
from hearthpay.web.visitor import Visitor

_KINDS: Final[Mapping[Mode, str]] = {"live": mark("real households"), "test": mark("test households")}
_OTHER_ORGANIZATION: Final = mark("This form belongs to another organization")
_OTHER_MODE: Final[Mapping[Mode, str]] = {
    "live": mark("This form belongs to real households"),
    "test": mark("This form belongs to test households"),
}
_BETWEEN_TABS: Final = mark("Nothing was saved. The form was for {then}, and you're now in {now}.")
_BETWEEN_MODES: Final = mark("Nothing was saved. The form was for {then}, and you're now looking at {now}.")
_NOT_YOURS: Final = mark(
    "Nothing was saved. The form was for an organization that you don't belong to. You're in {now}."
)
_SWITCH_FIRST: Final = mark("Switch back to send it again.")


@dataclass(frozen=True, slots=True)
class SwitchBack:
    """The form that switches back to where the other form was shown, and leads to its page."""

    organization_id: UUID
    mode: Mode
    next_path: str
    button: str = mark("Switch back")


def facts_of_other_place(visitor: Visitor, here: OrganizationMembership, page: str) -> Mapping[str, Any]:
    """Return what `other_place.html` says of a form that wasn't shown ``here``, where its sender is now.

    ``page`` is the page that had it, to come back to.
    """
    who, say = visitor.signed_in, visitor.say
    organization, _, mode_name = visitor.form_place.partition(".")
    mode: Mode = "test" if mode_name == "test" else "live"
    then = next((each for each in who.memberships if str(each.organization_id) == organization), None)
    if then is None:
        return {
            "title": _OTHER_ORGANIZATION,
            "text": say(_NOT_YOURS, now=here.organization),
            "switch": None,
        }
    if then.organization_id == here.organization_id:
        kinds = {"then": say(_KINDS[mode]), "now": say(_KINDS["test" if who.sandbox else "live"])}
        title, text = _OTHER_MODE[mode], say(_BETWEEN_MODES, **kinds)
    else:
        names = {"then": then.organization, "now": here.organization}
        title, text = _OTHER_ORGANIZATION, say(_BETWEEN_TABS, **names)
    switch = SwitchBack(then.organization_id, mode, page)
    return {"title": title, "text": f"{text} {say(_SWITCH_FIRST)}", "switch": switch}
