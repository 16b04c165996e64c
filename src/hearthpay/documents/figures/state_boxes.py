"""What each state requires on Form W-2: its items in box 14 and the names in box 20, read from ``state_boxes.toml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

_FILE: Final = Path(__file__).parent / "state_boxes.toml"
_STATUSES: Final = ("required", "expected", "recommended", "customary", "optional")


@dataclass(frozen=True, slots=True)
class OtherItem:
    """One item of box 14: its label, and the employee's lines that it sums."""

    label: str
    lines: tuple[str, ...]
    status: str
    """How strongly the state asks for it, from ``required`` to ``optional``."""

    note: str
    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class StateBoxes:
    """The state part of Form W-2."""

    state: str
    fips: str
    """The state's number in wage file records."""

    account: str | None
    """Whose number is printed in box 15 and how it is written; None if the state has no tax on wages."""

    federal_wages: bool
    """Whether box 16 equals box 1, however much of it was earned in the state."""

    other: tuple[OtherItem, ...]
    locality_names: Mapping[str, str]
    """Names in box 20 by line; for other lines it is the locality's own name."""

    sources: tuple[Source, ...]
    confidence: Confidence

    @property
    def lines_in_other(self) -> frozenset[str]:
        """The lines reported in box 14, and so in no other box."""
        return frozenset(code for item in self.other for code in item.lines)


@functools.cache
def state_boxes() -> Mapping[str, StateBoxes]:
    """Return the boxes of every state and DC by its two-letter code."""
    table = RuleTable.load(_FILE)
    found = {}
    for entry in table.tables("state"):
        boxes = _read(entry)
        if boxes.state in found or boxes.state not in STATES:
            raise entry.error("state", f"{boxes.state} is there twice, or is no state")
        found[boxes.state] = boxes
    table.close()
    return found


def _read(entry: RuleTable) -> StateBoxes:
    names = {}
    for row in entry.tables("box_20"):
        names[row.text("line")] = row.text("name")
        row.sources()
        row.confidence()
        row.close()
    boxes = StateBoxes(
        state=entry.text("state"),
        fips=entry.text("fips"),
        account=entry.optional_text("account"),
        federal_wages=entry.flag("federal_wages", default=False),
        other=tuple(_read_item(row) for row in entry.tables("box_14")),
        locality_names=names,
        sources=entry.sources(),
        confidence=entry.confidence(),
    )
    entry.close()
    return boxes


def _read_item(row: RuleTable) -> OtherItem:
    item = OtherItem(
        label=row.text("label"),
        lines=row.texts("lines"),
        status=row.choice("status", _STATUSES),
        note=row.text("note", default=""),
        sources=row.sources(),
        confidence=row.confidence(),
    )
    row.close()
    return item
