"""What a household keeps aside for taxes: what is withheld, and its own taxes, not yet paid, by agency and date."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from hearthpay.filing.balances import AgencyBalance


@dataclass(frozen=True, slots=True)
class KeptAside:
    """What is to be paid to an agency by a date, in cents; late together is one row."""

    agency: str
    due: datetime.date | None
    is_late: bool
    cents: int


@dataclass(frozen=True, slots=True)
class TaxesToKeepAside:
    """All of it, the earliest date first."""

    rows: tuple[KeptAside, ...]

    @property
    def total(self) -> int:
        """What to keep aside, in cents: as the page of taxes has it."""
        return sum(each.cents for each in self.rows)


def keep_aside_of(balances: Iterable[AgencyBalance]) -> TaxesToKeepAside:
    """Return what is kept aside for these agencies."""
    found: dict[tuple[str, datetime.date | None, bool], int] = {}
    for agency in balances:
        for period in agency.periods:
            if period.keep_aside:
                late = period.status == "late"
                key = (agency.agency.name, None if late else period.due, late)
                found[key] = found.get(key, 0) + period.keep_aside
    rows = [KeptAside(*key, cents) for key, cents in found.items()]
    return TaxesToKeepAside(
        tuple(sorted(rows, key=lambda each: (not each.is_late, each.due or datetime.date.max, each.agency)))
    )
