"""Documents read line by line: pages of a heading, facts and tables, all in one design."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.papers.marks import edges

REST: Final = 0
"""The width of a column that takes the space the others leave."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a table; a strong one is a total."""

    cells: Sequence[str]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table under its title. Columns from ``numeric`` on are amounts; widths are points."""

    title: str
    heads: Sequence[str] = ()
    widths: Sequence[int] = ()
    numeric: int = 1
    rows: Sequence[SheetRow] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class LinePage:
    """A page, or more if its tables are long."""

    kicker: str
    heading: str
    year: str
    use: str
    """What it is for: to file, hand out or keep."""

    facts: Sequence[tuple[str, Sequence[str]]] = ()
    parts: Sequence[SheetTable] = ()
    remarks: Sequence[str] = ()
    draft: bool = False
    """Whether the year's form isn't published yet."""


@dataclass(frozen=True, slots=True)
class LinePaper:
    """A document made of such pages."""

    title: str
    use: str
    """A short form of the use, for the footer of each page."""

    pages: Sequence[LinePage] = field(default_factory=tuple)


def line_paper(paper: LinePaper, marks: PaperMarks) -> Mapping[str, object]:
    """Return the data for the template ``lines``."""
    return {**edges(paper.title, marks, paper.use), "pages": [asdict(page) for page in paper.pages]}
