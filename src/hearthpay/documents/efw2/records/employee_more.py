"""Record RO: the codes of box 12 that record RW has no room for; it follows its RW, or is left out."""

from hearthpay.documents.efw2.layout import Efw2Layout
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.documents.efw2.records.employee import coded_amounts
from hearthpay.documents.figures.w2 import W2


def more_record(form: W2, layout: Efw2Layout) -> dict[str, Efw2Value] | None:
    """Return the fields of record RO; None where there are none."""
    return coded_amounts(form, layout, "RO") or None
