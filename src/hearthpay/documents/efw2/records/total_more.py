"""Record RU: how many RO records an employer has, and their sums; only if there is one."""

from collections.abc import Mapping, Sequence

from hearthpay.documents.efw2.layout import Efw2Layout
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.documents.efw2.records.totals import sums


def total_more_record(rows: Sequence[Mapping[str, Efw2Value]], layout: Efw2Layout) -> dict[str, Efw2Value]:
    """Return the fields of record RU for an employer's records RO."""
    return {"count": len(rows), **sums(rows, layout, "RO", "RU")}
