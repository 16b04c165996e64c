"""Keeps a form while its sender re-authenticates: nothing is typed twice, and nothing is sent unasked.

The browser keeps it in a cookie that is encrypted for its session and names the form's address: nobody can read it,
or use it elsewhere. After re-authentication the form is shown again, to be sent or not; or, if its own page asks
again, it is filled in there. Secrets are never kept, and are asked for again.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response

from hearthpay.security.content_seal import SealedContent, kept_form_place, open_content, seal_content
from hearthpay.security.key_ring import UnknownKeyError
from hearthpay.security.vault_cipher import UnreadableSecretError
from hearthpay.web.visitor import FORM_ID, FORM_TOKEN, Visitor

KEPT_COOKIE: Final = "__Host-hearthpay-kept"
LASTS: Final = datetime.timedelta(minutes=10)

_LONGEST: Final = 2_500
"""Bytes of a kept form: with its seal it has to fit into a cookie."""
_SECRET: Final = frozenset(
    {"password", "code", "answer", "number", "ssn", "itin", "ein", "pin", "secret", "token"}
)
"""A field is secret if its name contains one of these words."""


@dataclass(frozen=True, slots=True)
class PendingForm:
    """A kept form: its address, its page and its entries; `incomplete` without the secrets.

    `asked_again`: it is never sent as it is, but fills its page in.
    """

    address: str
    page: str
    fields: Mapping[str, str]
    incomplete: bool
    asked_again: bool

    @property
    def shown(self) -> Mapping[str, str]:
        """The entries and choices, without the form's own hidden fields."""
        return {name: value for name, value in self.fields.items() if name != FORM_ID}


def store_pending_form(
    visitor: Visitor, response: Response, page: str, *, asked_again: bool = False
) -> Response:
    """Have the browser keep the form that it has just sent, unless all its fields are secret."""
    fields = {name: value for name, value in visitor.form.items() if name != FORM_TOKEN}
    open_ones = {name: value for name, value in fields.items() if not _is_secret(name)}
    ring, now = visitor.people_context.ring, visitor.people_context.clock.now()
    content = json.dumps(
        {
            "address": visitor.request.url.path,
            "page": page,
            "place": visitor.place,
            "fields": open_ones,
            "incomplete": len(open_ones) < len(fields),
            "asked_again": asked_again,
            "until": (now + LASTS).isoformat(),
        }
    ).encode()
    if ring is None or not open_ones or len(content) > _LONGEST:
        return forget_form(response)
    sealed = seal_content(ring.newest, kept_form_place(visitor.signed_in.session_id), content)
    text = ".".join(_encoded(part) for part in (sealed.key_id.encode(), sealed.nonce, sealed.ciphertext))
    response.set_cookie(
        KEPT_COOKIE,
        text,
        max_age=int(LASTS.total_seconds()),
        path="/",
        secure=True,
        httponly=True,
        samesite="lax",
    )
    return response


def pending_form(visitor: Visitor, page: str) -> PendingForm | None:
    """Return the visitor's kept form of this page.

    None if there is none of this session, in the organization and mode that they are viewing, or only an old one.
    """
    text, ring = visitor.request.cookies.get(KEPT_COOKIE), visitor.people_context.ring
    if text is None or ring is None:
        return None
    try:
        key_id, nonce, ciphertext = (_decoded(part) for part in text.split("."))
        sealed = SealedContent(ciphertext, nonce, key_id.decode())
        found = json.loads(open_content(ring, kept_form_place(visitor.signed_in.session_id), sealed))
    except (ValueError, UnknownKeyError, UnreadableSecretError):
        return None
    if (
        found["page"] != page
        or found.get("place") != visitor.place  # they have switched to another organization, or mode, since
        or datetime.datetime.fromisoformat(found["until"]) <= visitor.people_context.clock.now()
    ):
        return None
    return PendingForm(
        found["address"],
        found["page"],
        found["fields"],
        found["incomplete"],
        found.get("asked_again", False),
    )


def forget_form(response: Response) -> Response:
    """Have the browser drop the kept form."""
    response.delete_cookie(KEPT_COOKIE, path="/", secure=True, httponly=True, samesite="lax")
    return response


def _is_secret(name: str) -> bool:
    return not _SECRET.isdisjoint(name.lower().split("_"))


def _encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode("ascii")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("not what was encoded") from None
