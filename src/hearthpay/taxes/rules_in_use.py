"""Which edition of each year's rules is in use, and how old it is."""

import datetime
from typing import NamedTuple

from hearthpay.taxes.rulebook import rulebook_of, supported_years


class RulesInUse(NamedTuple):
    """The rules of one tax year: their edition, the fingerprint of their files, when they were released."""

    tax_year: int
    edition: str
    fingerprint: str
    released: datetime.date
    age_days: int
    is_final: bool
    """Whether all figures are the year's own."""

    def as_json(self) -> dict[str, object]:
        """Return the rules as JSON for probes."""
        return {
            "tax_year": self.tax_year,
            "edition": self.edition,
            "fingerprint": self.fingerprint,
            "released": self.released.isoformat(),
            "age_days": self.age_days,
        }


def rules_in_use(today: datetime.date) -> tuple[RulesInUse, ...]:
    """Return the rules of every supported year, ascending, with their age in days on ``today``."""
    books = [rulebook_of(year) for year in supported_years()]
    return tuple(
        RulesInUse(
            book.tax_year,
            book.edition,
            book.fingerprint,
            book.released,
            max((today - book.released).days, 0),
            book.is_final,
        )
        for book in books
    )
