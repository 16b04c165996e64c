"""One figure that isn't what it is proved to be."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Difference:
    """Where it is, what is recorded there and what is expected; amounts in dollars."""

    subject: str
    id: UUID | None
    """None for what isn't a row, such as a table."""
    what: str
    recorded: str | None
    expected: str | None
