"""What the address of a page asks for: which part of a list, and which days."""

import datetime
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.web.visitor import Visitor
from hearthpay.wire.paging import decode_cursor


def cursor_in(visitor: Visitor) -> UUID | None:
    """Return after which item the list goes on. Raises `not_found` for a cursor that is none of ours."""
    text = visitor.request.query_params.get("cursor")
    if not text:
        return None
    try:
        return decode_cursor(text)
    except ValueError:
        raise Refusal("not_found", "Page not found.") from None


def day_in(visitor: Visitor, name: str) -> datetime.date | None:
    """Return the day that the address names; None where it names none, or none that there is."""
    try:
        return datetime.date.fromisoformat(visitor.request.query_params.get(name, ""))
    except ValueError:
        return None
