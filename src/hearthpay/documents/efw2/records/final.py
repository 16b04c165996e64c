"""Record RF: the end of the file, and how many records RW it has."""

from hearthpay.documents.efw2.record import Efw2Value


def final_record(employees: int) -> dict[str, Efw2Value]:
    """Return the fields of record RF."""
    return {"count": employees}
