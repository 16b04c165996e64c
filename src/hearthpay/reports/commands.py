"""Report commands, in plain values."""

import datetime
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class AskStateWages:
    """The wages of a state in a calendar quarter, or with None in the whole year."""

    state: str
    year: int
    quarter: int | None = None
    employer_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class AskTaxLiability:
    """The taxes on wages with pay dates from the first to the last day, both included."""

    first: datetime.date
    last: datetime.date
    employer_id: UUID | None = None
