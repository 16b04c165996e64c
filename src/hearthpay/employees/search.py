"""Finding employees of one household by words of their names, as lists of households are searched."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_EMPLOYEES, allow
from hearthpay.database.relations import HOUSEHOLD_WORDS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employers.service import resolve_employer

MOST_FOUND: Final = 20
"""The most employees that one search returns."""


class FoundEmployee(NamedTuple):
    """An employee whose name has every word of a search."""

    id: UUID
    first_name: str
    last_name: str
    status: str

    @property
    def name(self) -> str:
        """The employee's full name."""
        return f"{self.first_name} {self.last_name}"


# A person matches if no word of the search begins none of the person's words.
_BY_WORDS: Final = query(
    FoundEmployee,
    "SELECT e.id, e.first_name, e.last_name, e.status FROM employees e "
    "WHERE e.employer_id = :employer_id AND NOT EXISTS ("
    "SELECT FROM unnest(CAST(:words AS text[])) AS s(word) WHERE NOT EXISTS ("
    "SELECT FROM {words} w WHERE w.employer_id = :employer_id AND w.owner_id = e.id "
    "AND w.word >= fold_name(s.word) AND w.word < fold_name(s.word) || chr(1114111))) "
    "ORDER BY e.status, e.last_name, e.first_name, e.id LIMIT :limit",
    words=HOUSEHOLD_WORDS,
)


async def search_employees(
    session: AsyncSession, actor: Actor, employer_id: UUID, words: Sequence[str]
) -> list[FoundEmployee]:
    """Return the household's employees whose name has each of the words, or a longer one.

    Raises what `allow` and `resolve_employer` raise.
    """
    allow(actor, READ_EMPLOYEES)
    employer = await resolve_employer(session, actor, employer_id)
    if not words:
        return []
    asked = {"employer_id": employer.id, "words": list(words), "limit": MOST_FOUND}
    return await fetch_all(session, _BY_WORDS, asked)
