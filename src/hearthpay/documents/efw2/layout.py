"""The layout of the SSA's wage file EFW2 by tax year, read from ``layout.toml``: the position of every field."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hearthpay.documents.figures.forms import FormNotKnownError, FormStatus
from hearthpay.taxes.rule_file import RuleTable

RECORD_LENGTH: Final = 512
RECORDS: Final = ("RA", "RE", "RW", "RO", "RS", "RT", "RU", "RF")

_FILE: Final = Path(__file__).parent / "layout.toml"
_KINDS: Final = (
    "constant", "text", "mixed", "digits", "digits_or_blank", "money", "count", "choice", "blank",
)  # fmt: skip


class Efw2LayoutError(Exception):
    """The layout's file has a gap, or defines something twice."""


@dataclass(frozen=True, slots=True)
class Efw2Field:
    """A field of a record, from its first to its last character, counted from 1."""

    first: int
    last: int
    key: str
    kind: str
    name: str
    """As the publication calls it."""

    allowed: tuple[str, ...]
    code: str | None
    """The code of box 12 that the field holds."""

    @property
    def length(self) -> int:
        """How many characters it has."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Efw2Layout:
    """The layout of one tax year."""

    tax_year: int
    status: FormStatus
    """Draft: the year's publication hasn't been read; the file may be refused, or lack new fields."""

    records: Mapping[str, tuple[Efw2Field, ...]]
    states_without_records: frozenset[str]
    tax_type: str
    tax_types: Mapping[str, str]
    """The type of a local tax by state, if it isn't `tax_type`."""

    def field_of_code(self, code: str) -> tuple[str, Efw2Field] | None:
        """Return the record and field for a code of box 12; None if the layout has none."""
        for record in ("RW", "RO"):
            for field in self.records[record]:
                if field.code == code:
                    return record, field
        return None

    def money_keys(self, record: str) -> tuple[str, ...]:
        """Return the keys of a record's amounts."""
        return tuple(field.key for field in self.records[record] if field.kind == "money")


def efw2_layout(tax_year: int) -> Efw2Layout:
    """Return the layout of a tax year; raises `FormNotKnownError`."""
    layout = _layouts().get(tax_year)
    if layout is None:
        raise FormNotKnownError(f"the layout of the wage file of {tax_year} is not known yet")
    return layout


@functools.cache
def _layouts() -> Mapping[int, Efw2Layout]:
    table = RuleTable.load(_FILE)
    states = table.table("states")
    types = states.table("tax_types")
    records = {record: _fields(record, table.table(record)) for record in RECORDS}
    without = frozenset(states.texts("without_records"))
    tax_types = {state: types.text(state) for state in types}
    tax_type = states.text("tax_type")
    states.sources()
    states.confidence()
    layouts: dict[int, Efw2Layout] = {}
    for entry in table.tables("year"):
        year = entry.integer("tax_year")
        status: FormStatus = "final" if entry.choice("status", ("final", "draft")) == "final" else "draft"
        entry.sources()
        entry.confidence()
        entry.close()
        layouts[year] = Efw2Layout(year, status, records, without, tax_type, tax_types)
    types.close()
    states.close()
    table.close()
    return layouts


def _fields(record: str, table: RuleTable) -> tuple[Efw2Field, ...]:
    fields = []
    expected = 1
    keys: set[str] = set()
    for entry in table.tables("fields"):
        field = Efw2Field(
            entry.integer("first"),
            entry.integer("last"),
            entry.text("key"),
            entry.choice("kind", _KINDS),
            entry.text("name"),
            entry.texts("allowed") if entry.has("allowed") else (),
            entry.optional_text("code"),
        )
        entry.close()
        if field.first != expected or field.last < field.first or field.key in keys:
            raise Efw2LayoutError(f"{record} {field.key} at {field.first}: a gap, or twice the same")
        keys.add(field.key)
        expected = field.last + 1
        fields.append(field)
    table.close()
    if expected != RECORD_LENGTH + 1:
        raise Efw2LayoutError(f"{record} ends at {expected - 1}")
    return tuple(fields)
