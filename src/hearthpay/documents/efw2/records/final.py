"""Record RF: the end of the file, with the number of RW records."""

from hearthpay.documents.efw2.record import Efw2Value


def final_record(employees: int) -> dict[str, Efw2Value]:
    """Return the fields of record RF."""
    return {"count": employees}
