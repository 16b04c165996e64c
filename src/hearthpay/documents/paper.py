"""A document before it is drawn: its subject, its contents, and how its bytes are made."""

import datetime
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from hearthpay.documents.identity import PaperMarks

DocumentKind = Literal[
    "paystub", "w2", "w2c", "w3", "w3c", "schedule_h", "efw2", "year_cover", "year_package",
    "work_agreement", "hire_notice", "new_hire_report",
]  # fmt: skip

_NOT_IN_A_NAME: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME: Final = 60

MEDIA_TYPES: Final = {
    "pdf": "application/pdf",
    "zip": "application/zip",
    "txt": "text/plain",
    "csv": "text/csv",
}
"""Media types by file name extension."""


@dataclass(frozen=True, slots=True)
class PaperCorrection:
    """A document that corrects what an earlier one said; drawn if one of that kind was issued and changes.

    ``draw`` takes the earlier contents (see `facts`), and returns None if nothing that it shows has changed.
    """

    kind: DocumentKind
    file_name: str
    draw: Callable[[Any, PaperMarks], bytes | None]


@dataclass(frozen=True, slots=True)
class Paper:
    """A document that can be issued; ``draw`` is a pure function that takes some milliseconds of CPU time.

    ``facts`` is everything whose change makes it a different document; a correction reads from them what the earlier
    one said.
    """

    kind: DocumentKind
    subject_id: UUID
    tax_year: int
    variant: str
    file_name: str
    facts: bytes
    draw: Callable[[PaperMarks], bytes]
    title: str
    employee_id: UUID | None = None
    payroll_id: UUID | None = None
    correction: PaperCorrection | None = None

    @property
    def place(self) -> tuple[DocumentKind, UUID, int, str]:
        """What distinguishes it from every other document of the household; its versions share it."""
        return self.kind, self.subject_id, self.tax_year, self.variant


def media_type_of(file_name: str) -> str:
    """Return the media type of a document by its file name."""
    return MEDIA_TYPES[file_name.rsplit(".", 1)[1]]


def file_name_of(*parts: str | int | datetime.date, end: str = "pdf", test: bool = False) -> str:
    """Return a name such as `w2-2026-rosa-diaz.pdf`: plain letters and digits, safe on every system."""
    plain_parts = [_plain(str(part)) for part in parts]
    return "-".join((["test"] if test else []) + [part for part in plain_parts if part]) + f".{end}"


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return _NOT_IN_A_NAME.sub("-", letters).strip("-")[:_LONGEST_NAME].strip("-")
