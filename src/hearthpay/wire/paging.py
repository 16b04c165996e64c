"""Pages of a list, newest first.

Ids are UUIDs of version 7 and grow with time, so a cursor only has to hold the id of the last item shown: no offset,
and nothing is shown twice when new items arrive in between.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, TypeVar
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from hearthpay.wire.fields import RequestModel

Row = TypeVar("Row")


def encode_cursor(last: UUID) -> str:
    """Return the cursor after which a list continues after the item `last`."""
    return base64.urlsafe_b64encode(last.bytes).decode("ascii").rstrip("=")


def decode_cursor(cursor: str) -> UUID:
    """Return the id in a cursor. Raises ValueError for text that isn't one of our cursors."""
    try:
        decoded = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError("not a cursor") from None
    if len(decoded) != 16 or encode_cursor(UUID(bytes=decoded)) != cursor:
        raise ValueError("not a cursor")
    return UUID(bytes=decoded)


def _read_cursor(value: object) -> UUID:
    try:
        return decode_cursor(value if isinstance(value, str) else "")
    except ValueError:
        raise PydanticCustomError("cursor_form", "must be a next_cursor from an earlier answer") from None


Cursor = Annotated[UUID, BeforeValidator(_read_cursor), WithJsonSchema({"type": "string"})]
"""Where a list continues; opaque to the client."""


class Page(RequestModel):
    """The query parameters that select one page."""

    cursor: Cursor | None = Field(default=None, description="`next_cursor` of the page before.")
    limit: int = Field(default=25, ge=1, le=100, strict=False, description="How many items at most.")


class PageRequest(Protocol):
    """The requested page: the one after ``cursor`` (None: the first), of at most ``limit`` items."""

    @property
    def cursor(self) -> UUID | None:
        """The last item of the page before."""
        ...

    @property
    def limit(self) -> int:
        """How many items at most."""
        ...


@dataclass(frozen=True, slots=True)
class PageAfter:
    """A requested page that wasn't read from the query as it is."""

    cursor: UUID | None
    limit: int


async def page_of(
    session: AsyncSession, statement: Select[Row], id_column: InstrumentedAttribute[UUID], page: PageRequest
) -> tuple[Sequence[Row], str | None]:
    """Return one page of `statement`'s rows, newest first, and the cursor of the next (None at the end).

    `statement` selects one entity whose id is `id_column`.
    """
    if page.cursor is not None:
        statement = statement.where(id_column < page.cursor)
    limited = statement.order_by(id_column.desc()).limit(page.limit + 1)
    rows: list[Any] = list((await session.scalars(limited)).all())
    if len(rows) <= page.limit:
        return rows, None
    shown = rows[: page.limit]
    return shown, encode_cursor(getattr(shown[-1], id_column.key))
