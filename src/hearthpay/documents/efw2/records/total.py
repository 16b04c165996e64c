"""Record RT: how many RW records an employer has, and their sums."""

from collections.abc import Mapping, Sequence

from hearthpay.documents.efw2.layout import Efw2Layout
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.documents.efw2.records.totals import sums


def total_record(rows: Sequence[Mapping[str, Efw2Value]], layout: Efw2Layout) -> dict[str, Efw2Value]:
    """Return the fields of record RT for an employer's records RW."""
    return {"count": len(rows), **sums(rows, layout, "RW", "RT")}
