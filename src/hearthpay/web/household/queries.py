"""The query of a page: which part of a list, and which days."""

import datetime
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.web.visitor import Visitor
from hearthpay.wire.paging import decode_cursor


def cursor_in(visitor: Visitor) -> UUID | None:
    """Return the item after which the list continues. Raises `not_found` for an unknown cursor."""
    text = visitor.request.query_params.get("cursor")
    if not text:
        return None
    try:
        return decode_cursor(text)
    except ValueError:
        raise Refusal("not_found", "Page not found.") from None


def day_in(visitor: Visitor, name: str) -> datetime.date | None:
    """Return the day from the query; None if there is none, or an invalid one."""
    try:
        return datetime.date.fromisoformat(visitor.request.query_params.get(name, ""))
    except ValueError:
        return None
