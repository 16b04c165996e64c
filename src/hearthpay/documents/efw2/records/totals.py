"""The sums in the closing records: those of their kind's amounts, by the same keys."""

from collections.abc import Mapping, Sequence

from hearthpay.documents.efw2.layout import Efw2Layout
from hearthpay.documents.efw2.record import Efw2Value


def sums(
    rows: Sequence[Mapping[str, Efw2Value]], layout: Efw2Layout, detail: str, closing: str
) -> dict[str, int]:
    """Return the sum of each amount that both the detail record and the closing record have."""
    keys = [key for key in layout.money_keys(closing) if key in layout.money_keys(detail)]
    return {key: sum(int(row.get(key, 0)) for row in rows) for key in keys}
