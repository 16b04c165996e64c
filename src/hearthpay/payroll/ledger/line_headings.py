"""The headings of a household's lines, which the sums of months don't keep: as the law of the year has them."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.lines import LINES
from hearthpay.taxes.heading import Heading
from hearthpay.taxes.headings import headings_of
from hearthpay.taxes.vocabulary import Payer


class _HeadingRow(NamedTuple):
    code: str
    name: str
    payer: Payer
    agency: str
    category: str


_HEADINGS: Final = query(
    _HeadingRow,
    "SELECT l.code, max(l.name) AS name, max(l.payer) AS payer, max(l.agency) AS agency, max(l.category) AS category "
    "FROM paychecks c {lines} WHERE c.employer_id = :employer "
    "AND c.tax_year = :year AND l.code = ANY(:codes) GROUP BY l.code",
    lines=LINES,
)


async def read_headings(
    session: AsyncSession, employer_id: UUID, year: int, codes: Collection[str]
) -> Mapping[str, Heading]:
    """Return the headings of the codes of a household's lines in a tax year.

    Those of a code that the law of the year no longer has are read from the household's lines.
    """
    headings = headings_of(year, codes)
    unknown = sorted(set(codes) - headings.keys())
    if unknown:
        requested = {"employer": employer_id, "year": year, "codes": unknown}
        headings |= {row.code: Heading(*row) for row in await fetch_all(session, _HEADINGS, requested)}
    return headings
