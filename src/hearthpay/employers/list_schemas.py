"""The query parameters of lists of households."""

from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from hearthpay.employers.commands import ListHouseholds, ListPlace, Sort
from hearthpay.employers.list_cursors import read_place
from hearthpay.employers.list_queries import MOST_WORDS, words_in
from hearthpay.wire.fields import RequestModel, Text
from hearthpay.wire.metadata import ON_LISTS, MetadataFilterField

_LONGEST_SEARCH: Final = 100


def _read_cursor(value: object) -> ListPlace:
    try:
        return read_place(value if isinstance(value, str) else "")
    except ValueError:
        raise PydanticCustomError("cursor_form", "must be a next_cursor from an earlier answer") from None


def _read_search(value: str) -> str:
    if not 1 <= len(words_in(value)) <= MOST_WORDS:
        raise PydanticCustomError("search_form", f"must have one to {MOST_WORDS} words, of letters or digits")
    return value


class HouseholdQuery(RequestModel):
    """Which households to list, in which order, and which page."""

    cursor: Annotated[ListPlace, BeforeValidator(_read_cursor), WithJsonSchema({"type": "string"})] | None = (
        Field(default=None, description="`next_cursor` of the page before.")
    )
    limit: int = Field(default=25, ge=1, le=100, strict=False, description="How many items at most.")
    search: Annotated[str, Text(longest=_LONGEST_SEARCH), AfterValidator(_read_search)] | None = Field(
        default=None,
        description=(
            "Up to five words. Each must begin a word of the household's name, of an employee's name, or be the "
            "state. Needs the scope `employees`. A search that matches more than 500 households is refused."
        ),
    )
    sort: Sort | None = Field(
        default=None,
        description=(
            "`name`: by last name. `payday`: by next payday, those without one last; needs the scope `payroll`. "
            "Newest first if left out."
        ),
    )

    metadata: MetadataFilterField = Field(
        default_factory=dict,
        description=f"{ON_LISTS} With `sort`, a filter that matches more than 500 households is refused.",
    )

    def to_command(self) -> ListHouseholds:
        """Return the command for the service."""
        words = () if self.search is None else tuple(words_in(self.search))
        return ListHouseholds(
            place=self.cursor, limit=self.limit, sort=self.sort, words=words, metadata=self.metadata
        )
